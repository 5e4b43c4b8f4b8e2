package ingest

import (
	"archive/zip"
	"bytes"
	"errors"
	"io"
	"path"
	"strings"
	"time"

	"github.com/waymark-rag/waymark/chunker"
)

// parts are the files of a ZIP archive that make one document together: an office
// file, a book. Nothing is ever unpacked to the disk, so names that lead out of the
// archive lead nowhere.
type parts struct {
	b     *budget
	files map[string]*zip.File // by partName
}

func openParts(b *budget, data []byte) (*parts, *Skip) {
	if skip := compoundFile(data); skip != nil {
		return nil, skip
	}
	z, err := zip.NewReader(bytes.NewReader(data), int64(len(data)))
	if err != nil {
		return nil, &Skip{Reason: Damaged, Detail: "it is cut short, or no office file or book at all", Err: err}
	}
	p := &parts{b: b, files: make(map[string]*zip.File, len(z.File))}
	for _, f := range z.File {
		if name := partName("", f.Name); p.files[name] == nil {
			p.files[name] = f
		}
	}
	return p, nil
}

// compoundFile tells what a file is that should be a ZIP archive but has the form of
// the office files of the 1990s, which those that are encrypted still have.
func compoundFile(data []byte) *Skip {
	switch {
	case !bytes.HasPrefix(data, []byte(compoundMagic)):
		return nil
	case bytes.Contains(data, []byte("E\x00n\x00c\x00r\x00y\x00p\x00t\x00e\x00d\x00P\x00a\x00c\x00k\x00a\x00g\x00e\x00")):
		return &Skip{Reason: Encrypted, Detail: "save it without a password"}
	}
	return unsupported("office document of the old kind")
}

const compoundMagic = "\xd0\xcf\x11\xe0"

// partName is the key of a name that a part of the archive, in the folder dir, has
// for another. Case does not count, and the names that lead out of the archive stay
// in it.
func partName(dir, name string) string {
	name = strings.ReplaceAll(name, `\`, "/")
	if !strings.HasPrefix(name, "/") {
		name = dir + "/" + name
	}
	return strings.ToLower(strings.TrimPrefix(path.Clean("/"+name), "/"))
}

func (p *parts) has(name string) bool { return p.files[name] != nil }

// open gives what a part unpacks to; whoever reads it draws on the budget.
func (p *parts) open(name string) (io.ReadCloser, *Skip) {
	f := p.files[name]
	switch {
	case f == nil:
		return nil, &Skip{Reason: Damaged, Detail: "it lacks its part " + name}
	case f.Flags&1 != 0:
		return nil, &Skip{Reason: Encrypted, Detail: "save it without a password"}
	}
	r, err := f.Open()
	if err != nil {
		return nil, &Skip{Reason: Damaged, Detail: "its part " + name, Err: err}
	}
	return r, nil
}

// bytes unpacks a part as a whole.
func (p *parts) bytes(name string) ([]byte, *Skip) {
	r, skip := p.open(name)
	if skip != nil {
		return nil, skip
	}
	defer r.Close()
	return p.b.unpack(r)
}

// decode reads a small part into v, by its xml tags. A part that is missing changes
// nothing.
func (p *parts) decode(name string, v any) *Skip {
	if !p.has(name) {
		return nil
	}
	return p.walk(name, func(x *elements) error {
		x.r.limit /= 4 // what is made of it takes more than it takes itself
		return x.d.Decode(v)
	})
}

// walk has f go through the elements of a part.
func (p *parts) walk(name string, f func(x *elements) error) *Skip {
	r, skip := p.open(name)
	if skip != nil {
		return skip
	}
	defer r.Close()
	return asSkip(name, f(newElements(p.b, p.b.stream(r))))
}

// asSkip tells why a part could not be read.
func asSkip(name string, err error) *Skip {
	var skip *Skip
	switch {
	case err == nil || err == io.EOF:
		return nil
	case errors.As(err, &skip):
		return skip
	}
	return &Skip{Reason: Damaged, Detail: "its part " + name, Err: err}
}

// office is a file of Word, PowerPoint or Excel.
type office struct {
	*parts
	main     string              // the part with the text, or the list of slides or sheets
	root, of map[string]relation // of the file, and of the main part
}

// openOffice opens such a file; usual is the name that its main part has as a rule.
func openOffice(b *budget, data []byte, usual string) (office, *Skip) {
	p, skip := openParts(b, data)
	if skip != nil {
		return office{}, skip
	}
	o := office{parts: p}
	if o.root, skip = p.relations(""); skip != nil {
		return office{}, skip
	}
	o.main = related(o.root, "officeDocument", usual)
	if !p.has(o.main) {
		return office{}, &Skip{Reason: Damaged, Detail: "it lacks its part " + o.main}
	}
	o.of, skip = p.relations(o.main)
	return o, skip
}

// relation is what one part of an office file has to do with another.
type relation struct {
	kind   string // the last part of its type: "styles", "slide"
	target string // a part's name; empty for one outside the file
}

// relations are those of a part by their ids. The empty name has those of the file.
func (p *parts) relations(name string) (map[string]relation, *Skip) {
	var list struct {
		Relationship []struct {
			ID         string `xml:"Id,attr"`
			Type       string `xml:"Type,attr"`
			Target     string `xml:"Target,attr"`
			TargetMode string `xml:"TargetMode,attr"`
		}
	}
	dir := path.Dir(name)
	if skip := p.decode(partName(dir, "_rels/"+strings.TrimPrefix(path.Base(name), ".")+".rels"), &list); skip != nil {
		return nil, skip
	}
	out := map[string]relation{}
	for _, r := range list.Relationship {
		rel := relation{kind: path.Base(r.Type)}
		if r.TargetMode != "External" {
			rel.target = partName(dir, r.Target)
		}
		out[r.ID] = rel
	}
	return out, nil
}

// related is the first part of a kind, or the one that is there by default.
func related(relations map[string]relation, kind, otherwise string) string {
	found := ""
	for _, r := range relations {
		if r.kind == kind && r.target != "" && (found == "" || r.target < found) {
			found = r.target
		}
	}
	if found == "" {
		return otherwise
	}
	return found
}

// properties are what an office file says of itself.
type properties struct {
	Title    string `xml:"title"`
	Creator  string `xml:"creator"`
	Modified string `xml:"modified"`
}

// properties reads those of the file; they are never worth losing it for.
func (p *parts) properties(root map[string]relation) properties {
	var props properties
	if p.decode(related(root, "core-properties", "docprops/core.xml"), &props) != nil {
		return properties{}
	}
	return props
}

// describe puts what a file says of itself into its document.
func describe(doc *chunker.Document, title, author, modified string) {
	if doc.Title = realTitle(title); doc.Title == "" {
		for _, h := range doc.Headings {
			if h.Level == 1 {
				doc.Title = realTitle(h.Title)
				break
			}
		}
	}
	doc.Metadata = map[string]any{}
	if author = oneLine(author); author != "" {
		doc.Metadata[MetaAuthor] = author
	}
	if at, err := time.Parse(time.RFC3339, strings.TrimSpace(modified)); err == nil {
		doc.Metadata[MetaModified] = at.UTC().Format(time.RFC3339)
	}
}
