package ingest

import (
	"bytes"
	"iter"
	"regexp"
	"strconv"

	"github.com/waymark-rag/waymark/chunker"
)

// mbox is a mailbox: mails one after the other, each below a line that starts with
// "From ".
type mbox struct{}

var mboxFormat = format{name: "email", container: mbox{}}

// mboxStart is the line above a mail, with the start of the mail's header.
var mboxStart = regexp.MustCompile(`^From [^\r\n]*\r?\n(?:>?[!-9;-~]+[ \t]*:|>From )`)

func (mbox) members(_ *budget, data []byte) iter.Seq2[member, *Skip] {
	return func(yield func(member, *Skip) bool) {
		n, lines := 0, 0
		counted := 0 // up to where lines are
		for at := nextMail(data, 0); at < len(data); {
			start := at + bytes.IndexByte(data[at:], '\n') + 1
			at = nextMail(data, start)
			n++
			lines += bytes.Count(data[counted:start], []byte("\n"))
			counted = start
			m := member{
				data: data[start:at], kept: true, start: start, lines: lines, format: mailFormat(true),
				place: chunker.Place{Kind: chunker.MessagePlace, First: strconv.Itoa(n), Last: strconv.Itoa(n)},
			}
			m.name = recordName(parseHeader(m.data[:headerEnd(m.data)]).messageID())
			if m.name == "" {
				m.name = numbered("message", n)
			}
			if !yield(m, nil) {
				return
			}
		}
	}
}

// nextMail is where the first line at or after a line start stands that has a mail
// below it, or the end.
func nextMail(data []byte, at int) int {
	for at < len(data) {
		if bytes.HasPrefix(data[at:], []byte("From ")) && afterBlankLine(data, at) && mboxStart.Match(data[at:min(len(data), at+1000)]) {
			return at
		}
		n := bytes.Index(data[at:], []byte("\nFrom "))
		if n < 0 {
			return len(data)
		}
		at += n + 1
	}
	return len(data)
}

func afterBlankLine(data []byte, at int) bool {
	if at == 0 {
		return true
	}
	before := bytes.TrimSuffix(bytes.TrimSuffix(data[:at], []byte("\n")), []byte("\r"))
	return len(before) == 0 || before[len(before)-1] == '\n'
}
