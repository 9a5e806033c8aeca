"""The embedded corpus: English-German sentence pairs from a synchronous grammar.

A sentence is first drawn (`drawing.py`) as a tree that belongs to neither language (`syntax.py`):
who does what, to whom, when, and whether it is denied or asked. Two sets of rules (`english.py`,
`german.py`) then put the same tree into words, each in the order and with the endings of its
language. So the pairs are exact translations, and what a model has to learn is what sets the two
languages apart: gender and case, the verb in second or last place, prefixes that leave their verb,
compounds, and numbers read backwards.

The words are in `lexicon.py`, which builds them from short entries (`notation.py`) as members of
their classes (`wordclasses.py`).
"""

from mute.data.toy.corpus import SPLITS, pairs

__all__ = ["SPLITS", "pairs"]
