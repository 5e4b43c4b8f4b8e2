package ingest

import "strings"

// wordStyle is what a paragraph has from its style.
type wordStyle struct {
	outline  int // level from 0, or -1
	list     wordListLevel
	contents bool // of a table of contents
}

// wordStyles are a document's styles by id. Names that a program translates have ids
// in its language, but the outline level stays.
type wordStyles map[string]wordStyleEntry

type wordStyleEntry struct {
	ID    string       `xml:"styleId,attr"`
	Type  string       `xml:"type,attr"`
	Name  wordValue    `xml:"name"`
	Based wordValue    `xml:"basedOn"`
	Level *wordValue   `xml:"pPr>outlineLvl"`
	List  *wordListRef `xml:"pPr>numPr"`
}

type wordValue struct {
	Val string `xml:"val,attr"`
}

type wordListRef struct {
	ID    *wordValue `xml:"numId"`
	Level wordValue  `xml:"ilvl"`
}

func readWordStyles(p *parts, name string) (wordStyles, *Skip) {
	var part struct {
		Style []wordStyleEntry `xml:"style"`
	}
	if skip := p.decode(name, &part); skip != nil {
		return nil, skip
	}
	styles := wordStyles{}
	for _, s := range part.Style {
		if s.Type == "" || s.Type == "paragraph" {
			styles[s.ID] = s
		}
	}
	return styles, nil
}

// resolve follows a style to those it is based on.
func (s wordStyles) resolve(id string) wordStyle {
	out := wordStyle{outline: -1}
	const maxBased = 20 // more is a cycle
	for range maxBased {
		style, ok := s[id]
		if !ok {
			break
		}
		name := strings.ToLower(style.Name.Val)
		out.contents = out.contents || strings.HasPrefix(name, "toc ")
		if out.outline < 0 {
			out.outline = style.outline(name)
		}
		if style.List != nil && !out.list.set {
			out.list = wordListLevel{set: true, level: number(style.List.Level.Val, 0)}
			if style.List.ID != nil {
				out.list.id = style.List.ID.Val
			} else {
				out.list.set = false
			}
		}
		id = style.Based.Val
	}
	return out
}

func (s wordStyleEntry) outline(name string) int {
	switch {
	case s.Level != nil:
		return number(s.Level.Val, -1)
	case name == "title":
		return 0
	}
	if n, ok := strings.CutPrefix(name, "heading "); ok {
		return number(n, 0) - 1
	}
	return -1
}
