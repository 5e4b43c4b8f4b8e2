package main

import "math"

// assumed are what the plan takes for granted; each is a flag.
type assumed struct {
	perDocument float64 // chunks
	cores, ram  float64 // of a machine; GB
	disk        float64 // GB
	fill        float64 // how much of memory and disk may be used, since merging segments needs room
	replicas    float64
	shardChunks float64 // most chunks of a shard
	days        float64 // in which all is to be indexed
	coreHour    float64 // prices
	ramMonth    float64 // of a GB
	diskMonth   float64
	queries     float64 // a second
	oneShard    []quantile
	localRAM    float64 // GB, of the machine of a local store
}

// bytes of a chunk.
func (l layout) bytes() (ram, disk float64) {
	for _, p := range l.parts {
		ram, disk = ram+p.memory, disk+p.disk
	}
	return ram, disk
}

// cluster is what a number of chunks needs.
type cluster struct {
	chunks      float64
	ram, disk   float64 // bytes, all replicas together
	shards      float64 // without replicas
	machines    float64
	bound       string  // what decides their number
	indexHours  float64 // of cores, to read, cut and encode
	storeHours  float64 // of cores, to store in all replicas and build the graphs
	indexers    float64 // processes of a core each
	searchCores float64 // for the queries a second
	month       float64 // price of keeping
	once        float64 // price of indexing all
	network     float64 // bytes a second between the program and the cluster
	within      float64 // and between its nodes
}

const (
	gb   = 1e9
	hour = 3600.0
	// monthHours are those of a month.
	monthHours = 730
	// A shard answers with so many candidates of each source, an ID, a score and what
	// the protocol adds.
	sources, candidates, candidateBytes = 2, 100, 40
)

// plan computes a cluster.
func plan(a assumed, l layout, chunks float64) cluster {
	ram, disk := l.bytes()
	c := cluster{chunks: chunks, ram: ram * chunks * a.replicas, disk: disk * chunks * a.replicas}
	c.shards = math.Ceil(chunks / a.shardChunks)
	inShard := chunks / c.shards
	c.indexHours = chunks * measured.indexCPU / hour
	c.storeHours = chunks * (measured.clientCPU + a.replicas*(measured.storeCPU+grown(measured.buildCPU, inShard))) / hour
	c.indexers = math.Ceil((c.indexHours + chunks*measured.clientCPU/hour) / (24 * a.days))
	c.searchCores = a.queries * (c.shards * searchCPU(inShard))
	c.machines, c.bound = machines(a, c, c.searchCores)
	c.month = c.machines * (a.ram*a.ramMonth + a.disk*a.diskMonth + a.cores*a.coreHour*monthHours)
	c.once = (c.indexHours + c.storeHours) * a.coreHour
	c.network = a.queries * measured.queryBytes
	c.within = a.queries * c.shards * sources * candidates * candidateBytes
	return c
}

// machines is how many a cluster needs with so many cores for its searches, and what
// decides that.
func machines(a assumed, c cluster, cores float64) (n float64, bound string) {
	n, bound = c.ram/(a.fill*a.ram*gb), "memory"
	if by := c.disk / (a.fill * a.disk * gb); by > n {
		n, bound = by, "disk"
	}
	if by := cores / (a.fill * a.cores); by > n {
		n, bound = by, "searches"
	}
	n = math.Ceil(n)
	if fewest := 2*a.replicas - 1; n < fewest { // so that most are left when one fails
		n, bound = fewest, "copies"
	}
	return n, bound
}

// grown is what was measured at one size, at another: what walks a graph grows with the
// logarithm of its size.
func grown(m graphCost, chunks float64) float64 {
	return m.seconds * math.Log(max(chunks, 2)) / math.Log(m.chunks)
}

// searchCPU is what a shard works for one query, seconds: a walk through the graph
// and the postings of the words.
func searchCPU(chunks float64) float64 {
	return grown(measured.graphCPU, chunks) + measured.wordsCPU*chunks
}

// quantile says that a share of some searches took no longer.
type quantile struct{ share, seconds float64 }

// fanOut is the quantile of the slowest of so many shards, which answer independently:
// all are quicker than t with the probability F(t)^n, so it is one shard's quantile at
// share^(1/n). Between two that were measured it lies on a line over the logarithm of
// what is slower still, as of times that are exponentially distributed. Beyond the last, ok is false.
func fanOut(measured []quantile, share, shards float64) (seconds float64, ok bool) {
	want := math.Pow(share, 1/shards)
	for i, q := range measured {
		if want > q.share {
			continue
		}
		if i == 0 {
			return q.seconds, true
		}
		last := measured[i-1]
		depth := func(share float64) float64 { return -math.Log(1 - share) }
		at := (depth(want) - depth(last.share)) / (depth(q.share) - depth(last.share))
		return last.seconds + at*(q.seconds-last.seconds), true
	}
	return measured[len(measured)-1].seconds, false
}
