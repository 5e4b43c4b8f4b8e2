package configs

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

// The example file names every setting, each with its default.
func TestExampleFileIsTheDefault(t *testing.T) {
	cfg, err := Load(Sources{File: "waymark.yaml"})
	if err != nil {
		t.Fatal(err)
	}
	want := Default()
	want.Ingest.Include, want.Ingest.Exclude, want.Ingest.Sitemap.Hosts = []string{}, []string{}, []string{}
	want.Server.Origins, want.Server.Collections = []string{}, []string{}
	if diff := cmp.Diff(want, cfg); diff != "" {
		t.Errorf("example file (-default +file):\n%s", diff)
	}
	data, err := os.ReadFile("waymark.yaml")
	if err != nil {
		t.Fatal(err)
	}
	for _, key := range Keys() {
		last := key[strings.LastIndexByte(key, '.')+1:]
		if !strings.Contains(string(data), last+":") {
			t.Errorf("the example file does not name %s", key)
		}
	}
}

func TestQdrantExample(t *testing.T) {
	cfg, err := Load(Sources{File: "qdrant.yaml", Environ: []string{"WAYMARK_TENANT=acme", "WAYMARK_QDRANT_API_KEY=secret"}})
	if err != nil {
		t.Fatal(err)
	}
	want := Default()
	want.Store, want.Tenant = "qdrants://qdrant.internal:6334/documents", "acme"
	want.Qdrant = Qdrant{
		APIKeyEnv: "WAYMARK_QDRANT_API_KEY", APIKeyFile: "/run/secrets/qdrant", CAFile: "/etc/ssl/internal-ca.pem",
		Timeout: 20 * time.Second, RetryFor: 2 * time.Minute, Oversampling: 2,
		Quantization: "scalar", OnDisk: true, Shards: 6, Replicas: 2, WriteConsistency: 1, Strict: true,
	}
	if diff := cmp.Diff(want, cfg); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	place, err := cfg.Place()
	if err != nil || place.Tenant != "acme" || !place.TLS {
		t.Errorf("place %+v, error %v", place, err)
	}
}

// Every setting of Qdrant can be given on the command line as in the file.
func TestQdrantSettings(t *testing.T) {
	values := map[string]string{
		"api_key_env": "KEY", "api_key_file": "key", "ca_file": "ca.pem", "timeout": "5s", "retry_for": "0s",
		"exact": "true", "candidates": "200", "hnsw_ef": "128", "oversampling": "1.5", "part_landmarks": "32", "float32": "true",
		"quantization": "binary", "on_disk": "true", "hnsw_m": "32", "hnsw_ef_construct": "256", "shards": "4", "replicas": "3",
		"write_consistency": "2", "shard_per_tenant": "true", "strict": "true",
	}
	src := Sources{Settings: []Setting{{"store", "qdrants://h/c?tenant=a", "--store"}, {"tenant", "a", "--tenant"}}}
	file := "store: qdrants://h/c\ntenant: a\nqdrant:\n"
	for key, value := range values {
		src.Settings = append(src.Settings, Setting{"qdrant." + key, value, "--set"})
		file += "  " + key + ": " + value + "\n"
	}
	name := filepath.Join(t.TempDir(), "w.yaml")
	if err := os.WriteFile(name, []byte(file), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, src := range []Sources{src, {File: name}} {
		cfg, err := Load(src)
		if err != nil {
			t.Fatal(err)
		}
		want := Qdrant{
			APIKeyEnv: "KEY", APIKeyFile: "key", CAFile: "ca.pem", Timeout: 5 * time.Second,
			Exact: true, Candidates: 200, HNSWEf: 128, Oversampling: 1.5, PartLandmarks: 32, Float32: true,
			Quantization: "binary", OnDisk: true, HNSWM: 32, HNSWEfConstruct: 256, Shards: 4, Replicas: 3,
			WriteConsistency: 2, ShardPerTenant: true, Strict: true,
		}
		if diff := cmp.Diff(want, cfg.Qdrant); diff != "" {
			t.Errorf("(-want +got):\n%s", diff)
		}
	}
	for _, key := range Keys() {
		if name, ok := strings.CutPrefix(key, "qdrant."); ok && values[name] == "" {
			t.Errorf("%s is not in this test", key)
		}
	}
}

func TestOrder(t *testing.T) {
	file := filepath.Join(t.TempDir(), "w.yaml")
	if err := os.WriteFile(file, []byte("search:\n  k: 3\n  level: chunk\nllm:\n  timeout: 5s\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	cfg, err := Load(Sources{
		File:     file,
		Environ:  []string{"WAYMARK_SEARCH_K=4", "WAYMARK_SEARCH_MMR=0.5", "PATH=/bin", "WAYMARK_CONFIG=x", "WAYMARK_LLM_API_KEY=secret", "WAYMARK_INGEST_EXCLUDE=a,b"},
		Settings: []Setting{{"search.k", "5", "--k"}, {"model.overlap", "64", "--set"}, {"ingest.hidden", "true", "--set"}},
	})
	if err != nil {
		t.Fatal(err)
	}
	want := Default()
	want.Search.K, want.Search.Level, want.Search.MMR = 5, "chunk", 0.5
	want.LLM.Timeout = 5 * time.Second
	want.Model.Overlap, want.Ingest.Hidden = 64, true
	want.Ingest.Exclude = []string{"a", "b"}
	if diff := cmp.Diff(want, cfg); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

func TestRefused(t *testing.T) {
	file := func(text string) Sources {
		name := filepath.Join(t.TempDir(), "w.yaml")
		if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		return Sources{File: name}
	}
	setting := func(key, value string) Sources {
		return Sources{Settings: []Setting{{key, value, "--set"}}}
	}
	tests := []struct {
		name string
		src  Sources
		want []string
	}{
		{"missing file", Sources{File: "no/such.yaml"}, []string{"configuration file", "no/such.yaml"}},
		{"unknown key", file("search:\n  kk: 3\n"), []string{"w.yaml", "kk"}},
		{"key twice", file("store: local:a\nstore: local:b\n"), []string{"store"}},
		{"wrong type", file("search:\n  k: many\n"), []string{"w.yaml", "k: many"}},
		{"api key in the file", file("llm:\n  api_key: secret\n"), []string{"api_key"}},
		{"unknown variable", Sources{Environ: []string{"WAYMARK_SERCH_K=3"}}, []string{"WAYMARK_SERCH_K", "search.k"}},
		{"wrong variable", Sources{Environ: []string{"WAYMARK_SEARCH_K=x"}}, []string{"WAYMARK_SEARCH_K", `"x"`, "whole number"}},
		{"unknown setting", setting("search.kk", "3"), []string{"--set", `"search.kk"`, "search.k"}},
		{"place", setting("store", "redis:x"), []string{"store", `"redis:x"`, "local:PATH"}},
		{"k", setting("search.k", "0"), []string{"search.k: 0"}},
		{"level", setting("search.level", "page"), []string{"search.level: page", `"both"`}},
		{"weights", setting("search.document_weight", "NaN"), []string{"search.document_weight"}},
		{"chunk", setting("chunk.max_tokens", "3"), []string{"chunk", "max tokens 3"}},
		{"budget", setting("answer.answer_tokens", "5000"), []string{"answer.context_tokens"}},
		{"provider", setting("llm.provider", "acme"), []string{"llm.provider: acme", "ollama"}},
		{"provider without model", setting("llm.provider", "openai"), []string{"llm.model"}},
		{"condense", setting("answer.condense", "model"), []string{"answer.condense: model", `"rule"`}},
		{"judge", setting("answer.judge", "on"), []string{"answer.judge: on", `"llm"`}},
		{"judge that only quotes", setting("answer.judge", "llm"), []string{"answer.judge: llm", "extractive"}},
		{"duration", setting("llm.timeout", "5"), []string{"llm.timeout", `"5"`}},
		{"pooling", setting("model.pooling", "max"), []string{"model.pooling: max"}},
		{"address", setting("store", "qdrant://h"), []string{"store: place", "it names no collection", "qdrant://localhost:6334/docs"}},
		{"two tenants", file("store: qdrant://h/c?tenant=a\ntenant: b\n"), []string{`tenant: "b"`, `"a"`}},
		{"qdrant key in the file", file("qdrant:\n  api_key: secret\n"), []string{"api_key"}},
		{"qdrant timeout", setting("qdrant.timeout", "0s"), []string{"qdrant.timeout: 0s"}},
		{"qdrant retries", setting("qdrant.retry_for", "-1s"), []string{"qdrant.retry_for: -1s"}},
		{"candidates", setting("qdrant.candidates", "-1"), []string{"qdrant.candidates: -1"}},
		{"shards", setting("qdrant.shards", "4294967296"), []string{"qdrant.shards: 4294967296"}},
		{"oversampling", setting("qdrant.oversampling", "0.5"), []string{"qdrant.oversampling: 0.5"}},
		{"oversampling NaN", setting("qdrant.oversampling", "NaN"), []string{"qdrant.oversampling: NaN"}},
		{"quantization", setting("qdrant.quantization", "product"), []string{"qdrant.quantization: product", "scalar"}},
		{"certificates without TLS", file("store: qdrant://h/c\nqdrant:\n  ca_file: ca.pem\n"), []string{"qdrant.ca_file", "qdrants://"}},
		{"shard of no tenant", file("store: qdrant://h/c\nqdrant:\n  shard_per_tenant: true\n"), []string{"qdrant.shard_per_tenant", "--tenant"}},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			_, err := Load(test.src)
			if err == nil {
				t.Fatal("no error")
			}
			for _, want := range test.want {
				if !strings.Contains(err.Error(), want) {
					t.Errorf("error %q does not name %q", err, want)
				}
			}
		})
	}
}

// YAML of old takes a bare off for false.
func TestOffIsText(t *testing.T) {
	name := filepath.Join(t.TempDir(), "w.yaml")
	if err := os.WriteFile(name, []byte("answer:\n  condense: off\n  judge: off\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	cfg, err := Load(Sources{File: name})
	if err != nil || cfg.Answer.Condense != "off" || cfg.Answer.Judge != "off" {
		t.Errorf("got %+v, %v", cfg.Answer, err)
	}
}

func TestEmptyFilesAndSectionsKeepTheDefaults(t *testing.T) {
	for _, text := range []string{"", "# nothing yet\n", "search:\n  # k: 3\nllm:\n"} {
		name := filepath.Join(t.TempDir(), "w.yaml")
		if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		cfg, err := Load(Sources{File: name})
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(Default(), cfg); diff != "" {
			t.Errorf("file %q (-want +got):\n%s", text, diff)
		}
	}
}

// Every example stands for a way of running and can be used as it is.
func TestExamples(t *testing.T) {
	files, err := filepath.Glob("*.yaml")
	if err != nil || len(files) < 4 {
		t.Fatalf("%q, %v", files, err)
	}
	for _, file := range files {
		if _, err := Load(Sources{File: file}); err != nil {
			t.Errorf("%s: %v", file, err)
		}
	}
	laptop, _ := Load(Sources{File: "laptop.yaml"})
	if laptop.LLM.Provider != "ollama" || laptop.Answer.Condense != "llm" || laptop.Server.KeysFile != "" {
		t.Errorf("laptop: %+v", laptop)
	}
	server, _ := Load(Sources{File: "server.yaml"})
	if server.Server.Listen != "127.0.0.1:8080" || server.Server.KeysFile == "" || server.Server.Rate != 5 || server.LLM.BaseURL == "" {
		t.Errorf("server: %+v", server)
	}
}
