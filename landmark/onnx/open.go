//go:build cgo && onnx

package onnx

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"runtime"

	"github.com/waymark-rag/waymark/landmark"
	"github.com/waymark-rag/waymark/landmark/modeldir"
	"github.com/waymark-rag/waymark/landmark/onnx/bert"
)

// Open loads the model directory at the root of fsys and checks that it gives
// the vectors recorded in it. Weights outside the graph's own file can be loaded
// only when fsys is a directory of the operating system.
func Open(ctx context.Context, fsys fs.FS, opts *Options) (*Model, error) {
	var o Options
	if opts != nil {
		o = *opts
	}
	if o.Threads < 0 {
		return nil, fmt.Errorf("threads %d: want 0 or more", o.Threads)
	}
	if o.Threads == 0 {
		o.Threads = runtime.GOMAXPROCS(0) // the cgroup's share, not the host's
	}
	if o.Encode.Parallel == 0 {
		o.Encode.Parallel = o.Threads
	}
	spec, err := modeldir.Load(fsys)
	if err != nil {
		return nil, err
	}
	tok, err := newTokenizer(spec.Tokenizer)
	if err != nil {
		return nil, err
	}
	m := &Model{Name: spec.Name, Digest: spec.Digest, Notes: spec.Notes}
	enc, err := m.openEncoder(fsys, spec, o)
	if err != nil {
		return nil, errors.Join(err, tok.close())
	}
	closeEncoder := m.close
	m.close = func() error { return errors.Join(closeEncoder(), tok.close()) }
	if m.Model, err = landmark.New(tok, enc, spec.Config, &o.Encode); err == nil && spec.Golden != nil {
		err = spec.Golden.Check(ctx, m.Model)
	}
	if err == nil && o.Pooling != "" {
		spec.Config.Pooling = o.Pooling
		m.Model, err = landmark.New(tok, enc, spec.Config, &o.Encode)
	}
	if err != nil {
		return nil, errors.Join(err, m.Close())
	}
	return m, nil
}

// openEncoder opens what runs the graph, and notes what that is and how to close it.
func (m *Model) openEncoder(fsys fs.FS, spec *modeldir.Spec, o Options) (landmark.Encoder, error) {
	if o.Runtime == "" && spec.Golden != nil { // which shows that the graph was understood
		enc, err := bert.New(spec.Graph.Data, bert.Options{Threads: o.Threads})
		if err == nil {
			m.Runtime = fmt.Sprintf("built-in kernels (%s)", enc.Level())
			m.close = func() error { enc.Close(); return nil }
			spec.Config.OnePerBatch = false // since each row has a range of its own
			return enc, nil
		}
		if !errors.Is(err, bert.ErrUnsupported) {
			return nil, fmt.Errorf("%s: %w", spec.Graph.File, err)
		}
	}
	enc, err := newEncoder(fsys, spec, o)
	if err != nil {
		return nil, err
	}
	m.Runtime = enc.env.String()
	m.close = enc.close
	return enc, nil
}
