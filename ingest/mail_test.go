package ingest_test

import (
	"encoding/base64"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/waymark-rag/waymark/chunker"
	"github.com/waymark-rag/waymark/ingest"
)

// The text of a mail leads to its bytes, those of quoted-printable and HTML too.
func TestMailSpans(t *testing.T) {
	for _, tc := range []struct{ file, phrase, want string }{
		{"note.eml", "afé", "af=E9"},
		{"note.eml", "in the middle", "in the=\r\n middle"},
		{"note.eml", "1=2, and a =ZZ", "1=3D2, and a =ZZ"},
		{"note.eml", " footer", " footer"},
		{"html-only.eml", "afé", "af=C3=A9"},
		{"html-only.eml", "& two, a long line th", "&amp; two, a long line=\r\n th"},
		{"inbox.mbox", "rom the start, this", "rom the start, this"},
		{"inbox.mbox", "\nFrom the start, this", "\n>From the start, this"},
		{"inbox.mbox", ", Größe", ", Größe"},
	} {
		data, err := os.ReadFile(filepath.Join("testdata", tc.file))
		if err != nil {
			t.Fatal(err)
		}
		docs, _ := all(t, tc.file, string(data), nil)
		found := false
		for _, doc := range docs {
			if start := strings.Index(doc.Text, tc.phrase); start >= 0 && !found {
				found = true
				at := doc.Source.Tile(chunker.Range{Start: start, End: start + len(tc.phrase)})
				if got := at.Of(string(data)); got != tc.want {
					t.Errorf("%s: %q stands at %q, want %q", tc.file, tc.phrase, got, tc.want)
				}
				want := strings.Count(string(data[:at.End-1]), "\n") + 1
				if _, last := doc.Lines(chunker.Range{Start: start, End: start + len(tc.phrase)}); last != want {
					t.Errorf("%s: %q ends on line %d, want %d", tc.file, tc.phrase, last, want)
				}
			}
		}
		if !found {
			t.Errorf("%s: no document has %q", tc.file, tc.phrase)
		}
	}
}

func TestMailText(t *testing.T) {
	for _, tc := range []struct{ mail, want string }{
		{"Subject: S\n\nBody.\n", "Body.\n"},
		{"Subject: S\r\n\r\nBody.\r\n", "Body.\r\n"},
		{"No header at all,\n\nonly text.\n", "No header at all,\n\nonly text.\n"},
		{"Subject: S\nContent-Type: text/plain; charset=us-ascii\n\nGrüße\n", "Grüße\n"},
		{"Subject: S\nContent-Type: text/plain; charset=utf-8\n\nGr\xfc\xdfe\n", "Grüße\n"},
		{"Subject: S\nContent-Type: text/plain; charset=x-made-up\n\nGr\xfc\xdfe aus der Stra\xdfe\n", "Grüße aus der Straße\n"},
		{"Subject: S\nContent-Type: text/plain; charset=shift_jis\n\n\x83\x65\x83\x58\x83\x67\n", "テスト\n"},
		{"Subject: S\nContent-Type: text/plain; charset=iso-2022-jp\n\n\x1b$B%F%9%H\x1b(B\n", "テスト\n"},
		{"Subject: S\nContent-Transfer-Encoding: BASE64\n\n" + base64.StdEncoding.EncodeToString([]byte("packed")) + "\n", "packed"},
		{"Subject: S\nContent-Transfer-Encoding: base64\n\ncGFj a2Vk\n!", "packed"},
		{"Subject: S\nContent-Transfer-Encoding: quoted-printable\n\na =\n b=3d =\r\nc = d=", "a  b= c = d"},
		{"Subject: S\nContent-Type: multipart/alternative; boundary=b\n\n--b\n\n \n--b\nContent-Type: text/html\n\n<p>H</p>\n--b--\n", "H"},
		{"Subject: S\nContent-Type: multipart/alternative; boundary=b\n\n--b\nContent-Type: text/html\n\n<p>H</p>\n--b\n\nplain\n--b--\n", "plain"},
		{"Subject: S\nContent-Type: multipart/mixed; boundary=b; boundary=b\n\n--b\n\none\n--b\n\ntwo\n", "one\n\ntwo\n"},
		{"Subject: S\nContent-Type: multipart/signed; boundary=b\n\n--b\n\nsigned\n--b\nContent-Type: application/pgp-signature\n\nxx\n--b--\n", "signed"},
		{"Subject: Only a subject\n", "Only a subject"},
	} {
		docs, skips := all(t, "a.eml", tc.mail, nil)
		if len(docs) != 1 || docs[0].Text != tc.want {
			t.Errorf("%q gives %+v, %q; want %q", tc.mail, docs, skips, tc.want)
		}
	}
}

// Mails in each other, and parts in parts, end.
func TestMailDepth(t *testing.T) {
	mail := "Subject: innermost\n\ntext\n"
	for _, b := range []string{"b1", "b2", "b3", "b4"} {
		mail = "Subject: S\nContent-Type: multipart/mixed; boundary=" + b + "\n\n--" + b + "\nContent-Type: message/rfc822\n\n" + mail + "--" + b + "--\n"
	}
	_, skips := all(t, "a.eml", mail, nil)
	if len(skips) == 0 || !strings.Contains(skips[len(skips)-1], string(ingest.TooDeep)) {
		t.Errorf("%q", skips)
	}
	parts := strings.Repeat("Content-Type: multipart/mixed; boundary=b\n\n--b\n", 10_000)
	if docs, _ := all(t, "a.eml", parts, nil); len(docs) > 1 {
		t.Errorf("%d documents", len(docs))
	}
}

// A mailbox is known by its start, and its mails by number and name.
func TestMbox(t *testing.T) {
	box := "From a Thu Jan  1 00:00:00 1970\nMessage-ID: <x/y@h>\n\nOne.\n\nFrom b Thu Jan  1 00:00:00 1970\r\nSubject: B\r\n\r\nTwo.\r\n"
	docs, skips := all(t, "Inbox", box, nil)
	var got []string
	for _, doc := range docs {
		got = append(got, doc.ID+" "+doc.Places[0].Place.String()+" "+strings.TrimSpace(doc.Text))
	}
	if diff := cmp.Diff([]string{"Inbox/x/y@h message 1 One.", "Inbox/message-2 message 2 Two."}, got); diff != "" || len(skips) > 0 {
		t.Errorf("-want +got:\n%s%q", diff, skips)
	}
	if docs, _ := all(t, "letter", "From my window\nI see: the sea.\n", nil); len(docs) != 1 || docs[0].Text != "From my window\nI see: the sea.\n" {
		t.Errorf("a letter is read as %+v", docs)
	}
}

// FuzzMail reads anything as a mail and as a mailbox.
func FuzzMail(f *testing.F) {
	for _, name := range []string{"note.eml", "html-only.eml", "inbox.mbox"} {
		data, err := os.ReadFile(filepath.Join("testdata", name))
		if err != nil {
			f.Fatal(err)
		}
		f.Add(false, data)
		f.Add(true, data)
	}
	f.Fuzz(func(t *testing.T, box bool, data []byte) {
		name := "a.eml"
		if box {
			name = "a.mbox"
		}
		for l, err := range ingest.Parse(t.Context(), name, data, nil) {
			var skip *ingest.Skip
			if err == nil && l.Document.Metadata[ingest.MetaFormat] == "email" {
				checkLoaded(t, data, l)
			} else if err == nil {
				checkLoaded(t, []byte("\x1f\x8b"), l) // an attachment, whose bytes are not those of data
			} else if !errors.As(err, &skip) {
				t.Fatal(err)
			}
		}
	})
}
