package ingest

import (
	"strings"

	"github.com/waymark-rag/waymark/chunker"
)

// markdownReader takes Markdown as it is, less the front matter. The front
// matter's bytes belong to whatever the text starts with.
type markdownReader struct{}

func (markdownReader) read(_ *budget, data []byte) (chunker.Document, *Skip) {
	src, skip := decode(data)
	if skip != nil {
		return chunker.Document{}, skip
	}
	matter, size := frontMatter(src.text)
	doc := chunker.Document{Syntax: chunker.Markdown, Title: matter.title, Metadata: matter.metadata}
	doc.Text, doc.Source = src.from(size)
	src.encoded(&doc)
	if doc.Title == "" {
		doc.Title = firstHeading(doc.Text)
	}
	return doc, nil
}

// firstHeading is the text of the first heading of level 1, written as "# Title"
// or underlined with "=", outside fenced code.
func firstHeading(text string) string {
	fence, previous := "", ""
	for line := range strings.Lines(text) {
		line, ok := unindent(strings.TrimRight(line, " \t\r\n"))
		if !ok {
			previous = ""
			continue
		}
		mark := fenceMark(line)
		switch {
		case fence != "":
			if strings.HasPrefix(mark, fence) && mark == line {
				fence = ""
			}
		case mark != "":
			fence = mark
		case strings.HasPrefix(line, "# ") || strings.HasPrefix(line, "#\t"):
			if title := trimClosing(line[2:]); title != "" {
				return title
			}
		case previous != "" && strings.Trim(line, "=") == "" && line != "":
			return strings.TrimSpace(previous)
		}
		previous = line
		if fence != "" || mark != "" || strings.HasPrefix(line, "#") {
			previous = ""
		}
	}
	return ""
}

// unindent takes off up to three spaces; with more a line is code.
func unindent(line string) (rest string, ok bool) {
	rest = strings.TrimLeft(line, " ")
	return rest, len(line)-len(rest) < 4 && !strings.HasPrefix(rest, "\t")
}

// fenceMark is the run of backquotes or tildes that a code fence starts with.
func fenceMark(line string) string {
	for _, c := range []string{"`", "~"} {
		info := strings.TrimLeft(line, c)
		inline := c == "`" && strings.Contains(info, c) // ```code``` within a line
		if mark := line[:len(line)-len(info)]; len(mark) >= 3 && !inline {
			return mark
		}
	}
	return ""
}

// trimClosing takes off the #s that may close a heading.
func trimClosing(title string) string {
	title = strings.TrimSpace(title)
	open := strings.TrimRight(title, "#")
	if open == "" || strings.HasSuffix(open, " ") || strings.HasSuffix(open, "\t") {
		return strings.TrimSpace(open)
	}
	return title
}
