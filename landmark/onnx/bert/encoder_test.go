//go:build cgo && onnx && amd64

package bert

import (
	"context"
	"fmt"
	"io/fs"
	"testing"
	"time"
	"math/rand/v2"

	"github.com/waymark-rag/waymark/landmark"
	"github.com/waymark-rag/waymark/models"
)

func BenchmarkEncode(b *testing.B) {
	graph, err := fs.ReadFile(models.Default(), "onnx/model_qint8.onnx")
	if err != nil {
		b.Fatal(err)
	}
	for _, level := range []Level{AMX, VNNI} {
		e, err := New(graph, Options{Level: level})
		if err != nil {
			b.Fatal(err)
		}
		for _, length := range []int{16, 64, 128, 256, 512} {
			rng := rand.New(rand.NewPCG(1, 2))
			var batch []landmark.Sequence
			for range 4096 / length {
				s := landmark.Sequence{Positions: []int32{int32(length - 1)}}
				for range length {
					s.IDs = append(s.IDs, int32(1000+rng.IntN(20000)))
				}
				batch = append(batch, s)
			}
			b.Run(fmt.Sprintf("%s/%d", level, length), func(b *testing.B) {
				for b.Loop() {
					if _, err := e.Encode(context.Background(), batch); err != nil {
						b.Fatal(err)
					}
				}
				b.ReportMetric(float64(b.N)*4096/b.Elapsed().Seconds(), "tokens/s")
			})
		}
		e.Close()
		b.Run(fmt.Sprintf("%s/roof", level), func(b *testing.B) {
			start := time.Now()
			n := 0.0
			for b.Loop() {
				n += Roof(level, 1000)
			}
			b.ReportMetric(2*n/time.Since(start).Seconds()/1e9, "GOPS")
		})
	}
}
