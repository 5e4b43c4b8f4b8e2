package ingest_test

import (
	"bytes"
	"crypto/md5"
	"crypto/rc4"
	"encoding/hex"
	"fmt"
	"strings"
)

// pdfText is a line of text at a place of a page.
type pdfText struct {
	x, y, size int
	text       string
}

// lines are lines one below the other, 14 points apart.
func lines(x, y, size int, text ...string) []pdfText {
	var out []pdfText
	for i, t := range text {
		out = append(out, pdfText{x, y - 14*i, size, t})
	}
	return out
}

// content paints lines in their order.
func content(text ...pdfText) string {
	var b strings.Builder
	for _, t := range text {
		escaped := strings.NewReplacer("(", `\(`, ")", `\)`, `\`, `\\`).Replace(t.text)
		fmt.Fprintf(&b, "BT /F1 %d Tf 1 0 0 1 %d %d Tm (%s) Tj ET\n", t.size, t.x, t.y, escaped)
	}
	return b.String()
}

const (
	scan = "q 500 0 0 700 50 50 cm BI /W 1 /H 1 /BPC 8 /CS /G ID \x40 EI Q" // a picture and no text
	none = ""
)

// pdf is a file with pages of the given contents. In the text, bytes are those of
// Windows-1252.
func pdf(info string, pages ...string) []byte { return encryptedPDF("", info, pages...) }

// encryptedPDF is a file that a password other than the empty one locks; without any
// it is not encrypted. RC4 of 128 bits, as most old files have.
func encryptedPDF(user, info string, pages ...string) []byte {
	var kids string
	for i := range pages {
		kids += fmt.Sprintf("%d 0 R ", 5+2*i)
	}
	objects := []string{
		"<</Type/Catalog/Pages 2 0 R>>",
		fmt.Sprintf("<</Type/Pages/Count %d/Kids[%s]>>", len(pages), kids),
		"<</Type/Font/Subtype/Type1/BaseFont/Helvetica/Encoding/WinAnsiEncoding>>",
		"<<" + info + ">>",
	}
	for i := range pages {
		objects = append(objects,
			fmt.Sprintf("<</Type/Page/Parent 2 0 R/MediaBox[0 0 612 792]/Resources<</Font<</F1 3 0 R>>>>/Contents %d 0 R>>", 6+2*i), "")
	}
	const id = "0123456789abcdef"
	var key []byte
	trailer := fmt.Sprintf("/Root 1 0 R/ID[<%x><%x>]", id, id)
	if user != "" {
		var o, u []byte
		key, o, u = lock(user, id)
		trailer += fmt.Sprintf("/Encrypt<</Filter/Standard/V 2/R 3/Length 128/P -44/O<%x>/U<%x>>>", o, u)
	} else {
		trailer += "/Info 4 0 R" // its strings would have to be encrypted too
	}
	var b bytes.Buffer
	b.WriteString("%PDF-1.4\n")
	var at []int
	for i, object := range objects {
		at = append(at, b.Len())
		if i >= 4 && i%2 == 1 {
			stream := []byte(pages[(i-5)/2])
			if key != nil {
				stream = cipher(objectKey(key, i+1), stream)
			}
			object = fmt.Sprintf("<</Length %d>>stream\n%s\nendstream", len(stream), stream)
		}
		fmt.Fprintf(&b, "%d 0 obj\n%s\nendobj\n", i+1, object)
	}
	start := b.Len()
	fmt.Fprintf(&b, "xref\n0 %d\n0000000000 65535 f \n", len(objects)+1)
	for _, offset := range at {
		fmt.Fprintf(&b, "%010d 00000 n \n", offset)
	}
	fmt.Fprintf(&b, "trailer\n<</Size %d%s>>\nstartxref\n%d\n%%%%EOF\n", len(objects)+1, trailer, start)
	return b.Bytes()
}

// ownerOnly stands for the empty user password.
const ownerOnly = "\x00"

// lock is algorithms 2, 3 and 5 of the PDF reference.
func lock(user, id string) (key, o, u []byte) {
	pad, _ := hex.DecodeString("28bf4e5e4e758a4164004e56fffa01082e2e00b6d0683e802f0ca9fe6453697a")
	padded := func(password string) []byte { return append([]byte(password), pad...)[:32] }
	user = strings.TrimPrefix(user, ownerOnly)
	hash := md5.Sum(padded("owner"))
	for range 50 {
		hash = md5.Sum(hash[:])
	}
	o = padded(user)
	for i := range 20 {
		o = cipher(xor(hash[:], byte(i)), o)
	}
	permissions := []byte{0xd4, 0xff, 0xff, 0xff}
	sum := md5.Sum(bytes.Join([][]byte{padded(user), o, permissions, []byte(id)}, nil))
	for range 50 {
		sum = md5.Sum(sum[:])
	}
	key = sum[:]
	check := md5.Sum(append(bytes.Clone(pad), id...))
	u = check[:]
	for i := range 20 {
		u = cipher(xor(key, byte(i)), u)
	}
	return key, o, append(u, make([]byte, 16)...)
}

func objectKey(key []byte, object int) []byte {
	sum := md5.Sum(append(bytes.Clone(key), byte(object), byte(object>>8), byte(object>>16), 0, 0))
	return sum[:]
}

func xor(key []byte, with byte) []byte {
	out := bytes.Clone(key)
	for i := range out {
		out[i] ^= with
	}
	return out
}

func cipher(key, data []byte) []byte {
	c, err := rc4.NewCipher(key)
	if err != nil {
		panic(err)
	}
	out := make([]byte, len(data))
	c.XORKeyStream(out, data)
	return out
}

// minutes has what makes PDF hard: lines that say nothing of paragraphs, cut words,
// columns, headers on each page, pages that are pictures.
func minutes() []byte {
	framed := func(page int, text ...pdfText) string {
		footer := pdfText{280, 30, 9, fmt.Sprintf("Page %d of 6", page)}
		header := pdfText{72, 760, 9, "Minutes of the council"}
		return content(append(append([]pdfText{footer}, text...), header)...)
	}
	left := lines(72, 700, 10, "The left column is read from its", "top to its end before the right", "one, whatever was painted first.")
	right := lines(330, 700, 10, "The right column comes after it", "and ends the page.")
	return pdf("/Title(Microsoft Word - minutes.doc)/Author(Clerk)/ModDate(D:20240301100000+01'00')",
		framed(1, append(append(lines(72, 720, 20, "Minutes"), lines(72, 680, 10,
			"The council met on Monday in the old town hall and spoke about the road to the har-",
			"bour. It is to be made wider, as the \x93o\x66fice\x94 had asked.",
			"A new paragraph starts after a line that had room for more words than it was given.",
			"Its end is here.")...), append(lines(72, 600, 14, "Decisions"),
			lines(72, 570, 10, "\x95 The road is built.", "\x95 The bridge is not built before the", "road is done.")...)...)...),
		framed(2, append(right, left...)...),
		scan,
		scan,
		none,
		framed(6, append(lines(72, 700, 10,
			"Road ........ 1,200", "Bridge . . . . . . 3,400"),
			lines(72, 600, 10, "This sentence does not end on this page but goes on at the top of the one that")...)...),
		framed(7, lines(72, 700, 10, "follows, as sentences do. The last one ends here.")...),
	)
}
