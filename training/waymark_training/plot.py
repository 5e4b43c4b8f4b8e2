"""Plots as SVG written by hand: a training log, and measures of several models."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any
from xml.sax.saxutils import escape

WIDTH, HEIGHT, LEFT, TOP = 640, 150, 60, 24
TALL, LINE = 220, 18  # a chart's panel, a line of text

# A page of its own keeps a plot readable wherever it is shown; it is dark where the reader prefers that.
STYLE = (
    "text{fill:#1f2328}.page{fill:#fff}.axis{stroke:#d1d9e0;fill:none}"
    "@media(prefers-color-scheme:dark){text{fill:#e6edf3}.page{fill:#0d1117}.axis{stroke:#3d444d}}"
)
# Of middling lightness, to stand out from either page.
COLOURS = ("#2f7ed8", "#e0731d", "#2a9d5c", "#c94f9b", "#8a6fdf", "#b58a1b", "#1fa3b5", "#d9483b")
DASHES = ("", "7 3", "2 3")


def plot(rows: Sequence[dict[str, Any]], path: Path) -> None:
    """Draws the loss and each held-out measure of a log over its steps, one panel below the other."""
    curves: dict[str, list[tuple[int, float]]] = {}
    for row in rows:
        values = {"loss": row["loss"]} if "loss" in row else {f"held {k}": v for k, v in row.get("held", {}).items()}
        for name, value in values.items():
            curves.setdefault(name, []).append((row["step"], value))
    _write(path, len(curves) * (HEIGHT + 2 * TOP), [_panel(*curve, i) for i, curve in enumerate(curves.items())])


def chart(
    path: Path,
    title: tuple[str, str],
    axis: str,
    ticks: Sequence[Sequence[str]],
    panels: dict[str, dict[str, Sequence[float]]],
) -> None:
    """Draws a panel for each measure, with a line for each label over the ticks.

    A title has a second line, in smaller type; a tick may have several.
    """
    high = TALL + (1 + max(len(tick) for tick in ticks)) * LINE + 2 * TOP
    top = 2 * TOP + 2 * LINE
    body = [
        f'<text x="{LEFT}" y="{TOP}" font-size="15" font-weight="bold">{escape(title[0])}</text>',
        f'<text x="{LEFT}" y="{TOP + LINE}">{escape(title[1])}</text>',
    ]
    for i, (measure, lines) in enumerate(panels.items()):
        body += _lines(measure, lines, axis, ticks, top + i * high)
    labels = list(next(iter(panels.values())))
    top += len(panels) * high - LINE
    for i, label in enumerate(labels):
        y = top + i * LINE
        body += [
            f'<line x1="{LEFT}" y1="{y - 4}" x2="{LEFT + 36}" y2="{y - 4}" {_stroke(i)}/>',
            f'<circle cx="{LEFT + 18}" cy="{y - 4}" r="3" fill="{_colour(i)}"/>',
            f'<text x="{LEFT + 44}" y="{y}">{escape(label)}</text>',
        ]
    _write(path, top + len(labels) * LINE, body)


def _write(path: Path, height: int, body: Iterable[str]) -> None:
    width = WIDTH + LEFT + 20
    path.write_text(
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="{height}" viewBox="0 0 {width} {height}"'
        f' font-family="sans-serif" font-size="12">\n<style>{STYLE}</style>\n'
        '<rect class="page" width="100%" height="100%"/>\n' + "\n".join(body) + "\n</svg>\n",
        encoding="utf-8",
    )


def _panel(name: str, points: Sequence[tuple[int, float]], number: int) -> str:
    top = TOP + number * (HEIGHT + 2 * TOP)
    low, high = min(y for _, y in points), max(y for _, y in points)
    last = max(max(x for x, _ in points), 1)

    def at(x: float, y: float) -> str:
        return f"{LEFT + WIDTH * x / last:.1f},{top + HEIGHT * (high - y) / ((high - low) or 1):.1f}"

    line = " ".join(at(x, y) for x, y in points)
    return "\n".join(
        (
            f'<text x="{LEFT}" y="{top - 8}">{escape(name)}, {last} steps</text>',
            f'<rect class="axis" x="{LEFT}" y="{top}" width="{WIDTH}" height="{HEIGHT}"/>',
            f'<text x="{LEFT - 4}" y="{top + 10}" text-anchor="end">{high:.4g}</text>',
            f'<text x="{LEFT - 4}" y="{top + HEIGHT}" text-anchor="end">{low:.4g}</text>',
            f'<polyline points="{line}" fill="none" stroke="{_colour(0)}"/>',
        )
    )


def _lines(
    measure: str, lines: dict[str, Sequence[float]], axis: str, ticks: Sequence[Sequence[str]], top: int
) -> list[str]:
    """One panel of a chart: a grid with numbers, and the lines over it."""
    levels = _levels([y for line in lines.values() for y in line])
    low, high = levels[0], levels[-1]

    def x(number: int) -> float:
        return LEFT + WIDTH * (number + 0.5) / len(ticks)

    def y(value: float) -> float:
        return top + TALL * (high - value) / (high - low)

    body = [f'<text x="{LEFT}" y="{top - 8}" font-weight="bold">{escape(measure)}</text>']
    for level in levels:
        body += [
            f'<line class="axis" x1="{LEFT}" y1="{y(level):.1f}" x2="{LEFT + WIDTH}" y2="{y(level):.1f}"/>',
            f'<text x="{LEFT - 6}" y="{y(level) + 4:.1f}" text-anchor="end">{level:.2f}</text>',
        ]
    for i, tick in enumerate(ticks):
        for j, text in enumerate(tick):
            height = top + TALL + (j + 1) * LINE
            body.append(f'<text x="{x(i):.1f}" y="{height}" text-anchor="middle">{escape(text)}</text>')
    height = top + TALL + (len(max(ticks, key=len)) + 1) * LINE + 4
    body.append(f'<text x="{LEFT + WIDTH / 2}" y="{height}" text-anchor="middle">{escape(axis)}</text>')
    for i, line in enumerate(lines.values()):
        points = [(f"{x(number):.1f}", f"{y(value):.1f}") for number, value in enumerate(line)]
        body.append(f'<polyline points="{" ".join(",".join(p) for p in points)}" fill="none" {_stroke(i)}/>')
        body += [f'<circle cx="{left}" cy="{down}" r="3" fill="{_colour(i)}"/>' for left, down in points]
    return body


def _levels(values: Sequence[float]) -> list[float]:
    """Round numbers, about five, from the least value or below to the largest or above; values are shares of 1."""
    spread = max(max(values) - min(values), 0.02)
    step = next(step for step in (0.01, 0.02, 0.05, 0.1, 0.2) if spread / step <= 5)
    last = math.ceil(max(values) / step - 1e-9)
    first = max(min(math.floor(min(values) / step + 1e-9), last - 1), 0)
    return [round(number * step, 2) for number in range(first, max(last, first + 1) + 1)]


def _colour(number: int) -> str:
    return COLOURS[number % len(COLOURS)]


def _stroke(number: int) -> str:
    """How a line is drawn; dashes too tell lines apart, for those who see few colours."""
    return f'stroke="{_colour(number)}" stroke-width="2" stroke-dasharray="{DASHES[number % len(DASHES)]}"'
