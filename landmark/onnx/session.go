//go:build cgo && onnx

package onnx

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	ort "github.com/yalue/onnxruntime_go"

	"github.com/waymark-rag/waymark/landmark/modeldir"
)

// newSession loads the graph. One thread runs one call; see
// docs/decisions/0002-native-parts.md for what was measured.
func newSession(fsys fs.FS, g modeldir.Graph) (*ort.DynamicAdvancedSession, error) {
	opts, err := ort.NewSessionOptions()
	if err != nil {
		return nil, err
	}
	defer opts.Destroy()
	err = errors.Join(
		opts.SetIntraOpNumThreads(1),
		opts.SetInterOpNumThreads(1),
		opts.SetExecutionMode(ort.ExecutionModeSequential),
		opts.SetGraphOptimizationLevel(ort.GraphOptimizationLevelEnableAll),
		opts.SetLogSeverityLevel(ort.LoggingLevelFatal), // errors are returned
		// The arena keeps what the largest call took, which batches bound; a
		// memory pattern would be kept for each shape.
		opts.SetCpuMemArena(true),
		opts.SetMemPattern(false),
	)
	if err == nil && len(g.External) > 0 {
		err = allowExternal(opts, fsys, g)
	}
	if err != nil {
		return nil, err
	}
	s, err := ort.NewDynamicAdvancedSessionWithONNXData(g.Data, g.Inputs, []string{g.Output}, opts)
	if err != nil {
		return nil, fmt.Errorf("loading %s: %w", g.File, err)
	}
	return s, nil
}

// allowExternal tells the runtime in which folder the graph lies.
func allowExternal(opts *ort.SessionOptions, fsys fs.FS, g modeldir.Graph) error {
	f, err := fsys.Open(g.File)
	if err != nil {
		return err
	}
	defer f.Close()
	file, ok := f.(*os.File)
	if !ok {
		return fmt.Errorf("%s keeps weights in %q: such a model can be loaded only from a folder on disk", g.File, g.External)
	}
	return opts.AddSessionConfigEntry("session.model_external_initializers_file_folder_path", filepath.Dir(file.Name()))
}
