"""Sentences about numbers: what a reader should see in the figures."""

import math
from collections.abc import Iterable, Mapping, Sequence

from mute.analysis.diversity import PARTS, Diversity
from mute.analysis.maps import AttentionMaps
from mute.analysis.muting import Muted, Muting
from mute.analysis.permutation import NEAR, Course, Order
from mute.analysis.weights import UnitWeights
from mute.evaluate.significance import p_value


def of_diversity(found: Diversity) -> str:
    """Where the units differ most."""
    means = ", ".join(f"{value:.3f} for the {PARTS[part]}" for part, value in found.overall.items())
    most = max(found.overall, key=lambda part: found.overall[part])
    layers = found.layers[most]
    pairs = "all pairs, each unit with itself too" if found.diagonal else "pairs of different units"
    missing = [name for part, name in PARTS.items() if part not in found.overall]
    lacking = f" They share their {_listed(missing)}, or have none." if missing else ""
    return (
        f"Diversity, exp(−cos), averaged over {found.tokens:,} tokens, {pairs} and all layers: "
        f"{means}. The units differ most in their {PARTS[most]}, and there in layer "
        f"{_highest(layers)} ({max(layers):.3f}).{lacking}"
    )


def of_weights(weights: Sequence[UnitWeights], *, sequential: bool) -> str:
    """Which unit counts most in which layer, and whether later places weigh more."""
    places = [
        f"in layer {layer} unit {_highest(each.effective)} "
        f"(c = {max(each.effective):.2f} of {sum(each.effective):.2f} in all)"
        for layer, each in enumerate(weights)
    ]
    most = f"Counting most: {_listed(places)}."
    if not sequential:
        return f"{most} Without an order, the effective weight c is alpha itself."
    rising = [n for n, each in enumerate(weights) if each.alpha == sorted(each.alpha)]
    last = [n for n, each in enumerate(weights) if _highest(each.alpha) == len(each.alpha) - 1]
    return (
        f"{most} Alpha belongs to places in the order, and c = M w to units. Alpha rises from "
        f"place to place in {_of_layers(rising, weights)}, and the last place has the largest in "
        f"{_of_layers(last, weights)}; the paper found it nearly rising."
    )


def bias_of_units(bias: Sequence[str], units: int) -> list[str]:
    """The kind of noise of every unit, also of those that a config does not name."""
    return [*bias, *["identity"] * (units - len(bias))] if bias else []


def of_bias(bias: Sequence[str]) -> str:
    """Which unit saw its input through which noise; nothing if there was none."""
    named = [f"{unit} {kind}" for unit, kind in enumerate(bias)]
    return f" The units by their noise in training: {_listed(named)}." if named else ""


def of_orders(orders: Sequence[Order]) -> str:
    """Whether every M is a permutation, and which; or that the order was given."""
    if not orders[0].learned:
        listed = " → ".join(map(str, orders[0].units))
        return f"The order is fixed, and M the identity: in every layer, {listed}."
    done = [n for n, order in enumerate(orders) if order.is_permutation]
    open_ones = [
        f"layer {n} (penalty {order.penalty:.2f}, an entry is {order.deviation:.2f} away)"
        for n, order in enumerate(orders)
        if not order.is_permutation
    ]
    settled = f"M is a permutation, to within {NEAR}, in {_of_layers(done, orders)}."
    unsettled = f" It is not yet one in {_listed(open_ones)}." if open_ones else ""
    found = "; ".join(
        f"layer {n}: {' → '.join(map(str, order.units))}" for n, order in enumerate(orders)
    )
    return f"{settled}{unsettled} The nearest order of the units, from the first place on: {found}."


def of_course(course: Course, *, learned_order: bool) -> str:
    """How far the weights and orders moved."""
    first, last = course.steps[0], course.steps[-1]
    if first == last:
        return f"The log has one record only, of step {first:,}."
    moved = [
        max(abs(new - old) for old, new in zip(*pair, strict=True))
        for pair in zip(course.effective[0], course.effective[-1], strict=True)
    ]
    kept = f" The model that is shown here is of step {course.best:,}." if course.best else ""
    text = (
        f"From step {first:,} to {last:,}, the weight of a unit changed most in layer "
        f"{_highest(moved)}, by {max(moved):.2f}.{kept}"
    )
    if not learned_order:
        return text
    ends = [
        f"{old:.2f} to {new:.2f} in layer {layer}"
        for layer, (old, new) in enumerate(zip(course.penalty[0], course.penalty[-1], strict=True))
    ]
    return f"{text} The distance of M from a permutation went from {_listed(ends)}."


def of_muting(found: Muting) -> str:
    """Which unit is missed most."""
    cost = "BLEU" if found.measure == "BLEU" else "of the mean score"
    everywhere = {f"unit {unit}": muted for unit, muted in enumerate(found.everywhere)}
    by_place = {
        f"unit {unit} of layer {layer}": muted
        for layer, units in enumerate(found.layers)
        for unit, muted in enumerate(units)
    }
    text = (
        f"All units together: {_signed(f'{found.whole:.2f}')} {found.measure}, on "
        f"{found.sentences:,} sentences. "
        f"Muted in all layers, {_missed(everywhere, cost)}. "
        f"Muted in one layer, {_missed(by_place, cost)}."
    )
    if found.measure == "score":
        return (
            f"{text} There were no references, so this is what the model with a unit muted "
            f"thinks of the whole model's translations: the mean of log p over the length penalty."
        )
    single = [muted.is_significant for muted in by_place.values()]
    return (
        f"{text} A star marks differences that are more than chance (paired bootstrap, p < 0.05): "
        f"{sum(single)} of the {len(single)} in one layer, and "
        f"{sum(muted.is_significant for muted in found.everywhere)} of the "
        f"{len(found.everywhere)} in all. With so many tests, about one in twenty is a star by "
        f"chance."
    )


def of_maps(maps: AttentionMaps) -> str:
    """Which unit spreads its attention, and which looks at single words."""
    units = range(len(maps.weights[0]))
    if len(units) == 1:
        spread = _bits(row for layer in maps.weights for row in layer[0])
        return f"On average a token spreads its attention over {2**spread:.1f} tokens."
    spreads = [_bits(row for layer in maps.weights for row in layer[unit]) for unit in units]
    wide, narrow = _highest(spreads), _highest([-spread for spread in spreads])
    return (
        f"Unit {wide} spreads its attention most, a token over {2 ** spreads[wide]:.1f} tokens on "
        f"average, and unit {narrow} least, over {2 ** spreads[narrow]:.1f}."
    )


def _bits(rows: Iterable[Sequence[float]]) -> float:
    """The mean entropy of distributions."""
    entropies = [-sum(p * math.log2(p) for p in row if p > 0) for row in rows]
    return sum(entropies) / len(entropies)


def _missed(muted: Mapping[str, Muted], measure: str) -> str:
    """Which of the units is missed most; none, if a reader would see the same number of each."""
    worst = min(muted, key=lambda unit: muted[unit].difference)
    found = f"{_difference(muted[worst])} {measure}"
    if len(set(map(_difference, muted.values()))) == 1:
        return f"every unit makes the same difference: {found}"
    p = muted[worst].p
    chance = "" if p is None else f" (p {p_value(p, equals='= ')})"
    if round(muted[worst].difference, 2) < 0:
        return f"{worst} costs most: {found}{chance}"
    return f"{worst} costs nothing; no other gains less, and this one {found}{chance}"


def _difference(muted: Muted) -> str:
    return written(muted.difference, sign=True)


def written(value: float, *, sign: bool) -> str:
    """With two digits, a true minus sign, and no minus before zero."""
    rounded = round(value, 2) + 0.0
    return _signed(f"{rounded:+.2f}" if sign else f"{rounded:.2f}")


def _signed(number: str) -> str:
    """With a minus sign in the place of a hyphen."""
    return number.replace("-", "−")


def _highest(values: Sequence[float]) -> int:
    return max(range(len(values)), key=lambda index: values[index])


def _of_layers(chosen: Sequence[int], layers: Sequence[object]) -> str:
    if len(chosen) == len(layers):
        return "every layer"
    if not chosen:
        return "no layer"
    return f"layer{'s' * (len(chosen) > 1)} {_listed([str(layer) for layer in chosen])}"


def _listed(names: Sequence[str]) -> str:
    """'a', 'a and b', 'a, b and c'."""
    return " and ".join(filter(None, [", ".join(names[:-1]), *names[-1:]]))
