package sitemap

import (
	"bufio"
	"compress/gzip"
	"context"
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"net/url"
	"strings"
	"time"

	"github.com/temoto/robotstxt"

	"github.com/waymark-rag/waymark/ingest"
)

// listing is one pass over a sitemap and those it names.
type listing struct {
	*Site
	ctx    context.Context
	yield  func(ingest.File, error) bool
	robots map[string]*robotstxt.RobotsData // by scheme and host
	seen   map[string]bool                  // ids of pages and addresses of sitemaps
	maps   []*url.URL                       // still to be read
	pages  int
}

// errEnough ends a listing that the receiver wants no more of.
var errEnough = errors.New("enough")

func (l *listing) run() {
	l.maps = []*url.URL{l.address}
	for read := 0; len(l.maps) > 0; read++ {
		if read == mostMaps {
			l.yield(ingest.File{}, fmt.Errorf("sitemap %s: it names more than %d others", l.address.Redacted(), mostMaps))
			return
		}
		next := l.maps[0]
		l.maps = l.maps[1:]
		if err := l.read(next); errors.Is(err, errEnough) {
			return
		} else if err != nil {
			l.yield(ingest.File{}, fmt.Errorf("sitemap %s: %w", next.Redacted(), err))
			return
		}
	}
}

// read yields the pages of one sitemap and notes the sitemaps that it names.
func (l *listing) read(at *url.URL) error {
	resp, err := l.get(l.ctx, at)
	if err != nil {
		return err
	}
	defer resp.Body.Close()
	body := bufio.NewReader(io.LimitReader(resp.Body, largestMap))
	if start, _ := body.Peek(2); string(start) == "\x1f\x8b" {
		unpacked, err := gzip.NewReader(body)
		if err != nil {
			return err
		}
		body = bufio.NewReader(io.LimitReader(unpacked, largestMap))
	}
	start, _ := body.Peek(512)
	if !strings.Contains(string(start), "<") { // an address on each line
		lines := bufio.NewScanner(body)
		for lines.Scan() {
			if err := l.page(at, strings.TrimSpace(lines.Text()), ""); err != nil {
				return err
			}
		}
		return lines.Err()
	}
	return l.elements(at, xml.NewDecoder(body))
}

// elements reads the entries of a sitemap or of an index of them.
func (l *listing) elements(at *url.URL, in *xml.Decoder) error {
	for {
		token, err := in.Token()
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return fmt.Errorf("it cannot be read: %w", err)
		}
		start, ok := token.(xml.StartElement)
		if !ok || start.Name.Local != "url" && start.Name.Local != "sitemap" {
			continue
		}
		var entry struct {
			Loc     string `xml:"loc"`
			LastMod string `xml:"lastmod"`
		}
		if err := in.DecodeElement(&entry, &start); err != nil {
			return fmt.Errorf("it cannot be read: %w", err)
		}
		loc := strings.TrimSpace(entry.Loc)
		if start.Name.Local == "url" {
			if err := l.page(at, loc, strings.TrimSpace(entry.LastMod)); err != nil {
				return err
			}
			continue
		}
		if u, err := at.Parse(loc); err == nil && !l.seen[u.String()] {
			l.seen[u.String()] = true
			l.maps = append(l.maps, u)
		}
	}
}

// page yields a page, or why it is passed over.
func (l *listing) page(at *url.URL, loc, changed string) error {
	if loc == "" {
		return nil
	}
	u, err := at.Parse(loc)
	if err != nil || u.User != nil {
		return l.skip(loc, &ingest.Skip{Reason: ingest.Unreadable, Detail: "it is no address"})
	}
	u.Fragment = ""
	name := id(u)
	if l.seen[name] || !l.wanted(name) {
		return nil
	}
	l.seen[name] = true
	if l.pages++; l.pages > l.opts.MaxPages {
		return fmt.Errorf("it names more than %d pages: raise the limit or choose some by globs", l.opts.MaxPages)
	}
	if err := l.allowed(u); err != nil {
		return l.skip(name, &ingest.Skip{Reason: ingest.Unreadable, Err: err})
	}
	ok, err := l.mayRead(u)
	if err != nil {
		return err
	}
	if !ok {
		return l.skip(name, &ingest.Skip{Reason: ingest.Unreadable, Detail: "the website's robots.txt asks not to read it"})
	}
	f := ingest.File{ID: name, Path: u.String(), Root: l.address.String(), As: as(u), Modified: modified(changed), Open: l.open(u)}
	if !l.yield(f, nil) {
		return errEnough
	}
	return nil
}

func (l *listing) skip(name string, s *ingest.Skip) error {
	s.Path = name
	if !l.yield(ingest.File{ID: name, Path: name, Root: l.address.String()}, s) {
		return errEnough
	}
	return nil
}

// mayRead reports what the robots.txt of a host says; one that is not there says yes.
func (l *listing) mayRead(u *url.URL) (bool, error) {
	origin := u.Scheme + "://" + u.Host
	rules, asked := l.robots[origin]
	if !asked {
		resp, err := l.get(l.ctx, &url.URL{Scheme: u.Scheme, Host: u.Host, Path: "/robots.txt"})
		var status *statusError
		switch {
		case errors.As(err, &status) && status.status < 500:
		case err != nil:
			return false, err
		default:
			text, err := io.ReadAll(io.LimitReader(resp.Body, largestTxt))
			resp.Body.Close()
			if err != nil {
				return false, err
			}
			if rules, err = robotstxt.FromBytes(text); err != nil {
				return false, fmt.Errorf("robots.txt of %s: %w", u.Host, err)
			}
		}
		l.robots[origin] = rules
	}
	return rules == nil || rules.TestAgent(u.RequestURI(), agent), nil
}

// modified reads a date as sitemaps have it; one that is none is not known.
func modified(s string) time.Time {
	for _, layout := range []string{time.RFC3339, "2006-01-02T15:04Z07:00", time.DateOnly} {
		if t, err := time.Parse(layout, s); err == nil {
			return t
		}
	}
	return time.Time{}
}
