//go:build cgo && onnx

package onnx

import (
	"errors"
	"fmt"
	"slices"
	"sync"

	ort "github.com/yalue/onnxruntime_go"
)

// ONNX Runtime allows one environment in a process. It lives while an encoder
// does; environments counts them.
var environments struct {
	sync.Mutex
	users   int
	library string
}

// environment is one user's hold on the runtime.
type environment struct {
	library, version string
}

// String names the runtime for people.
func (e environment) String() string {
	return fmt.Sprintf("ONNX Runtime %s (%s)", e.version, e.library)
}

// acquireEnvironment loads ONNX Runtime unless it is loaded already. Every
// success needs a releaseEnvironment.
func acquireEnvironment(library string) (environment, error) {
	environments.Lock()
	defer environments.Unlock()
	if environments.users == 0 {
		if err := initialise(library); err != nil {
			return environment{}, err
		}
	} else if paths, _ := candidates(library); library != "" && !slices.Contains(paths, environments.library) {
		return environment{}, fmt.Errorf("ONNX Runtime library %q: %s is already loaded, and a process can have one", library, environments.library)
	}
	environments.users++
	return environment{environments.library, ort.GetVersion()}, nil
}

// initialise loads the first library that will do: the one asked for, or of
// those found by searching.
func initialise(library string) error {
	paths, searched := candidates(library)
	var errs []error
	for _, path := range paths {
		ort.SetSharedLibraryPath(path)
		err := ort.InitializeEnvironment(ort.WithLogLevelFatal())
		if err == nil {
			environments.library = path
			return nil
		}
		errs = append(errs, fmt.Errorf("%s cannot be used, it may be older than %s: %w", path, minRuntime, err))
	}
	if len(errs) == 0 {
		errs = append(errs, fmt.Errorf("looked in %q", searched))
	}
	return fmt.Errorf("%w: want release %s or later: %w; `make deps` fetches one, the Python package onnxruntime holds one; name its path or folder in WAYMARK_ONNXRUNTIME", ErrLibrary, minRuntime, errors.Join(errs...))
}

// releaseEnvironment ends one hold; the last one unloads the library.
func releaseEnvironment() error {
	environments.Lock()
	defer environments.Unlock()
	environments.users--
	if environments.users > 0 {
		return nil
	}
	return ort.DestroyEnvironment()
}
