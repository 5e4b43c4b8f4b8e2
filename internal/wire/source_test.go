package wire

import (
	"testing"

	"github.com/waymark-rag/waymark/configs"
	"github.com/waymark-rag/waymark/ingest"
	"github.com/waymark-rag/waymark/ingest/s3"
)

func TestSources(t *testing.T) {
	cfg := configs.Default()
	cfg.Ingest.S3.Endpoint = "https://minio.example:9000"
	sources, err := Sources(cfg, []string{"docs", "s3://bucket/a", "notes"}, ingest.WalkOptions{Exclude: []string{"*.log"}})
	if err != nil || len(sources) != 2 {
		t.Fatalf("%v, %v", sources, err)
	}
	roots, err := sources[0].Roots()
	if _, ok := sources[0].(*s3.Bucket); !ok || err != nil || roots["https://minio.example:9000/bucket/a/"] == "" {
		t.Errorf("%T with the roots %q, %v", sources[0], roots, err)
	}
	if folders, ok := sources[1].(ingest.Folders); !ok || len(folders.Paths) != 2 || folders.Options.Exclude[0] != "*.log" {
		t.Errorf("%+v", sources[1])
	}
	if _, err := Sources(cfg, []string{"s3://"}, ingest.WalkOptions{}); err == nil {
		t.Error("a bucket without a name is taken")
	}
}
