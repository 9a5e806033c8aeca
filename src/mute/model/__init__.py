"""The paper's model family as plain, single-device PyTorch.

One legend of shapes for all files of this package:

    B  sentences of a batch          d  width of the model
    L  positions of a sentence       h  heads of an attention
    S  source positions              k  width of a head, d / h
    T  target positions              f  inner width of a feed-forward network
    I  units of a layer              V  entries of a vocabulary
    U  I, or 1 while all units       P  I, or 1 where all units
       hold the same                    share their parameters

Everything inside a layer carries a leading unit axis of size U, and all parameters one of size P.
`bank.py` is the one place that knows how the two meet.
"""
