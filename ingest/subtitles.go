package ingest

import (
	"fmt"
	"regexp"
	"strconv"
	"strings"
	"time"

	"golang.org/x/net/html"

	"github.com/waymark-rag/waymark/chunker"
)

// subtitleReader takes what is said in the cues of SubRip and WebVTT files, a line for
// each of theirs, with the time of each cue. Numbers, tags and notes are left out; a
// speaker's name in a tag is written before what is said.
type subtitleReader struct{}

var subtitleFormat = format{name: "subtitles", reader: subtitleReader{}}

func (subtitleReader) read(b *budget, data []byte) (chunker.Document, *Skip) {
	src, skip := decode(data)
	if skip != nil {
		return chunker.Document{}, skip
	}
	s := subtitles{e: extract{src: src}, webVTT: strings.HasPrefix(src.text, "WEBVTT")}
	lines := lineRanges(src.text)
	for i, line := range lines {
		s.line(line, i+1 < len(lines) && timing.MatchString(lines[i+1].Of(src.text)))
		if i%4096 == 0 {
			if skip := b.over(); skip != nil {
				return chunker.Document{}, skip
			}
		}
	}
	if !s.timed { // it only has the name of such a file
		return src.document(0), nil
	}
	doc := s.e.document()
	doc.Places = s.places
	return doc, nil
}

// timing is the line that a cue starts with.
var timing = regexp.MustCompile(`^\s*((?:\d+:)?\d{1,2}:\d{2}[.,]\d{1,3})\s*-->\s*((?:\d+:)?\d{1,2}:\d{2}[.,]\d{1,3})`)

// pause is the silence that starts a new paragraph.
const pause = 3 * time.Second

type subtitles struct {
	e      extract
	webVTT bool
	timed  bool // there has been a cue
	inCue  bool

	start, end time.Duration // of the cue
	lastEnd    time.Duration // of the cue before that said something
	said       int           // lines of the cue
	last       string        // line written
	places     []chunker.Placed
}

// line reads a line, told whether the next is the timing of a cue.
func (s *subtitles) line(r chunker.Range, beforeTiming bool) {
	text := r.Of(s.e.src.text)
	switch m := timing.FindStringSubmatch(text); {
	case m != nil:
		s.start, s.end = cueTime(m[1]), cueTime(m[2])
		s.timed, s.inCue, s.said = true, true, 0
	case text == "":
		// Only WebVTT has other things between cues; elsewhere a blank line may be in one.
		s.inCue = s.inCue && !s.webVTT
	case beforeTiming && (s.webVTT || isNumber(text)) || !s.inCue:
	default:
		s.say(r)
	}
}

func isNumber(s string) bool {
	_, err := strconv.Atoi(s)
	return err == nil
}

// say writes a line of a cue.
func (s *subtitles) say(r chunker.Range) {
	text, at := s.e.src.text, s.e.text.Len()
	line := r.Of(text)
	// Live captions roll up: a cue starts with the line that the one before ended with.
	plain := strings.TrimSpace(tag.ReplaceAllString(line, ""))
	if plain == "" || s.webVTT && s.said == 0 && plain == s.last {
		return
	}
	s.last = plain
	if at > 0 {
		gap := "\n"
		if s.said == 0 && s.start-s.lastEnd >= pause {
			gap = "\n\n"
		}
		s.e.insert(gap)
		at = s.e.text.Len()
	}
	for i := r.Start; i < r.End; {
		i = s.part(chunker.Range{Start: i, End: r.End})
	}
	s.said++
	s.lastEnd = s.end
	if n := len(s.places); s.said > 1 && n > 0 {
		s.places[n-1].End = s.e.text.Len()
		return
	}
	place := chunker.Place{Kind: chunker.TimePlace, First: clock(s.start), Last: clock(s.end)}
	s.places = append(s.places, chunker.Placed{Range: chunker.Range{Start: at, End: s.e.text.Len()}, Place: place})
}

var (
	// tag is markup in a cue: <i>, </font>, <00:01:02.000>, {\an8}.
	tag      = regexp.MustCompile(`</?[a-zA-Z][^<>]*>|<[\d:.]+>|</>|\{\\[^{}]*\}`)
	tagFirst = regexp.MustCompile(`^(?:` + tag.String() + `)`)
	// speaker is the tag that names who speaks.
	speaker = regexp.MustCompile(`^<v(?:\.[^ \t<>]*)?[ \t]+([^<>]+)>`)
)

// part writes what the rest r of a line starts with, and tells where it ends.
func (s *subtitles) part(r chunker.Range) int {
	rest := r.Of(s.e.src.text)
	if size := tagLen(rest); size > 0 {
		if m := speaker.FindStringSubmatchIndex(rest); m != nil && strings.TrimSpace(rest[m[2]:m[3]]) != "" {
			s.e.same(chunker.Range{Start: r.Start + m[2], End: r.Start + m[3]})
			s.e.insert(": ")
		}
		return r.Start + size
	}
	if n := referenceLen(rest); n > 0 {
		at := chunker.Range{Start: r.Start, End: r.Start + n}
		if text := html.UnescapeString(rest[:n]); text != rest[:n] {
			s.e.instead(strings.ReplaceAll(cleanYAML(text), "\u00a0", " "), at)
		} else {
			s.e.same(at)
		}
		return at.End
	}
	end := len(rest)
	if n := strings.IndexAny(rest[1:], "<{&"); n >= 0 {
		end = n + 1
	}
	s.e.same(chunker.Range{Start: r.Start, End: r.Start + end})
	return r.Start + end
}

// tagLen is the length of the tag that s starts with, or 0.
func tagLen(s string) int {
	if s[0] != '<' && s[0] != '{' || len(s) < 2 || s[1] != '/' && s[1] != '\\' && s[1] != ':' && s[1] != '.' && !isAlphanumeric(s[1]) {
		return 0
	}
	return len(tagFirst.FindString(s))
}

// cueTime reads 01:02:03,456 or 02:03.456.
func cueTime(s string) time.Duration {
	var t time.Duration
	clock, _, _ := strings.Cut(strings.ReplaceAll(s, ",", "."), ".")
	for _, part := range strings.Split(clock, ":") {
		n, _ := strconv.Atoi(part)
		t = t*60 + time.Duration(min(n, 1e6))*time.Second
	}
	return t
}

func clock(t time.Duration) string {
	s := int(t / time.Second)
	return fmt.Sprintf("%02d:%02d:%02d", s/3600, s/60%60, s%60)
}

// lineRanges are the lines of a text without white space at their ends.
func lineRanges(text string) []chunker.Range {
	var out []chunker.Range
	at := 0
	for line := range strings.Lines(text) {
		body := strings.TrimSpace(line)
		start := at + strings.Index(line, body)
		out = append(out, chunker.Range{Start: start, End: start + len(body)})
		at += len(line)
	}
	return out
}
