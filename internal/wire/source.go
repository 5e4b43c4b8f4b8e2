package wire

import (
	"strings"

	"github.com/waymark-rag/waymark/configs"
	"github.com/waymark-rag/waymark/ingest"
	"github.com/waymark-rag/waymark/ingest/s3"
	"github.com/waymark-rag/waymark/ingest/sitemap"
)

// Sources says what is to be read for what is given on a command line: files and
// folders as one source, each s3://BUCKET/PREFIX and each sitemap by its address.
func Sources(cfg configs.Config, names []string, walk ingest.WalkOptions) ([]ingest.Source, error) {
	var sources []ingest.Source
	folders := ingest.Folders{Options: walk}
	for _, name := range names {
		var source ingest.Source
		var err error
		switch {
		case strings.HasPrefix(name, "s3://"):
			source, err = s3.Open(name, s3.Options{
				Endpoint: cfg.Ingest.S3.Endpoint, Region: cfg.Ingest.S3.Region, Anonymous: cfg.Ingest.S3.Anonymous,
				Include: walk.Include, Exclude: walk.Exclude,
			})
		case IsRemote(name):
			source, err = sitemap.Open(name, sitemap.Options{
				Hosts: cfg.Ingest.Sitemap.Hosts, Private: cfg.Ingest.Sitemap.Private, Include: walk.Include, Exclude: walk.Exclude,
			})
		default:
			folders.Paths = append(folders.Paths, name)
			continue
		}
		if err != nil {
			return nil, err
		}
		sources = append(sources, source)
	}
	if len(folders.Paths) > 0 {
		sources = append(sources, folders)
	}
	return sources, nil
}

// IsRemote reports whether a name on a command line is no file or folder.
func IsRemote(name string) bool {
	for _, scheme := range []string{"s3://", "http://", "https://"} {
		if strings.HasPrefix(name, scheme) {
			return true
		}
	}
	return false
}
