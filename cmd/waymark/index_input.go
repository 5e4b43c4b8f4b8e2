package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"

	"github.com/waymark-rag/waymark/chunker"
	"github.com/waymark-rag/waymark/ingest"
	"github.com/waymark-rag/waymark/pipeline"
)

// readList reads names of files, each on a line, or each before a NUL if there is one,
// as find -print0 and git ls-files -z write them.
func readList(stdin io.Reader, list string) ([]string, error) {
	in := stdin
	if list != "-" {
		f, err := os.Open(list)
		if err != nil {
			return nil, fmt.Errorf("--files-from: %w", err)
		}
		defer f.Close()
		in = f
	}
	data, err := io.ReadAll(in)
	if err != nil {
		return nil, fmt.Errorf("--files-from: %w", err)
	}
	end := "\n"
	if bytes.IndexByte(data, 0) >= 0 {
		end = "\x00"
	}
	names := []string{}
	for _, name := range bytes.Split(data, []byte(end)) {
		if end == "\n" {
			name = bytes.TrimSuffix(name, []byte("\r"))
		}
		if len(name) > 0 {
			names = append(names, string(name))
		}
	}
	return names, nil
}

// piped stores the document on the standard input, or those in it.
func (x *indexing) piped(ctx context.Context, stdin io.Reader, name string) error {
	limit := x.opts.Read.MaxBytes
	data, err := io.ReadAll(io.LimitReader(stdin, limit+1))
	if err != nil {
		return fmt.Errorf("standard input: %w", err)
	}
	if int64(len(data)) > limit {
		return fmt.Errorf("the standard input has more than %d bytes: split it or raise ingest.max_file_bytes", limit)
	}
	var docs []chunker.Document
	var skipped []pipeline.Skipped
	for loaded, err := range ingest.Parse(ctx, name, data, &x.opts.Read) {
		var skip *ingest.Skip
		switch {
		case errors.As(err, &skip):
			skipped = append(skipped, pipeline.Skipped{Path: skip.Path, Reason: skip.Why()})
		case err != nil:
			return err
		default:
			docs = append(docs, loaded.Document)
		}
	}
	report, err := x.built.Add(ctx, docs...)
	if err != nil {
		return err
	}
	report.Skipped = append(report.Skipped, skipped...)
	return x.tell(report)
}
