package ingest

import "strings"

func parseNumberFormat(code string) numberFormat {
	var f numberFormat
	const longest, most = 512, 4
	if len(code) > longest {
		return generalFormat
	}
	for _, section := range splitFormat(code) {
		if len(f.sections) < most {
			f.sections = append(f.sections, parseSection(section))
		}
	}
	return f
}

// splitFormat cuts a format at the semicolons outside of quotes and brackets.
func splitFormat(code string) []string {
	var out []string
	start, close := 0, byte(0)
	for i := 0; i < len(code); i++ {
		switch c := code[i]; {
		case close != 0:
			if c == close {
				close = 0
			}
		case c == '"':
			close = '"'
		case c == '[':
			close = ']'
		case c == '\\':
			i++
		case c == ';':
			out = append(out, code[start:i])
			start = i + 1
		}
	}
	return append(out, code[min(start, len(code)):])
}

func parseSection(code string) (s formatSection) {
	runes := []rune(code)
	var letters []byte // of dates, in order, to tell minutes from months
	literal := func(text string) {
		switch {
		case len(s.whole) == 0 && !s.point:
			s.prefix += text
		case !s.point && s.suffix == "" && len(text) == 1 && strings.Contains("-/ .()", text):
			s.whole = append(s.whole, []rune(text)...)
		default:
			s.suffix += text
		}
	}
	for i := 0; i < len(runes); i++ {
		switch c := runes[i]; c {
		case '"':
			end := i + 1
			for end < len(runes) && runes[end] != '"' {
				end++
			}
			literal(string(runes[i+1 : end]))
			i = end
		case '\\':
			if i++; i < len(runes) {
				literal(string(runes[i]))
			}
		case '_', '*':
			i++
		case '[':
			end := i + 1
			for end < len(runes) && runes[end] != ']' {
				end++
			}
			inside := strings.ToLower(string(runes[i+1 : end]))
			switch {
			case strings.HasPrefix(inside, "$"):
				symbol, _, _ := strings.Cut(string(runes[i+2:end]), "-")
				literal(symbol)
			case inside != "" && strings.Trim(inside, "hms") == "":
				s.elapsed = true
				letters = append(letters, inside[0])
			}
			i = end
		case '0', '#', '?':
			switch {
			case s.scientific:
			case s.point:
				if s.decimals++; c == '0' {
					s.fixed = s.decimals
				}
			default:
				s.whole = append(s.whole, c)
			}
		case '.':
			if len(letters) == 0 {
				s.point = true
			}
		case ',':
			switch {
			case i+1 < len(runes) && strings.ContainsRune("0#?", runes[i+1]) && len(s.whole) > 0:
				s.thousands = 1
			case len(s.whole) > 0:
				s.scale++
			}
		case '%':
			s.percents++
			literal("%")
		case '/':
			if len(s.whole) > 0 {
				s.fraction = true
			}
		case 'E', 'e':
			if i+1 < len(runes) && (runes[i+1] == '+' || runes[i+1] == '-') {
				s.scientific = true
				i++
			} else {
				letters = append(letters, 'y') // the year of an era
			}
		case 'G', 'g':
			if strings.HasPrefix(strings.ToLower(string(runes[i:])), "general") {
				s.general = true
				i += len("general") - 1
			}
		case 'A', 'a':
			for _, mark := range []string{"AM/PM", "A/P"} {
				if strings.HasPrefix(strings.ToUpper(string(runes[i:])), mark) {
					i += len(mark) - 1
				}
			}
		case 'y', 'Y', 'm', 'M', 'd', 'D', 'h', 'H', 's', 'S':
			letters = append(letters, strings.ToLower(string(c))[0])
		case '@':
			s.general = true
		default:
			literal(string(c))
		}
	}
	s.finish(letters)
	return s
}

// finish tells what parts of a date the letters show. An m beside an h or s is minutes.
func (s *formatSection) finish(letters []byte) {
	last := byte(0)
	for i, c := range letters {
		switch c {
		case 'y':
			s.year = true
		case 'd':
			s.day = true
		case 'h':
			s.hour = true
		case 's':
			s.sec = true
		case 'm':
			next := strings.TrimLeft(string(letters[i:]), "m")
			if last == 'h' || strings.HasPrefix(next, "s") {
				s.min = true
			} else if last != 'm' || !s.min {
				s.month = true
			}
		}
		if c != 'm' || last == 0 {
			last = c
		}
	}
	if s.elapsed && !s.hour && !s.sec {
		s.min, s.month = true, false
	}
}

func (s *formatSection) date() bool {
	return s.year || s.month || s.day || s.hour || s.min || s.sec
}
