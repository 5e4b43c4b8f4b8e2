package ingest

import (
	"cmp"
	"fmt"
	"iter"
	"path"
	"strings"

	"github.com/waymark-rag/waymark/chunker"
)

// container is a format whose files hold documents that stand for themselves: an
// archive, a mailbox, a file of records.
type container interface {
	// members yields what a file holds, in order. A Skip tells of one that cannot
	// be read; it needs a name, for the message, but no path. What is after it may
	// still come. Unpacking draws on the budget.
	members(b *budget, data []byte) iter.Seq2[member, *Skip]
}

// member is a file in a file.
type member struct {
	// name is the path inside, cleaned by the container of anything that leads out
	// of it. The id is the container's with the name after a slash; with an empty
	// name it is the container's own.
	name string
	data []byte
	// format, when it is set, is what the data is; otherwise name and content tell. An
	// empty name stands for the container's without its last extension.
	format format
	// kept says that data is a part of the container's bytes, from start on, after
	// so many lines.
	kept         bool
	start, lines int
	// place names the member in the container, for readers that have no other
	// names for what is in it, such as a line of a file.
	place chunker.Place
}

// Single reports whether the content is one document, by its format: not an archive
// or the like, which may hold any number.
func (r *Raw) Single() bool {
	f, skip := chosen(r.formatName(), r.Data)
	return skip == nil && f.container == nil
}

// open yields the documents of a container, those of containers in it too.
func (r *Raw) open(b *budget, c container, depth int, yield func(*Loaded, error) bool) bool {
	if depth >= b.opts.MaxDepth {
		return yield(nil, r.skip(&Skip{Reason: TooDeep, Detail: fmt.Sprintf("it is the %dth file in a file; unpack it or raise the limit", depth+1)}))
	}
	seen := map[string]bool{}
	empty := true
	for m, skip := range members(c, b, r.Data) {
		if b.members == 0 && m.name != "" {
			return yield(nil, r.skip(&Skip{Reason: TooLarge, Detail: fmt.Sprintf("it holds more than %d documents; split it or raise the limit", b.opts.MaxMembers)}))
		}
		empty = false
		inner := r.member(m)
		if m.name == "" && m.format.isZero() && skip == nil {
			m.format, skip = chosen(strings.TrimSuffix(r.path, path.Ext(r.path)), m.data)
		}
		switch {
		case skip != nil:
		case seen[inner.ID]:
			skip = &Skip{Reason: Duplicate, Detail: "another one before it has the same name"}
		}
		if m.name != "" { // otherwise it has been counted as the container
			b.members--
		}
		seen[inner.ID] = true
		if skip != nil {
			if !yield(nil, inner.skip(skip)) {
				return false
			}
		} else if !inner.documents(b, m.format, depth+1, yield) {
			return false
		}
		if s := b.over(); s != nil {
			return yield(nil, r.skip(s))
		}
	}
	if empty {
		return yield(nil, r.skip(&Skip{Reason: Empty, Detail: "there is nothing in it, or nothing but hidden files"}))
	}
	return true
}

// member is a member's content before it is parsed.
func (r *Raw) member(m member) *Raw {
	id, file := r.ID, r.path
	if m.name != "" {
		id, file = r.ID+"/"+ID(m.name), r.path+"/"+m.name
	}
	inner := newRaw(id, file, m.data)
	inner.place, inner.container = m.place, cmp.Or(r.container, r.ID)
	if m.name == "" {
		inner.place = cmp.Or(m.place, r.place)
	}
	if id == inner.container { // the text of a mail that has more in it
		inner.container = ""
	}
	if m.kept {
		inner.start, inner.lines = r.start+m.start, r.lines+m.lines
	}
	return inner
}
