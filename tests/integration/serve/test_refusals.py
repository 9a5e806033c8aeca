"""What nobody should send is refused in words, never with a 500."""

import json

import pytest
from fastapi.testclient import TestClient

JSON = "application/json"
FORM = "application/x-www-form-urlencoded"


@pytest.mark.parametrize(
    ("fields", "message"),
    [
        ({"source": "en", "target": "de"}, "missing q parameter"),
        ({"q": "x", "target": "de"}, "missing source parameter"),
        ({"q": 5, "source": "en", "target": "de"}, "q: "),
        ({"q": ["a", None], "source": "en", "target": "de"}, "q.1: "),
        ({"q": ["a", "b\0"], "source": "en", "target": "de"}, "q.1: holds a NUL character"),
        ({"q": "x", "source": "xx", "target": "de"}, "source: xx is not supported"),
        ({"q": "x", "source": "en", "target": "en"}, "target: en is not supported"),
        ({"q": "x", "source": "en", "target": "de", "format": "pdf"}, "format: "),
        ({"q": "x", "source": "en", "target": "de", "alternatives": -1}, "alternatives: "),
        ({"q": "x", "source": "en", "target": "de", "model": "?"}, "model: there is no ?"),
        ({"q": "x", "source": "en", "target": "de", "beam": 33}, "beam: "),
        ({"q": "x", "source": "en", "target": "de", "muted": {"0": [3]}}, "layer 0 has no unit 3"),
        ({"q": "a\0b", "source": "en", "target": "de"}, "q: holds a NUL character"),
        ({"q": "\ud800", "source": "en", "target": "de"}, "q: "),
        ({"q": "x", "source": "\ud800", "target": "de"}, "source: "),
    ],
)
def test_a_wrong_field_is_named(client: TestClient, fields: object, message: str) -> None:
    body = json.dumps(fields)  # surrogates are escaped, as a client's would be
    response = client.post("/translate", content=body, headers={"Content-Type": "application/json"})
    assert response.status_code == 400
    assert message in response.json()["error"]


@pytest.mark.parametrize(
    ("content", "kind", "status", "message"),
    [
        (b"", JSON, 400, "not JSON"),
        (b"{", JSON, 400, "not JSON"),
        (b"[]", JSON, 400, "should be an object"),
        (b'{"q": "\xff"}', JSON, 400, "not UTF-8 at byte 7"),
        (b'{"q": ' + b"[" * 5000 + b"]" * 5000 + b"}", JSON, 400, "nested too deeply"),
        (b'{"q": ' + b"9" * 9000 + b"}", JSON, 400, "not JSON"),
        (b'{"q": "' + b"x" * 30_000 + b'"}', JSON, 413, "larger than 20,000 bytes"),
        (b'{"q": "' + b"x" * 3000 + b'", "source": "en", "target": "de"}', JSON, 413, "3,000 char"),
        (
            json.dumps({"q": "x\n" * 60, "source": "en", "target": "de"}).encode(),
            JSON,
            413,
            "60 lines, or parts of long ones, but at most 50",
        ),
        (
            json.dumps({"q": [""] * 21, "source": "en", "target": "de"}).encode(),
            JSON,
            413,
            "q: 21 entries, but at most 20",
        ),
        (json.dumps({"muted": {"0": [1] * 1000}}).encode(), JSON, 413, "muted: 1,001 entries"),
        (json.dumps({"muted": {n: [] for n in range(1001)}}).encode(), JSON, 413, "muted: 1,001"),
        (
            json.dumps({"muted": {n: [1] * 50 for n in range(20)}}).encode(),
            JSON,
            413,
            "muted: 1,020 entries, but at most 1,000",
        ),
        (json.dumps({str(n): 1 for n in range(21)}).encode(), JSON, 413, "more than 20 fields"),
        (b"q=x&" * 40, FORM, 413, "more than 40 fields"),
        (
            b'--b\r\nContent-Disposition: form-data; name="q"\r\n\r\nx\r\n' * 41 + b"--b--\r\n",
            "multipart/form-data; boundary=b",
            413,
            "more than 40 fields",
        ),
        (b"q=x&" * 21 + b"source=en&target=de", FORM, 413, "21 texts"),
        (b"q=%ff&source=en&target=de", FORM, 400, "not UTF-8"),
        (b"q=\xff", FORM, 400, "not UTF-8"),
        (b"a&" * 30, FORM, 400, "missing q"),
        (b"q=x", "text/plain", 415, "Content-Type"),
        (b"q=x", "", 415, "Content-Type"),
        (b"q=x", "multipart/form-data", 400, "boundary"),
        (b"--b\r\nnonsense", "multipart/form-data; boundary=b", 400, "missing q"),
        (
            b'--b\r\nContent-Disposition: form-data; name="q"; filename="f"\r\n\r\nx\r\n--b--\r\n',
            "multipart/form-data; boundary=b",
            400,
            "files",
        ),
        (
            b'--b\r\nContent-Disposition: form-data; name="q"\r\n\r\nx\r\n--b--\r\n',
            "multipart/form-data; boundary=b; charset=punycode",  # takes the square of the length
            400,
            "charset: should be utf-8",
        ),
    ],
)
def test_a_hostile_body_is_refused_in_words(
    client: TestClient, content: bytes, kind: str, status: int, message: str
) -> None:
    for path in ("/translate", "/detect") if status != 413 else ("/translate",):
        response = client.post(path, content=content, headers={"Content-Type": kind})
        assert response.status_code == status, response.text
        assert message in response.json()["error"]


def test_a_body_of_unknown_length_is_bounded_too(client: TestClient) -> None:
    chunks = (b"x" * 1000 for _ in range(1000))
    response = client.post("/translate", content=chunks, headers={"Content-Type": JSON})
    assert response.status_code == 413
