"""Makes the tables and plots of the documentation from the lines that evaluate adds for each question."""

from __future__ import annotations

import dataclasses
import itertools
import json
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

import numpy

from .evaluate import COLUMNS
from .plot import chart
from .settings import fill, toml

NDCG = "nDCG@10"
"""The column of document nDCG@10 that a row asks for: doc, max or mix."""
RESAMPLES, SEED = 1000, 0
BYTES = 4  # of a token, where sets do not name lengths

Line = dict[str, Any]


@dataclasses.dataclass(frozen=True)
class Run:
    """What a label stands for: the options that evaluate ran with, and what ranks documents."""

    model: str
    mode: str = "landmark"
    window: int = 0
    overlap: int = 0
    by: str = "doc"

    def __post_init__(self) -> None:
        if self.by not in COLUMNS[:3]:
            raise ValueError(f"by is {self.by!r}, want one of {', '.join(COLUMNS[:3])}")

    def column(self, name: str) -> str:
        """The column of a line that holds a column of a table: chunks too are found by both levels if documents are."""
        if name == NDCG:
            return self.by
        return f"mix {name}" if self.by == "mix" and name.startswith("hit") else name


@dataclasses.dataclass(frozen=True, kw_only=True)
class View:
    """Which labels are compared, on which questions, by which columns."""

    title: str
    rows: tuple[str, ...]
    sets: tuple[str, ...]
    columns: tuple[str, ...] = (NDCG,)
    longest: int = 0
    """Of sets with nominal lengths, only those up to so many tokens; 0 for all."""

    def __post_init__(self) -> None:
        if not (self.rows and self.sets and self.columns):
            raise ValueError(f"{self.title}: rows, sets or columns are empty")
        for name in self.columns:
            if name not in (NDCG, *COLUMNS):
                raise ValueError(f"{self.title}: no column {name!r}, want some of {', '.join((NDCG, *COLUMNS))}")


@dataclasses.dataclass(frozen=True, kw_only=True)
class Table(View):
    against: str = ""
    """A label to give the differences to."""


@dataclasses.dataclass(frozen=True, kw_only=True)
class Plot(View):
    file: str
    over: str
    """length, of documents, or position, of answers in them."""
    buckets: int = 8
    """Of lengths, equally full, where sets do not name nominal ones."""

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.over not in ("length", "position"):
            raise ValueError(f"{self.title}: over is {self.over!r}, want length or position")


@dataclasses.dataclass(frozen=True)
class Group:
    """The questions of a set, or of one nominal length of it."""

    set: str
    """What to call it."""
    length: int
    values: dict[str, numpy.ndarray]
    """Of each label, [questions, columns]."""
    sizes: numpy.ndarray
    """Bytes of the questions' documents; not a number where no line says."""
    starts: numpy.ndarray
    """The first bytes of their answers, likewise."""


class Lines:
    """The lines of files, by what was run on which set, and by question."""

    def __init__(self, files: Iterable[Path]) -> None:
        self._found: dict[tuple[str, str, int, int, str], dict[str, Line]] = {}
        self._sizes: dict[tuple[str, str], int] = {}
        seen: dict[tuple[Any, ...], str] = {}
        for path in files:
            with path.open(encoding="utf-8") as file:
                for number, text in enumerate(file, 1):
                    self._add(text, f"{path}:{number}", seen)

    def _add(self, text: str, where: str, seen: dict[tuple[Any, ...], str]) -> None:
        try:
            line = json.loads(text)
            key = tuple(line[name] for name in ("model", "mode", "window", "overlap", "set"))
            query = line["query"]
        except json.JSONDecodeError as error:
            raise ValueError(f"{where}: {error}") from error
        except KeyError as error:
            raise ValueError(f"{where}: no {error}") from error
        if (key, query) in seen:
            raise ValueError(f"{where}: {_name(key)}, question {query}: already at {seen[key, query]}")
        seen[key, query] = where
        self._found.setdefault(key, {})[query] = line
        if "bytes" in line:
            self._sizes[key[-1], query] = max(line["bytes"], self._sizes.get((key[-1], query), 0))

    def of(self, run: Run, name: str, longest: int) -> dict[str, Line]:
        """The lines of a run on a set, by question."""
        key = (run.model, run.mode, run.window, run.overlap, name)
        lines = self._found.get(key, {})
        if longest:
            lines = {query: line for query, line in lines.items() if line["nominal"] <= longest}
        if not lines:
            raise ValueError(f"no lines of {_name(key)}")
        return lines

    def size(self, name: str, query: str) -> float:
        """The bytes of a question's document, as the run that read most of it says; some read only its beginning."""
        return self._sizes.get((name, query), numpy.nan)


@dataclasses.dataclass(frozen=True)
class Report:
    """A report's file."""

    rows: dict[str, Run]
    names: dict[str, str]
    """What to call sets, if not what their folders are called."""
    tables: list[Table]
    plots: list[Plot]

    @staticmethod
    def read(path: Path) -> Report:
        """Reads a file; keys that nothing reads are refused."""
        values = toml(path)
        if unknown := values.keys() - {field.name for field in dataclasses.fields(Report)}:
            raise ValueError(f"{path}: unknown key {min(unknown)!r}, want rows, names, tables or plots")
        return Report(
            {label: fill(Run, run, f"{path}: {label}") for label, run in values.get("rows", {}).items()},
            values.get("names", {}),
            [fill(Table, table, f"{path}: table {i}") for i, table in enumerate(values.get("tables", []), 1)],
            [fill(Plot, plot, f"{path}: plot {i}") for i, plot in enumerate(values.get("plots", []), 1)],
        )

    def run(self, label: str) -> Run:
        if label not in self.rows:
            raise ValueError(f"no row {label!r}, want some of {', '.join(map(repr, self.rows))}")
        return self.rows[label]


def report(config: Path, files: Sequence[Path], folder: Path | None, against: str | None) -> None:
    """Prints the tables of a report's file and, given a folder, draws its plots there."""
    made, lines = Report.read(config), Lines(files)
    for table in made.tables:
        base = table.against if against is None else against
        labels = [*table.rows, base] if base and base not in table.rows else table.rows
        found = groups(made, lines, table, labels)
        print(f"### {table.title}\n\n{means(table, found)}\n")
        if base:
            print(f"Difference to {base}, 95% interval (paired bootstrap of questions), bold if that leaves out 0:\n")
            print(f"{differences(table, found, base)}\n")
    if folder:
        folder.mkdir(parents=True, exist_ok=True)
        for plot in made.plots:
            draw(plot, groups(made, lines, plot, plot.rows), folder)


def groups(made: Report, lines: Lines, view: View, labels: Sequence[str]) -> list[Group]:
    """The questions of a view, set by set and length by length; refused unless all labels have the same."""
    runs = {label: made.run(label) for label in labels}
    out = []
    for name in view.sets:
        found = {label: lines.of(run, name, view.longest) for label, run in runs.items()}
        first = found[labels[0]]
        for label, other in found.items():
            if odd := first.keys() ^ other.keys():
                raise ValueError(
                    f"{view.title}: {name}: {labels[0]} has {len(first)} questions and {label} {len(other)},"
                    f" only one of them has {min(odd)}"
                )
        for length in sorted({line["nominal"] for line in first.values()}):
            queries = [query for query, line in first.items() if line["nominal"] == length]
            out.append(
                Group(
                    made.names.get(name, name),
                    length,
                    {label: _values(run, view, [found[label][q] for q in queries]) for label, run in runs.items()},
                    numpy.array([lines.size(name, query) for query in queries]),
                    numpy.array([first[query].get("start", numpy.nan) for query in queries]),
                )
            )
    return out


def means(table: Table, found: Sequence[Group]) -> str:
    """A table in Markdown: a row for each label, the columns for each group, and their means over groups."""
    values = {label: _with_mean([group.values[label].mean(axis=0) for group in found]) for label in table.rows}
    return _markdown(table, found, {label: [_number(v) for v in row.flat] for label, row in values.items()})


def differences(table: Table, found: Sequence[Group], base: str) -> str:
    """The same table less a row's values, with intervals of a paired bootstrap, bold where they leave out 0."""
    rows = {}
    for label in table.rows:
        if label != base:
            paired = [group.values[label] - group.values[base] for group in found]
            mean = _with_mean([one.mean(axis=0) for one in paired])
            low, high = intervals(paired)
            rows[label] = [_difference(*cell) for cell in zip(mean.flat, low.flat, high.flat, strict=True)]
    return _markdown(table, found, rows)


def intervals(paired: Sequence[numpy.ndarray]) -> tuple[numpy.ndarray, numpy.ndarray]:
    """The 95% intervals of the means of each group's values, [questions, columns], and of the means over groups.

    The questions of each group are drawn anew, with replacement, and all their columns with them.
    """
    random = numpy.random.default_rng(SEED)
    drawn = []
    for one in paired:
        times = random.multinomial(len(one), numpy.full(len(one), 1 / len(one)), size=RESAMPLES)
        drawn.append(times @ one / len(one))
    low, high = numpy.percentile(_with_mean(drawn), (2.5, 97.5), axis=1)
    return low, high


def draw(plot: Plot, found: Sequence[Group], folder: Path) -> None:
    """Draws a plot: the mean of each column in each bucket of questions, all sets together."""
    axis, names, buckets = _positions(found) if plot.over == "position" else _lengths(found, plot.buckets)
    full = [number for number in range(len(names)) if (buckets == number).any()]
    if not full:
        raise ValueError(f"{plot.title}: the lines do not say the {plot.over}")
    panels: dict[str, dict[str, Sequence[float]]] = {name: {} for name in plot.columns}
    for label in plot.rows:
        values = numpy.concatenate([group.values[label] for group in found])
        for i, name in enumerate(plot.columns):
            panels[name][label] = [float(values[buckets == number, i].mean()) for number in full]
    ticks = [(names[number], f"n = {(buckets == number).sum()}") for number in full]
    sets = ", ".join(dict.fromkeys(group.set for group in found))
    chart(folder / plot.file, (plot.title, sets), axis, ticks, panels)


def _positions(found: Sequence[Group]) -> tuple[str, list[str], numpy.ndarray]:
    """An axis of tenths of documents, their names, and which one each question's answer begins in, -1 if unknown."""
    share = numpy.concatenate([group.starts / group.sizes for group in found])
    names = [f"{tenth}–{tenth + 10}%" for tenth in range(0, 100, 10)]
    return "where the answer begins in its document", names, numpy.where(share < 1, share * 10 // 1, -1)


def _lengths(found: Sequence[Group], count: int) -> tuple[str, list[str], numpy.ndarray]:
    """An axis of lengths, their names, and which one each question's document has, -1 if unknown.

    Nominal lengths where all sets name them; otherwise ranges that have about as many questions each.
    """
    if all(group.length for group in found):
        nominal = numpy.concatenate([numpy.full(len(group.sizes), group.length) for group in found])
        lengths, buckets = numpy.unique(nominal, return_inverse=True)
        return "length of the document, tokens", [str(length) for length in lengths], buckets
    tokens = numpy.concatenate([group.sizes for group in found]) / BYTES
    known = tokens[~numpy.isnan(tokens)]
    edges = numpy.unique(numpy.quantile(known, numpy.linspace(0, 1, count + 1))) if known.size else known
    names = [f"{low / 1000:.1f}–{high / 1000:.1f}k" for low, high in itertools.pairwise(edges)] or ["all"]
    buckets = numpy.where(numpy.isnan(tokens), -1, numpy.searchsorted(edges[1:-1], tokens, side="right"))
    return f"length of the document, tokens of {BYTES} bytes", names, buckets


def _name(key: tuple[str, str, int, int, str]) -> str:
    model, mode, window, overlap, name = key
    return f"model {model}, mode {mode}, window {window}, overlap {overlap}, set {name}"


def _values(run: Run, view: View, lines: Sequence[Line]) -> numpy.ndarray:
    columns = [run.column(name) for name in view.columns]
    try:
        return numpy.array([[line[column] for column in columns] for line in lines])
    except KeyError as error:
        raise ValueError(f"{view.title}: {lines[0]['set']} has no column {error}") from error


def _with_mean(values: Sequence[numpy.ndarray]) -> numpy.ndarray:
    """Groups' values one after the other and, if there are several groups, their mean, in which all weigh the same."""
    stacked = numpy.stack(values)
    return numpy.concatenate([stacked, stacked.mean(axis=0, keepdims=True)]) if len(values) > 1 else stacked


def _markdown(table: Table, found: Sequence[Group], rows: dict[str, list[str]]) -> str:
    heads = [_head(table, group) for group in found] + ["mean"] * (len(found) > 1)
    several = len(table.columns) > 1
    names = [f"{head} {column}" if several else head for head in heads for column in table.columns]
    first = "" if several else table.columns[0]
    lines = [[first, *names], ["---"] * (len(names) + 1), *([label, *cells] for label, cells in rows.items())]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


def _head(table: Table, group: Group) -> str:
    """What heads a group's columns: the set and its nominal length, or the length alone in a table of one set."""
    if not group.length:
        return group.set
    return f"{group.set} {group.length}" if len(table.sets) > 1 else str(group.length)


def _number(value: float, sign: str = "") -> str:
    return f"{value:{sign}.3f}".replace("0.", ".", 1)


def _difference(mean: float, low: float, high: float) -> str:
    cell, *ends = (_number(value, "+") for value in (mean, low, high))
    return f"**{cell}** ({' to '.join(ends)})" if low > 0 or high < 0 else f"{cell} ({' to '.join(ends)})"
