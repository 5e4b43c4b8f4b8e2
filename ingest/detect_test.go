package ingest_test

import (
	"bytes"
	"strings"
	"testing"

	"golang.org/x/text/encoding/htmlindex"

	"github.com/waymark-rag/waymark/chunker"
	"github.com/waymark-rag/waymark/ingest"
)

// encoded are texts and the character sets that they are told from. As Czech in
// windows-1250, Ukrainian in KOI8-U and five characters of GBK they are not; see
// docs/formats.md.
var encoded = []struct{ text, sets string }{
	{"Le café était fermé à Noël, mais la pâtisserie servait déjà des crêpes. Où êtes-vous allés après le dîner ?", "windows-1252"},
	{"Résumé: café fermé", "windows-1252"},
	{"Größe: 5 m", "windows-1252"},
	{"Die Straße war naß, und die Bäume rauschten. Über den Dächern hörte man Vögel; im Gemüsegarten blühten Blüten.", "windows-1252"},
	{"It’s the “best” price – only €5 for all of it, and that’s that.", "windows-1252"},
	{"El niño comió una piña por la mañana; ¿qué pasó después? La señora llegó tarde y pidió café.", "windows-1252"},
	{"Zażółć gęślą jaźń. Wczoraj byłem w sklepie i kupiłem chleb, masło oraz świeże jabłka. Później poszliśmy na spacer wzdłuż rzeki.", "windows-1250 iso-8859-2"},
	{"Dün mağazaya gittim ve taze ekmek, tereyağı ve elma aldım. Sonra dinlenmek için nehir boyunca yürüdük. Şu çocuğun ağabeyi İstanbul'da.", "windows-1254"},
	{"Вчера я ходил в магазин и купил свежий хлеб, масло и яблоки. Потом мы гуляли вдоль реки.", "windows-1251 koi8-r iso-8859-5 ibm866 utf-16le utf-16be"},
	{"Привет, мир", "windows-1251 koi8-r utf-16le"},
	{"Χθες πήγα στο κατάστημα και αγόρασα φρέσκο ψωμί, βούτυρο και μήλα.", "windows-1253 iso-8859-7"},
	{"אתמול הלכתי לחנות וקניתי לחם טרי, חמאה ותפוחים. אחר כך טיילנו לאורך הנהר כדי לנוח קצת.", "windows-1255 iso-8859-8"},
	{"ذهبت أمس إلى المتجر واشتريت خبزا طازجا وزبدة وتفاحا. ثم مشينا على طول النهر لنستريح قليلا.", "windows-1256 iso-8859-6"},
	{"昨日、店に行って新しいパンとバターとりんごを買いました。それから川沿いを散歩して休みました。", "shift_jis euc-jp iso-2022-jp"},
	{"日本語テスト", "shift_jis euc-jp iso-2022-jp"},
	{"昨天我去商店买了新鲜的面包、黄油和苹果。后来我们沿着河边散步休息。", "gbk gb18030"},
	{"昨天我去商店買了新鮮的麵包、黃油和蘋果。後來我們沿著河邊散步休息。", "big5"},
	{"어제 나는 가게에 가서 신선한 빵과 버터와 사과를 샀습니다. 그런 다음 우리는 강을 따라 산책했습니다.", "euc-kr"},
	{"เมื่อวานฉันไปที่ร้านและซื้อขนมปังสด เนย และแอปเปิ้ล จากนั้นเราก็เดินเล่นริมแม่น้ำ", "windows-874"},
	{"Only ASCII, in two bytes a letter.\r\nTwo lines.\r\n", "utf-16le utf-16be"},
}

// Text in any character set is the same text, and every character leads to its bytes.
func TestEncodings(t *testing.T) {
	for _, tc := range encoded {
		for _, name := range strings.Fields(tc.sets) {
			set, err := htmlindex.Get(name)
			if err != nil {
				t.Fatal(err)
			}
			encode := func(s string) string {
				out, err := set.NewEncoder().String(s)
				if err != nil {
					t.Fatal(err)
				}
				return out
			}
			file := encode(tc.text)
			l, err := parse("notes.txt", []byte(file))
			if err != nil {
				t.Errorf("%s: %v", name, err)
				continue
			}
			checkLoaded(t, []byte(file), l)
			doc := l.Document
			if doc.Text != tc.text {
				t.Errorf("%s is read as %v: %q", name, doc.Metadata[ingest.MetaEncoding], doc.Text)
				continue
			}
			if name == "iso-2022-jp" { // bytes have state
				continue
			}
			for i, r := range doc.Text {
				at := doc.Source.Tile(chunker.Range{Start: i, End: i + len(string(r))})
				if got := at.Of(file); got != encode(string(r)) {
					t.Errorf("%s: %q stands at %v, which is %q", name, r, at, got)
					break
				}
			}
		}
	}
}

// A few bad bytes in UTF-8 are not taken for another set, and binary content for none.
func TestEncodingNotGuessed(t *testing.T) {
	for _, tc := range []struct {
		file string
		want any
	}{
		{"Größe und Länge\xff, cut rune: \xe6\x97", nil},
		{"\xef\xbb\xbfmarked\xff", nil},
		{"no bytes above ASCII but a NUL\x00", nil},
		{"colour \x1b[31mred\x1b[0m of a terminal", nil},
		{"caf\xe9", "windows-1252"},
	} {
		l, err := parse("a.txt", []byte(tc.file))
		if err != nil {
			t.Fatal(err)
		}
		if got := l.Document.Metadata[ingest.MetaEncoding]; got != tc.want {
			t.Errorf("the encoding of %q is %v, want %v", tc.file, got, tc.want)
		}
	}
	for _, picture := range []string{"\x00\x10\x80\xff\x03\x7f\x00\x00\xfe\x01", "\x00\xff", "\x80\x00", "\x41\x00\x00\x00"} {
		if l, err := parse("picture", bytes.Repeat([]byte(picture), 100)); err == nil {
			t.Errorf("%q is read as %v", picture, l.Document.Metadata)
		}
	}
}
