//go:build cgo && onnx && linux

package onnx

import (
	"context"
	"fmt"
	"math/rand/v2"
	"runtime"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/waymark-rag/waymark/landmark"
	"github.com/waymark-rag/waymark/landmark/modeldir"
	"github.com/waymark-rag/waymark/landmark/onnx/bert"
	"github.com/waymark-rag/waymark/models"
)

// runtimes are the encoders of the default model that this processor has, each on one thread.
func runtimes(t testing.TB) map[string]landmark.Encoder {
	spec, err := modeldir.Load(models.Default())
	if err != nil {
		t.Fatal(err)
	}
	out := map[string]landmark.Encoder{}
	for _, level := range []bert.Level{bert.AMX, bert.VNNI} {
		if enc, err := bert.New(spec.Graph.Data, bert.Options{Threads: 1, Level: level}); err == nil {
			out[string(enc.Level())] = enc
			t.Cleanup(enc.Close)
		}
	}
	_, enc, _ := openParts(t, 1)
	out["ONNX Runtime"] = enc
	return out
}

// sequences are some of a length, with random words.
func sequences(length, tokens int) []landmark.Sequence {
	rng := rand.New(rand.NewPCG(1, 1))
	out := make([]landmark.Sequence, tokens/length)
	for i := range out {
		out[i] = landmark.Sequence{IDs: make([]int32, length), Positions: []int32{int32(length - 1)}}
		for k := range out[i].IDs {
			out[i].IDs[k] = int32(1000 + rng.IntN(20000))
		}
	}
	return out
}

// BenchmarkEncode runs each encoder over the same sequences, in turns, and gives how many times as fast as ONNX Runtime
// each is, and what share it reaches of the products that its instructions can do.
func BenchmarkEncode(b *testing.B) {
	const tokens = 2048
	encoders := runtimes(b)
	for _, length := range []int{16, 64, 128, 256, 512} {
		b.Run(fmt.Sprintf("tokens=%d", length), func(b *testing.B) {
			runtime.LockOSThread() // whose time is measured
			defer runtime.UnlockOSThread()
			batch := sequences(length, tokens)
			best := map[string]time.Duration{}
			for b.Loop() {
				turn(b, encoders, batch, best)
			}
			for name, d := range best {
				unit := map[string]string{string(bert.AMX): "amx", string(bert.VNNI): "vnni", "ONNX Runtime": "ort"}[name]
				b.ReportMetric(tokens/d.Seconds(), unit+"-tokens/s")
				if unit == "ort" {
					continue
				}
				b.ReportMetric(float64(best["ONNX Runtime"])/float64(d), unit+"/ort")
				// Of a token: the weights of the products, and its scores and what they mix, two operations each.
				work := 2 * 12 * (12*384*384 + 2*384*float64(length)) * tokens
				roof, start := 0.0, cpuTime(b)
				for range 100 {
					roof += bert.Roof(bert.Level(name), 1000)
				}
				roof /= (cpuTime(b) - start).Seconds()
				b.ReportMetric(work/d.Seconds()/roof, unit+"-of-roof")
			}
			b.ReportMetric(0, "ns/op") // the turns differ
		})
	}
}

// cpuTime is what this thread has had of a processor: other programs do not count.
func cpuTime(t testing.TB) time.Duration {
	var now unix.Timespec
	if err := unix.ClockGettime(unix.CLOCK_THREAD_CPUTIME_ID, &now); err != nil {
		t.Fatal(err)
	}
	return time.Duration(now.Nano())
}

// turn runs each encoder once on this thread, and keeps the least time of each.
func turn(t testing.TB, encoders map[string]landmark.Encoder, batch []landmark.Sequence, best map[string]time.Duration) {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	for name, enc := range encoders {
		start := cpuTime(t)
		if _, err := enc.Encode(context.Background(), batch); err != nil {
			t.Fatal(err)
		}
		if d := cpuTime(t) - start; best[name] == 0 || d < best[name] {
			best[name] = d
		}
	}
}

// TestFaster fails when the built-in kernels have become slow beside ONNX Runtime, by the best of some turns.
func TestFaster(t *testing.T) {
	encoders := runtimes(t)
	batch := sequences(128, 1024)
	best := map[string]time.Duration{}
	for range 7 {
		turn(t, encoders, batch, best)
	}
	for name, d := range best {
		ratio := float64(best["ONNX Runtime"]) / float64(d)
		t.Logf("%s: %.0f tokens/s, %.1f times ONNX Runtime", name, 1024/d.Seconds(), ratio)
		if least := map[string]float64{string(bert.AMX): 2, string(bert.VNNI): 0.8}[name]; ratio < least {
			t.Errorf("%s is %.2f times as fast as ONNX Runtime, want at least %v", name, ratio, least)
		}
	}
}
