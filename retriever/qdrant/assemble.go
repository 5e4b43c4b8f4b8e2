package qdrant

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"

	pb "github.com/qdrant/go-client/qdrant"

	"github.com/waymark-rag/waymark/retriever"
)

// assembly is a document being put together from its points.
type assembly struct {
	head     *pb.RetrievedPoint
	parts    []*pb.RetrievedPoint // those read, of the head's version, in order
	document retriever.Document
}

var headFields = []string{keyDocument, keyTitle, keyHash, keyMetadata, keyVersion, keyParts, keyPart, keyChunkCount}

// assemble reads documents, whole or those of their parts that are wanted. It
// returns the IDs of those that were replaced meanwhile, so that their parts are of
// two versions.
func (s *Store) assemble(ctx context.Context, ids []string, want retriever.Want, found map[string]*assembly) (again []string, err error) {
	fields, vectors := slices.Clone(headFields), []string(nil)
	if want.Text {
		fields = append(fields, keyText, keyStart)
	}
	if want.Chunks {
		fields = append(fields, keyChunks, keyFirst)
	}
	if want.Vectors {
		vectors = append(vectors, vectorDoc)
		if want.Chunks {
			vectors = append(vectors, vectorLandmarks)
		}
	}
	heads, err := s.readPoints(ctx, s.headIDs(ids), fields, vectors)
	if err != nil {
		return nil, err
	}
	var later []*pb.PointId
	need := make(map[string]int, len(heads)) // parts of each document
	for _, p := range heads {
		id := text(p, keyDocument)
		found[id] = &assembly{head: p, parts: []*pb.RetrievedPoint{p}}
		parts := s.laterParts(id, number(p, keyParts), want)
		for _, n := range parts {
			later = append(later, partID(s.opts.Tenant, id, text(p, keyVersion), n))
		}
		need[id] = 1 + len(parts)
	}
	points, err := s.readPoints(ctx, later, fields, vectors)
	if err != nil {
		return nil, err
	}
	for _, p := range points {
		a := found[text(p, keyDocument)]
		a.parts = append(a.parts, p)
	}
	var tables []string
	for _, p := range heads {
		id := text(p, keyDocument)
		a := found[id]
		slices.SortFunc(a.parts, func(a, b *pb.RetrievedPoint) int { return cmp.Compare(number(a, keyPart), number(b, keyPart)) })
		if len(a.parts) != need[id] {
			again = append(again, id)
			delete(found, id)
			continue
		}
		if a.document, err = a.build(want); err != nil {
			return nil, fmt.Errorf("document %q of collection %q: %w", id, s.collection, err)
		}
		if want.Text && want.Only != nil && a.lacksHeader() {
			tables = append(tables, id)
		}
	}
	if len(tables) > 0 { // where in them the header stands, only the whole says
		want.Only = nil
		more, err := s.assemble(ctx, tables, want, found)
		if err != nil {
			return nil, err
		}
		again = append(again, more...)
	}
	return again, nil
}

// lacksHeader reports whether one of the document's chunks has its header in a part
// that was not read.
func (a *assembly) lacksHeader() bool {
	return slices.ContainsFunc(a.document.Chunks, func(c retriever.Chunk) bool {
		return c.Header.Len() > 0 && !slices.ContainsFunc(a.parts, func(p *pb.RetrievedPoint) bool {
			start := number(p, keyStart)
			return start <= c.Header.Start && c.Header.End <= start+len(text(p, keyText))
		})
	})
}

// laterParts are those of a document's parts, of which there are so many, that are
// wanted beside the first.
func (s *Store) laterParts(id string, parts int, want retriever.Want) []int {
	var out []int
	switch {
	case !want.Text && !want.Chunks:
	case want.Only == nil:
		for n := 1; n < parts; n++ {
			out = append(out, n)
		}
	default:
		for _, chunks := range want.Only[id] {
			for n := max(chunks[0]/s.part, 1); n <= min(chunks[1]/s.part, parts-1); n++ {
				out = append(out, n)
			}
		}
		slices.Sort(out)
		out = slices.Compact(out)
	}
	return out
}

// point is what a search or a read returns.
type point interface{ GetPayload() map[string]*pb.Value }

func text(p point, key string) string { return p.GetPayload()[key].GetStringValue() }
func number(p point, key string) int  { return int(p.GetPayload()[key].GetIntegerValue()) }

// build makes the document of its points.
func (a *assembly) build(want retriever.Want) (retriever.Document, error) {
	d := retriever.Document{ID: text(a.head, keyDocument), Title: text(a.head, keyTitle), Hash: text(a.head, keyHash)}
	var err error
	if d.Metadata, err = readMetadata(a.head.GetPayload()[keyMetadata]); err != nil {
		return d, err
	}
	if want.Vectors {
		d.Vector = slices.Clone(vectorsOf(a.head)[vectorDoc].GetDenseVector().GetData())
	}
	if n := number(a.head, keyChunkCount); want.Chunks && n > 0 {
		d.Chunks = make([]retriever.Chunk, n)
	}
	var all strings.Builder
	for _, p := range a.parts {
		if want.Text {
			all.WriteString(strings.Repeat(" ", max(number(p, keyStart)-all.Len(), 0))) // in place of parts left out
			all.WriteString(text(p, keyText))
		}
		if !want.Chunks {
			continue
		}
		chunks, err := readChunks(p.GetPayload()[keyChunks])
		if err != nil {
			return d, err
		}
		if want.Vectors {
			rows := landmarks(vectorsOf(p))
			if len(rows) != len(chunks) {
				return d, fmt.Errorf("a part has %d chunks and %d landmarks", len(chunks), len(rows))
			}
			for i := range chunks {
				chunks[i].Vector = slices.Clone(rows[i])
			}
		}
		first := number(p, keyFirst)
		if first < 0 || first+len(chunks) > len(d.Chunks) {
			return d, fmt.Errorf("a part has %d chunks from %d on, of %d", len(chunks), first, len(d.Chunks))
		}
		copy(d.Chunks[first:], chunks)
	}
	d.Text = all.String()
	return d, nil
}

func vectorsOf(p interface{ GetVectors() *pb.VectorsOutput }) map[string]*pb.VectorOutput {
	return p.GetVectors().GetVectors().GetVectors()
}

// landmarks are the rows of the multivector.
func landmarks(vectors map[string]*pb.VectorOutput) [][]float32 {
	v, ok := vectors[vectorLandmarks]
	if !ok {
		return nil
	}
	var rows [][]float32
	for _, row := range v.GetMultiVector().GetVectors() {
		rows = append(rows, row.GetData())
	}
	return rows
}
