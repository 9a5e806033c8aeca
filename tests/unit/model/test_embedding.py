import math

import torch

from mute.model.embedding import Embedding, sinusoids, token_table


def test_sinusoids_are_those_of_the_transformer() -> None:
    positions = sinusoids(3, 2, torch.zeros(1, 6))
    for row, position in enumerate((3, 4)):
        for i in range(3):
            angle = position / 10000 ** (2 * i / 6)
            assert math.isclose(positions[row, i], math.sin(angle), abs_tol=1e-6)
            assert math.isclose(positions[row, 3 + i], math.cos(angle), abs_tol=1e-6)


def test_vectors_are_scaled_and_positions_added() -> None:
    tokens = token_table(10, 16)
    ids = torch.tensor([[1, 2, 3]])
    plain = Embedding(tokens, sinusoidal=False, dropout=0.0)(ids)
    torch.testing.assert_close(plain, tokens(ids) * 4)
    placed = Embedding(tokens, sinusoidal=True, dropout=0.0)(ids, start=5)
    torch.testing.assert_close(placed, plain + sinusoids(5, 3, plain))


def test_token_vectors_start_with_length_about_one() -> None:
    assert abs(token_table(1000, 64).weight.norm(dim=1).mean() - 1) < 0.02


def test_positions_of_a_translation_can_be_trained_with() -> None:
    tokens = token_table(9, 10)
    embedding, ids = Embedding(tokens, sinusoidal=True, dropout=0.0), torch.tensor([[4, 5, 6]])
    with torch.inference_mode():
        placed = embedding(ids)
    learned = embedding(ids)
    (learned * learned).sum().backward()
    torch.testing.assert_close(learned, placed)
    assert tokens.weight.grad is not None
