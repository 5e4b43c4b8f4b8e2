package modeldir

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io"
	"io/fs"
	"path"
	"slices"
	"strings"
)

// Graph is an ONNX transformer and what feeding it takes.
type Graph struct {
	// Data is the content of File, the path in the model directory.
	Data []byte
	File string
	// External are the paths of the files that hold the weights Data leaves out.
	External []string
	// Inputs are the names the graph wants fed, of InputNames.
	Inputs []string
	// Output names the hidden states: [batch, tokens, dimension], or with
	// Gathers set [batch, positions, dimension].
	Output string
	// Gathers says that the graph picks the wanted positions by itself.
	Gathers bool
	// Quantised says that the graph scales activations by the range found in
	// the whole batch.
	Quantised bool
}

// The inputs a graph may have, all int64 of rank 2.
const (
	InputIDs          = "input_ids"
	AttentionMask     = "attention_mask"
	TokenTypeIDs      = "token_type_ids"
	PositionIDs       = "position_ids"
	LandmarkPositions = "landmark_positions"
)

var inputNames = []string{InputIDs, AttentionMask, TokenTypeIDs, PositionIDs, LandmarkPositions}

// loadGraph reads the graph at file and checks its signature. An empty output
// stands for the usual names, a dim of 0 for any.
func loadGraph(fsys fs.FS, file, output string, dim int) (Graph, string, error) {
	if !fs.ValidPath(file) {
		return Graph{}, "", fmt.Errorf("weights file %q: want a path inside the model directory, with slashes and without \"..\"", file)
	}
	data, err := fs.ReadFile(fsys, file)
	if err != nil {
		return Graph{}, "", fmt.Errorf("weights: %w", err)
	}
	g := Graph{Data: data, File: file, Quantised: bytes.Contains(data, []byte("DynamicQuantize"))}
	sig, err := parseONNX(data)
	if err != nil {
		return Graph{}, "", fmt.Errorf("%s is not a whole ONNX file: %w", file, err)
	}
	if err := g.takeInputs(sig.inputs); err != nil {
		return Graph{}, "", fmt.Errorf("%s: %w", file, err)
	}
	if err := g.takeOutput(sig.outputs, output, dim); err != nil {
		return Graph{}, "", fmt.Errorf("%s: %w", file, err)
	}
	sum := sha256.New()
	sum.Write(data)
	for _, name := range sig.external {
		at := path.Join(path.Dir(file), name)
		if !fs.ValidPath(at) {
			return Graph{}, "", fmt.Errorf("%s: its external data file %q lies outside the model directory", file, name)
		}
		if err := addFile(sum, fsys, at); err != nil {
			return Graph{}, "", fmt.Errorf("%s: external data: %w", file, err)
		}
		g.External = append(g.External, at)
	}
	return g, "sha256:" + hex.EncodeToString(sum.Sum(nil)), nil
}

func addFile(w io.Writer, fsys fs.FS, file string) error {
	f, err := fsys.Open(file)
	if err != nil {
		return err
	}
	defer f.Close()
	_, err = io.Copy(w, f)
	return err
}

func (g *Graph) takeInputs(inputs []onnxValue) error {
	for _, v := range inputs {
		if !slices.Contains(inputNames, v.name) {
			return fmt.Errorf("the graph has the input %q: supported are %q", v.name, inputNames)
		}
		if v.elem != onnxInt64 || len(v.dims) != 2 {
			return fmt.Errorf("the graph's input %s is %s: want int64 of rank 2", v.name, v)
		}
		g.Inputs = append(g.Inputs, v.name)
	}
	for _, name := range []string{InputIDs, AttentionMask} {
		if !slices.Contains(g.Inputs, name) {
			return fmt.Errorf("the graph has no input %q, its inputs are %q", name, g.Inputs)
		}
	}
	g.Gathers = slices.Contains(g.Inputs, LandmarkPositions)
	return nil
}

func (g *Graph) takeOutput(outputs []onnxValue, name string, dim int) error {
	wanted := []string{name}
	if name == "" {
		wanted = []string{"last_hidden_state", "token_embeddings"}
		if g.Gathers {
			wanted = []string{"landmark_states"}
		}
	}
	var all []string
	for _, v := range outputs {
		all = append(all, v.String())
	}
	for _, name := range wanted {
		i := slices.IndexFunc(outputs, func(v onnxValue) bool { return v.name == name })
		if i < 0 {
			continue
		}
		v := outputs[i]
		if v.elem != onnxFloat || len(v.dims) != 3 {
			return fmt.Errorf("the graph's output %s: want float32 of rank 3, the states of single tokens; a pooled output cannot be used", v)
		}
		if last := v.dims[2]; dim > 0 && last > 0 && last != int64(dim) {
			return fmt.Errorf("the graph's output %s: its dimension is %d, the model's is said to be %d", v, last, dim)
		}
		g.Output = name
		return nil
	}
	return fmt.Errorf("the graph's outputs are %s: want one of %q, float32 of rank 3", strings.Join(all, "; "), wanted)
}
