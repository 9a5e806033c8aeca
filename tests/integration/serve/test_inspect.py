"""The look inside the units."""

from pathlib import Path
from typing import Any

import pytest
from fastapi.testclient import TestClient

from mute.translate.loading import load
from mute.translate.translator import Translator


def inspect(client: TestClient, status: int = 200, **fields: object) -> Any:
    response = client.post("/v1/inspect", json={"q": "The dog sleeps.", **fields})
    assert response.status_code == status, response.text
    return response.json()


def test_a_look_inside_the_units(client: TestClient, translator: Translator) -> None:
    (expected,) = translator.translate(["The dog sleeps."], nbest=3, attention=True)
    seen = inspect(client)
    assert (seen["text"], seen["tokens"]) == (expected.text, expected.tokens)
    assert seen["score"] == pytest.approx(expected.score)
    assert [each["text"] for each in seen["alternatives"]] == [
        each.text for each in expected.alternatives
    ]
    length = len(seen["source_tokens"])
    assert seen["source_tokens"] == expected.source_tokens
    assert [len(row) for row in seen["attention"]] == [length] * (len(seen["tokens"]) + 1)
    assert len(seen["layers"]) == 2
    for layer in seen["layers"]:
        assert len(layer["weights"]) == 3
        assert sorted(layer["order"]) == [0, 1, 2]
        assert layer["settled"] is False  # an untrained M is no permutation
        assert [[len(row) for row in unit] for unit in layer["attention"]] == [
            [length] * length
        ] * 3
        assert all(
            sum(row) == pytest.approx(1, abs=0.01) for unit in layer["attention"] for row in unit
        )


def test_muting_units_changes_what_comes_out_as_it_does_elsewhere(
    client: TestClient, model: Path
) -> None:
    whole, muted = inspect(client), inspect(client, muted={"0": [0, 2], "1": []})
    (expected,) = load(model, units={0: [1]}).translate(["The dog sleeps."])
    assert muted["text"] == expected.text
    assert muted["score"] == pytest.approx(expected.score, abs=1e-4)
    assert muted["score"] != whole["score"]
    weights = muted["layers"][0]["weights"]
    assert [weight == 0 for weight in weights] == [True, False, True]
    assert muted["layers"][0]["order"] == whole["layers"][0]["order"]
    assert muted["layers"][1]["weights"] == whole["layers"][1]["weights"]
    assert muted["layers"][1]["attention"] != whole["layers"][1]["attention"]
    assert inspect(client) == whole


def test_an_empty_line_can_be_looked_into(client: TestClient) -> None:
    seen = inspect(client, q=" ")
    assert (seen["text"], seen["tokens"], seen["attention"]) == ("", [], [])
    assert seen["layers"][0]["attention"] == [[[1.0]]] * 3


@pytest.mark.parametrize(
    ("fields", "status", "message"),
    [
        ({"muted": {"0": [0, 1, 2]}}, 422, "muted: layer 0 would have no unit left"),
        ({"muted": {"2": [0]}}, 422, "muted: there is no encoder layer 2, only 0 to 1"),
        ({"muted": {"0": [3]}}, 422, "muted: layer 0 has no unit 3, only 0 to 2"),
        ({"muted": {"first": [0]}}, 422, "muted: "),
        ({"model": "fr-de"}, 422, "model: there is no fr-de; there is en-de, en-de-2"),
        ({"beam": 0}, 422, "beam: "),
        ({"nbest": "many"}, 422, "nbest: "),
        ({"speed": 9}, 422, "speed: "),
        ({"q": "one\ntwo"}, 422, "q: should be one line"),
        ({"q": "dog " * 200}, 413, "can be looked into"),
    ],
)
def test_what_cannot_be_looked_into_is_told(
    client: TestClient, fields: dict[str, object], status: int, message: str
) -> None:
    assert message in inspect(client, status, **fields)["error"]
