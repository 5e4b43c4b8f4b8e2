"""Scores a run with trec_eval, through pytrec_eval, or checks the values that waymark eval wrote for it.

score.py QRELS RUN              prints a line for each query that the run has
score.py --check TSV QRELS RUN  compares such lines, of a run that ranks every query judged
"""

from __future__ import annotations

import argparse
import csv
import sys
from pathlib import Path

import pytrec_eval

# Waymark's names and trec_eval's.
NAMES = {
    "nDCG@10": "ndcg_cut_10",
    "recall@10": "recall_10",
    "recall@100": "recall_100",
    "MRR": "recip_rank",
    "MAP": "map",
}
MEASURES = {"ndcg_cut.10", "recall.10,100", "recip_rank", "map"}
TOLERANCE = 1e-6


def qrels(path: Path) -> dict[str, dict[str, int]]:
    """Judgements in TREC's or in BEIR's form."""
    out: dict[str, dict[str, int]] = {}
    lines = path.read_text(encoding="utf-8").splitlines()
    beir = lines[0].startswith("query-id")
    for line in lines[beir:]:
        fields = line.split()
        query, document, gain = fields if beir else (fields[0], fields[2], fields[3])
        out.setdefault(query, {})[document] = int(gain)
    return out


def run(path: Path) -> dict[str, dict[str, float]]:
    out: dict[str, dict[str, float]] = {}
    for line in path.read_text(encoding="utf-8").splitlines():
        query, _, document, _, score, _ = line.split()
        out.setdefault(query, {})[document] = float(score)
    return out


def score(judged: dict[str, dict[str, int]], ranked: dict[str, dict[str, float]]) -> dict[str, list[float]]:
    """The values of each query that the run has, in the order of NAMES."""
    found = pytrec_eval.RelevanceEvaluator(judged, MEASURES).evaluate(ranked)
    return {query: [values[name] for name in NAMES.values()] for query, values in sorted(found.items())}


def check(path: Path, truth: dict[str, list[float]]) -> None:
    """Compares with a file of waymark's; queries that the run lacks must count nothing there."""
    largest, seen = dict.fromkeys(NAMES, 0.0), 0
    with path.open(encoding="utf-8", newline="") as file:
        for row in csv.DictReader(file, delimiter="\t", quoting=csv.QUOTE_NONE):
            values = truth.get(row["query"], [0.0] * len(NAMES))
            seen += row["query"] in truth
            for name, value in zip(NAMES, values):
                largest[name] = max(largest[name], abs(float(row[name]) - value))
    worst = ", ".join(f"{name} {value:.1e}" for name, value in largest.items())
    print(f"{path.parent.name}/{path.stem}: {seen} queries, largest difference: {worst}")
    if seen != len(truth) or max(largest.values()) > TOLERANCE:
        sys.exit(f"{path} and trec_eval differ: want the same {len(truth)} queries and no more than {TOLERANCE}")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--check", type=Path, metavar="TSV")
    parser.add_argument("qrels", type=Path)
    parser.add_argument("run", type=Path)
    options = parser.parse_args()
    truth = score(qrels(options.qrels), run(options.run))
    if options.check:
        check(options.check, truth)
        return
    print("query", *NAMES, sep="\t")
    for query, values in truth.items():
        print(query, *(f"{value:.9f}" for value in values), sep="\t")


if __name__ == "__main__":
    main()
