package qdrant

import (
	"encoding/json"
	"fmt"
	"maps"
	"math"
	"time"

	"github.com/google/uuid"
	pb "github.com/qdrant/go-client/qdrant"

	"github.com/waymark-rag/waymark/chunker"
	"github.com/waymark-rag/waymark/retriever"
)

// written is a document as points.
type written struct {
	id, version string
	head        *pb.PointStruct
	rest        []*pb.PointStruct // the later parts
}

// points makes the points of a document, marked as pending since now.
func (s *Store) points(d *retriever.Document, now time.Time) (written, error) {
	// Of this write alone: were it made of the content, a writer that gives way to
	// another (settle) could take away what a third is writing again.
	v := uuid.NewString()
	out := written{id: d.ID, version: v}
	filterBy := filterPayload(d.Metadata)
	parts := max(1, (len(d.Chunks)+s.part-1)/s.part)
	for part := range parts {
		first := part * s.part
		last := min(first+s.part, len(d.Chunks))
		p, err := s.point(d, part, first, last, v)
		if err != nil {
			return written{}, err
		}
		maps.Copy(p.Payload, filterBy)
		p.Payload[keyPending] = pb.NewValueInt(now.Unix())
		if part > 0 {
			p.Id = partID(s.opts.Tenant, d.ID, v, part)
			out.rest = append(out.rest, p)
			continue
		}
		p.Id = headID(s.opts.Tenant, d.ID)
		p.Vectors.GetVectors().Vectors[vectorDoc] = pb.NewVectorDense(d.Vector)
		if p.Payload[keyMetadata], err = metadataValue(d.Metadata); err != nil {
			return written{}, err
		}
		p.Payload[keyTitle] = pb.NewValueString(d.Title)
		p.Payload[keyHash] = pb.NewValueString(d.Hash)
		p.Payload[keyParts] = pb.NewValueInt(int64(parts))
		p.Payload[keyChunkCount] = pb.NewValueInt(int64(len(d.Chunks)))
		out.head = p
	}
	return out, nil
}

// point is what all parts have in common. A document without chunks has one part
// without landmarks.
func (s *Store) point(d *retriever.Document, part, first, last int, version string) (*pb.PointStruct, error) {
	chunks := d.Chunks[first:last]
	text := chunker.Range{}
	if len(chunks) > 0 {
		text = chunker.Range{Start: chunks[0].Text.Start, End: chunks[len(chunks)-1].Text.End}
	}
	kept, err := chunksValue(chunks)
	if err != nil {
		return nil, err
	}
	vectors := map[string]*pb.Vector{}
	if len(chunks) > 0 {
		rows := make([][]float32, len(chunks))
		for i := range chunks {
			rows[i] = chunks[i].Vector
		}
		vectors[vectorLandmarks] = pb.NewVectorMulti(rows)
		if s.part > 1 {
			vectors[vectorPart] = pb.NewVectorDense(mean(chunks))
		}
	}
	if indices, values := weigh(d.Text, chunks); len(indices) > 0 {
		vectors[vectorText] = pb.NewVectorSparse(indices, values)
	}
	return &pb.PointStruct{
		Vectors: pb.NewVectorsMap(vectors),
		Payload: map[string]*pb.Value{
			keyTenant:   pb.NewValueString(s.opts.Tenant),
			keyDocument: pb.NewValueString(d.ID),
			keyPart:     pb.NewValueInt(int64(part)),
			keyVersion:  pb.NewValueString(version),
			keyFirst:    pb.NewValueInt(int64(first)),
			keyStart:    pb.NewValueInt(int64(text.Start)),
			keyText:     pb.NewValueString(text.Of(d.Text)),
			keyChunks:   kept,
		},
	}, nil
}

// mean is the unit vector of the mean of the chunks' raw states.
func mean(chunks []retriever.Chunk) []float32 {
	sum := make([]float64, len(chunks[0].Vector))
	for i := range chunks {
		for k, x := range chunks[i].Vector {
			sum[k] += float64(x) * float64(chunks[i].Norm)
		}
	}
	var norm float64
	for _, x := range sum {
		norm += x * x
	}
	if norm == 0 { // no norms are known, or the states cancel out
		return chunks[0].Vector
	}
	out := make([]float32, len(sum))
	for k, x := range sum {
		out[k] = float32(x / math.Sqrt(norm))
	}
	return out
}

// keptChunk is what the payload says of a chunk.
type keptChunk struct {
	Text     [2]int        `json:"text"`
	Source   [2]int        `json:"source"`
	Lines    [2]int        `json:"lines"`
	Tokens   int           `json:"tokens"`
	Norm     float32       `json:"norm"`
	Headings []string      `json:"headings"`
	Place    chunker.Place `json:"place,omitzero"`
	Header   [2]int        `json:"header,omitzero"`
}

// chunksValue writes chunks as a string of JSON: as a structure they would take
// several times the room, and nothing filters by them.
func chunksValue(chunks []retriever.Chunk) (*pb.Value, error) {
	kept := make([]keptChunk, len(chunks))
	for i, c := range chunks {
		kept[i] = keptChunk{
			Text: [2]int{c.Text.Start, c.Text.End}, Source: [2]int{c.Source.Start, c.Source.End},
			Lines: [2]int{c.Lines.First, c.Lines.Last}, Tokens: c.Tokens, Norm: c.Norm, Headings: c.Headings,
			Place: c.Place, Header: [2]int{c.Header.Start, c.Header.End},
		}
	}
	b, err := json.Marshal(kept)
	return pb.NewValueString(string(b)), err
}

func readChunks(v *pb.Value) ([]retriever.Chunk, error) {
	var kept []keptChunk
	if err := json.Unmarshal([]byte(v.GetStringValue()), &kept); err != nil {
		return nil, fmt.Errorf("the payload's %s: %w", keyChunks, err)
	}
	out := make([]retriever.Chunk, len(kept))
	for i, k := range kept {
		out[i] = retriever.Chunk{
			Text: chunker.Range{Start: k.Text[0], End: k.Text[1]}, Source: chunker.Range{Start: k.Source[0], End: k.Source[1]},
			Lines: retriever.Lines{First: k.Lines[0], Last: k.Lines[1]}, Tokens: k.Tokens, Norm: k.Norm, Headings: k.Headings,
			Place: k.Place, Header: chunker.Range{Start: k.Header[0], End: k.Header[1]},
		}
	}
	return out, nil
}
