package main

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"
)

func TestMain(m *testing.M) {
	if os.Getenv("WAYMARK_TEST_MAIN") != "" { // as the program, for tests that kill it
		main()
	}
	testscript.Main(m, map[string]func(){"waymark": main})
}

// The scripts in testdata run the program as a person would. Those in
// testdata/native need the native libraries; testdata/README.md has more.
func TestScripts(t *testing.T) { runScripts(t, "testdata", nil) }

// runScripts runs the scripts of a folder; setup, if there is one, adds to what each
// finds.
func runScripts(t *testing.T, dir string, setup func(*testscript.Env) error) {
	handbook, err := filepath.Abs("../../examples/handbook")
	if err != nil {
		t.Fatal(err)
	}
	set, err := filepath.Abs("../../eval/testdata/sets/harbour")
	if err != nil {
		t.Fatal(err)
	}
	testscript.Run(t, testscript.Params{
		Dir: dir,
		Setup: func(env *testscript.Env) error {
			env.Setenv("HANDBOOK", handbook)
			env.Setenv("SET", set)
			env.Setenv("WAYMARK_ONNXRUNTIME", os.Getenv("WAYMARK_ONNXRUNTIME"))
			if setup != nil {
				return setup(env)
			}
			return nil
		},
		RequireExplicitExec: true,
		RequireUniqueNames:  true,
	})
}
