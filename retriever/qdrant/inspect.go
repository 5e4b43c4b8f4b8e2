package qdrant

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"

	pb "github.com/qdrant/go-client/qdrant"

	"github.com/waymark-rag/waymark/retriever"
)

// Inspect implements retriever.Inspector: it looks at the server, the settings of
// the collection, the indexes of its payload, and for points of the tenant that
// belong to no document.
func (s *Store) Inspect(ctx context.Context) ([]retriever.Finding, error) {
	if err := s.enter(ctx); err != nil {
		return nil, err
	}
	defer s.leave()
	server, err := s.inspectServer(ctx)
	if err != nil {
		return nil, err
	}
	info, err := s.info(ctx)
	if err != nil {
		return nil, err
	}
	all, err := s.takeCensus(ctx)
	if err != nil {
		return nil, err
	}
	points, err := s.inspectPoints(ctx, all)
	if err != nil {
		return nil, err
	}
	return []retriever.Finding{server, s.inspectSettings(info), s.inspectIndexes(info, all.indexes), points}, nil
}

func (s *Store) inspectServer(ctx context.Context) (retriever.Finding, error) {
	reply, err := call(ctx, s, "asking for its version", func(ctx context.Context, client *pb.Client) (*pb.HealthCheckReply, error) {
		return client.HealthCheck(ctx)
	})
	if err != nil {
		return retriever.Finding{}, err
	}
	detail := fmt.Sprintf("qdrant %s at %s", reply.GetVersion(), s.address)
	switch {
	case s.opts.TLS:
		detail += ", encrypted"
	case s.opts.APIKey != "":
		detail += ", the API key travels unencrypted"
	}
	return retriever.Finding{Subject: "server", Detail: detail}, nil
}

// inspectSettings compares the collection with what createRequest makes.
func (s *Store) inspectSettings(info *pb.CollectionInfo) retriever.Finding {
	params := info.GetConfig().GetParams()
	dense := params.GetVectorsConfig().GetParamsMap().GetMap()
	sparse := params.GetSparseVectorsConfig().GetMap()
	out := retriever.Finding{Subject: "settings"}
	var wrong []string
	names := []string{vectorDoc, vectorLandmarks}
	if s.part > 1 {
		names = append(names, vectorPart)
	}
	for _, name := range names {
		v, ok := dense[name]
		multi := v.GetMultivectorConfig().GetComparator() == pb.MultiVectorComparator_MaxSim && v.GetMultivectorConfig() != nil
		switch {
		case !ok:
			wrong = append(wrong, fmt.Sprintf("there are no vectors %q", name))
		case s.fingerprint.Dim > 0 && v.GetSize() != uint64(s.fingerprint.Dim):
			wrong = append(wrong, fmt.Sprintf("vectors %q have %d dimensions, want %d", name, v.GetSize(), s.fingerprint.Dim))
		case v.GetDistance() != pb.Distance_Dot:
			wrong = append(wrong, fmt.Sprintf("vectors %q are compared by %s, want %s", name, v.GetDistance(), pb.Distance_Dot))
		case multi != (name == vectorLandmarks):
			wrong = append(wrong, fmt.Sprintf("vectors %q: multivector is %t", name, multi))
		}
	}
	if words, ok := sparse[vectorText]; !ok || words.GetModifier() != pb.Modifier_Idf {
		wrong = append(wrong, fmt.Sprintf("there are no sparse vectors %q with inverse document frequencies", vectorText))
	}
	if len(wrong) > 0 {
		out.Detail = strings.Join(wrong, "; ")
		out.Hint = "this cannot be changed in place: copy the collection into a new one with waymark export, or index again"
		return out
	}
	if status := info.GetStatus(); status == pb.CollectionStatus_Red || info.GetOptimizerStatus().GetError() != "" {
		out.Detail = fmt.Sprintf("the server reports the status %s: %s", strings.ToLower(status.String()), cmp.Or(info.GetOptimizerStatus().GetError(), "no reason given"))
		out.Hint = "look into the log of the server, whose disk or memory may be full"
		return out
	}
	doc := dense[vectorDoc]
	out.Detail = fmt.Sprintf("%d dimensions in %s, up to %d landmarks a point, %d shards, status %s", doc.GetSize(),
		strings.ToLower(cmp.Or(doc.GetDatatype(), pb.Datatype_Float32).String()), s.part, max(1, params.GetShardNumber()), strings.ToLower(info.GetStatus().String()))
	return out
}

// inspectIndexes looks for the indexes that the collection and the metadata of its
// documents need.
func (s *Store) inspectIndexes(info *pb.CollectionInfo, ofMetadata map[string]index) retriever.Finding {
	out := retriever.Finding{Subject: "indexes"}
	have := info.GetPayloadSchema()
	var missing []string
	for _, i := range append(slices.Clone(fixedIndexes), slices.Collect(maps.Values(ofMetadata))...) {
		if _, ok := have[i.key]; !ok {
			missing = append(missing, i.key)
		}
	}
	if len(missing) > 0 {
		slices.Sort(missing)
		out.Detail = fmt.Sprintf("payload indexes are missing: %s", strings.Join(missing, ", "))
		out.Hint = "without them filters are slow or refused: create them on the server as docs/qdrant.md lists them, or copy the collection into a new one with waymark export"
		return out
	}
	out.Detail = fmt.Sprintf("%d of the payload", len(have))
	return out
}

// census counts the points of a tenant.
type census struct {
	points    int
	documents map[string]headOf
	parts     map[partsOf]int
	fresh     map[partsOf]bool // some may belong to a writer at work
	indexes   map[string]index // that the metadata needs
}

// headOf is what the first point of a document says.
type headOf struct {
	version string
	parts   int
}

// partsOf are the points of one version of a document.
type partsOf struct{ document, version string }

// takeCensus reads all points of the tenant that meet the conditions, without
// vectors and text.
func (s *Store) takeCensus(ctx context.Context, conditions ...*pb.Condition) (*census, error) {
	c := &census{documents: map[string]headOf{}, parts: map[partsOf]int{}, fresh: map[partsOf]bool{}, indexes: map[string]index{}}
	old := s.now().Add(-stale).Unix()
	fields := []string{keyDocument, keyVersion, keyPart, keyParts, keyPending, keyMetadata}
	err := s.pages(ctx, s.mine(conditions...), fields, func(points []*pb.RetrievedPoint) error {
		for _, p := range points {
			c.points++
			of := partsOf{text(p, keyDocument), text(p, keyVersion)}
			c.parts[of]++
			if pending := number(p, keyPending); pending > 0 && int64(pending) >= old {
				c.fresh[of] = true
			}
			if number(p, keyPart) > 0 {
				continue
			}
			c.documents[of.document] = headOf{of.version, number(p, keyParts)}
			metadata, err := readMetadata(p.GetPayload()[keyMetadata])
			if err != nil {
				return fmt.Errorf("document %q of collection %q: %w", of.document, s.collection, err)
			}
			for _, i := range indexesOf([]retriever.Document{{Metadata: metadata}}) {
				c.indexes[i.key] = i
			}
		}
		return nil
	})
	return c, err
}

// strays counts the points that belong to no document, and names the documents
// that lack points. Those of a writer that may be at work are neither.
func (c *census) strays() (left, beingWritten int, suspects, incomplete []string) {
	for of, n := range c.parts {
		head, ok := c.documents[of.document]
		switch {
		case ok && head.version == of.version && n == head.parts:
		case ok && head.version == of.version:
			suspects, incomplete = append(suspects, of.document), append(incomplete, of.document)
		case c.fresh[of]:
			beingWritten += n
		default:
			left += n
			suspects = append(suspects, of.document)
		}
	}
	return left, beingWritten, suspects, incomplete
}

func (s *Store) inspectPoints(ctx context.Context, all *census) (retriever.Finding, error) {
	out := retriever.Finding{Subject: "points"}
	left, beingWritten, suspects, incomplete := all.strays()
	if len(suspects) > 0 { // they may just have been replaced: look again
		left, incomplete = 0, nil
		slices.Sort(suspects)
		for batch := range slices.Chunk(slices.Compact(suspects), pagePoints) {
			again, err := s.takeCensus(ctx, pb.NewMatchKeywords(keyDocument, batch...))
			if err != nil {
				return out, err
			}
			n, _, _, lacking := again.strays()
			left += n
			incomplete = append(incomplete, lacking...)
		}
	}
	foreign, err := s.count(ctx, &pb.Filter{
		Must: []*pb.Condition{pb.NewIsEmpty(keyTenant)}, MustNot: []*pb.Condition{pb.NewHasID(collectionID)},
	})
	if err != nil {
		return out, err
	}
	switch {
	case len(incomplete) > 0:
		slices.Sort(incomplete)
		out.Detail = fmt.Sprintf("%d documents lack some of their points, the first is %q", len(incomplete), incomplete[0])
		out.Hint = "delete them and index again"
	case left > 0:
		out.Detail = fmt.Sprintf("%d of %d points belong to no document: a writer that died has left them", left, all.points)
		out.Hint = fmt.Sprintf("searches do not see them; waymark index removes those of runs that were cut short after %s, and all of a document when it stores that again", stale)
	case foreign > 0:
		out.Detail = fmt.Sprintf("%d points of the collection were not written by waymark", foreign)
		out.Hint = "searches do not see them; keep them in a collection of their own"
	default:
		out.Detail = fmt.Sprintf("%d, of %d documents", all.points, len(all.documents))
		if beingWritten > 0 {
			out.Detail += fmt.Sprintf("; %d of them are being written", beingWritten)
		}
	}
	return out, nil
}
