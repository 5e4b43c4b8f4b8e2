"""Tables and plots of a few lines made by hand, with what they have to say exactly."""

import json
from xml.etree import ElementTree

import numpy
import pytest

from waymark_training.__main__ import main
from waymark_training.plot import _levels
from waymark_training.report import intervals

SVG = "{http://www.w3.org/2000/svg}"
ROWS = """
[rows]
ours = { model = "w", by = "max" }
"ours, doc" = { model = "w" }
base = { model = "b", mode = "late", window = 256, overlap = 64, by = "mix" }
short = { model = "b", mode = "truncated" }
[names]
plain = "Plain set"
"""
SPANS = """
[[tables]]
title = "Spans"
rows = ["ours", "base"]
sets = ["tales", "news"]
columns = ["hit@1", "nDCG@10"]
"""
NEEDLE = """
[[tables]]
title = "Needle"
rows = ["ours"]
sets = ["needle"]
"""
PLOT = """
[[plots]]
title = "A < B"
file = "plot.svg"
rows = ["ours", "short"]
columns = ["hit@1", "nDCG@10"]
"""


def line(name, query, ndcg, hit=None, nominal=0, model="w", mode="landmark", window=0, overlap=0, **more):
    """A question's line; max is what is given, doc half of it and mix a quarter."""
    scores = {"doc": ndcg / 2, "max": ndcg, "mix": ndcg / 4}
    hits = {} if hit is None else {"hit@1": hit, "hit@5": 1.0, "mix hit@1": hit / 2, "mix hit@5": 1.0}
    setting = {"model": model, "mode": mode, "window": window, "overlap": overlap, "set": name}
    return setting | {"query": query, "nominal": nominal} | more | scores | hits


def late(*arguments, **more):
    return line(*arguments, model="b", mode="late", window=256, overlap=64, **more)


def tales():
    """Ours finds all answers of tales, the base one of two; in news both find all."""
    return [
        line("tales", "q1", 1.0, 1.0),
        line("tales", "q2", 0.5, 1.0),
        late("tales", "q2", 0.8, 0.0),
        late("tales", "q1", 0.4, 1.0),
        line("news", "q1", 0.25, 1.0),
        late("news", "q1", 1.0, 1.0),
    ]


@pytest.fixture
def report(tmp_path, capsys):
    """Runs the command; gives what it printed, or its error."""

    def run(lines, config, *more):
        (tmp_path / "report.toml").write_text(ROWS + config)
        (tmp_path / "rows.jsonl").write_text("".join(json.dumps(one) + "\n" for one in lines))
        flags = ["--config", str(tmp_path / "report.toml"), "--plots", str(tmp_path / "plots")]
        code = main(["report", *flags, *more, str(tmp_path / "rows.jsonl")])
        printed = capsys.readouterr()
        assert code == bool(printed.err)
        return printed.err.strip() or printed.out.splitlines()

    return run


def texts(path):
    return [element.text for element in ElementTree.parse(path).getroot().iter(f"{SVG}text")]


def heights(path):
    """The vertical places of the points of each line of a plot."""
    lines = ElementTree.parse(path).getroot().findall(f"{SVG}polyline")
    return [[float(point.split(",")[1]) for point in line.get("points").split()] for line in lines]


def test_columns_of_each_set_and_their_mean(report):
    assert report(tales(), SPANS) == [
        "### Spans",
        "",
        "|  | tales hit@1 | tales nDCG@10 | news hit@1 | news nDCG@10 | mean hit@1 | mean nDCG@10 |",
        "| --- | --- | --- | --- | --- | --- | --- |",
        "| ours | 1.000 | .750 | 1.000 | .250 | 1.000 | .500 |",
        "| base | .250 | .150 | .500 | .250 | .375 | .200 |",  # by both levels, chunks too
        "",
    ]


def test_a_row_ranks_documents_as_it_says(report):
    table = '[[tables]]\ntitle = "Documents"\nrows = ["ours", "ours, doc"]\nsets = ["plain"]'
    assert report([line("plain", "q1", 1.0), line("plain", "q2", 0.5)], table)[2:-1] == [
        "| nDCG@10 | Plain set |",
        "| --- | --- |",
        "| ours | .750 |",
        "| ours, doc | .375 |",
    ]


def test_a_column_of_each_nominal_length(report):
    lines = [
        line("needle", f"{length}-{i}", score, nominal=length)
        for length, scores in {1024: (0.0, 0.5), 256: (1.0, 1.0)}.items()
        for i, score in enumerate(scores)
    ]
    assert report(lines, NEEDLE)[2:5:2] == ["| nDCG@10 | 256 | 1024 | mean |", "| ours | 1.000 | .250 | .625 |"]
    assert report(lines, NEEDLE + "longest = 512")[2:5:2] == ["| nDCG@10 | 256 |", "| ours | 1.000 |"]


def test_differences_to_a_row(report):
    lines = [line("plain", f"q{i}", 1.0) for i in range(8)] + [late("plain", f"q{i}", 1.0) for i in range(8)]
    lines += [line("tales", "q", 0.25)] + [late("tales", "q", 1.0)]
    table = '[[tables]]\ntitle = "Documents"\nrows = ["ours"]\nsets = ["plain", "tales"]'
    alone, told = report(lines, table), report(lines, table + '\nagainst = "base"')
    assert told[: len(alone)] == alone
    assert told == report(lines, table, "--against", "base")
    assert told[-2] == "| ours | **+.750** (+.750 to +.750) | +.000 (+.000 to +.000) | **+.375** (+.375 to +.375) |"


def test_the_bootstrap():
    low, high = intervals([numpy.array([[1.0, 0.0], [1.0, 0.0]])])
    assert low.tolist() == high.tolist() == [[1.0, 0.0]]
    # Of two questions drawn anew, both are the first in a quarter of the draws, and so for the second.
    low, high = intervals([numpy.array([[1.0], [-1.0]])])
    assert low.tolist() == [[-1.0]] and high.tolist() == [[1.0]]
    # The standard deviation of a mean over 10,000 is 0.01: the interval is 1.96 of them either way.
    low, high = intervals([numpy.tile([[1.0], [-1.0]], (5000, 1))])
    assert low[0, 0] == pytest.approx(-0.0196, abs=0.002) and high[0, 0] == pytest.approx(0.0196, abs=0.002)
    # Sets are drawn independently, so their mean varies less than each.
    low, high = intervals([numpy.tile([[1.0], [-1.0]], (5000, 1))] * 2)
    assert high[2, 0] == pytest.approx(0.0196 / 2**0.5, abs=0.002)


@pytest.mark.parametrize(
    ("lines", "config", "error"),
    [
        (tales()[:3] + tales()[4:], SPANS, "Spans: tales: ours has 2 questions and base 1, only one of them has q1"),
        (tales()[:-1], SPANS, "no lines of model b, mode late, window 256, overlap 64, set news"),
        (tales() + tales()[:1], SPANS, "window 0, overlap 0, set tales, question q1: already at "),
        ([line("tales", "q", 1.0), late("tales", "q", 1.0)] + tales()[4:], SPANS, "tales has no column 'hit@1'"),
        ([{"model": "w"}], "", "rows.jsonl:1: no 'mode'"),
        ([], SPANS.replace("base", "bass"), "no row 'bass', want some of 'ours', 'ours, doc',"),
        ([], SPANS.replace("hit@1", "hit@2"), "Spans: no column 'hit@2', want some of nDCG@10, doc,"),
        ([], SPANS + "colour = 1", "table 1: "),
        ([], '[rows.new]\nmodel = "w"\nby = "min"', "new: by is 'min', want one of doc, max, mix"),
        ([], PLOT + 'sets = ["a"]\nover = "time"', "A < B: over is 'time', want length or position"),
        ([], PLOT + 'sets = []\nover = "length"', "A < B: rows, sets or columns are empty"),
        ([line("needle", "q", 1.0, nominal=256)], NEEDLE + "longest = 128", "no lines of model w, mode landmark,"),
        ([], "[[graphs]]", "unknown key 'graphs', want rows, names, tables or plots"),
    ],
)
def test_what_is_refused(report, lines, config, error):
    told = report(lines, config)
    assert error in told
    if "already" in error:
        assert "rows.jsonl:7: " in told and told.endswith("rows.jsonl:1")


def test_a_plot_by_position(report, tmp_path):
    """Sizes are those of the mode that reads whole documents; answers of unknown place are left out."""
    lines = [line("tales", f"q{i}", 1.0, float(i > 0), start=s, bytes=100) for i, s in enumerate((0, 5, 99))]
    lines += [line("tales", f"q{i}", 0.0, 0.0, model="b", mode="truncated", bytes=10) for i in range(3)]
    lines += [line("tales", "q3", 0.0, 0.0), line("tales", "q3", 0.0, 0.0, model="b", mode="truncated")]
    report(lines, PLOT + 'sets = ["tales"]\nover = "position"')
    path = tmp_path / "plots/plot.svg"
    hits, short_hits, ranks, short_ranks = heights(path)
    top, bottom = min(hits), max(short_hits)
    assert hits == [(top + bottom) / 2, top] and short_hits == [bottom, bottom]
    assert len(set(ranks)) == len(set(short_ranks)) == 1
    told = texts(path)
    assert told[:3] == ["A < B", "tales", "hit@1"] and told[-2:] == ["ours", "short"]
    assert [text for text in told if "%" in text or "n =" in text] == ["0–10%", "n = 2", "90–100%", "n = 1"] * 2


def test_a_plot_by_length(report, tmp_path):
    lines = [
        line("tales", f"q{i}", 1.0, 1.0, model=model, mode=mode, bytes=4000 * (i + 1))
        for model, mode in (("w", "landmark"), ("b", "truncated"))
        for i in range(4)
    ]
    report(lines, PLOT + 'sets = ["tales"]\nover = "length"\nbuckets = 2')
    told = texts(tmp_path / "plots/plot.svg")
    assert [text for text in told if "k" in text and "–" in text or "n =" in text] == [
        *("1.0–2.5k", "n = 2", "2.5–4.0k", "n = 2")
    ] * 2
    for one in lines:
        one["nominal"] = 512 if one["query"] == "q0" else 2048
    report(lines, PLOT + 'sets = ["tales"]\nover = "length"')
    told = texts(tmp_path / "plots/plot.svg")
    assert [text for text in told if text in ("512", "2048") or "n =" in text] == ["512", "n = 1", "2048", "n = 3"] * 2


def test_a_plot_of_what_no_line_says_is_refused(report):
    lines = [line("tales", "q", 1.0, 1.0), line("tales", "q", 1.0, 1.0, model="b", mode="truncated")]
    for over in ("length", "position"):
        told = report(lines, PLOT + f'sets = ["tales"]\nover = "{over}"')
        assert f"A < B: the lines do not say the {over}" in told


@pytest.mark.parametrize(
    ("values", "levels"),
    [
        ((0.0, 1.0), [0.0, 0.2, 0.4, 0.6, 0.8, 1.0]),
        ((0.93, 0.97), [0.93, 0.94, 0.95, 0.96, 0.97]),
        ((1.0, 1.0), [0.99, 1.0]),
        ((0.0, 0.0), [0.0, 0.01]),
        ((0.52, 0.71), [0.5, 0.55, 0.6, 0.65, 0.7, 0.75]),
    ],
)
def test_levels_are_round(values, levels):
    assert _levels(values) == levels
