// Package bert runs the encoders that training/ exports, in 8 bits, with the matrix and vector instructions
// of AMX and AVX-512. It takes the place of ONNX Runtime where a graph is one of these and the
// processor has them: docs/performance.md says how much faster that is, and why.
//
// In: an ONNX graph, of which it reads the weights.
//
// Out: an [Encoder], which is a landmark.Encoder.
//
// Never: knows about tokens' meaning or texts; runs a graph that it does not know.
//
// The numbers are those of the graph but for rounding. Weights are as the graph has them, 8 bits with a scale for each
// column. States are brought to 8 bits row by row, each by its own range, where the graph takes one range for all rows: so
// a vector does not depend on what else is in the batch, and sequences of any length are packed side by side
// without padding. Products of 8-bit numbers are exact; what is between them is in 32-bit floats,
// and attention, on AMX, in 16-bit floats whose sums have 32 bits. Of the last layer only the states that are asked for are computed.
package bert

import "errors"

// ErrUnsupported is wrapped by New's error when the graph is none that this package knows, when the processor lacks
// the instructions, or when the program was built without them.
var ErrUnsupported = errors.New("not run by the built-in kernels")

// Options tunes New. The zero value is the default.
type Options struct {
	// Threads is how many calls work at once, each on one thread; 0 means 1.
	Threads int
	// Level is the best level to use; empty means the processor's best.
	Level Level
}

// Level is a set of instructions.
type Level string

// The levels, from the best.
const (
	AMX  Level = "AMX"
	VNNI Level = "AVX-512 VNNI"
)
