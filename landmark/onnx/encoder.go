//go:build cgo && onnx

package onnx

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"sync"

	ort "github.com/yalue/onnxruntime_go"

	"github.com/waymark-rag/waymark/landmark"
	"github.com/waymark-rag/waymark/landmark/modeldir"
)

// encoder is a landmark.Encoder on ONNX Runtime.
type encoder struct {
	graph modeldir.Graph
	dim   int
	alone bool // each sequence in a call of its own
	env   environment
	slots chan struct{} // one for each call that may run

	mu      sync.RWMutex // held for reading while session is in use
	session *ort.DynamicAdvancedSession
}

func newEncoder(fsys fs.FS, spec *modeldir.Spec, o Options) (*encoder, error) {
	env, err := acquireEnvironment(o.Library)
	if err != nil {
		return nil, err
	}
	session, err := newSession(fsys, spec.Graph)
	if err != nil {
		return nil, errors.Join(err, releaseEnvironment())
	}
	e := &encoder{
		graph:   spec.Graph,
		dim:     spec.Config.Dim,
		alone:   spec.Config.OnePerBatch,
		env:     env,
		slots:   make(chan struct{}, o.Threads),
		session: session,
	}
	e.graph.Data = nil // the session has its own
	return e, nil
}

// Dim implements landmark.Encoder.
func (e *encoder) Dim() int { return e.dim }

// Encode implements landmark.Encoder.
func (e *encoder) Encode(ctx context.Context, batch []landmark.Sequence) ([][]float32, error) {
	e.mu.RLock()
	defer e.mu.RUnlock()
	if e.session == nil {
		return nil, errClosed
	}
	for i, s := range batch {
		if err := s.Check(); err != nil {
			return nil, fmt.Errorf("sequence %d: %w", i, err)
		}
	}
	step := len(batch)
	if e.alone {
		step = 1
	}
	out := make([][]float32, 0, len(batch))
	for len(batch) > 0 {
		states, err := e.run(ctx, batch[:step])
		if err != nil {
			return nil, err
		}
		out = append(out, states...)
		batch = batch[step:]
	}
	return out, nil
}

// run puts a batch through the graph once there is a free slot.
func (e *encoder) run(ctx context.Context, batch []landmark.Sequence) (out [][]float32, err error) {
	select {
	case e.slots <- struct{}{}:
		defer func() { <-e.slots }()
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	}
	if ctx.Err() != nil { // a free slot and a cancelled context: select picks either
		return nil, context.Cause(ctx)
	}
	var t tensors
	defer func() { err = errors.Join(err, t.destroy()) }()
	if err := t.build(batch, e.graph, e.dim); err != nil {
		return nil, err
	}
	if err := e.runTensors(ctx, &t); err != nil {
		return nil, err
	}
	return t.read(batch, e.graph, e.dim), nil
}

// runTensors runs the graph; it ends early when ctx does.
func (e *encoder) runTensors(ctx context.Context, t *tensors) error {
	opts, err := ort.NewRunOptions()
	if err != nil {
		return err
	}
	defer opts.Destroy()
	terminated := make(chan error, 1)
	stop := context.AfterFunc(ctx, func() { terminated <- opts.Terminate() })
	err = e.session.RunWithOptions(t.inputs, []ort.Value{t.output}, opts)
	if !stop() { // opts must outlive the call of Terminate
		return errors.Join(context.Cause(ctx), <-terminated)
	}
	return err
}

// close frees the session once no call uses it.
func (e *encoder) close() error {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.session == nil {
		return nil
	}
	err := errors.Join(e.session.Destroy(), releaseEnvironment())
	e.session = nil
	return err
}
