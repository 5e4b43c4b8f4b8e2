// Command encoders turns texts into vectors with Waymark or with hugot, for encode.py to
// measure.
//
//	encoders waymark MODEL [onnxruntime]
//	encoders hugot-ort|hugot-go BACKBONE FILE
//
// MODEL is a Waymark model directory, BACKBONE what backbone.py makes of it and FILE the
// graph in its folder onnx. As many processors are used as GOMAXPROCS says.
package main

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"runtime"
	"strings"

	"github.com/knights-analytics/hugot"
	"github.com/knights-analytics/hugot/options"
	"github.com/knights-analytics/hugot/pipelines"

	"github.com/waymark-rag/waymark/bench/peers/worker"
	"github.com/waymark-rag/waymark/landmark"
	"github.com/waymark-rag/waymark/landmark/onnx"
)

// request asks for the vectors of some texts, so many at once.
type request struct {
	Texts   []string `json:"texts"`
	Batch   int      `json:"batch"`   // 0: as the encoder likes it
	Single  bool     `json:"single"`  // each text is one chunk, whatever its length
	Vectors bool     `json:"vectors"` // the vectors are wanted, and not only to be made
}

// library is the path of ONNX Runtime.
var library = os.Getenv("WAYMARK_ONNXRUNTIME")

func main() { worker.Main(run) }

func run() error {
	switch args := os.Args[1:]; {
	case len(args) == 2 && args[0] == "waymark":
		return waymark(context.Background(), args[1], "")
	case len(args) == 3 && args[0] == "waymark":
		return waymark(context.Background(), args[1], onnx.Runtime(args[2]))
	case len(args) == 3 && args[0] == "hugot-ort":
		s, err := hugot.NewORTSession(options.WithOnnxLibraryPath(filepath.Dir(library)), options.WithIntraOpNumThreads(runtime.GOMAXPROCS(0)), options.WithInterOpNumThreads(1))
		return peer(s, err, args[1], args[2])
	case len(args) == 3 && args[0] == "hugot-go":
		s, err := hugot.NewGoSession()
		return peer(s, err, args[1], args[2])
	}
	return errors.New("want: encoders waymark MODEL [onnxruntime], or encoders hugot-ort|hugot-go BACKBONE FILE")
}

func waymark(ctx context.Context, dir string, runtime onnx.Runtime) error {
	m, err := onnx.Open(ctx, os.DirFS(dir), &onnx.Options{Library: library, Runtime: runtime})
	if err != nil {
		return err
	}
	defer m.Close()
	return worker.Serve(strings.TrimSuffix(m.Runtime, " ("+library+")"), func(r request) ([][]float32, error) {
		var embeddings []landmark.Embedding
		var err error
		if r.Single {
			inputs := make([]landmark.Input, len(r.Texts))
			for i, text := range r.Texts {
				inputs[i] = landmark.Input{Text: text}
			}
			embeddings, err = m.Encode(ctx, inputs)
		} else {
			embeddings, err = m.EmbedLandmarks(ctx, r.Texts)
		}
		if err != nil || !r.Vectors {
			return nil, err
		}
		out := make([][]float32, len(embeddings))
		for i, e := range embeddings {
			out[i] = e.Document
		}
		return out, nil
	})
}

func peer(s *hugot.Session, err error, dir, file string) error {
	if err != nil {
		return err
	}
	defer s.Destroy()
	p, err := hugot.NewPipeline(s, hugot.FeatureExtractionConfig{
		ModelPath: dir, Name: "encoder", OnnxFilename: file,
		Options: []hugot.FeatureExtractionOption{pipelines.WithNormalization()},
	})
	if err != nil {
		return err
	}
	return worker.Serve(worker.Version("github.com/knights-analytics/hugot"), func(r request) ([][]float32, error) {
		var out [][]float32
		for texts := r.Texts; len(texts) > 0; {
			n := min(r.Batch, len(texts))
			found, err := p.RunPipeline(texts[:n])
			if err != nil {
				return nil, err
			}
			out = append(out, found.Embeddings...)
			texts = texts[n:]
		}
		if !r.Vectors {
			return nil, nil
		}
		return out, nil
	})
}
