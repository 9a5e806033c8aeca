"""Translations as lines of text or JSON."""

import json
from typing import Any

from mute.data.lines import tidy
from mute.translate.translation import Translation


def as_text(translation: Translation) -> str:
    """Its text on one line, whatever bytes a model may think of."""
    return tidy(translation.text)


def as_nbest(line: int, translation: Translation) -> str:
    """`LINE ||| TEXT ||| SCORE` for it and each of its alternatives, best first.

    There are always three fields: a bar that the text has three times is written as Moses does.
    """
    return "\n".join(
        f"{line} ||| {as_text(each).replace('|||', '&#124;' * 3)} ||| {as_score(each)}"
        for each in (translation, *translation.alternatives)
    )


def as_score(translation: Translation) -> str:
    """The score alone."""
    return f"{translation.score:.4f}"


def as_json(translation: Translation, *, attention: bool = False) -> str:
    """All that is known of it, on one line.

    Args:
        translation: of a line
        attention: whether to show which source piece each piece looks at
    """
    shown = _shown(translation, attention=attention)
    shown["alternatives"] = [_shown(each, attention=attention) for each in translation.alternatives]
    shown["warnings"] = translation.warnings
    if attention:
        shown["source_tokens"] = translation.source_tokens
    return json.dumps(shown, ensure_ascii=False)


def _shown(translation: Translation, *, attention: bool) -> dict[str, Any]:
    shown: dict[str, Any] = {
        "text": translation.text,
        "score": translation.score,
        "tokens": translation.tokens,
    }
    if attention:
        weights = translation.attention
        shown["attention"] = weights and [[round(each, 4) for each in row] for row in weights]
    return shown
