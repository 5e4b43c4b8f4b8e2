"""Searches vectors with one of the peers in Python, for store.py to measure.

    python stores.py sqlite-vec|usearch|qdrant FOLDER VECTORS [KIND]

VECTORS is a .npy file of 32-bit floats. It is stored when a request says {"build": true}; {"query":
[...], "breadth": N} answers with the rows of the ten best, and N is how much of a graph is looked at. KIND is how the vectors
are kept.
"""
import os
import sys
from importlib.metadata import version

import numpy

import worker

LIMIT = 10


class SqliteVec:
    """A table of sqlite-vec, which compares all rows; KIND is float or int8."""

    version = f"{version('sqlite-vec')}, SQLite {version('apsw')}"

    def __init__(self, folder, kind):
        import apsw
        import sqlite_vec

        self.kind = kind
        self.db = apsw.Connection(os.path.join(folder, "store.db"))  # the sqlite3 of many a Python loads no extensions
        self.db.enable_load_extension(True)
        self.db.load_extension(sqlite_vec.loadable_path())

    def build(self, vectors):
        self.db.execute(f"CREATE VIRTUAL TABLE chunks USING vec0(v {self.kind}[{vectors.shape[1]}] distance_metric=cosine)")
        self.scale = 127 / numpy.abs(vectors).max()
        insert = f"INSERT INTO chunks(rowid, v) VALUES (?, {self.value()})"
        with self.db:  # one transaction
            self.db.executemany(insert, ((i, self.row(v)) for i, v in enumerate(vectors)))

    def value(self):
        return "vec_int8(?)" if self.kind == "int8" else "?"

    def row(self, vector):
        if self.kind == "int8":
            vector = numpy.clip(numpy.round(vector * self.scale), -127, 127).astype(numpy.int8)
        return vector.tobytes()

    def search(self, vector, _):
        found = self.db.execute(f"SELECT rowid FROM chunks WHERE v MATCH {self.value()} AND k = {LIMIT}", [self.row(vector)])
        return [row for row, in found]


class Usearch:
    """A graph (HNSW) of usearch with what it has for defaults; KIND is f32, f16 or i8."""

    version = version("usearch")

    def __init__(self, folder, kind):
        self.folder, self.kind = folder, kind

    def build(self, vectors):
        from usearch.index import Index

        self.index = Index(ndim=vectors.shape[1], metric="cos", dtype=self.kind)
        self.index.add(numpy.arange(len(vectors)), vectors)
        self.index.save(os.path.join(self.folder, "index.usearch"))

    def search(self, vector, breadth):
        self.index.expansion_search = max(breadth, LIMIT)
        return [int(key) for key in self.index.search(vector, LIMIT).keys]


class Qdrant:
    """A shard of Qdrant's engine with its defaults; KIND is exact, which compares all, or hnsw."""

    version = f"qdrant-edge {version('qdrant-edge-py')}"

    def __init__(self, folder, kind):
        self.folder, self.kind = folder, kind

    def build(self, vectors):
        import qdrant_edge as e

        exact = self.kind == "exact"
        indexing = 2**40 if exact else 10_000
        self.shard = e.EdgeShard.create(self.folder, e.EdgeConfig(
            vectors={"": e.EdgeVectorParams(vectors.shape[1], e.Distance.Cosine)},
            hnsw_config=e.HnswIndexConfig(16, 100, 10_000),
            optimizers=e.EdgeOptimizersConfig(indexing_threshold=indexing),
        ))
        for start in range(0, len(vectors), 1000):
            points = [e.Point(i, {"": vectors[i].tolist()}, None) for i in range(start, min(start + 1000, len(vectors)))]
            self.shard.update(e.UpdateOperation.upsert_points(points))
        self.shard.flush()
        self.shard.optimize()

    def search(self, vector, breadth):
        import qdrant_edge as e

        params = e.SearchParams(exact=True) if self.kind == "exact" else e.SearchParams(hnsw_ef=breadth)
        return [p.id for p in self.shard.search(e.SearchRequest(e.Query.Nearest(vector.tolist()), LIMIT, params=params))]


STORES = {"sqlite-vec": SqliteVec, "usearch": Usearch, "qdrant": Qdrant}


def load(peer, folder, file, kind):
    store = STORES[peer](folder, kind)

    def work(request):
        if "build" in request:
            return store.build(numpy.load(file))
        return store.search(numpy.array(request["query"], dtype=numpy.float32), request["breadth"])

    return store.version, work


if __name__ == "__main__":
    worker.serve(load, *sys.argv[1:])
