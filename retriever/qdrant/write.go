package qdrant

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"time"

	pb "github.com/qdrant/go-client/qdrant"
	"google.golang.org/protobuf/proto"

	"github.com/waymark-rag/waymark/retriever"
)

// How a document is replaced, although the server has no transactions: its first
// point, the head, says which version is there, and readers take the parts of
// that version alone. All points of a new version are marked as pending. Its later
// parts are written first; then the head, in one call for one point; then the
// mark is taken off the parts, the parts of other versions are removed, and last
// the head's mark goes (settle). Whenever a process dies, the document is there in
// one version. What it left behind is seen by nobody, and as long as there is any
// something is marked; so it is removed when the document is written again or,
// once the mark is older than stale, when the collection is next opened for
// writing (sweep).

// stale is the age from which pending parts are those of a writer that died.
const stale = time.Hour

// Documents are written in batches of so many, or of so many chunks, since their
// points are made at once; calls are cut at a number of bytes and of points.
const (
	writeDocuments = 64
	writeChunks    = 10_000
	writeBytes     = 8 << 20
	writePoints    = 500
	deleteIDs      = 500
)

var errReadOnly = errors.New("the collection was opened for reading only")

// Upsert implements retriever.Store. If a call fails, the documents before the
// failing batch are stored; each one is there in its old or its new version.
func (s *Store) Upsert(ctx context.Context, docs []retriever.Document) error {
	if err := s.enter(ctx); err != nil {
		return err
	}
	defer s.leave()
	if s.opts.ReadOnly {
		return errReadOnly
	}
	dim := s.fingerprint.Dim
	for i := range docs {
		if err := retriever.Check(&docs[i], dim); err != nil {
			return err
		}
	}
	docs = latest(docs)
	if err := s.createIndexes(ctx, indexesOf(docs)); err != nil {
		return err
	}
	for len(docs) > 0 {
		n, chunks := 0, 0
		for n < min(len(docs), writeDocuments) && (n == 0 || chunks+len(docs[n].Chunks) <= writeChunks) {
			chunks += len(docs[n].Chunks)
			n++
		}
		if err := s.replace(ctx, docs[:n]); err != nil {
			return err
		}
		docs = docs[n:]
	}
	return nil
}

// latest leaves out documents that a later one with the same ID replaces.
func latest(docs []retriever.Document) []retriever.Document {
	last := make(map[string]int, len(docs))
	for i := range docs {
		last[docs[i].ID] = i
	}
	if len(last) == len(docs) {
		return docs
	}
	var out []retriever.Document
	for i := range docs {
		if last[docs[i].ID] == i {
			out = append(out, docs[i])
		}
	}
	return out
}

func (s *Store) replace(ctx context.Context, docs []retriever.Document) error {
	var rest, heads []*pb.PointStruct
	versions := make(map[string]string, len(docs))
	for i := range docs {
		w, err := s.points(&docs[i], s.now())
		if err != nil {
			return fmt.Errorf("document %q: %w", docs[i].ID, err)
		}
		rest = append(rest, w.rest...)
		heads = append(heads, w.head)
		versions[w.id] = w.version
	}
	if err := s.upsert(ctx, s.shard, rest); err != nil {
		return err
	}
	if err := s.upsert(ctx, s.shard, heads); err != nil {
		return err
	}
	return s.settle(ctx, versions)
}

// upsert writes points in calls of a size that servers take.
func (s *Store) upsert(ctx context.Context, shard *pb.ShardKeySelector, points []*pb.PointStruct) error {
	for len(points) > 0 {
		n, bytes := 0, 0
		for n < len(points) && n < writePoints {
			if bytes += proto.Size(points[n]); n > 0 && bytes > writeBytes {
				break
			}
			n++
		}
		_, err := call(ctx, s, "storing points", func(ctx context.Context, client *pb.Client) (*pb.UpdateResult, error) {
			wait := true
			return client.Upsert(ctx, &pb.UpsertPoints{CollectionName: s.collection, Wait: &wait, Points: points[:n], ShardKeySelector: shard})
		})
		if err != nil {
			return err
		}
		points = points[n:]
	}
	return nil
}

// settle ends the replacement of documents by the given versions: it takes the
// mark off their points, and in between removes the parts of versions that were
// there and are not any more. Those are parts without a mark, or with an old one,
// whose version is not that of the head when it is read afterwards: since a
// version's mark goes only after its head was written, and no version is written
// twice, it will never be there again. Parts that another writer is about to
// complete are not among them. If meanwhile another writer has replaced a document,
// its version stays and ours goes.
func (s *Store) settle(ctx context.Context, versions map[string]string) error {
	ids := slices.Sorted(maps.Keys(versions))
	these, ours := pb.NewMatchKeywords(keyDocument, ids...), pb.NewMatchKeywords(keyVersion, slices.Sorted(maps.Values(versions))...)
	if err := s.unmark(ctx, these, laterPart(), ours); err != nil {
		return err
	}
	found, err := s.facet(ctx, "listing versions", keyVersion, s.mine(these, laterPart(), either(s.abandoned()...)))
	if err != nil {
		return err
	}
	heads, err := s.readHeads(ctx, ids, keyVersion)
	if err != nil {
		return err
	}
	there := make(map[string]bool, len(heads))
	for _, p := range heads {
		there[text(p, keyVersion)] = true
	}
	var gone []string
	for _, f := range found {
		if version := f.GetValue().GetStringValue(); !there[version] {
			gone = append(gone, version)
		}
	}
	if len(gone) > 0 {
		if err := s.deleteWhere(ctx, "removing old parts", these, laterPart(), pb.NewMatchKeywords(keyVersion, gone...)); err != nil {
			return err
		}
	}
	return s.unmark(ctx, these, pb.NewMatchInt(keyPart, 0), ours)
}

// unmark says that points are not pending any more.
func (s *Store) unmark(ctx context.Context, conditions ...*pb.Condition) error {
	_, err := call(ctx, s, "completing documents", func(ctx context.Context, client *pb.Client) (*pb.UpdateResult, error) {
		wait := true
		return client.DeletePayload(ctx, &pb.DeletePayloadPoints{
			CollectionName: s.collection, Wait: &wait, Keys: []string{keyPending}, ShardKeySelector: s.shard,
			PointsSelector: pb.NewPointsSelectorFilter(s.mine(conditions...)),
		})
	})
	return err
}

// abandoned are the conditions of a part that no writer is about to complete; one
// of them is enough.
func (s *Store) abandoned() []*pb.Condition {
	return []*pb.Condition{pb.NewIsEmpty(keyPending), s.pendingLong()}
}

func (s *Store) pendingLong() *pb.Condition {
	old := float64(s.now().Add(-stale).Unix())
	return pb.NewRange(keyPending, &pb.Range{Lt: &old})
}

// sweep settles the documents that a writer that died has left marked.
func (s *Store) sweep(ctx context.Context) error {
	var found []*pb.RetrievedPoint
	err := s.pages(ctx, s.mine(s.pendingLong()), []string{keyDocument}, func(page []*pb.RetrievedPoint) error {
		found = append(found, page...)
		return nil
	})
	if err != nil {
		return err
	}
	ids := make(map[string]bool)
	for _, p := range found {
		ids[text(p, keyDocument)] = true
	}
	for batch := range slices.Chunk(slices.Sorted(maps.Keys(ids)), writeDocuments) {
		heads, err := s.readHeads(ctx, batch, keyDocument, keyVersion)
		if err != nil {
			return err
		}
		versions := make(map[string]string, len(batch))
		for _, id := range batch {
			versions[id] = noToken
		}
		for _, p := range heads {
			versions[text(p, keyDocument)] = text(p, keyVersion)
		}
		if err := s.settle(ctx, versions); err != nil {
			return err
		}
	}
	return nil
}

func (s *Store) deleteWhere(ctx context.Context, what string, conditions ...*pb.Condition) error {
	_, err := call(ctx, s, what, func(ctx context.Context, client *pb.Client) (*pb.UpdateResult, error) {
		wait := true
		return client.Delete(ctx, &pb.DeletePoints{
			CollectionName: s.collection, Wait: &wait, Points: pb.NewPointsSelectorFilter(s.mine(conditions...)), ShardKeySelector: s.shard,
		})
	})
	return err
}

// Delete implements retriever.Store.
func (s *Store) Delete(ctx context.Context, ids []string) (int, error) {
	if err := s.enter(ctx); err != nil {
		return 0, err
	}
	defer s.leave()
	if s.opts.ReadOnly {
		return 0, errReadOnly
	}
	return s.remove(ctx, ids)
}

// remove deletes documents with all their parts, in any version. Parts that are
// pending stay: whoever writes them is about to put a new document in the place
// of the one removed, or removes them when its head is gone (settle).
func (s *Store) remove(ctx context.Context, ids []string) (int, error) {
	ids = slices.Compact(slices.Sorted(slices.Values(ids)))
	removed := 0
	for batch := range slices.Chunk(ids, deleteIDs) {
		heads, err := s.readHeads(ctx, batch)
		if err != nil {
			return removed, err
		}
		if err := s.deleteWhere(ctx, "removing documents", pb.NewMatchKeywords(keyDocument, batch...), either(append(s.abandoned(), pb.NewMatchInt(keyPart, 0))...)); err != nil {
			return removed, err
		}
		removed += len(heads)
	}
	return removed, nil
}

// DeleteWhere implements retriever.Store.
func (s *Store) DeleteWhere(ctx context.Context, filter retriever.Filter) (int, error) {
	if len(filter.All) == 0 {
		return 0, errors.New("delete by an empty filter would delete everything: want at least one condition")
	}
	if err := s.enter(ctx); err != nil {
		return 0, err
	}
	defer s.leave()
	if s.opts.ReadOnly {
		return 0, errReadOnly
	}
	ids, err := s.matching(ctx, filter)
	if err != nil {
		return 0, err
	}
	return s.remove(ctx, ids)
}
