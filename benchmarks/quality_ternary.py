"""How does a figure that depends on three shares look?

A heat map over the triangle of all shares that add up to 1, as SVG: a corner is one share alone, the middle
is all alike. Every point of the grid is a hexagon; the fields that are as good as the best are outlined, the
best and the one in use are marked.
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from xml.sax.saxutils import escape

__all__ = ["Panel", "Point", "colour", "draw"]

Point = tuple[float, float, float]
"""Three shares."""

_SIDE = 260.0
_WIDTH, _HEIGHT = 360.0, 350.0
_LEFT, _TOP = 50.0, 62.0
_COLUMNS = 3
_STOPS = ((68, 1, 84), (59, 82, 139), (33, 145, 140), (94, 201, 98), (253, 231, 37))
"""Dark is low and light is high, also in grey and for those who see no red or no green (viridis)."""

_INK, _PAPER = "#222222", "#ffffff"


@dataclass(frozen=True, slots=True)
class Panel:
    """One triangle: a value for every point of a grid with this step."""

    title: str
    values: Mapping[Point, float]
    step: float
    marked: Point
    near: float
    """How much less than the best is as good."""

    @property
    def best(self) -> Point:
        return max(self.values, key=lambda point: self.values[point])


def draw(panels: Sequence[Panel], corners: Sequence[str]) -> str:
    """All panels as one picture; ``corners`` name the three shares: top, left, right."""
    columns = min(_COLUMNS, len(panels))
    rows = math.ceil(len(panels) / columns)
    width, height = columns * _WIDTH, rows * _HEIGHT
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{width:g}" height="{height:g}" '
        f'viewBox="0 0 {width:g} {height:g}" font-family="sans-serif" font-size="12" fill="{_INK}">',
        f'<rect width="{width:g}" height="{height:g}" fill="{_PAPER}"/>',
    ]
    for number, panel in enumerate(panels):
        x, y = (number % columns) * _WIDTH, (number // columns) * _HEIGHT
        parts += [f'<g transform="translate({x:g} {y:g})">', *_panel(panel, corners), "</g>"]
    return "\n".join([*parts, "</svg>", ""])


def colour(share: float) -> str:
    """The colour of a value between the lowest, 0, and the highest, 1."""
    place = min(max(share, 0.0), 1.0) * (len(_STOPS) - 1)
    low = min(int(place), len(_STOPS) - 2)
    mixed = (round(a + (b - a) * (place - low)) for a, b in zip(_STOPS[low], _STOPS[low + 1], strict=True))
    return "#" + "".join(f"{part:02x}" for part in mixed)


def _panel(panel: Panel, corners: Sequence[str]) -> list[str]:
    lowest, highest = min(panel.values.values()), max(panel.values.values())
    spread = highest - lowest or 1.0
    parts = [_text(_WIDTH / 2, 20, panel.title, "middle", bold=True)]
    radius = _SIDE * panel.step / math.sqrt(3)
    good = []
    for point, value in panel.values.items():
        hexagon = _hexagon(*_place(point), radius)
        parts.append(
            f'<polygon points="{hexagon}" fill="{colour((value - lowest) / spread)}">'
            f"<title>{_shares(point)}: {value:.4f}</title></polygon>"
        )
        if value >= highest - panel.near:
            good.append(
                f'<polygon points="{_hexagon(*_place(point), radius * 0.8)}" fill="none" '
                'stroke="#000000" stroke-width="0.7"/>'
            )
    parts += good
    parts += _cross(*_place(panel.best))
    parts.append(_ring(*_place(panel.marked)))
    top, left, right = (_place(point) for point in ((1.0, 0.0, 0.0), (0.0, 1.0, 0.0), (0.0, 0.0, 1.0)))
    parts.append(_text(top[0], top[1] - 16, corners[0], "middle"))
    parts.append(_text(left[0], left[1] + 26, corners[1], "middle"))
    parts.append(_text(right[0], right[1] + 26, corners[2], "middle"))
    at = panel.values.get(panel.marked)
    marked = f"○ {_shares(panel.marked)}" + (f": {at:.3f}" if at is not None else "")
    caption = f"× best {_shares(panel.best)}: {highest:.3f}   {marked}"
    parts.append(_text(_WIDTH / 2, _HEIGHT - 18, caption, "middle"))
    return [*parts, *_legend(lowest, highest)]


def _legend(lowest: float, highest: float) -> list[str]:
    x, y, width, height = 14.0, 34.0, 9.0, 14.0
    steps = 8
    parts = [
        f'<rect x="{x:g}" y="{y + i * height:g}" width="{width:g}" height="{height + 0.5:g}" '
        f'fill="{colour(1 - i / (steps - 1))}"/>'
        for i in range(steps)
    ]
    parts.append(_text(x + width + 4, y + 10, f"{highest:.3f}", "start"))
    parts.append(_text(x + width + 4, y + steps * height, f"{lowest:.3f}", "start"))
    return parts


def _place(point: Point) -> tuple[float, float]:
    """Where shares lie in a panel: the first is the top, the second the left, the third the right."""
    top, _, right = point
    return _LEFT + _SIDE * (right + top / 2), _TOP + _SIDE * math.sqrt(3) / 2 * (1 - top)


def _hexagon(x: float, y: float, radius: float) -> str:
    corners = (math.pi * (1 / 6 + i / 3) for i in range(6))
    return " ".join(f"{x + radius * math.cos(a):.1f},{y + radius * math.sin(a):.1f}" for a in corners)


def _cross(x: float, y: float, size: float = 5.0) -> list[str]:
    return [
        f'<line x1="{x - size:.1f}" y1="{y - slope * size:.1f}" x2="{x + size:.1f}" '
        f'y2="{y + slope * size:.1f}" stroke="#d00000" stroke-width="2"/>'
        for slope in (1, -1)
    ]


def _ring(x: float, y: float) -> str:
    return f'<circle cx="{x:.1f}" cy="{y:.1f}" r="6" fill="none" stroke="#d00000" stroke-width="2"/>'


def _text(x: float, y: float, text: str, anchor: str, *, bold: bool = False) -> str:
    weight = ' font-weight="bold"' if bold else ""
    return f'<text x="{x:g}" y="{y:g}" text-anchor="{anchor}"{weight}>{escape(text)}</text>'


def _shares(point: Point) -> str:
    return " / ".join(f"{share:.2f}".removeprefix("0") for share in point)
