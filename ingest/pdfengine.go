package ingest

import (
	"context"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"sync"

	"github.com/klippa-app/go-pdfium"
	"github.com/klippa-app/go-pdfium/webassembly"
	"github.com/tetratelabs/wazero"
	"github.com/tetratelabs/wazero/api"
	"github.com/tetratelabs/wazero/experimental"
)

const (
	// pdfMemory is what PDFium may use for one file, in pages of 64 KiB.
	pdfMemory = 256 << 20 / (64 << 10)
	// maxPDFs is how many files are read at the same time; others wait.
	maxPDFs = 4
)

// pdfPool is PDFium as WebAssembly. It runs in a sandbox without files, network or
// more memory than pdfMemory, each file in one of its own. The first call makes it
// machine code, which takes seconds; the outcome is kept in the user's cache folder,
// so that later runs of the program start at once.
var pdfPool = sync.OnceValues(func() (pdfium.Pool, error) {
	config := wazero.NewRuntimeConfig().
		WithCoreFeatures(api.CoreFeaturesV2 | experimental.CoreFeaturesExceptionHandling).
		WithMemoryLimitPages(pdfMemory).
		WithCloseOnContextDone(true)
	if dir, err := os.UserCacheDir(); err == nil {
		if cache, err := wazero.NewCompilationCacheWithDir(filepath.Join(dir, "waymark", "wasm")); err == nil {
			if pool, err := newPDFPool(config.WithCompilationCache(cache)); err == nil {
				return pool, nil
			}
		}
	}
	return newPDFPool(config) // where nothing can be kept
})

func newPDFPool(config wazero.RuntimeConfig) (pdfium.Pool, error) {
	return webassembly.Init(webassembly.Config{
		Context:       experimental.WithCompilationWorkers(context.Background(), runtime.GOMAXPROCS(0)),
		MaxIdle:       1,
		MaxTotal:      min(maxPDFs, runtime.GOMAXPROCS(0)),
		RuntimeConfig: config,
		FSConfig:      wazero.NewFSConfig(), // the default is the whole disk
		Stdout:        io.Discard,
		Stderr:        io.Discard,
	})
}
