// Package onnx runs embedding models, with kernels of its own where package bert
// knows the graph and the processor, else with ONNX Runtime; texts go through the
// Hugging Face tokenizers. It and package bert alone link native code.
//
// In: a model directory, see landmark/modeldir.
//
// Out: a [Model], which is a landmark.Model with an identity.
//
// Never: knows what chunks mean, downloads, or reads the environment.
//
// Native code is linked with the build tag onnx and cgo; `make deps` fetches
// and builds what that needs. Without the tag the package is complete and
// [Open] returns [ErrNotBuilt]. At run time ONNX Runtime is loaded as a shared
// library when a model needs it, once per process, release 1.24 or later.
package onnx

import (
	"errors"

	"github.com/waymark-rag/waymark/landmark"
)

// ErrNotBuilt is what Open returns in a program built without native code.
var ErrNotBuilt = errors.New("this program was built without ONNX Runtime, so it cannot run models: build it with `make build` (cgo, and `-tags onnx` after `make deps`)")

// ErrLibrary is wrapped by Open's error when no usable ONNX Runtime is found.
var ErrLibrary = errors.New("no usable ONNX Runtime")

// Runtime is what runs a graph.
type Runtime string

// ONNXRuntime runs every graph.
const ONNXRuntime Runtime = "onnxruntime"

// Options tunes Open. The zero value is the default.
type Options struct {
	// Library is the path of the ONNX Runtime shared library or of the folder
	// it lies in. Empty means to search beside the executable, in ../lib from
	// there, and in the system's folders.
	Library string
	// Threads is how many sequences run at once, each on one thread; 0 means
	// as many as the process may use CPUs.
	Threads int
	// Runtime is what runs the graph; empty means the kernels of package bert
	// where they can, else ONNX Runtime.
	Runtime Runtime
	// Pooling reads vectors in another way than the model was made for, to
	// compare; empty keeps the model's own.
	Pooling landmark.Pooling
	// Encode tunes how texts are batched. Its Parallel defaults to Threads.
	Encode landmark.Options
}

// Model is an open model. It is safe for concurrent use.
type Model struct {
	*landmark.Model
	// Name is what the model directory calls it; it may be empty.
	Name string
	// Digest identifies the weights, as in modeldir.Spec.
	Digest string
	// Notes are modeldir's remarks on the directory, for people.
	Notes []string
	// Runtime says what runs it: the built-in kernels, or which ONNX Runtime, and
	// where its library is.
	Runtime string

	close func() error
}

// Close frees the model after the calls that are running have returned. Calls
// that come later fail. It may be called again.
func (m *Model) Close() error { return m.close() }
