//go:build !cgo || !onnx || !amd64 || !linux

package bert

import (
	"context"
	"fmt"

	"github.com/waymark-rag/waymark/landmark"
)

// Encoder is a landmark.Encoder. There is none in this build.
type Encoder struct{}

// New returns an error that wraps ErrUnsupported: this is a build without the kernels.
func New(graph []byte, o Options) (*Encoder, error) {
	return nil, fmt.Errorf("%w: the program was built without them", ErrUnsupported)
}

// Dim implements landmark.Encoder.
func (*Encoder) Dim() int { return 0 }

// Level returns the level in use.
func (*Encoder) Level() Level { return "" }

// Encode implements landmark.Encoder.
func (*Encoder) Encode(context.Context, []landmark.Sequence) ([][]float32, error) {
	return nil, ErrUnsupported
}

// Close does nothing.
func (*Encoder) Close() {}
