package ingest_test

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/waymark-rag/waymark/ingest"
)

// tree makes files below a new folder; a name that ends in a slash is a folder.
func tree(t *testing.T, names ...string) string {
	t.Helper()
	root := t.TempDir()
	for _, name := range names {
		path := filepath.Join(root, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if strings.HasSuffix(name, "/") {
			if err := os.MkdirAll(path, 0o755); err != nil {
				t.Fatal(err)
			}
			continue
		}
		if err := os.WriteFile(path, []byte(name), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	return root
}

func link(t *testing.T, root, target, name string) {
	t.Helper()
	if err := os.Symlink(target, filepath.Join(root, name)); err != nil {
		t.Skip(err)
	}
}

// walk lists the ids of files, and those of skips with the reason behind them.
func walk(t *testing.T, opts *ingest.WalkOptions, roots ...string) []string {
	t.Helper()
	got := []string{}
	for f, err := range ingest.Walk(t.Context(), roots, opts) {
		var skip *ingest.Skip
		switch {
		case errors.As(err, &skip):
			if skip.Path != f.Path {
				t.Errorf("skip of %q comes with file %q", skip.Path, f.Path)
			}
			got = append(got, f.ID+": "+string(skip.Reason))
		case err != nil:
			t.Fatal(err)
		default:
			info, err := os.Stat(f.Path)
			if err != nil || info.Size() != f.Size {
				t.Errorf("%q has size %d and stat gives %v, %v", f.Path, f.Size, info, err)
			}
			got = append(got, f.ID)
		}
	}
	return got
}

func TestWalkOptions(t *testing.T) {
	root := tree(t, "b.txt", "a/z.md", "a/y/x.txt", "a.txt", ".hidden", ".git/config",
		"node_modules/m/index.js", "vendor/v.txt", "a/build/out.txt", "empty/", "with space.txt")
	for _, tc := range []struct {
		name string
		opts *ingest.WalkOptions
		want []string
	}{
		{"default", nil, []string{"a/build/out.txt", "a/y/x.txt", "a/z.md", "a.txt", "b.txt", "vendor/v.txt", "with space.txt"}},
		{"all", &ingest.WalkOptions{All: true}, []string{".git/config", ".hidden", "a/build/out.txt", "a/y/x.txt", "a/z.md", "a.txt", "b.txt", "node_modules/m/index.js", "vendor/v.txt", "with space.txt"}},
		{"include name", &ingest.WalkOptions{Include: []string{"*.md", "x.*"}}, []string{"a/y/x.txt", "a/z.md"}},
		{"include rooted", &ingest.WalkOptions{Include: []string{"/*.txt"}}, []string{"a.txt", "b.txt", "with space.txt"}},
		{"include path", &ingest.WalkOptions{Include: []string{"a/**/*.txt"}}, []string{"a/build/out.txt", "a/y/x.txt"}},
		{"exclude folders", &ingest.WalkOptions{Exclude: []string{"build/", "/vendor/"}}, []string{"a/y/x.txt", "a/z.md", "a.txt", "b.txt", "with space.txt"}},
		{"exclude wins", &ingest.WalkOptions{Include: []string{"*.txt"}, Exclude: []string{"a"}}, []string{"a.txt", "b.txt", "vendor/v.txt", "with space.txt"}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			if diff := cmp.Diff(tc.want, walk(t, tc.opts, root)); diff != "" {
				t.Errorf("-want +got:\n%s", diff)
			}
		})
	}
}

func TestWalkRoots(t *testing.T) {
	root := tree(t, "one/a.txt", "one/b.txt", "two/a.txt", "two/.c.txt", "two/node_modules/d.txt")
	at := func(name string) string { return filepath.Join(root, name) }
	for _, tc := range []struct {
		name  string
		roots []string
		want  []string
	}{
		{"file", []string{at("one/b.txt")}, []string{"b.txt"}},
		{"hidden, asked for", []string{at("two/.c.txt"), at("two/node_modules")}, []string{".c.txt", "d.txt"}},
		{"in the order given", []string{at("one/b.txt"), at("one/a.txt")}, []string{"b.txt", "a.txt"}},
		{"twice", []string{at("one"), at("one") + "/", at("one/a.txt")}, []string{"a.txt", "b.txt"}},
		{"same id", []string{at("one"), at("two")}, []string{"a.txt", "b.txt", "a.txt: id already taken"}},
		{"folder above", []string{root, at("two")}, []string{"one/a.txt", "one/b.txt", "two/a.txt"}},
		{"none", nil, []string{}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			if diff := cmp.Diff(tc.want, walk(t, nil, tc.roots...)); diff != "" {
				t.Errorf("-want +got:\n%s", diff)
			}
		})
	}
}

func TestWalkErrors(t *testing.T) {
	root := tree(t, "a.txt", "b.txt")
	canceled, cancel := context.WithCancel(t.Context())
	cancel()
	for _, tc := range []struct {
		name  string
		ctx   context.Context
		roots []string
		opts  *ingest.WalkOptions
		want  string
		is    error
	}{
		{"missing", t.Context(), []string{root, filepath.Join(root, "gone")}, nil, "check the spelling", fs.ErrNotExist},
		{"bad include", t.Context(), []string{root}, &ingest.WalkOptions{Include: []string{"[a"}}, `include glob "[a"`, nil},
		{"bad exclude", t.Context(), []string{root}, &ingest.WalkOptions{Exclude: []string{"a//b"}}, `exclude glob "a//b"`, nil},
		{"empty glob", t.Context(), []string{root}, &ingest.WalkOptions{Exclude: []string{"/"}}, "want a pattern", nil},
		{"canceled", canceled, []string{root}, nil, "canceled", context.Canceled},
	} {
		t.Run(tc.name, func(t *testing.T) {
			var errs []error
			for f, err := range ingest.Walk(tc.ctx, tc.roots, tc.opts) {
				if err == nil {
					t.Errorf("got file %q before the error", f.ID)
					continue
				}
				errs = append(errs, err)
			}
			if len(errs) != 1 || !strings.Contains(errs[0].Error(), tc.want) || errors.As(errs[0], new(*ingest.Skip)) {
				t.Fatalf("errors %v, want one that is no skip and has %q", errs, tc.want)
			}
			if tc.is != nil && !errors.Is(errs[0], tc.is) {
				t.Errorf("error %v is not %v", errs[0], tc.is)
			}
		})
	}
}

func TestWalkStops(t *testing.T) {
	root := tree(t, "a/a.txt", "b.txt", "c.txt")
	for f := range ingest.Walk(t.Context(), []string{root, root}, nil) {
		if f.ID != "a/a.txt" {
			t.Errorf("got %q after the loop was left", f.ID)
		}
		break
	}
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	var last error
	for _, err := range ingest.Walk(ctx, []string{root}, nil) {
		cancel()
		last = err
	}
	if !errors.Is(last, context.Canceled) {
		t.Errorf("walk ends with %v, want it canceled", last)
	}
}

func TestWalkLinks(t *testing.T) {
	root := tree(t, "docs/a.txt", "docs/sub/b.txt", "outside/c.txt", "outside/deep/d.txt")
	docs := filepath.Join(root, "docs")
	link(t, docs, "a.txt", "file")
	link(t, docs, "nowhere", "dangling")
	link(t, docs, "itself", "itself")
	link(t, docs, "..", "up")
	link(t, docs, filepath.Join(root, "outside"), "out")
	link(t, docs, filepath.Join(root, "outside", "deep"), "out2")
	link(t, filepath.Join(root, "outside"), docs, "back")

	const notFollowed = ": symbolic link not followed"
	want := []string{"a.txt", "dangling" + notFollowed, "file", "itself" + notFollowed,
		"out" + notFollowed, "out2" + notFollowed, "sub/b.txt", "up" + notFollowed}
	if diff := cmp.Diff(want, walk(t, nil, docs)); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
	// A link as root is entered; links that are left out are not reported.
	if diff := cmp.Diff([]string{"a.txt", "sub/b.txt"}, walk(t, &ingest.WalkOptions{
		Include: []string{"*.txt"}, Exclude: []string{"out*", "up"},
	}, filepath.Join(root, "outside", "back"))); diff != "" {
		t.Errorf("link as root, -want +got:\n%s", diff)
	}

	want = []string{"a.txt", "dangling" + notFollowed, "file", "itself" + notFollowed,
		"out/back" + notFollowed, "out/c.txt", "out/deep/d.txt", "out2" + notFollowed, "sub/b.txt",
		"up/docs/a.txt", "up/docs/dangling" + notFollowed, "up/docs/file", "up/docs/itself" + notFollowed,
		"up/docs/out" + notFollowed, "up/docs/out2" + notFollowed, "up/docs/sub/b.txt", "up/docs/up" + notFollowed,
		"up/outside/back" + notFollowed, "up/outside/c.txt", "up/outside/deep/d.txt"}
	if diff := cmp.Diff(want, walk(t, &ingest.WalkOptions{FollowLinks: true}, docs)); diff != "" {
		t.Errorf("following links, -want +got:\n%s", diff)
	}
}
