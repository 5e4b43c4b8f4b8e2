"""Measures how fast Waymark's local store and its peers find the ten nearest of many vectors.

    python store.py --stores BINARY

prints Markdown tables. BINARY is what `go build` makes of ./stores. The vectors are random, of 384 numbers, and
have a mean in common as those of a text model do. Searches take turns, one at a time;
recall counts how many of the true ten come back, by products in 64 bits of the vectors as they
were before any store had them. A graph is searched as little as reaches the recall that is
asked for, or as much as is tried.
"""
import argparse
import os
import re
import statistics
import sys
import tempfile
from pathlib import Path

import numpy

import turns

HERE = Path(__file__).resolve().parent
OURS = "Waymark"
DIM, LIMIT = 384, 10
BREADTHS = (16, 32, 64, 128, 256, 512, 1024, 2048)


def main():
    ap = argparse.ArgumentParser(description="Measures how fast Waymark's local store and its peers find the nearest vectors.")
    ap.add_argument("--stores", type=Path, required=True, help="the program made of ./stores")
    ap.add_argument("--rows", type=int, default=100_000, help="vectors (default: 100000)")
    ap.add_argument("--queries", type=int, default=50, help="queries (default: 50)")
    ap.add_argument("--recall", type=float, default=0.99, help="what graphs are to reach (default: .99)")
    ap.add_argument("--freedoms", default="32,384", help="of how many numbers the vectors are made (default: 32,384)")
    ap.add_argument("--peers", default="", help="only the peers whose names this regular expression matches")
    args = ap.parse_args()
    for freedom in map(int, args.freedoms.split(",")):
        rng = numpy.random.default_rng(1)
        vectors = draw(rng, args.rows + args.queries, freedom)
        with tempfile.TemporaryDirectory() as folder:
            measure(Path(folder), vectors[: args.rows], vectors[args.rows :], freedom, args)


def draw(rng, count, freedom):
    """Unit vectors that are made of so many independent numbers each, and a mean in common: two have a
    cosine of 0.5 on average. Those of texts have few, which graphs live by."""
    out = rng.standard_normal((count, DIM), dtype=numpy.float32)
    if freedom < DIM:
        axes, _ = numpy.linalg.qr(rng.standard_normal((DIM, freedom)))
        inside = rng.standard_normal((count, freedom)) @ axes.T
        out = 0.25 * out + inside * (DIM / freedom * (1 - 0.25**2)) ** 0.5
    out = out + numpy.random.default_rng(0).standard_normal(DIM)
    return (out / numpy.linalg.norm(out, axis=1, keepdims=True)).astype(numpy.float32)


def peers(args, folder):
    """The command of each worker by its name, with a folder of its own."""
    python = [sys.executable, HERE / "stores.py"]
    commands = {
        OURS: [args.stores, "waymark", "{}", folder / "vectors.f32"],
        "chromem-go": [args.stores, "chromem-go", "{}", folder / "vectors.f32"],
        "sqlite-vec, float": [*python, "sqlite-vec", "{}", folder / "vectors.npy", "float"],
        "sqlite-vec, int8": [*python, "sqlite-vec", "{}", folder / "vectors.npy", "int8"],
        "usearch, HNSW, f32": [*python, "usearch", "{}", folder / "vectors.npy", "f32"],
        "usearch, HNSW, i8": [*python, "usearch", "{}", folder / "vectors.npy", "i8"],
        "Qdrant's engine, exact": [*python, "qdrant", "{}", folder / "vectors.npy", "exact"],
        "Qdrant's engine, HNSW": [*python, "qdrant", "{}", folder / "vectors.npy", "hnsw"],
    }
    out = {}
    for name, command in commands.items():
        if name == OURS or re.search(args.peers, name):
            own = folder / name
            own.mkdir()
            out[name] = [own if part == "{}" else part for part in command]
    return out


def measure(folder, vectors, queries, freedom, args):
    numpy.save(folder / "vectors.npy", vectors)
    vectors.tofile(folder / "vectors.f32")
    truth = nearest(vectors, queries)
    workers = turns.start(peers(args, folder), os.cpu_count())
    built, breadth = {}, {}
    for w in workers:
        built[w.name] = w.ask({"build": True})
        breadth[w.name] = choose(w, queries, truth, args.recall)
        print(".", end="", file=sys.stderr, flush=True)
    replies = {w.name: [] for w in workers}
    for i in range(len(queries)):
        first = i % len(workers)
        for w in workers[first:] + workers[:first]:
            replies[w.name].append(search(w, queries[i], breadth[w.name]))
    print(f"\n### {len(vectors):,} vectors of {freedom} free numbers\n")
    print(f"{len(queries)} queries in turns for the best {LIMIT}, on {os.cpu_count()} cores.\n")
    print("| store | version | breadth | recall | p50 ms | CPU ms | times as long: wall | CPU | built in s | CPU s | MB resident | MB on disk |")
    print("|" + "---|" * 12)
    for w in workers:
        found = replies[w.name]
        wall, _, _ = turns.ratio([r["wall"] for r in found], [r["wall"] for r in replies[OURS]])
        cpu = sum(r["cpu"] for r in found) / sum(r["cpu"] for r in replies[OURS])
        recall = overlap([r["reply"] for r in found], truth)
        kept = sum(f.stat().st_size for f in (folder / w.name).rglob("*") if f.is_file())
        print(f"| {w.name} | {w.version} | {breadth[w.name] or 'all'} | {recall:.4f} "
              f"| {1000 * statistics.median(r['wall'] for r in found):.2f} | {1000 * statistics.mean(r['cpu'] for r in found):.2f} "
              f"| {wall:.2f} | {cpu:.2f} | {built[w.name]['wall']:.0f} | {built[w.name]['cpu']:.0f} | {w.memory('VmRSS') / 1e6:.0f} | {kept / 1e6:.0f} |")
    for w in workers:
        w.stop()


def nearest(vectors, queries):
    """The rows of the true ten for each query."""
    wide = queries.astype(numpy.float64)
    products = numpy.concatenate([part.astype(numpy.float64) @ wide.T for part in numpy.array_split(vectors, 20)])
    return numpy.argsort(-products, axis=0)[:LIMIT].T.tolist()


def search(w, query, breadth):
    return w.ask({"query": query.tolist(), "breadth": breadth})


def choose(w, queries, truth, recall):
    """How much of a graph is looked at to reach the recall, or as much as still helps; 0 for what compares all."""
    search(w, queries[0], BREADTHS[0])  # not the first touches
    if "HNSW" not in w.name:
        return 0
    reached = {}
    for breadth in BREADTHS:
        found = [search(w, q, breadth)["reply"] for q in queries]
        reached[breadth] = overlap(found, truth)
        if reached[breadth] >= recall:
            return breadth
    return min(b for b in BREADTHS if reached[b] >= max(reached.values()) - 0.002)


def overlap(found, truth):
    """The recall: the share of the true ten that was found."""
    return float(numpy.mean([len(set(f) & set(t)) / LIMIT for f, t in zip(found, truth)]))


if __name__ == "__main__":
    main()
