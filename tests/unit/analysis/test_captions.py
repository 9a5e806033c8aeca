"""What is said of numbers has to be so."""

from dataclasses import replace

from mute.analysis import captions
from mute.analysis.diversity import Diversity
from mute.analysis.maps import AttentionMaps
from mute.analysis.muting import Muted, Muting
from mute.analysis.permutation import Course, Order
from mute.analysis.weights import UnitWeights

SETTLED = Order([[0.0, 1.0], [1.0, 0.0]], [1, 0], 0.0, 0.0)
GIVEN = Order([[1.0, 0.0], [0.0, 1.0]], [0, 1], 0.0, 0.0, learned=False)
OPEN = Order([[0.7, 0.3], [0.3, 0.7]], [0, 1], 1.234, 0.3)


def test_the_heaviest_unit_of_each_layer_is_named() -> None:
    weights = [UnitWeights([0.1, 0.2], [0.5, 0.25]), UnitWeights([0.3, 0.2], [-0.5, 1.25])]
    text = captions.of_weights(weights, sequential=True)
    assert "in layer 0 unit 0 (c = 0.50 of 0.75 in all)" in text
    assert "and in layer 1 unit 1 (c = 1.25 of 0.75 in all)." in text
    assert "Alpha rises from place to place in layer 0, and the last place has" in text
    assert "alpha itself" in captions.of_weights(weights, sequential=False)


def test_orders_that_are_found_and_not() -> None:
    both = captions.of_orders([SETTLED, OPEN])
    assert both.startswith("M is a permutation, to within 0.05, in layer 0.")
    assert "not yet one in layer 1 (penalty 1.23, an entry is 0.30 away)" in both
    assert both.endswith("layer 0: 1 → 0; layer 1: 0 → 1.")
    assert "in every layer." in captions.of_orders([SETTLED, SETTLED])
    assert "in no layer." in captions.of_orders([OPEN])


def test_an_order_that_was_given_is_said_to_be_so() -> None:
    text = captions.of_orders([GIVEN, GIVEN])
    assert text == "The order is fixed, and M the identity: in every layer, 0 → 1."


def test_the_course_names_the_layer_that_moved_most() -> None:
    weights = [[[0.5, 0.5], [0.5, 0.5]], [[0.4, 0.5], [0.5, 0.9]]]
    course = Course([100, 2000], weights, weights, [[3.0, 1.0], [0.5, 0.25]])
    text = captions.of_course(course, learned_order=True)
    assert "From step 100 to 2,000, the weight of a unit changed most in layer 1, by 0.40." in text
    assert "went from 3.00 to 0.50 in layer 0 and 1.00 to 0.25 in layer 1." in text
    assert "distance" not in captions.of_course(course, learned_order=False)
    assert "The model" not in text
    known = replace(course, best=1500)
    assert "shown here is of step 1,500." in captions.of_course(known, learned_order=True)
    once = Course([100], weights[:1], weights[:1], [[3.0, 1.0]])
    assert (
        captions.of_course(once, learned_order=True) == "The log has one record only, of step 100."
    )


def test_diversity_names_the_part_and_layer_and_what_cannot_differ() -> None:
    scores = {"attention_outputs": [0.5, 0.75], "ffn_outputs": [0.5, 0.25]}
    means = {"attention_outputs": 0.625, "ffn_outputs": 0.375}
    text = captions.of_diversity(Diversity(means, scores, {}, 1234, diagonal=False))
    assert "1,234 tokens, pairs of different units" in text
    assert "0.625 for the attention outputs, 0.375 for the FFN outputs" in text
    assert "differ most in their attention outputs, and there in layer 1 (0.750)" in text
    assert "They share their attention weights, or have none." in text
    every = captions.of_diversity(Diversity(means, scores, {}, 1234, diagonal=True))
    assert "each unit with itself too" in every


def muting(*differences: float, p: float | None) -> list[Muted]:
    return [Muted(30 + each, each, p) for each in differences]


def test_the_unit_that_is_missed_most_is_named() -> None:
    layers = [muting(-0.5, 0.1, p=0.2), muting(-0.1, -1.5, p=0.04)]
    found = Muting("BLEU", "nrefs:1", 200, 30.0, muting(-3.25, -1, p=0.01), layers)
    text = captions.of_muting(found)
    assert text.startswith("All units together: 30.00 BLEU, on 200 sentences.")
    assert "unit 0 costs most: −3.25 BLEU (p = 0.010)" in text
    assert "unit 1 of layer 1 costs most: −1.50 BLEU (p = 0.040)" in text
    assert "2 of the 4 in one layer, and 2 of the 2 in all" in text


def test_a_unit_that_is_better_muted_does_not_cost() -> None:
    found = Muting("BLEU", "", 200, 30.0, muting(0.5, 0.3, p=0.2), [muting(0.4, -0.1, p=0.2)])
    text = captions.of_muting(found)
    assert "unit 1 costs nothing; no other gains less, and this one +0.30 BLEU" in text
    assert "unit 1 of layer 0 costs most: −0.10 BLEU" in text


def test_units_that_make_no_difference_are_not_ranked() -> None:
    found = Muting("BLEU", "", 200, 0.0, muting(0, 0, p=1.0), [muting(0.001, 0.002, p=0.9)])
    text = captions.of_muting(found)
    assert "Muted in all layers, every unit makes the same difference: +0.00 BLEU." in text
    assert "Muted in one layer, every unit makes the same difference: +0.00 BLEU." in text
    assert "gain" not in text


def test_what_is_written_as_nothing_costs_nothing() -> None:
    rows = [muting(-0.004, 0.0, p=0.9)]
    text = captions.of_muting(Muting("score", "", 200, 0.0, muting(0.0, -0.004, p=1.0), rows))
    assert text.count("every unit makes the same difference: +0.00") == 2


def test_without_references_there_is_no_talk_of_chance() -> None:
    found = Muting("score", "", 20, -1.0, muting(-0.5, p=None), [muting(-0.25, p=None)])
    text = captions.of_muting(found)
    assert "−0.50 of the mean score." in text
    assert "no references" in text
    assert "star" not in text


def test_attention_that_is_spread_and_that_is_not() -> None:
    even, sharp = [[0.5, 0.5], [0.5, 0.5]], [[1.0, 0.0], [0.0, 1.0]]
    text = captions.of_maps(AttentionMaps(1, ["a", "b"], [[sharp, even], [sharp, even]]))
    assert "Unit 1 spreads its attention most, a token over 2.0 tokens" in text
    assert "unit 0 least, over 1.0" in text
    assert "over 2.0 tokens" in captions.of_maps(AttentionMaps(1, ["a", "b"], [[even]]))


def test_units_are_named_by_their_noise() -> None:
    text = captions.of_bias(["identity", "swap", "mask"])
    assert text == " The units by their noise in training: 0 identity, 1 swap and 2 mask."
    assert captions.of_bias([]) == ""
