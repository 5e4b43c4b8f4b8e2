// Command storebench measures how a Qdrant collection finds passages: what it
// finds of what exact search finds, how long it takes, and what goes over the
// wire.
//
//	go run -tags onnx ./internal/tools/storebench -qdrant HOST:PORT -index FILE SET
//
// A SET is a BEIR folder with qrels/spans.tsv. It is encoded once, into the local
// store FILE; then it is copied into a collection of each layout and searched.
// recall@10 counts, of the 10 best chunks that the local store finds, those that
// are among the collection's 10 best; hit@1 and hit@5 the queries with a gold
// passage there. Time, requests and bytes are of one query: first of its 100
// candidates, then of a whole search, which also reads the texts of its 10 hits.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
	"time"

	pb "github.com/qdrant/go-client/qdrant"
	"google.golang.org/grpc"
	"google.golang.org/grpc/stats"

	"github.com/waymark-rag/waymark/chunker"
	"github.com/waymark-rag/waymark/eval"
	"github.com/waymark-rag/waymark/landmark/onnx"
	"github.com/waymark-rag/waymark/models"
	"github.com/waymark-rag/waymark/pipeline"
	"github.com/waymark-rag/waymark/retriever"
	"github.com/waymark-rag/waymark/retriever/local"
	"github.com/waymark-rag/waymark/retriever/qdrant"
)

const k = 10

type settings struct {
	address, index, library, parts string
	only                           string
	queries                        int
	graph                          bool
}

func main() {
	var s settings
	flag.StringVar(&s.address, "qdrant", "localhost:6334", "server to use; its collection storebench is replaced")
	flag.StringVar(&s.index, "index", "storebench.db", "local store of the encoded set, made if it is not there")
	flag.StringVar(&s.library, "library", os.Getenv("WAYMARK_ONNXRUNTIME"), "ONNX Runtime library")
	flag.StringVar(&s.parts, "parts", "1,8,64", "landmarks a part, one collection each")
	flag.StringVar(&s.only, "only", "", "regular expression for the IDs of documents and queries to take")
	flag.IntVar(&s.queries, "queries", 0, "random sample of queries; 0 takes all")
	flag.BoolVar(&s.graph, "graph", false, "build the graphs (HNSW) before searching, however few points there are")
	flag.Parse()
	if flag.NArg() != 1 {
		flag.Usage()
		os.Exit(2)
	}
	if err := s.run(context.Background(), flag.Arg(0)); err != nil {
		fmt.Fprintln(os.Stderr, "error:", err)
		os.Exit(1)
	}
}

func (s settings) run(ctx context.Context, set string) error {
	m, err := onnx.Open(ctx, models.Default(), &onnx.Options{Library: s.library})
	if err != nil {
		return err
	}
	defer m.Close()
	only, err := regexp.Compile(s.only)
	if err != nil {
		return err
	}
	index, err := s.encoded(ctx, m, set, only)
	if err != nil {
		return err
	}
	defer index.Close()
	read, err := eval.Read(set, eval.ReadOptions{Queries: s.queries})
	if err != nil {
		return err
	}
	queries := slices.DeleteFunc(read.Queries, func(q eval.Query) bool { return !only.MatchString(q.ID) })
	b := &bench{settings: s, index: index, spans: map[string][]chunker.Range{}}
	for _, q := range queries {
		v, err := m.EmbedQuery(ctx, q.Text)
		if err != nil {
			return err
		}
		b.queries = append(b.queries, q)
		b.vectors = append(b.vectors, v)
	}
	return b.all(ctx, m.Config().Dim)
}

// encoded opens the local store, and fills it if it is new.
func (s settings) encoded(ctx context.Context, m *onnx.Model, set string, only *regexp.Regexp) (*local.Store, error) {
	print := retriever.Fingerprint{Model: m.Digest, Dim: m.Config().Dim}
	if store, err := local.Open(ctx, s.index, &local.Options{Fingerprint: print, ReadOnly: true}); !errors.Is(err, retriever.ErrNotFound) {
		return store, err
	}
	store, err := local.Open(ctx, s.index, &local.Options{Fingerprint: print, Create: true})
	if err != nil {
		return nil, err
	}
	split, err := chunker.New(m, chunker.Options{Mode: chunker.Fixed, MaxTokens: 128})
	if err != nil {
		return nil, err
	}
	p, err := pipeline.New(pipeline.Parts{Chunker: split, Embedder: m, Store: store}, nil)
	if err != nil {
		return nil, err
	}
	read, err := eval.Read(set, eval.ReadOptions{})
	if err != nil {
		return nil, err
	}
	docs := slices.DeleteFunc(read.Documents, func(d chunker.Document) bool { return !only.MatchString(d.ID) })
	_, err = p.Add(ctx, docs...)
	return store, err
}

type bench struct {
	settings
	index   *local.Store
	queries []eval.Query
	vectors [][]float32
	spans   map[string][]chunker.Range // of chunks, by document
}

func (b *bench) all(ctx context.Context, dim int) error {
	n, err := b.index.Stats(ctx)
	if err != nil {
		return err
	}
	fmt.Printf("%d documents, %d chunks, %d queries\n\n", n.Documents, n.Chunks, len(b.queries))
	fmt.Println("| landmarks a part | search | points | recall@10 | hit@1 | hit@5 | p50 ms | p95 ms | requests | KiB | p50 ms | p95 ms | requests | KiB |")
	fmt.Println("|---|---|---|---|---|---|---|---|---|---|---|---|---|---|")
	truth, err := b.measure(ctx, b.index, "local", "exact", nil, &counter{})
	if err != nil {
		return err
	}
	for field := range strings.SplitSeq(b.parts, ",") {
		part, err := strconv.Atoi(field)
		if err != nil {
			return err
		}
		if err := b.layout(ctx, part, dim, truth); err != nil {
			return err
		}
	}
	return nil
}

// layout copies the set into a collection and searches it in both ways.
func (b *bench) layout(ctx context.Context, part, dim int, truth [][]string) error {
	const name = "storebench"
	client, err := b.client()
	if err != nil {
		return err
	}
	defer client.Close()
	if there, err := client.CollectionExists(ctx, name); err != nil {
		return err
	} else if there {
		if err := client.DeleteCollection(ctx, name); err != nil {
			return err
		}
	}
	for _, search := range []struct {
		name string
		qdrant.Search
	}{{"exact", qdrant.Search{Exact: true}}, {"indexes", qdrant.Search{}}} {
		wire := &counter{}
		store, err := qdrant.Open(ctx, b.address, name, &qdrant.Options{
			Create: true, Fingerprint: retriever.Fingerprint{Model: "storebench", Dim: dim}, Search: search.Search,
			Layout: qdrant.Layout{PartLandmarks: part}, Dial: []grpc.DialOption{grpc.WithStatsHandler(wire)},
		})
		if err != nil {
			return err
		}
		if search.Exact {
			if err := b.copy(ctx, store); err != nil {
				return err
			}
			if b.graph {
				if err := buildGraphs(ctx, client, name); err != nil {
					return err
				}
			}
		}
		points, err := client.Count(ctx, &pb.CountPoints{CollectionName: name})
		if err != nil {
			return err
		}
		if _, err := b.measure(ctx, store, fmt.Sprint(part), fmt.Sprintf("%s | %d", search.name, points-1), truth, wire); err != nil {
			return err
		}
		if err := store.Close(); err != nil {
			return err
		}
	}
	return nil
}

func (b *bench) client() (*pb.Client, error) {
	host, port, _ := strings.Cut(b.address, ":")
	n, err := strconv.Atoi(port)
	if err != nil {
		return nil, err
	}
	return pb.NewClient(&pb.Config{Host: host, Port: n, SkipCompatibilityCheck: true})
}

// buildGraphs lowers the sizes from which the server builds a graph and searches
// by it, and waits.
func buildGraphs(ctx context.Context, client *pb.Client, name string) error {
	small := &pb.VectorParamsDiff{HnswConfig: &pb.HnswConfigDiff{FullScanThreshold: pb.PtrOf(uint64(10))}}
	err := client.UpdateCollection(ctx, &pb.UpdateCollection{
		CollectionName: name, OptimizersConfig: &pb.OptimizersConfigDiff{IndexingThreshold: pb.PtrOf(uint64(1))},
		VectorsConfig: pb.NewVectorsConfigDiffMap(map[string]*pb.VectorParamsDiff{"landmarks": small, "doc": small}),
	})
	for err == nil {
		info, infoErr := client.GetCollectionInfo(ctx, name)
		if err = infoErr; err == nil && info.Status == pb.CollectionStatus_Green && info.GetIndexedVectorsCount() > 0 {
			return nil
		}
		time.Sleep(100 * time.Millisecond)
	}
	return err
}

func (b *bench) copy(ctx context.Context, to retriever.Store) error {
	var docs []retriever.Document
	chunks := 0
	for d, err := range b.index.Scroll(ctx, retriever.Filter{}, retriever.Want{Text: true, Chunks: true, Vectors: true}) {
		if err != nil {
			return err
		}
		docs = append(docs, d)
		if chunks += len(d.Chunks); chunks > 2000 {
			if err := to.Upsert(ctx, docs); err != nil {
				return err
			}
			docs, chunks = docs[:0], 0
		}
	}
	return to.Upsert(ctx, docs)
}

// measure prints a row. The 10 best chunks of each query come back, to be the
// truth for other rows.
func (b *bench) measure(ctx context.Context, store retriever.Store, part, search string, truth [][]string, wire *counter) ([][]string, error) {
	found := make([][]string, len(b.queries))
	took := make([]time.Duration, len(b.queries))
	var recall, hit1, hit5 float64
	wire.reset()
	for i, v := range b.vectors {
		begun := time.Now()
		c, err := store.Candidates(ctx, retriever.Query{Vector: v, Limit: 100, Weights: retriever.Weights{Landmark: 0.8, Document: 0.2}})
		if err != nil {
			return nil, err
		}
		took[i] = time.Since(begun)
		for n, hit := range c.Dense[:min(k, len(c.Dense))] {
			place := fmt.Sprintf("%s/%d", hit.Document, hit.Chunk)
			found[i] = append(found[i], place)
			if truth != nil && slices.Contains(truth[i], place) {
				recall += 1 / float64(len(truth[i])*len(b.queries))
			}
			right, err := b.right(ctx, b.queries[i], hit)
			if err != nil {
				return nil, err
			}
			if right && n == 0 {
				hit1 += 1 / float64(len(b.queries))
			}
			if right && n < 5 && !slices.Contains(found[i], "right") {
				hit5 += 1 / float64(len(b.queries))
				found[i] = append(found[i], "right")
			}
		}
		found[i] = slices.DeleteFunc(found[i], func(s string) bool { return s == "right" })
	}
	if truth == nil {
		recall, search = 1, search+" | "
	}
	candidates := wire.cost(took)
	wire.reset()
	for i, v := range b.vectors {
		begun := time.Now()
		if _, err := retriever.Search(ctx, store, retriever.Request{Vector: v, K: k}); err != nil {
			return nil, err
		}
		took[i] = time.Since(begun)
	}
	fmt.Printf("| %s | %s | %.4f | %.3f | %.3f | %s | %s |\n", part, search, recall, hit1, hit5, candidates, wire.cost(took))
	return found, nil
}

// right reports whether a chunk overlaps a gold passage.
func (b *bench) right(ctx context.Context, q eval.Query, c retriever.Candidate) (bool, error) {
	gold := q.Spans[c.Document]
	if len(gold) == 0 {
		return false, nil
	}
	spans, ok := b.spans[c.Document]
	if !ok {
		docs, err := b.index.Fetch(ctx, []string{c.Document}, retriever.Want{Chunks: true})
		if err != nil {
			return false, err
		}
		for _, chunk := range docs[0].Chunks {
			spans = append(spans, chunk.Text)
		}
		b.spans[c.Document] = spans
	}
	return slices.ContainsFunc(gold, spans[c.Chunk].Overlaps), nil
}

// counter counts requests and the bytes of both directions.
type counter struct{ requests, bytes atomic.Int64 }

// cost is what queries that took so long cost each, as four columns.
func (c *counter) cost(took []time.Duration) string {
	slices.Sort(took)
	at := func(share float64) float64 {
		return took[int(share*float64(len(took)-1))].Seconds() * 1000
	}
	n := float64(len(took))
	return fmt.Sprintf("%.1f | %.1f | %.1f | %.0f", at(0.5), at(0.95), float64(c.requests.Load())/n, float64(c.bytes.Load())/n/1024)
}

func (c *counter) reset()                                                          { c.requests.Store(0); c.bytes.Store(0) }
func (*counter) TagRPC(ctx context.Context, _ *stats.RPCTagInfo) context.Context   { return ctx }
func (*counter) TagConn(ctx context.Context, _ *stats.ConnTagInfo) context.Context { return ctx }
func (*counter) HandleConn(context.Context, stats.ConnStats)                       {}

// HandleRPC implements stats.Handler.
func (c *counter) HandleRPC(_ context.Context, s stats.RPCStats) {
	switch s := s.(type) {
	case *stats.OutPayload:
		c.requests.Add(1)
		c.bytes.Add(int64(s.WireLength))
	case *stats.InPayload:
		c.bytes.Add(int64(s.WireLength))
	}
}
