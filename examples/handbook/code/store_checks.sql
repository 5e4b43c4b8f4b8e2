-- Checks on a small passage store, with the tables they need.
--
-- The schema is a teaching model of a local store, not the real one: it has
-- just enough columns to state the rules. Run it in an empty database:
--
--     sqlite3 :memory: < store_checks.sql
--
-- Each check selects the rows that break a rule. No output means no fault.

PRAGMA foreign_keys = ON;

CREATE TABLE document (
    id      TEXT PRIMARY KEY,
    sha256  BLOB NOT NULL CHECK (length(sha256) = 32),
    bytes   INTEGER NOT NULL CHECK (bytes >= 0),
    chunks  INTEGER NOT NULL CHECK (chunks >= 0)
) WITHOUT ROWID;

-- The row number joins a chunk to its full-text row. It must be declared as an
-- INTEGER PRIMARY KEY: an undeclared rowid may be renumbered by VACUUM.
CREATE TABLE chunk (
    n       INTEGER PRIMARY KEY,
    doc     TEXT NOT NULL REFERENCES document (id) ON DELETE CASCADE,
    ord     INTEGER NOT NULL,
    start   INTEGER NOT NULL,
    stop    INTEGER NOT NULL CHECK (stop > start),
    -- 384 dimensions of two bytes each; a blob of any other length was written
    -- by another model and must not be compared with the rest.
    vec     BLOB NOT NULL CHECK (length(vec) = 768),
    UNIQUE (doc, ord)
);

CREATE VIRTUAL TABLE chunk_ft USING fts5 (body);

-- A document of 100 bytes with three chunks that tile it.
INSERT INTO document VALUES ('letters/0017.txt', zeroblob(32), 100, 3);
INSERT INTO chunk (n, doc, ord, start, stop, vec) VALUES
    (1, 'letters/0017.txt', 0,  0,  41, zeroblob(768)),
    (2, 'letters/0017.txt', 1, 41,  80, zeroblob(768)),
    (3, 'letters/0017.txt', 2, 80, 100, zeroblob(768));
INSERT INTO chunk_ft (rowid, body) VALUES (1, 'first'), (2, 'second'), (3, 'third');

-- Check 1: each chunk starts where the one before it stopped.
SELECT 'gap or overlap' AS fault, doc, ord
FROM (
    SELECT doc, ord, start,
           lag(stop, 1, 0) OVER (PARTITION BY doc ORDER BY ord) AS expected
    FROM chunk
)
WHERE start <> expected;

-- Check 2: the last chunk stops at the end of the text. A document of zero
-- bytes has no chunks and passes.
SELECT 'tail missing' AS fault, d.id, d.bytes, coalesce(max(c.stop), 0) AS covered
FROM document AS d LEFT JOIN chunk AS c ON c.doc = d.id
GROUP BY d.id
HAVING covered <> d.bytes;

-- Check 3: the count in the document row is true. It is stored so that a list
-- of documents needs no join, and a stored count can go stale.
SELECT 'wrong count' AS fault, d.id, d.chunks, count(c.n) AS found
FROM document AS d LEFT JOIN chunk AS c ON c.doc = d.id
GROUP BY d.id
HAVING found <> d.chunks;

-- Check 4: ordinals run from zero without a hole; otherwise "fetch the
-- neighbour" fetches the wrong one.
SELECT 'hole in ordinals' AS fault, doc, max(ord) AS last, count(*) AS n
FROM chunk
GROUP BY doc
HAVING last <> n - 1;

-- Check 5: every chunk has a full-text row and every full-text row a chunk.
SELECT 'no full-text row' AS fault, n FROM chunk
WHERE n NOT IN (SELECT rowid FROM chunk_ft)
UNION ALL
SELECT 'orphan full-text row', rowid FROM chunk_ft
WHERE rowid NOT IN (SELECT n FROM chunk);

-- Check 6: the full-text index agrees with its own content. This one raises an
-- error and does not return rows.
INSERT INTO chunk_ft (chunk_ft) VALUES ('integrity-check');
