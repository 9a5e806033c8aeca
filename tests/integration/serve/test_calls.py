"""LibreTranslate's calls, and what else a server tells of itself."""

from pathlib import Path
from typing import Any

import pytest
from fastapi.testclient import TestClient

from mute.serve.app import create_app
from mute.serve.calls import Server
from mute.serve.keys import ApiKeys
from mute.serve.served import Gallery, load_gallery
from mute.translate.loading import load
from mute.translate.translator import Translator


def ask(client: TestClient, **fields: object) -> Any:
    response = client.post("/translate", json={"source": "en", "target": "de", **fields})
    assert response.status_code == 200, response.text
    return response.json()


def test_a_text_is_translated_line_by_line(client: TestClient, translator: Translator) -> None:
    one, two = (t.text for t in translator.translate(["The dog sleeps.", "A cat."]))
    assert ask(client, q="The dog sleeps.") == {"translatedText": one}
    assert ask(client, q=["The dog sleeps.", "", "A cat."]) == {"translatedText": [one, "", two]}
    assert ask(client, q=" The dog sleeps.\n\nA cat.\n")["translatedText"] == f" {one}\n\n{two}\n"


def test_a_form_is_as_good_as_json(client: TestClient) -> None:
    fields = {"q": "The dog sleeps.", "source": "en", "target": "de", "alternatives": "2"}
    expected = ask(client, q="The dog sleeps.", alternatives=2)
    assert len(expected["alternatives"]) == 2
    assert client.post("/translate", data=fields).json() == expected
    parts = {name: (None, value) for name, value in fields.items()}
    assert client.post("/translate", files=parts).json() == expected
    several = client.post("/translate", data={**fields, "q": ["The dog sleeps."] * 2})
    assert several.json()["translatedText"] == [expected["translatedText"]] * 2


@pytest.mark.parametrize("given", [None, ""])
def test_a_format_that_is_left_empty_is_text(client: TestClient, given: str | None) -> None:
    asked = {"q": "A dog.", "source": "en", "target": "de", "format": given}
    assert client.post("/translate", json=asked).status_code == 200


def test_tags_of_html_survive(client: TestClient, translator: Translator) -> None:
    (found,) = translator.translate(["The dog sleeps."])
    page = '<p class="green">The dog sleeps.<br/></p>'
    answer = ask(client, q=page, format="html")["translatedText"]
    assert answer.startswith('<p class="green">')
    assert answer.endswith("<br/></p>")
    assert len(answer) >= len(page) - len("The dog sleeps.") + len(found.text)


def test_a_line_longer_than_the_model_takes_is_translated_in_parts(
    client: TestClient, translator: Translator
) -> None:
    line = "The dog sleeps. A cat sings. " * 50
    (expected,) = translator.translate([line.strip()], nbest=2)
    assert expected.warnings
    answer = ask(client, q=line, alternatives=1)
    assert answer["translatedText"].strip() == expected.text.strip()
    assert "warnings" not in answer
    warned = ask(client, q=["A cat.", line], warnings=True)
    short, long = warned["warnings"]
    (alone,) = translator.translate([line.strip()])
    assert long == alone.warnings
    assert not any("longer than" in warning for warning in short)


def test_beam_and_muted_units_are_a_matter_of_the_request(
    client: TestClient, translator: Translator, model: Path
) -> None:
    lines = ["The dog sleeps.", "He sees the old house in the garden."]
    narrow = [each.text for each in translator.translate(lines, beam=1)]
    muted = [each.text for each in load(model, units={0: [1]}).translate(lines, beam=2)]
    assert ask(client, q=lines, beam=1)["translatedText"] == narrow
    answer = ask(client, q=lines, beam=2, muted={"0": [0, 2], "1": []})
    assert answer["translatedText"] == muted


def test_the_language_is_found_out_if_it_is_not_told(client: TestClient) -> None:
    answer = ask(client, q="The dog sleeps.", source="auto")
    assert answer["detectedLanguage"]["language"] == "en"
    assert 90 < answer["detectedLanguage"]["confidence"] <= 100
    (guess,) = client.post("/detect", data={"q": "The dog sleeps."}).json()
    assert guess == answer["detectedLanguage"]
    (unlikely,) = client.post("/detect", json={"q": "狗在睡觉"}).json()
    assert unlikely["confidence"] < 50
    page = f"<style>{'狗' * 1900}</style><p>The dog sleeps.</p>"
    assert ask(client, q=page, format="html", source="auto")["detectedLanguage"] == guess
    several = ask(client, q=["The dog sleeps.", "A cat."], source="auto")
    assert len(several["detectedLanguage"]) == 2


def test_languages_and_models_are_listed(client: TestClient) -> None:
    assert client.get("/languages").json() == [
        {"code": "en", "name": "English", "targets": ["de"]},
        {"code": "de", "name": "German", "targets": []},
    ]
    shape = {
        "layers": 2,
        "units": 3,
        "bias": ["identity", "swap", "mask"],
        "takes": "",
        "examples": [],
    }
    assert client.get("/v1/models").json() == [
        {"name": name, "source": "en", "target": "de", **shape} for name in ("en-de", "en-de-2")
    ]
    assert ask(client, q="A cat.", model="en-de-2") == ask(client, q="A cat.")


def test_a_model_of_tokenised_text_is_listed_as_one(tokenised_model: Path) -> None:
    server = Server(load_gallery([tokenised_model], "float32"))
    with TestClient(create_app(server)) as client:
        (listed,) = client.get("/v1/models").json()
    assert listed["takes"] == "text that is tokenised and lower-cased already"


def test_health_metrics_and_documentation(client: TestClient) -> None:
    ask(client, q="A cat.")
    assert client.get("/health").json() == {"status": "ok", "models": ["en-de", "en-de-2"]}
    counts = client.get("/metrics").text
    assert 'mute_requests_total{path="/translate",status="200"}' in counts
    assert "mute_queue_lines 0.0" in counts
    assert client.get("/docs").status_code == 200
    missing = client.get("/no/such/path")
    assert missing.status_code == 404
    assert missing.json() == {"error": "Not Found"}
    assert "/no/such/path" not in client.get("/metrics").text


def test_the_page_is_served(client: TestClient) -> None:
    page = client.get("/")
    assert page.status_code == 200
    assert page.headers["content-type"].startswith("text/html")
    assert client.get("/static/index.html").text == page.text
    assert client.get("/static/%2e%2e/app.py").status_code == 404


@pytest.mark.parametrize("path", ["/", "/static/app.js", "/static/icon.svg"])
def test_the_page_takes_nothing_from_elsewhere_and_is_in_no_frame(
    client: TestClient, path: str
) -> None:
    headers = client.get(path).headers
    assert headers["x-content-type-options"] == "nosniff"
    policy = dict(
        rule.strip().split(" ", 1) for rule in headers["content-security-policy"].split(";")
    )
    assert policy.pop("script-src") == "'self'"
    assert policy.pop("frame-ancestors") == "'none'"
    assert set(policy.values()) == {"'self'", "'none'"}
    unchanged = client.get(path, headers={"If-None-Match": headers["etag"]})
    assert unchanged.headers["content-security-policy"] == headers["content-security-policy"]


@pytest.mark.parametrize(
    "path", ["/", "/static/app.js", "/health", "/languages", "/metrics", "/v1/models"]
)
def test_what_can_be_got_can_be_asked_for_by_its_headers(client: TestClient, path: str) -> None:
    asked, got = client.head(path), client.get(path)
    assert asked.status_code == got.status_code == 200
    assert asked.headers["content-type"] == got.headers["content-type"]


def test_an_api_key_is_asked_for_if_there_are_any(gallery: Gallery) -> None:
    with TestClient(create_app(Server(gallery, keys=ApiKeys(["secret", "other"])))) as client:
        question = {"q": "A cat.", "source": "en", "target": "de"}
        for wrong in ({}, {"api_key": "Secret"}, {"api_key": ""}, {"api_key": "\u00e9"}):
            response = client.post("/translate", json={**question, **wrong})
            assert response.status_code == 403
            assert "api_key" in response.json()["error"]
        assert client.post("/v1/inspect", json={"q": "A cat."}).status_code == 403
        assert ask(client, **question, api_key="other")["translatedText"]
        assert client.post("/detect", data={"q": "x", "api_key": "secret"}).status_code == 200
        assert client.get("/languages").status_code == 200


def test_other_origins_are_let_in_only_if_named(client: TestClient, gallery: Gallery) -> None:
    origin = {"Origin": "https://example.org"}
    assert "access-control-allow-origin" not in client.get("/languages", headers=origin).headers
    app = create_app(Server(gallery), cors=["https://example.org"])
    with TestClient(app) as open_client:
        allowed = open_client.get("/languages", headers=origin)
        assert allowed.headers["access-control-allow-origin"] == "https://example.org"
