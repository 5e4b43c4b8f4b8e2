package pythontest

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
)

// Environment is a virtual environment for tests, with the packages that a folder's
// requirements.txt names. scripts/venv.sh makes it.
type Environment struct {
	// Name is that of its folder in .deps, and of the make target that installs it.
	Name string
	// Folder holds requirements.txt and the programs; its path begins at the
	// folder of the module.
	Folder string
}

// Command returns a program of the folder, ready to be run.
func (e Environment) Command(program string, args ...string) (*exec.Cmd, error) {
	if errRoot != nil {
		return nil, errRoot
	}
	python, folder, err := e.installed(root)
	if err != nil {
		return nil, err
	}
	return exec.Command(python, append([]string{filepath.Join(folder, program)}, args...)...), nil
}

// installed returns the interpreter and the folder of the programs in a module.
func (e Environment) installed(root string) (python, folder string, err error) {
	folder = filepath.Join(root, filepath.FromSlash(e.Folder))
	venv := filepath.Join(root, ".deps", e.Name)
	want, err := os.ReadFile(filepath.Join(folder, "requirements.txt"))
	if err != nil {
		return "", "", err
	}
	have, err := os.ReadFile(filepath.Join(venv, "requirements.txt")) // written once all is installed
	if err != nil || !bytes.Equal(have, want) {
		return "", "", fmt.Errorf("pythontest: what this test runs is not installed, or not in this version: run `make %s`", e.Name)
	}
	// The go command runs tests again when a file has changed that they looked
	// at, and the programs are looked at by another process.
	if _, err := os.ReadDir(folder); err != nil {
		return "", "", err
	}
	return filepath.Join(venv, "bin", "python"), folder, nil
}

// root is the folder of the module, looked for while the working directory is
// still that of the package under test.
var root, errRoot = moduleRoot()

func moduleRoot() (string, error) {
	dir, err := os.Getwd()
	if err != nil {
		return "", err
	}
	for {
		if _, err := os.Stat(filepath.Join(dir, "go.mod")); err == nil {
			return dir, nil
		}
		parent := filepath.Dir(dir)
		if parent == dir {
			return "", errors.New("pythontest: no go.mod above the working directory")
		}
		dir = parent
	}
}
