package ingest_test

import (
	"bytes"
	"errors"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/waymark-rag/waymark/ingest"
)

// skips gives what is said of what is left out, and the text of the document.
func skips(t *testing.T, name string, data []byte, opts *ingest.ReadOptions) (text string, out []*ingest.Skip) {
	t.Helper()
	for l, err := range ingest.Parse(t.Context(), name, data, opts) {
		switch skip := (*ingest.Skip)(nil); {
		case errors.As(err, &skip):
			out = append(out, skip)
		case err != nil:
			t.Fatal(err)
		default:
			checkLoaded(t, data, l)
			text = l.Document.Text
		}
	}
	return text, out
}

// Complaint 21 (ledongthuc/pdf#60, #40; anything-llm#6128): a bad page fails all, a
// scanned one is passed over in silence.
func TestPDFPagesWithoutTextAreReported(t *testing.T) {
	text, left := skips(t, "a.pdf", pdf("", content(lines(72, 700, 10, "One.")...), scan, scan, content(lines(72, 700, 10, "Four.")...), none, scan), nil)
	if text != "One.\n\nFour." {
		t.Errorf("text %q", text)
	}
	var got []string
	for _, s := range left {
		if s.Reason != ingest.NoText {
			t.Errorf("%v, want it as %q", s, ingest.NoText)
		}
		got = append(got, s.Path)
	}
	if strings.Join(got, "; ") != "a.pdf, pages 2-3; a.pdf, page 6" {
		t.Errorf("left out %q", got)
	}
	text, left = skips(t, "a.pdf", pdf("", scan, scan), nil)
	if len(left) != 1 || text != "" || left[0].Reason != ingest.NoText || left[0].Path != "a.pdf" || !strings.Contains(left[0].Detail, "OCR") {
		t.Errorf("%q, %v; want one skip of the file for its want of text", text, left)
	}
}

// Complaint 21, the files themselves.
func TestPDFSkips(t *testing.T) {
	page := content(lines(72, 700, 10, "Some text.")...)
	good := pdf("", page)
	for name, tc := range map[string]struct {
		data []byte
		want ingest.Reason
	}{
		"no PDF":                  {[]byte("plain text"), ingest.Damaged},
		"only the mark":           {[]byte("%PDF-1.7\n"), ingest.Damaged},
		"cut short":               {good[:40], ingest.Damaged},
		"password":                {encryptedPDF("secret", "", page), ingest.Encrypted},
		"encryption":              {bytes.Replace(encryptedPDF("secret", "", page), []byte("/Standard"), []byte("/Unknowns"), 1), ingest.Encrypted},
		"a page tree in a circle": {bytes.Replace(good, []byte("/Kids[5 0 R ]"), []byte("/Kids[2 0 R ]"), 1), ingest.Damaged},
	} {
		text, left := skips(t, "a.pdf", tc.data, nil)
		if len(left) == 0 || left[0].Reason != tc.want || text != "" {
			t.Errorf("%s: %q, %v; want a skip of it as %q", name, text, left, tc.want)
		}
	}
}

func TestPDFThatOnlyItsOwnerMayChangeIsRead(t *testing.T) {
	data := encryptedPDF(ownerOnly, "", content(lines(72, 700, 10, "Some text.")...))
	if text, left := skips(t, "a.pdf", data, nil); text != "Some text." || len(left) > 0 {
		t.Errorf("%q, %v", text, left)
	}
}

// The table that says where the parts of a file are is often wrong.
func TestPDFWithAWrongTable(t *testing.T) {
	data := pdf("", content(lines(72, 700, 10, "Some text.")...))
	data = bytes.ReplaceAll(data, []byte(" 00000 n"), []byte("9 0000 n"))
	if text, left := skips(t, "a.pdf", data, nil); text != "Some text." || len(left) > 0 {
		t.Errorf("%q, %v", text, left)
	}
}

// A file whose page takes longer than it may is given up, and the next is read.
func TestPDFStopsInTime(t *testing.T) {
	if _, left := skips(t, "a.pdf", minutes(), nil); len(left) == 0 { // the engine stands
		t.Error("nothing is left out")
	}
	endless := pdf("", strings.Repeat("BT /F1 9 Tf 1 0 0 1 9 9 Tm (abcdefghijklmnopqrstuvwxyz) Tj ET\n", 300_000))
	_, left := skips(t, "a.pdf", endless, &ingest.ReadOptions{MaxTime: 300 * time.Millisecond})
	if len(left) != 1 || left[0].Reason != ingest.TooSlow {
		t.Errorf("%v, want one skip as too slow", left)
	}
	if text, _ := skips(t, "a.pdf", minutes(), nil); !strings.Contains(text, "harbour") {
		t.Errorf("text after it: %q", text)
	}
}

// Files that are read at the same time do not disturb each other, nor does one that is
// given up.
func TestPDFsAtTheSameTime(t *testing.T) {
	data := minutes()
	want, _ := skips(t, "a.pdf", data, nil)
	var wait sync.WaitGroup
	for range 6 {
		wait.Go(func() {
			for l, err := range ingest.Parse(t.Context(), "a.pdf", data, nil) {
				if skip := (*ingest.Skip)(nil); err != nil && (!errors.As(err, &skip) || skip.Reason != ingest.NoText) || err == nil && l.Document.Text != want {
					t.Errorf("%v, %v", l, err)
				}
			}
			_, err := one(ingest.Parse(t.Context(), "a.pdf", data, &ingest.ReadOptions{MaxTime: time.Millisecond}))
			if skip := (*ingest.Skip)(nil); err != nil && (!errors.As(err, &skip) || skip.Reason != ingest.TooSlow && skip.Reason != ingest.NoText) {
				t.Error(err)
			}
		})
	}
	wait.Wait()
}

// BenchmarkPDF reads a page of 50 lines after the other.
func BenchmarkPDF(b *testing.B) {
	line := "The council met on Monday in the old town hall and spoke about the road to the harbour."
	page := content(lines(72, 740, 10, strings.Split(strings.TrimSuffix(strings.Repeat(line+"|", 50), "|"), "|")...)...)
	const pages = 20
	data := pdf("", strings.Split(strings.TrimSuffix(strings.Repeat(page+"|", pages), "|"), "|")...)
	if _, err := parse("a.pdf", data); err != nil { // the engine stands
		b.Fatal(err)
	}
	for b.Loop() {
		if _, err := parse("a.pdf", data); err != nil {
			b.Fatal(err)
		}
	}
	b.ReportMetric(float64(b.Elapsed().Milliseconds())/float64(b.N*pages), "ms/page")
}

func FuzzPDF(f *testing.F) {
	f.Add(pdf("/Title(A)", content(lines(72, 700, 10, "Some", "text.")...)))
	f.Add(encryptedPDF(ownerOnly, "", content(lines(72, 700, 10, "Some text.")...)))
	f.Fuzz(func(t *testing.T, data []byte) { checkParsed(t, "a.pdf", data) })
}
