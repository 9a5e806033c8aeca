"""A line's translation from those of its parts."""

from mute.translate.translation import Translation, joined

END = "</s>"


def part(text: str, attention: list[list[float]] | None, *source: str) -> Translation:
    """One whose words are its tokens."""
    return Translation(text, -1.0, text.split(), source_tokens=[*source, END], attention=attention)


def test_every_token_of_a_line_in_parts_keeps_what_it_looked_at() -> None:
    whole = joined(
        [
            part("ein Hund", [[0.75, 0.25, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]], "a", "dog"),
            part("", [[0.5, 0.5]], "hm"),
            part("schläft", [[1.0, 0.0], [0.25, 0.75]], "sleeps"),
        ],
        " ",
    )
    assert whole.text == "ein Hund schläft"
    assert whole.tokens == ["ein", "Hund", "schläft"]
    assert whole.source_tokens == ["a", "dog", END, "hm", END, "sleeps", END]
    assert whole.attention == [
        [0.75, 0.25, 0, 0, 0, 0, 0],
        [0, 1, 0, 0, 0, 0, 0],
        [0, 0, 0, 0, 0, 1, 0],
        [0, 0, 0, 0, 0, 0.25, 0.75],  # the end
    ]


def test_without_attention_there_is_none_to_join() -> None:
    assert joined([part("eins", None), part("zwei", None)], " ").attention is None
