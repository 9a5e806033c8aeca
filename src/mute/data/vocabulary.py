"""What is the same in every vocabulary."""

import re

PAD = 0
"""Fills up short sentences, always behind their last word."""
UNK = 1
"""A piece that is not in the vocabulary."""
BOS = 2
"""Stands before the first word of a target that is to be continued."""
EOS = 3
"""Ends a sentence, of the source and of the target."""
SPECIALS = ("<pad>", "<unk>", "<s>", "</s>")
"""Their names, by id."""
ASSUMED_SIZES = (32_000, 32_000)
"""Entries of source and target, where there is no data to know them from."""
BYTE = re.compile(r"<0x[0-9A-F]{2}>")
"""The name of a piece that is a byte of a character which has no piece."""
