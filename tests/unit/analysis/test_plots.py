import io
import re

import numpy as np
from matplotlib import pyplot as plt
from matplotlib.figure import Figure
from PIL import Image

from mute.analysis.drawing import INK, to_png, to_svg
from mute.analysis.plots import attention_figure, heat_maps, line_panels, lines


def written(figure: Figure) -> list[str]:
    """All words of a figure, as its SVG has them."""
    return [text.strip() for text in re.findall(r"<text[^>]*>([^<]*)</text>", to_svg(figure, "f"))]


def test_a_heat_map_shows_its_numbers_and_labels() -> None:
    drawn = heat_maps({"c": [[0.25, -0.001], [1.5, 2]], "M": [[1, 0]]}, ["unit", "place"], "layer")
    words = written(drawn)
    assert {"0.25", "0.00", "1.50", "2.00", "c", "M", "unit", "place", "layer"} <= set(words)
    assert "−0.00" not in words


def test_differences_have_a_sign_and_a_star_where_it_is_due() -> None:
    marks = [[[True, False], [False, False]]]
    drawn = heat_maps(
        {"BLEU": [[-1.25, 0.5], [0, 0]]},
        ["unit"],
        "layer",
        marks=marks,
        y_ticks=["0", "all"],
        around_zero=True,
    )
    assert {"−1.25*", "+0.50", "all"} <= set(written(drawn))


def test_many_panels_wrap_and_all_are_there() -> None:
    tables = {f"layer {n}": [[0.0, 1.0], [1.0, 0.0]] for n in range(6)}
    drawn = heat_maps(tables, ["place"] * 6, "unit")
    assert set(tables) <= set(written(drawn))
    curves = line_panels({name: {"unit 0": [1.0, 2.0]} for name in tables}, [1, 2], "step", "c")
    assert {*tables, "step", "c", "unit 0"} <= set(written(curves))


def test_numbers_that_are_all_zero_can_be_drawn() -> None:
    for around_zero in (False, True):
        to_png(heat_maps({"c": [[0.0, 0.0]]}, ["unit"], "layer", around_zero=around_zero))


def test_lines_are_named_and_so_are_levels() -> None:
    drawn = lines({"weights": [0.5, 0.6]}, [0, 1], "layer", "diversity", levels={"same": 0.37})
    assert {"weights", "same", "layer", "diversity"} <= set(written(drawn))


def test_many_lines_all_look_different() -> None:
    drawn = lines({str(n): [0.5, 0.6] for n in range(18)}, [0, 1], "layer", "diversity")
    looks = [(each.get_color(), each.get_linestyle()) for each in drawn.axes[0].get_lines()]
    assert len(set(looks)) == len(looks) == 18


def test_low_attention_is_hidden_and_every_token_named() -> None:
    tokens = ["▁the", "$x", "y$", "狗", "</s>"]
    weights = np.full((2, 3, 5, 5), 0.04)
    weights[..., 0] = 0.84
    drawn = attention_figure(tokens, weights.tolist())
    for axes in drawn.axes[:6]:
        shown = axes.images[0].get_array()
        assert isinstance(shown, np.ma.MaskedArray)
        assert shown.mask.sum() == 20
    words = written(drawn)
    assert {"unit 2", "layer 1", "attention", "狗", "$x"} <= set(words)
    assert words.count("y$") == 3 + 2  # below each unit, beside each layer
    to_png(drawn)  # without a font for Chinese too


def test_a_figure_takes_the_colours_of_its_page_and_names_nothing_twice() -> None:
    drawn = lines({"a": [0.5, 0.6]}, [0, 1], "x", "y")
    first, second = to_svg(drawn, "first"), to_svg(drawn, "second")
    assert "currentColor" in first
    assert INK not in first
    ids = re.findall(r'\bid="([^"]+)"', first + second)
    assert len(ids) == len(set(ids))
    used = re.findall(r'(?:url\(#|href="#)([^")]+)', first)
    assert used
    assert set(used) <= set(ids)


def test_words_of_a_figure_stay_as_they_are() -> None:
    assert f'id="x" {INK}' in to_svg(lines({"a": [1, 2]}, [0, 1], f'id="x" {INK}', "y"), "first")


def test_a_png_is_on_white_and_no_figure_is_left_behind() -> None:
    picture = Image.open(io.BytesIO(to_png(lines({"a": [1, 2]}, [0, 1], "x", "y"))))
    assert picture.convert("RGB").getpixel((0, 0)) == (255, 255, 255)
    assert plt.get_fignums() == []
