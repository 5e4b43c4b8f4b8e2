package pythontest

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// Whoever lacks an environment is told the way to it.
func TestNotInstalled(t *testing.T) {
	module := t.TempDir()
	e := Environment{Name: "snake", Folder: "internal/snaketest/engine"}
	write := func(content string, path ...string) {
		t.Helper()
		file := filepath.Join(append([]string{module}, path...)...)
		if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(file, []byte(content), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	refused := func(when string) {
		t.Helper()
		if _, _, err := e.installed(module); err == nil || !strings.Contains(err.Error(), "run `make snake`") {
			t.Errorf("%s: %v, want the way to install it", when, err)
		}
	}
	if _, _, err := e.installed(module); err == nil || !strings.Contains(err.Error(), "requirements.txt") {
		t.Errorf("without requirements: %v", err)
	}
	write("engine==2", "internal", "snaketest", "engine", "requirements.txt")
	refused("never installed")
	write("engine==1", ".deps", "snake", "requirements.txt")
	refused("another version installed")
	write("engine==2", ".deps", "snake", "requirements.txt")
	python, folder, err := e.installed(module)
	if err != nil || python != filepath.Join(module, ".deps", "snake", "bin", "python") || folder != filepath.Join(module, "internal", "snaketest", "engine") {
		t.Errorf("installed: %q, %q, %v", python, folder, err)
	}
}
