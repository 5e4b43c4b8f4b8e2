#!/usr/bin/env python3
"""Is system B better than system A, or was it luck?

Reads two files with one "question<TAB>value" pair on each line, for example
the nDCG@10 of every question, and resamples the *questions* with replacement.
The questions of both systems are drawn together, because a hard question is
hard for both; drawing them separately would throw that knowledge away and make
every interval wider than it has to be.

    python3 paired_bootstrap.py a.tsv b.tsv

Needs nothing outside the standard library.
"""

import random
import sys

ROUNDS = 10_000
# A fixed seed: the interval printed in a report must come out again next year.
SEED = 20_330_112


def read(path):
    """Return {question: value}; a question that occurs twice is an error."""
    values = {}
    with open(path, encoding="utf-8") as lines:
        for number, line in enumerate(lines, 1):
            if not line.strip():
                continue
            question, _, value = line.rstrip("\n").partition("\t")
            if question in values:
                raise SystemExit(f"{path}:{number}: {question!r} occurs twice")
            values[question] = float(value)
    return values


def interval(differences, rounds=ROUNDS, seed=SEED):
    """Mean difference and its 95 % percentile interval."""
    draw = random.Random(seed)
    n = len(differences)
    means = sorted(
        sum(draw.choice(differences) for _ in range(n)) / n for _ in range(rounds)
    )
    # 2.5 % are cut off on each side.
    low, high = means[int(0.025 * rounds)], means[int(0.975 * rounds) - 1]
    return sum(differences) / n, low, high


def main(argv):
    if len(argv) != 3:
        raise SystemExit(__doc__)
    a, b = read(argv[1]), read(argv[2])
    # Comparing different question sets is the commonest way to fool oneself,
    # so a question that is missing on one side stops the program.
    if a.keys() != b.keys():
        missing = sorted(a.keys() ^ b.keys())
        raise SystemExit(f"{len(missing)} questions are in one file only, e.g. {missing[0]!r}")
    differences = [b[q] - a[q] for q in sorted(a)]
    mean, low, high = interval(differences)
    better = sum(d > 0 for d in differences)
    worse = sum(d < 0 for d in differences)
    print(f"questions {len(differences)}: {better} better, {worse} worse")
    print(f"difference {mean:+.4f}, 95 % interval {low:+.4f} .. {high:+.4f}")
    print("the interval excludes zero" if low > 0 or high < 0 else "the interval includes zero")


if __name__ == "__main__":
    main(sys.argv)
