// Package s3 lists and reads the objects of an S3-compatible bucket as files to be
// indexed.
//
// In: the address of a bucket, s3://BUCKET/PREFIX.
//
// Out: an [ingest.Source]. Objects are read one by one when indexing comes to them;
// nothing is written to disk or to the bucket.
//
// Never: asks any host but the endpoint, logs or stores credentials.
package s3

import (
	"context"
	"errors"
	"fmt"
	"io"
	"iter"
	"net/url"
	"path"
	"strings"

	"github.com/minio/minio-go/v7"
	"github.com/minio/minio-go/v7/pkg/credentials"

	"github.com/waymark-rag/waymark/ingest"
)

// Options say where the bucket is and who asks. The zero value is Amazon's service,
// with the credentials that its own programs would use: AWS_ACCESS_KEY_ID and
// AWS_SECRET_ACCESS_KEY in the environment, else the file ~/.aws/credentials, else the
// role of the machine. A bucket open to all needs none.
type Options struct {
	// Endpoint is the address of another service, such as https://minio.example:9000.
	Endpoint string
	// Region is the bucket's; empty asks the service.
	Region string
	// Anonymous sends no credentials.
	Anonymous bool
	// Include and Exclude are globs of names below the prefix, as in
	// [ingest.WalkOptions].
	Include, Exclude []string
}

const amazon = "https://s3.amazonaws.com"

// Bucket is a part of a bucket as a source of files. It is safe for concurrent use.
type Bucket struct {
	client       *minio.Client
	name, prefix string
	root         string // names the place, whatever the prefix is called with
	wanted       func(name string) bool
}

// Open returns the part of a bucket that address, s3://BUCKET or s3://BUCKET/PREFIX,
// names. It asks nothing yet.
func Open(address string, opts Options) (*Bucket, error) {
	u, err := url.Parse(address)
	if err != nil || u.Scheme != "s3" || u.Host == "" || u.User != nil || u.RawQuery != "" || u.Fragment != "" {
		return nil, fmt.Errorf("bucket %q: want s3://BUCKET or s3://BUCKET/PREFIX", address)
	}
	endpoint := opts.Endpoint
	if endpoint == "" {
		endpoint = amazon
	}
	at, err := url.Parse(endpoint)
	if err != nil || at.Host == "" || at.Scheme != "http" && at.Scheme != "https" || strings.Trim(at.Path, "/") != "" || at.User != nil {
		return nil, errors.New("S3 endpoint: want a URL of a scheme and host alone, such as https://minio.example:9000, without credentials")
	}
	wanted, err := ingest.Wanted(opts.Include, opts.Exclude)
	if err != nil {
		return nil, err
	}
	who := credentials.NewChainCredentials([]credentials.Provider{&credentials.EnvAWS{}, &credentials.FileAWSCredentials{}, &credentials.IAM{}})
	if opts.Anonymous {
		who = credentials.NewStaticV4("", "", "")
	}
	client, err := minio.New(at.Host, &minio.Options{Creds: who, Secure: at.Scheme == "https", Region: opts.Region, MaxRetries: 5})
	if err != nil {
		return nil, fmt.Errorf("bucket %q: %w", address, err)
	}
	prefix := strings.TrimPrefix(u.Path, "/")
	if prefix != "" && !strings.HasSuffix(prefix, "/") {
		prefix += "/" // docs is the folder, not docs-old too
	}
	root := "s3://" + u.Host + "/" + prefix
	if opts.Endpoint != "" {
		root = at.Scheme + "://" + at.Host + "/" + u.Host + "/" + prefix
	}
	return &Bucket{client: client, name: u.Host, prefix: prefix, root: root, wanted: wanted}, nil
}

// Roots implements [ingest.Source].
func (b *Bucket) Roots() (map[string]string, error) { return map[string]string{b.root: b.root}, nil }

// Files implements [ingest.Source]: the objects below the prefix in order of their
// names. The id of each is its name below the prefix.
func (b *Bucket) Files(ctx context.Context) iter.Seq2[ingest.File, error] {
	return func(yield func(ingest.File, error) bool) {
		ctx, stop := context.WithCancel(ctx)
		defer stop()
		for o := range b.client.ListObjects(ctx, b.name, minio.ListObjectsOptions{Prefix: b.prefix, Recursive: true}) {
			if o.Err != nil {
				yield(ingest.File{}, fmt.Errorf("listing %s: %w", b.root, explain(o.Err)))
				return
			}
			name := strings.TrimPrefix(o.Key, b.prefix)
			if name == "" || strings.HasSuffix(name, "/") || !b.wanted(name) {
				continue // it stands for a folder
			}
			f := ingest.File{
				ID: ingest.ID(name), Path: "s3://" + path.Join(b.name, o.Key), Root: b.root, Size: o.Size, Modified: o.LastModified,
				Open: func(ctx context.Context) (io.ReadCloser, error) {
					return b.client.GetObject(ctx, b.name, o.Key, minio.GetObjectOptions{})
				},
			}
			if !yield(f, nil) {
				return
			}
		}
		if ctx.Err() != nil {
			yield(ingest.File{}, ctx.Err())
		}
	}
}

// explain adds what to do to the usual refusals.
func explain(err error) error {
	hint := ""
	switch minio.ToErrorResponse(err).Code {
	case minio.AccessDenied, minio.InvalidAccessKeyID, minio.SignatureDoesNotMatch:
		hint = "set AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY of somebody who may list and read it"
	case minio.NoSuchBucket:
		hint = "check its name and the endpoint"
	}
	if hint == "" {
		return err
	}
	return fmt.Errorf("%w: %s", err, hint)
}
