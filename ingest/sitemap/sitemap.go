// Package sitemap lists and reads the pages that a website's sitemap names as files to
// be indexed.
//
// In: the address of a sitemap, and the hosts that may be asked.
//
// Out: an [ingest.Source]. Pages are read one by one when indexing comes to them, as
// robots.txt allows.
//
// Never: asks a host that was not named, follows a link within a page, or, unless that
// is allowed, connects to an address of the machine or its network.
package sitemap

import (
	"context"
	"errors"
	"fmt"
	"io"
	"iter"
	"net/http"
	"net/url"
	"path"
	"slices"
	"strings"
	"time"

	"github.com/temoto/robotstxt"
	"golang.org/x/time/rate"

	"github.com/waymark-rag/waymark/ingest"
)

// Options bound what is asked of whom. The zero value asks nobody.
type Options struct {
	// Hosts are those that may be asked, such as docs.example.com, with the port where
	// it is not the usual one. The sitemap's own must be among them.
	Hosts []string
	// Private allows addresses of this machine and of private networks, which a name
	// of any host may lead to.
	Private bool
	// MaxPages is how many pages are listed at most; 0 means 10,000.
	MaxPages int
	// Rate is how many requests are made in a second; 0 means 5.
	Rate float64
	// Timeout is how long a request may take; 0 means 30 seconds.
	Timeout time.Duration
	// Include and Exclude are globs of the pages' ids, as in [ingest.WalkOptions].
	Include, Exclude []string
}

// What a website may send.
const (
	agent       = "waymark"
	mostMaps    = 1000
	largestMap  = 50 << 20 // as the protocol allows
	largestTxt  = 512 << 10
	mostDetours = 5
)

// Site is the pages of a sitemap as a source of files. It is safe for concurrent use.
type Site struct {
	address *url.URL
	opts    Options
	client  *http.Client
	pace    *rate.Limiter
	wanted  func(id string) bool
}

// Open returns the pages that the sitemap at address names. It asks nothing yet.
func Open(address string, opts Options) (*Site, error) {
	u, err := url.Parse(address)
	if err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Host == "" || u.User != nil {
		return nil, errors.New("sitemap: want an address such as https://docs.example.com/sitemap.xml, without credentials")
	}
	if !slices.Contains(opts.Hosts, u.Host) {
		return nil, fmt.Errorf("sitemap %q: its host is not among those that may be asked, %q: name it there to have it read", address, opts.Hosts)
	}
	if opts.MaxPages < 0 || !(opts.Rate >= 0) || opts.Timeout < 0 {
		return nil, errors.New("sitemap: want a number of pages, a rate and a timeout of 0 or more")
	}
	if opts.MaxPages == 0 {
		opts.MaxPages = 10_000
	}
	if opts.Rate == 0 {
		opts.Rate = 5
	}
	if opts.Timeout == 0 {
		opts.Timeout = 30 * time.Second
	}
	wanted, err := ingest.Wanted(opts.Include, opts.Exclude)
	if err != nil {
		return nil, err
	}
	s := &Site{address: u, opts: opts, pace: rate.NewLimiter(rate.Limit(opts.Rate), 1), wanted: wanted}
	s.client = &http.Client{Timeout: opts.Timeout, Transport: transport(opts.Private), CheckRedirect: s.redirected}
	return s, nil
}

// Roots implements [ingest.Source].
func (s *Site) Roots() (map[string]string, error) {
	return map[string]string{s.address.String(): s.address.String()}, nil
}

// Files implements [ingest.Source]: the pages in the order in which the sitemap, and
// those it names, list them. A page's id is its address without the scheme.
func (s *Site) Files(ctx context.Context) iter.Seq2[ingest.File, error] {
	return func(yield func(ingest.File, error) bool) {
		l := &listing{Site: s, ctx: ctx, yield: yield, robots: map[string]*robotstxt.RobotsData{}, seen: map[string]bool{}}
		l.run()
	}
}

// get asks for an address that may be asked.
func (s *Site) get(ctx context.Context, u *url.URL) (*http.Response, error) {
	if err := s.allowed(u); err != nil {
		return nil, err
	}
	if err := s.pace.Wait(ctx); err != nil {
		return nil, err
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, u.String(), nil)
	if err != nil {
		return nil, err
	}
	req.Header.Set("User-Agent", agent)
	resp, err := s.client.Do(req)
	if err != nil {
		return nil, err
	}
	if resp.StatusCode != http.StatusOK {
		resp.Body.Close()
		return nil, &statusError{u.Redacted(), resp.StatusCode}
	}
	return resp, nil
}

type statusError struct {
	address string
	status  int
}

func (e *statusError) Error() string { return fmt.Sprintf("%s: status %d", e.address, e.status) }

// allowed refuses what must not be asked.
func (s *Site) allowed(u *url.URL) error {
	if u.Scheme != "http" && u.Scheme != "https" || !slices.Contains(s.opts.Hosts, u.Host) {
		return fmt.Errorf("the host of %s is not among those that may be asked, %q", u.Redacted(), s.opts.Hosts)
	}
	return nil
}

func (s *Site) redirected(req *http.Request, via []*http.Request) error {
	if len(via) > mostDetours {
		return errors.New("too many redirects")
	}
	return s.allowed(req.URL)
}

// open reads a page.
func (s *Site) open(u *url.URL) func(context.Context) (io.ReadCloser, error) {
	return func(ctx context.Context) (io.ReadCloser, error) {
		resp, err := s.get(ctx, u)
		if err != nil {
			return nil, err
		}
		return resp.Body, nil
	}
}

// id is the address without its scheme, as a path.
func id(u *url.URL) string {
	name := u.Host + path.Clean("/"+u.Path)
	if u.RawQuery != "" {
		name += "?" + u.RawQuery
	}
	return ingest.ID(name)
}

// documents are extensions that say more of a page than that it is one.
var documents = strings.Fields("txt md pdf docx pptx xlsx odt odp ods epub csv json zip")

// as is the extension that a page is read by: an address such as index.php gives HTML.
func as(u *url.URL) string {
	ext := strings.ToLower(strings.TrimPrefix(path.Ext(u.Path), "."))
	if slices.Contains(documents, ext) {
		return ext
	}
	return "html"
}
