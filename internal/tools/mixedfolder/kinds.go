//go:build unix

package main

import (
	"archive/tar"
	"archive/zip"
	"bytes"
	"compress/gzip"
	"encoding/csv"
	"encoding/json"
	"fmt"
	"strings"
)

// kinds are the usual files, each as often as the others.
var kinds = []func(*writer) error{
	func(w *writer) error { return w.file("txt", []byte(w.text()+"\n")) },
	func(w *writer) error { return w.file("md", []byte(w.markdown())) },
	func(w *writer) error {
		return w.file("html", fmt.Appendf(nil, "<!doctype html><title>%s</title><h1>%[1]s</h1><p>%s</p><ul><li>%s<li>%s</ul>", w.title(), w.text(), w.sentence(), w.sentence()))
	},
	func(w *writer) error { return w.file("txt", latin1("Caf\u00e9, na\u00efve, gar\u00e7on. "+w.text())) },
	(*writer).csv,
	(*writer).jsonLines,
	func(w *writer) error {
		data, err := json.MarshalIndent(map[string]any{"title": w.title(), "text": w.text(), "year": 1900 + w.number%120}, "", "  ")
		return join(err, func() error { return w.file("json", data) })
	},
	func(w *writer) error {
		return w.file("go", fmt.Appendf(nil, "package p\n\n// %s\nfunc F%d() int {\n\treturn %d\n}\n", w.text(), w.number, w.number))
	},
	func(w *writer) error {
		return w.file("py", fmt.Appendf(nil, "def f%d():\n    \"\"\"%s\"\"\"\n    return %d\n", w.number, w.text(), w.number))
	},
	func(w *writer) error { return w.file("eml", []byte(w.mail())) },
	func(w *writer) error {
		return w.file("mbox", fmt.Appendf(nil, "From a@example.org Mon Jan  1 00:00:00 2024\n%s\nFrom b@example.org Mon Jan  1 00:00:01 2024\n%s", w.mail(), w.mail()))
	},
	(*writer).notebook,
	func(w *writer) error {
		var b strings.Builder
		for i := range 5 {
			fmt.Fprintf(&b, "%d\n00:00:%02d,000 --> 00:00:%02d,500\n%s\n\n", i+1, 2*i, 2*i+1, w.sentence())
		}
		return w.file("srt", []byte(b.String()))
	},
	func(w *writer) error { return w.zipped("docx", w.word2007()) },
	func(w *writer) error {
		return w.zipped("zip", map[string]string{"a.txt": w.text(), "b/c.md": w.markdown()})
	},
	func(w *writer) error {
		var b bytes.Buffer
		z := gzip.NewWriter(&b)
		t := tar.NewWriter(z)
		text := w.text()
		err := t.WriteHeader(&tar.Header{Name: "notes/a.txt", Mode: 0o644, Size: int64(len(text)), Typeflag: tar.TypeReg})
		if err == nil {
			_, err = t.Write([]byte(text))
		}
		return join(err, t.Close, z.Close, func() error { return w.file("tar.gz", b.Bytes()) })
	},
}

// join does one step after the other as long as none fails.
func join(err error, steps ...func() error) error {
	for _, step := range steps {
		if err != nil {
			return err
		}
		err = step()
	}
	return err
}

func (w *writer) markdown() string {
	return fmt.Sprintf("---\ntags: [%s, %s]\n---\n\n# %s\n\n%s\n\n## %s\n\n- %s\n- %s\n\n| item | number |\n|---|---|\n| %s | %d |\n",
		w.word(objects), w.word(subjects), w.title(), w.text(), w.title(), w.sentence(), w.sentence(), w.word(objects), w.number)
}

func (w *writer) mail() string {
	return fmt.Sprintf("From: Ann <ann@example.org>\nTo: Bob <bob@example.org>\nSubject: %s\nMessage-ID: <%d.%d@example.org>\nDate: Mon, 01 Jan 2024 10:00:00 +0000\nContent-Type: text/plain; charset=utf-8\n\n%s\n",
		w.title(), w.number, w.random.Uint64(), w.text())
}

func latin1(s string) []byte {
	var out []byte
	for _, r := range s {
		out = append(out, byte(r))
	}
	return out
}

func (w *writer) csv() error {
	var b bytes.Buffer
	c := csv.NewWriter(&b)
	rows := [][]string{{"item", "place", "remark"}}
	for len(rows) < 2+w.size/60 {
		rows = append(rows, []string{w.word(objects), w.word(places), w.sentence()})
	}
	return join(c.WriteAll(rows), func() error { return w.file("csv", b.Bytes()) })
}

func (w *writer) jsonLines() error {
	var b bytes.Buffer
	for i := range 3 {
		line, err := json.Marshal(map[string]string{"_id": fmt.Sprintf("r%d", i), "title": w.title(), "text": w.paragraph(w.size / 3)})
		if err != nil {
			return err
		}
		b.Write(append(line, '\n'))
	}
	return w.file("jsonl", b.Bytes())
}

func (w *writer) notebook() error {
	cell := func(kind, text string) map[string]any {
		c := map[string]any{"cell_type": kind, "metadata": map[string]any{}, "source": []string{text}}
		if kind == "code" {
			c["outputs"], c["execution_count"] = []any{}, nil
		}
		return c
	}
	data, err := json.Marshal(map[string]any{
		"nbformat": 4, "nbformat_minor": 5, "metadata": map[string]any{},
		"cells": []any{cell("markdown", "# "+w.title()+"\n\n"+w.text()), cell("code", fmt.Sprintf("x = %d\nprint(x)", w.number))},
	})
	return join(err, func() error { return w.file("ipynb", data) })
}

// word2007 is the least that a DOCX holds.
func (w *writer) word2007() map[string]string {
	const (
		types = `<?xml version="1.0"?><Types xmlns="http://schemas.openxmlformats.org/package/2006/content-types"><Default Extension="rels" ContentType="application/vnd.openxmlformats-package.relationships+xml"/><Override PartName="/word/document.xml" ContentType="application/vnd.openxmlformats-officedocument.wordprocessingml.document.main+xml"/></Types>`
		rels  = `<?xml version="1.0"?><Relationships xmlns="http://schemas.openxmlformats.org/package/2006/relationships"><Relationship Id="rId1" Type="http://schemas.openxmlformats.org/officeDocument/2006/relationships/officeDocument" Target="word/document.xml"/></Relationships>`
	)
	paragraph := func(style, text string) string {
		return `<w:p><w:pPr><w:pStyle w:val="` + style + `"/></w:pPr><w:r><w:t>` + text + `</w:t></w:r></w:p>`
	}
	return map[string]string{
		"[Content_Types].xml": types,
		"_rels/.rels":         rels,
		"word/document.xml": `<?xml version="1.0"?><w:document xmlns:w="http://schemas.openxmlformats.org/wordprocessingml/2006/main"><w:body>` +
			paragraph("Heading1", w.title()) + paragraph("Normal", w.text()) + `</w:body></w:document>`,
	}
}

// zipped writes an archive, its members in order of their names.
func (w *writer) zipped(ext string, members map[string]string) error {
	data, err := archive(members)
	return join(err, func() error { return w.file(ext, data) })
}

func archive(members map[string]string) ([]byte, error) {
	var b bytes.Buffer
	z := zip.NewWriter(&b)
	for _, name := range sorted(members) {
		f, err := z.Create(name)
		if err == nil {
			_, err = f.Write([]byte(members[name]))
		}
		if err != nil {
			return nil, err
		}
	}
	err := z.Close()
	return b.Bytes(), err
}
