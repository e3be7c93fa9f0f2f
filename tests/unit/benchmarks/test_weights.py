"""Is the sweep over weights complete, and its picture well formed?"""

import xml.etree.ElementTree as ET

import numpy as np
import pytest

from benchmarks.quality_candidates import Asked, Candidates
from benchmarks.quality_sets import Query
from benchmarks.quality_ternary import Panel, colour, draw
from benchmarks.weights import Surface, combined, grid, picture, sweep

SVG = "{http://www.w3.org/2000/svg}"
DEFAULT = (0.4, 0.15, 0.45)


@pytest.mark.parametrize(("step", "points"), [(1.0, 3), (0.5, 6), (0.1, 66), (0.05, 231)])
def test_a_grid_has_all_shares_once(step: float, points: int) -> None:
    shares = grid(step)
    assert len(shares) == len(set(shares)) == points
    assert all(sum(point) == pytest.approx(1) for point in shares)


def test_the_default_weights_lie_on_the_finer_grid() -> None:
    assert DEFAULT in grid(0.05)


def test_a_step_must_divide_one() -> None:
    with pytest.raises(SystemExit, match="must divide 1"):
        grid(0.3)


def asked(relevant: str) -> Asked:
    """Two candidates: the vectors prefer row 0, the words row 1, the graph found neither."""
    nothing = np.full(2, np.nan)
    scores = {"vector": np.array([0.9, 0.1]), "bm25": np.array([1.0, 5.0]), "ppr": nothing}
    both = Candidates(np.array([0, 1]), scores)
    none = Candidates(np.empty(0, np.int64), dict.fromkeys(scores, np.empty(0)))
    parts = [(v, w, g) for v in (True, False) for w in (True, False) for g in (True, False)]
    candidates = {part: both if part[0] or part[1] else none for part in parts}
    return Asked(Query("q", "?", {relevant: 1.0}), candidates)


def test_a_sweep_finds_the_weights_that_rank_best() -> None:
    surface = sweep("chat", [asked("b")], {0: "a", 1: "b"}, 0.5, "MRR@10")
    assert surface.values[0.0, 1.0, 0.0] == 1.0
    assert surface.values[1.0, 0.0, 0.0] == 0.5
    assert surface.values[0.0, 0.0, 1.0] == 0.0
    assert surface.chosen == 0.5
    assert surface.lost == 0.5
    # best are 0 / .5 / .5 and 0 / 1 / 0 (the equal sum keeps the order of rows); the first one counts
    assert surface.best == (0.0, 0.5, 0.5)
    assert surface.flat == pytest.approx(2 / 6)
    assert surface.distance == pytest.approx(0.4)


def test_sets_weigh_the_same_together() -> None:
    one, other = Surface("x", {DEFAULT: 0.2}, 0.2), Surface("y", {DEFAULT: 0.6}, 0.6)
    assert combined([one, other]).values == {DEFAULT: pytest.approx(0.4)}


def test_the_picture_is_well_formed_and_has_a_field_for_every_point() -> None:
    values = {point: point[0] for point in grid(0.1)}
    svg = picture(
        [Surface("a <b> & c", values, 0.4), Surface("flat", dict.fromkeys(values, 0.5), 0.5)], 0.1, "R@5"
    )
    root = ET.fromstring(svg)
    assert root.tag == f"{SVG}svg"
    panels = root.findall(f"{SVG}g")
    assert [len(panel.findall(f".//{SVG}polygon/{SVG}title")) for panel in panels] == [66, 66]
    assert "a <b> & c: R@5" in [text.text for text in panels[0].iter(f"{SVG}text")]
    assert all(len(panel.findall(f"{SVG}circle")) == 1 for panel in panels)


def test_corners_lie_where_their_names_are() -> None:
    panel = Panel("p", {(1.0, 0.0, 0.0): 1.0, (0.0, 1.0, 0.0): 0.0, (0.0, 0.0, 1.0): 0.5}, 1.0, DEFAULT, 0.01)
    (group,) = ET.fromstring(draw([panel], ["top", "left", "right"])).findall(f"{SVG}g")
    places = {
        text.text: (float(text.attrib["x"]), float(text.attrib["y"])) for text in group.iter(f"{SVG}text")
    }
    assert places["left"][0] < places["top"][0] < places["right"][0]
    assert places["top"][1] < places["left"][1] == places["right"][1]
    best = group.find(f"{SVG}line")
    assert best is not None
    assert (float(best.attrib["x1"]) + float(best.attrib["x2"])) / 2 == pytest.approx(places["top"][0])


@pytest.mark.parametrize(
    ("share", "expected"), [(0.0, "#440154"), (1.0, "#fde725"), (0.5, "#21918c"), (7.0, "#fde725")]
)
def test_colours_run_from_dark_to_light(share: float, expected: str) -> None:
    assert colour(share) == expected
