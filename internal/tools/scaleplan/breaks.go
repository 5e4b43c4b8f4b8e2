package main

import (
	"cmp"
	"fmt"
	"math"
	"slices"
)

// limit is something that ends, and the number of chunks from which on.
type limit struct {
	store, what string
	chunks      float64
	why         string // the formula, in words
	remedy      string
}

const patience = 0.1 // seconds that a search may take in one place

// limits are what breaks, and where, within a store from the first on.
func limits(a assumed) []limit {
	m := measured
	out := []limit{
		{"local", "scanning the vectors takes a core 100 ms", patience / m.scanCPU,
			fmt.Sprintf("100 ms / %.3g ns a chunk", m.scanCPU*1e9), "more cores share the scan; searches at once share a pass; else Qdrant"},
		{"local", "one question in a hundred has words whose matches, all ranked, take a core 100 ms", patience / m.localWordsTail,
			fmt.Sprintf("100 ms / %.3g µs a chunk", m.localWordsTail*1e6), "as for every second"},
		{"local", "every second has", patience / m.localWordsCPU,
			fmt.Sprintf("100 ms / %.3g µs a chunk", m.localWordsCPU*1e6), "stores by subject or tenant; an index of words that need not rank all that match (FTS5 does); else Qdrant"},
		{"local", "`index` without news takes 10 minutes of a core", 600 / m.unchangedCPU * a.perDocument,
			fmt.Sprintf("10 min / %.3g ms a document", m.unchangedCPU*1e3), "`--files-from` with what changed, `--watch`"},
		{"local", "one writer at a time: a day's writing", 86400 / m.localStoreCPU,
			fmt.Sprintf("24 h / %.3g ms a chunk", m.localStoreCPU*1e3), "stores by subject or tenant; else Qdrant"},
		{"local", fmt.Sprintf("the vector file is %.0f %% of %g GB of memory", 100*a.fill, a.localRAM), a.fill * a.localRAM * gb / m.vectorFile,
			fmt.Sprintf("%.0f GB / %.0f bytes a chunk", a.fill*a.localRAM, m.vectorFile), "more memory; a search then reads at the disk's pace"},
		{"local", "chunks are counted in 31 bits (`snapshot.firsts`)", math.Exp2(31), "2^31", "none is needed: the others come first"},

		{"Qdrant", "in one shard, a question's words take 100 ms of a core", patience / m.wordsCPU,
			fmt.Sprintf("100 ms / %.3g ns a chunk", m.wordsCPU*1e9), "no stop words, for two fifths of it; smaller shards for the time, not for the work; filters, tenants and collections that keep a search to a part; vectors alone"},
		{"Qdrant", "a machine is full: layout disk", a.fill * a.ram * gb / onDisk.ram(),
			fmt.Sprintf("%.0f GB / %.0f bytes a chunk", a.fill*a.ram, onDisk.ram()), "`qdrant.shards`, chosen when the collection is made: more than there are machines, so that they can be moved"},
		{"Qdrant", "listing documents takes 10 minutes: each start of `index`, each page of `GET /v1/documents`", 600 / m.listCPU * a.perDocument,
			fmt.Sprintf("10 min / %.3g µs a document", m.listCPU*1e6), "a cursor in the store's Scroll; `index` asking for the documents that it reads"},
		{"Qdrant", "counting takes 5 s: `/readyz` and `/health` then fail", 5 / m.countCPU * a.perDocument,
			fmt.Sprintf("5 s / %.3g µs a document, one shard", m.countCPU*1e6), "a probe that does not count; shards count at once"},
		{"Qdrant", "a hundred shards: the median search is as slow as one shard's p99.3", 100 * a.shardChunks,
			fmt.Sprintf("100 x %s", count(a.shardChunks)), "a shard for each tenant (`shard_per_tenant`), collections by subject"},
		{"Qdrant", fmt.Sprintf("an index process, which keeps the ID of every document (50 bytes), fills %g GB", a.ram), a.fill * a.ram * gb / 50 * a.perDocument,
			fmt.Sprintf("%.0f GB / 50 bytes, whatever its share", a.fill*a.ram), "as for listing"},
		{"Qdrant", "a shard's points are counted in 32 bits", math.Exp2(32), "2^32, a segment each", "more shards"},
	}
	slices.SortStableFunc(out, func(a, b limit) int { return cmp.Or(-cmp.Compare(a.store, b.store), cmp.Compare(a.chunks, b.chunks)) })
	return out
}

func (l layout) ram() float64 { ram, _ := l.bytes(); return ram }
