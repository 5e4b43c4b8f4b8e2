package ingest

import (
	"strconv"
	"strings"
)

// bullet is the marker of a list item without a number.
const bullet = "- "

// wordListLevel is a level of a list that a paragraph is an item of.
type wordListLevel struct {
	set   bool
	id    string // of the list; "0" is none
	level int
}

// or is the level itself, or the one from the paragraph's style. A paragraph may
// name the level alone.
func (l wordListLevel) or(style wordListLevel) wordListLevel {
	switch {
	case !l.set:
		return style
	case l.id == "":
		l.id = style.id
	}
	return l
}

// wordLists numbers the items of a document's lists.
type wordLists struct {
	kinds    map[string][]wordLevel // of lists, by id
	lists    map[string]wordList
	counters map[string]*[9]int // of lists of a kind together; 0 is not begun
	begun    map[string]bool    // lists whose own starts have been used
}

// wordList is a list of a kind, with starts of its own at some levels.
type wordList struct {
	kind   string
	starts map[int]int
}

type wordLevel struct {
	Level  string    `xml:"ilvl,attr"`
	Start  wordValue `xml:"start"`
	Format wordValue `xml:"numFmt"`
	Text   wordValue `xml:"lvlText"`
}

func readWordLists(p *parts, name string) (*wordLists, *Skip) {
	var part struct {
		Abstract []struct {
			ID    string      `xml:"abstractNumId,attr"`
			Style wordValue   `xml:"styleLink"`    // the style that this one defines
			Link  wordValue   `xml:"numStyleLink"` // the style that defines this one
			Level []wordLevel `xml:"lvl"`
		} `xml:"abstractNum"`
		Num []struct {
			ID       string    `xml:"numId,attr"`
			Abstract wordValue `xml:"abstractNumId"`
			Override []struct {
				Level string     `xml:"ilvl,attr"`
				Start *wordValue `xml:"startOverride"`
			} `xml:"lvlOverride"`
		} `xml:"num"`
	}
	if skip := p.decode(name, &part); skip != nil {
		return nil, skip
	}
	l := &wordLists{kinds: map[string][]wordLevel{}, lists: map[string]wordList{}, counters: map[string]*[9]int{}, begun: map[string]bool{}}
	byStyle := map[string][]wordLevel{}
	for _, a := range part.Abstract {
		if a.Style.Val != "" {
			byStyle[a.Style.Val] = a.Level
		}
	}
	for _, a := range part.Abstract {
		if a.Link.Val != "" && len(a.Level) == 0 {
			a.Level = byStyle[a.Link.Val]
		}
		l.kinds[a.ID] = a.Level
	}
	for _, n := range part.Num {
		list := wordList{kind: n.Abstract.Val, starts: map[int]int{}}
		for _, o := range n.Override {
			if o.Start != nil {
				list.starts[number(o.Level, 0)] = number(o.Start.Val, 1)
			}
		}
		l.lists[n.ID] = list
	}
	return l, nil
}

// next counts an item and gives its marker, such as "- " or "4.2 ", and how deep it
// is nested. What is no item has none.
func (l *wordLists) next(at wordListLevel) (marker string, depth int) {
	if !at.set || at.id == "0" || at.id == "" || at.level > 8 {
		return "", 0
	}
	list, ok := l.lists[at.id]
	if !ok {
		return bullet, at.level
	}
	counters := l.counters[list.kind]
	if counters == nil {
		counters = new([9]int)
		l.counters[list.kind] = counters
	}
	if !l.begun[at.id] {
		l.begun[at.id] = true
		for level, start := range list.starts {
			if level < len(counters) {
				counters[level] = start - 1
				if level >= at.level {
					clear(counters[level+1:])
				}
			}
		}
	}
	level := l.level(list.kind, at.level)
	if counters[at.level] == 0 {
		counters[at.level] = number(level.Start.Val, 1) - 1
	}
	counters[at.level]++
	clear(counters[at.level+1:])
	if level.Format.Val == "bullet" || level.Format.Val == "" {
		return bullet, at.level
	}
	label := level.Text.Val
	for i := range counters {
		of := l.level(list.kind, i)
		n := counters[i]
		if n == 0 {
			n = number(of.Start.Val, 1)
		}
		label = strings.ReplaceAll(label, "%"+strconv.Itoa(i+1), numeral(of.Format.Val, n))
	}
	if label = oneLine(label); label == "" {
		return "", at.level
	}
	return label + " ", at.level
}

func (l *wordLists) level(kind string, n int) wordLevel {
	for _, level := range l.kinds[kind] {
		if number(level.Level, -1) == n {
			return level
		}
	}
	return wordLevel{}
}

// numeral writes a number in a format of Word's. Those of other scripts are written
// in figures.
func numeral(format string, n int) string {
	switch format {
	case "lowerLetter":
		return letters(n)
	case "upperLetter":
		return strings.ToUpper(letters(n))
	case "lowerRoman":
		return roman(n)
	case "upperRoman":
		return strings.ToUpper(roman(n))
	case "decimalZero":
		if n < 10 {
			return "0" + strconv.Itoa(n)
		}
	case "none":
		return ""
	}
	return strconv.Itoa(n)
}

// letters counts a to z, then aa, bb as Word does.
func letters(n int) string {
	if n < 1 || n > 26*20 {
		return strconv.Itoa(n)
	}
	return strings.Repeat(string(rune('a'+(n-1)%26)), (n-1)/26+1)
}

func roman(n int) string {
	if n < 1 || n > 3999 {
		return strconv.Itoa(n)
	}
	var out strings.Builder
	for _, d := range []struct {
		value int
		text  string
	}{
		{1000, "m"}, {900, "cm"}, {500, "d"}, {400, "cd"}, {100, "c"}, {90, "xc"},
		{50, "l"}, {40, "xl"}, {10, "x"}, {9, "ix"}, {5, "v"}, {4, "iv"}, {1, "i"},
	} {
		for ; n >= d.value; n -= d.value {
			out.WriteString(d.text)
		}
	}
	return out.String()
}
