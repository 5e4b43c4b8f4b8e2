package main

import (
	"fmt"
	"math"
)

// limit is something that ends, and the number of chunks from which on.
type limit struct {
	store, what string
	chunks      float64
	why         string // the formula, in words
	remedy      string
}

const patience = 0.1 // seconds that a search may take in one place

// limits are what breaks, and where; they are in the order of the numbers within a store.
func limits(a assumed) []limit {
	m := measured
	return []limit{
		{"local", "scanning the vectors takes a core 100 ms", patience / m.scanCPU,
			fmt.Sprintf("100 ms / %.3g ns a chunk", m.scanCPU*1e9), "more cores share the scan; searches at once share a pass; else Qdrant"},
		{"local", "words: the question's matches, all ranked, take 100 ms", patience / m.localWordsCPU,
			fmt.Sprintf("100 ms / %.3g µs a chunk", m.localWordsCPU*1e6), "stores by subject or tenant; else Qdrant"},
		{"local", "`index` without news takes 10 minutes of a core", 600 / m.unchangedCPU * a.perDocument,
			fmt.Sprintf("10 min / %.3g ms a document", m.unchangedCPU*1e3), "`--files-from` with what changed, `--watch`"},
		{"local", "one writer at a time: a day's writing", 86400 / m.localStoreCPU,
			fmt.Sprintf("24 h / %.3g ms a chunk", m.localStoreCPU*1e3), "stores by subject or tenant; else Qdrant"},
		{"local", fmt.Sprintf("the vector file is %.0f %% of %g GB of memory", 100*a.fill, a.localRAM), a.fill * a.localRAM * gb / m.vectorFile,
			fmt.Sprintf("%.0f GB / %.0f bytes a chunk", a.fill*a.localRAM, m.vectorFile), "more memory; a search then reads at the disk's pace"},
		{"local", "chunks are counted in 31 bits (`snapshot.firsts`)", math.Exp2(31), "2^31", "none is needed: the others come first"},

		{"Qdrant", "counting documents (`Stats`, so also `/readyz`) passes a call's minute", 60 / m.countCPU * a.perDocument,
			fmt.Sprintf("60 s / %.3g µs a document, one shard", m.countCPU*1e6), "shards count in parallel; the readiness probe should ask something cheaper"},
		{"Qdrant", "listing documents (each page of `GET /v1/documents`, each start of `index`) takes 10 minutes", 600 / m.listCPU * a.perDocument,
			fmt.Sprintf("10 min / %.3g µs a document", m.listCPU*1e6), "a cursor in the store's Scroll, and `index` asking for the documents it has read alone"},
		{"Qdrant", fmt.Sprintf("an index process that holds 300 bytes of each document fills %g GB", a.ram), a.fill * a.ram * gb / 300 * a.perDocument,
			fmt.Sprintf("%.0f GB / 300 bytes, whatever its share", a.fill*a.ram), "the same"},
		{"Qdrant", "in one shard, the postings of a question's words take 100 ms of a core", patience / m.wordsCPU,
			fmt.Sprintf("100 ms / %.3g ns a chunk", m.wordsCPU*1e9), "more, smaller shards; no words that most chunks hold in the query"},
		{"Qdrant", "a machine is full: int8 in memory, all else on disk", a.fill * a.ram * gb / onDisk.ram(),
			fmt.Sprintf("%.0f GB / %.0f bytes a chunk", a.fill*a.ram, onDisk.ram()), "shards on several machines: `qdrant.shards`, to be chosen when the collection is made"},
		{"Qdrant", "a shard of one segment: points are counted in 32 bits", math.Exp2(32), "2^32", "more shards"},
		{"Qdrant", "a hundred shards: the median search is as slow as one shard's p99.3", 100 * a.shardChunks,
			fmt.Sprintf("100 x %.3g", a.shardChunks), "a shard for each tenant (`shard_per_tenant`), collections by subject"},
	}
}

func (l layout) ram() float64 { ram, _ := l.bytes(); return ram }
