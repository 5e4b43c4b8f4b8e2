"""A plot of a training log, as SVG written by hand."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

WIDTH, HEIGHT, LEFT, TOP = 640, 150, 60, 24


def plot(rows: Sequence[dict[str, Any]], path: Path) -> None:
    """Draws the loss and each held-out measure of a log over its steps, one panel below the other."""
    curves: dict[str, list[tuple[int, float]]] = {}
    for row in rows:
        values = {"loss": row["loss"]} if "loss" in row else {f"held {k}": v for k, v in row.get("held", {}).items()}
        for name, value in values.items():
            curves.setdefault(name, []).append((row["step"], value))
    panels = [_panel(name, points, i) for i, (name, points) in enumerate(curves.items())]
    height = len(panels) * (HEIGHT + 2 * TOP)
    path.write_text(
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{WIDTH + LEFT + 20}" height="{height}"'
        f' font-family="sans-serif" font-size="12">\n<rect width="100%" height="100%" fill="white"/>\n'
        + "\n".join(panels)
        + "\n</svg>\n",
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
            f'<text x="{LEFT}" y="{top - 8}">{name}, {last} steps</text>',
            f'<rect x="{LEFT}" y="{top}" width="{WIDTH}" height="{HEIGHT}" fill="none" stroke="#bbb"/>',
            f'<text x="{LEFT - 4}" y="{top + 10}" text-anchor="end">{high:.4g}</text>',
            f'<text x="{LEFT - 4}" y="{top + HEIGHT}" text-anchor="end">{low:.4g}</text>',
            f'<polyline points="{line}" fill="none" stroke="#1860a8"/>',
        )
    )
