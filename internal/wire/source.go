package wire

import (
	"fmt"
	"strings"

	"github.com/waymark-rag/waymark/configs"
	"github.com/waymark-rag/waymark/ingest"
	"github.com/waymark-rag/waymark/ingest/s3"
)

// Sources says what is to be read for what is given on a command line: files and
// folders as one source, and each s3://BUCKET/PREFIX.
func Sources(cfg configs.Config, names []string, walk ingest.WalkOptions) ([]ingest.Source, error) {
	var sources []ingest.Source
	folders := ingest.Folders{Options: walk}
	for _, name := range names {
		if !IsRemote(name) {
			folders.Paths = append(folders.Paths, name)
			continue
		}
		bucket, err := s3.Open(name, s3.Options{
			Endpoint: cfg.Ingest.S3.Endpoint, Region: cfg.Ingest.S3.Region, Anonymous: cfg.Ingest.S3.Anonymous,
			Include: walk.Include, Exclude: walk.Exclude,
		})
		if err != nil {
			return nil, fmt.Errorf("ingest.s3: %w", err)
		}
		sources = append(sources, bucket)
	}
	if len(folders.Paths) > 0 {
		sources = append(sources, folders)
	}
	return sources, nil
}

// IsRemote reports whether a name on a command line is no file or folder.
func IsRemote(name string) bool { return strings.HasPrefix(name, "s3://") }
