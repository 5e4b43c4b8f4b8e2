package main

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/waymark-rag/waymark/configs"
)

// What describes a deployment is not run here, where there is no container engine and
// no systemd. These tests hold that it names what there is.

func readRoot(t *testing.T, name string) string {
	t.Helper()
	data, err := os.ReadFile(filepath.Join("..", "..", filepath.FromSlash(name)))
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}

func TestContainerfile(t *testing.T) {
	file := strings.ReplaceAll(readRoot(t, "Containerfile"), "\\\n", " ")
	makefile := readRoot(t, "Makefile")
	var settings []string
	counts := map[string]int{}
	for line := range strings.Lines(file) {
		words := strings.Fields(line)
		if len(words) < 2 || strings.HasPrefix(words[0], "#") {
			continue
		}
		counts[words[0]]++
		switch {
		case words[0] == "COPY" && !strings.HasPrefix(words[1], "--from="):
			for _, source := range words[1 : len(words)-1] {
				if _, err := os.Stat(filepath.Join("..", "..", source)); err != nil {
					t.Errorf("COPY: %v", err)
				}
			}
		case words[0] == "RUN" && words[1] == "make":
			if !strings.Contains(makefile, "\n"+words[2]+":") {
				t.Errorf("the Makefile has no target %q", words[2])
			}
		case words[0] == "ENV":
			for _, setting := range words[1:] {
				if strings.HasPrefix(setting, "WAYMARK_") {
					settings = append(settings, setting)
				}
			}
		case words[0] == "USER" && (words[1] == "root" || words[1] == "0"):
			t.Errorf("USER %s", words[1])
		}
	}
	for _, word := range []string{"USER", "HEALTHCHECK", "VOLUME", "EXPOSE", "ENTRYPOINT", "CMD"} {
		if counts[word] != 1 {
			t.Errorf("%d lines with %s, want one", counts[word], word)
		}
	}
	cfg, err := configs.Load(configs.Sources{Environ: settings})
	if err != nil || cfg.Store != "local:/data/index.db" || cfg.Server.Listen != ":8080" {
		t.Errorf("%q give the store %q and the address %q, %v", settings, cfg.Store, cfg.Server.Listen, err)
	}
	if go1 := regexp.MustCompile(`(?m)^go (\d+\.\d+)`).FindStringSubmatch(readRoot(t, "go.mod")); !strings.Contains(file, "golang:"+go1[1]+"-") {
		t.Errorf("the image builds with another Go than go.mod's %s", go1[1])
	}
	// What make build puts into bin/ is what is copied out of it.
	for _, built := range []string{"bin/waymark", "bin/libonnxruntime.so"} {
		if !strings.Contains(file, "/src/"+built+" ") || !strings.Contains(strings.ReplaceAll(makefile, " bin/ ", " bin/libonnxruntime.so "), built) {
			t.Errorf("%s is not both built and copied", built)
		}
	}
}

func TestSystemdUnit(t *testing.T) {
	unit := readRoot(t, "configs/waymark.service")
	start := regexp.MustCompile(`(?m)^ExecStart=\S+/waymark (.*)$`).FindStringSubmatch(unit)
	if start == nil {
		t.Fatal("no ExecStart")
	}
	config, err := filepath.Abs("../../configs/server.yaml")
	if err != nil {
		t.Fatal(err)
	}
	args := strings.Fields(strings.NewReplacer("%S", "/var/lib", "%d", "/run/credentials/waymark.service", "/etc/waymark/waymark.yaml", config).Replace(start[1]))
	var stdout, stderr bytes.Buffer
	if code := run(context.Background(), append(args, "--help"), program{stdin: strings.NewReader(""), stdout: &stdout, stderr: &stderr}); code != exitDone || !strings.Contains(stdout.String(), "waymark serve") {
		t.Errorf("%q: exit code %d, %s", args, code, &stderr)
	}
	// With the settings of the unit it gets as far as the keys, which are not there.
	if code := run(context.Background(), args, program{stdin: strings.NewReader(""), stdout: &stdout, stderr: &stderr}); code != exitFailed || !strings.Contains(stderr.String(), "server.keys_file: open /run/credentials/waymark.service/keys") {
		t.Errorf("%q: exit code %d, %s", args, code, &stderr)
	}
	for _, want := range []string{"DynamicUser=yes", "ProtectSystem=strict", "NoNewPrivileges=yes", "StateDirectory=waymark", "LoadCredential=keys:"} {
		if !strings.Contains(unit, "\n"+want) {
			t.Errorf("the unit lacks %s", want)
		}
	}
}
