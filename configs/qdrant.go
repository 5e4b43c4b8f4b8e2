package configs

import (
	"math"
	"slices"
	"time"
)

// Qdrant says how a Qdrant server is used. A 0 leaves the choice to package
// retriever/qdrant or to the server.
type Qdrant struct {
	APIKeyEnv  string `yaml:"api_key_env"`
	APIKeyFile string `yaml:"api_key_file"`
	// CAFile holds the certificates, as PEM, that the server's must be vouched for
	// by; empty means those that the system trusts.
	CAFile   string        `yaml:"ca_file"`
	Timeout  time.Duration `yaml:"timeout"`   // of one call
	RetryFor time.Duration `yaml:"retry_for"` // while the server cannot be reached; 0: not at all

	Exact        bool    `yaml:"exact"`
	Candidates   int     `yaml:"candidates"`
	HNSWEf       int     `yaml:"hnsw_ef"`
	Oversampling float64 `yaml:"oversampling"`

	// The rest is for the creation of a collection.
	PartLandmarks    int    `yaml:"part_landmarks"`
	Float32          bool   `yaml:"float32"`
	Quantization     string `yaml:"quantization"`
	OnDisk           bool   `yaml:"on_disk"`
	HNSWM            int    `yaml:"hnsw_m"`
	HNSWEfConstruct  int    `yaml:"hnsw_ef_construct"`
	Shards           int    `yaml:"shards"`
	Replicas         int    `yaml:"replicas"`
	WriteConsistency int    `yaml:"write_consistency"`
	// ShardPerTenant must be set whenever such a collection is opened.
	ShardPerTenant bool `yaml:"shard_per_tenant"`
	Strict         bool `yaml:"strict"`
}

// validate calls bad for every setting that cannot be used.
func (q Qdrant) validate(bad func(name string, value any, want string)) {
	if q.Timeout <= 0 {
		bad("qdrant.timeout", q.Timeout, "a duration such as 30s")
	}
	if q.RetryFor < 0 {
		bad("qdrant.retry_for", q.RetryFor, "a duration such as 30s, or 0s not to try again")
	}
	for _, n := range []struct {
		name  string
		value int
	}{
		{"candidates", q.Candidates}, {"hnsw_ef", q.HNSWEf}, {"part_landmarks", q.PartLandmarks}, {"hnsw_m", q.HNSWM},
		{"hnsw_ef_construct", q.HNSWEfConstruct}, {"shards", q.Shards}, {"replicas", q.Replicas}, {"write_consistency", q.WriteConsistency},
	} {
		if n.value < 0 || n.value > math.MaxInt32 {
			bad("qdrant."+n.name, n.value, "0 for the default, or more")
		}
	}
	if x := q.Oversampling; x != 0 && !(x >= 1 && x <= math.MaxFloat32) {
		bad("qdrant.oversampling", x, "0 for the server's default, or a number of 1 or more")
	}
	if all := []string{"", "scalar", "binary"}; !slices.Contains(all, q.Quantization) {
		bad("qdrant.quantization", q.Quantization, `"scalar", "binary" or nothing`)
	}
}

// validateAt calls bad for settings that do not go with the place of the store.
func (q Qdrant) validateAt(p Place, bad func(name string, value any, want string)) {
	if p.Kind != KindQdrant {
		return
	}
	if q.CAFile != "" && !p.TLS {
		bad("qdrant.ca_file", q.CAFile, "a store that starts with qdrants://, or no certificates")
	}
	if q.ShardPerTenant && p.Tenant == "" {
		bad("qdrant.shard_per_tenant", true, "a tenant with a name, by --tenant or ?tenant=NAME")
	}
}
