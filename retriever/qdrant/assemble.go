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
	parts    []*pb.RetrievedPoint // all of the head's version, in order
	document retriever.Document
}

var headFields = []string{keyDocument, keyTitle, keyHash, keyMetadata, keyVersion, keyParts, keyPart, keyChunkCount}

// assemble reads documents whole. It returns the IDs of those that were replaced
// meanwhile, so that their parts are of two versions.
func (s *Store) assemble(ctx context.Context, ids []string, want retriever.Want, found map[string]*assembly) (again []string, err error) {
	fields, vectors := slices.Clone(headFields), []string(nil)
	if want.Text {
		fields = append(fields, keyText)
	}
	if want.Chunks {
		fields = append(fields, keyChunks)
	}
	if want.Vectors {
		vectors = append(vectors, vectorDoc)
		if want.Chunks {
			vectors = append(vectors, vectorLandmarks)
		}
	}
	heads, err := s.readHeadsWith(ctx, ids, vectors, fields...)
	if err != nil {
		return nil, err
	}
	var long []string
	for _, p := range heads {
		a := &assembly{head: p, parts: []*pb.RetrievedPoint{p}}
		id := text(p, keyDocument)
		found[id] = a
		if (want.Text || want.Chunks) && number(p, keyParts) > 1 {
			long = append(long, id)
		}
	}
	for batch := range slices.Chunk(long, headsPerCall) {
		var versions []string
		for _, id := range batch {
			versions = append(versions, text(found[id].head, keyVersion))
		}
		later := s.mine(pb.NewMatchKeywords(keyDocument, batch...), pb.NewMatchKeywords(keyVersion, versions...), laterPart())
		err := s.pages(ctx, later, fields, vectors, func(points []*pb.RetrievedPoint) error {
			for _, p := range points {
				a := found[text(p, keyDocument)]
				a.parts = append(a.parts, p)
			}
			return nil
		})
		if err != nil {
			return nil, err
		}
	}
	for _, p := range heads {
		id := text(p, keyDocument)
		a := found[id]
		slices.SortFunc(a.parts, func(a, b *pb.RetrievedPoint) int { return cmp.Compare(number(a, keyPart), number(b, keyPart)) })
		if n := number(p, keyParts); (want.Text || want.Chunks) && len(a.parts) != n {
			again = append(again, id)
			delete(found, id)
			continue
		}
		if a.document, err = a.build(want); err != nil {
			return nil, fmt.Errorf("document %q of collection %q: %w", id, s.collection, err)
		}
	}
	return again, nil
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
	var all strings.Builder
	for _, p := range a.parts {
		if want.Text {
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
		d.Chunks = append(d.Chunks, chunks...)
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
