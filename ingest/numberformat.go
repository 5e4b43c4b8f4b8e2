package ingest

import (
	"math"
	"strconv"
	"strings"
	"time"
)

// numberFormat is a number format of a spreadsheet, such as "#,##0.00 €" or
// "dd.mm.yyyy", that writes numbers as people see them. Dates are an exception: they
// are written as 2024-03-31, whatever the format's order, so that none can be read as
// another.
type numberFormat struct {
	sections []formatSection
}

// formatSection is what a format has for positive numbers, negative ones or zero.
type formatSection struct {
	general, scientific, fraction    bool
	percents, thousands, scale       int
	prefix, suffix                   string
	whole                            []rune // digits as 0, # and ?, and what stands between them
	fixed, decimals                  int    // digits after the point, at least and at most
	point                            bool
	year, month, day, hour, min, sec bool
	elapsed                          bool // hours, minutes or seconds that do not start again
}

var generalFormat = numberFormat{[]formatSection{{general: true}}}

// builtinFormats are those that a file need not spell out.
var builtinFormats = map[int]string{
	1: "0", 2: "0.00", 3: "#,##0", 4: "#,##0.00", 9: "0%", 10: "0.00%", 11: "0.00E+00", 12: "# ?/?", 13: "# ??/??",
	14: "yyyy-mm-dd", 15: "d-mmm-yyyy", 16: "d-mmm", 17: "mmm-yyyy", 18: "h:mm", 19: "h:mm:ss", 20: "h:mm", 21: "h:mm:ss", 22: "yyyy-mm-dd h:mm",
	37: "#,##0;-#,##0", 38: "#,##0;-#,##0", 39: "#,##0.00;-#,##0.00", 40: "#,##0.00;-#,##0.00",
	45: "mm:ss", 46: "[h]:mm:ss", 47: "mm:ss", 48: "0.0E+0",
}

// builtinFormat is the format of a number that a file does not define. Those of East
// Asia are dates.
func builtinFormat(id int) numberFormat {
	if 27 <= id && id <= 36 || 50 <= id && id <= 58 {
		id = 14
	}
	if code, ok := builtinFormats[id]; ok {
		return parseNumberFormat(code)
	}
	return generalFormat
}

// format writes a number; dates count days from 1900 or from 1904.
func (f numberFormat) format(v float64, from1904 bool) string {
	s, negative := f.sections[0], v < 0
	switch {
	case v < 0 && len(f.sections) > 1:
		s, negative = f.sections[1], false
	case v == 0 && len(f.sections) > 2:
		s = f.sections[2]
	}
	if s.date() {
		if text := s.formatDate(v, from1904); text != "" {
			return text
		}
		return general(v)
	}
	text := s.formatNumber(math.Abs(v))
	if negative && strings.ContainsAny(text, "123456789") {
		return "-" + text
	}
	return text
}

func (s *formatSection) formatNumber(v float64) string {
	if s.general || s.fraction || math.IsInf(v, 0) || math.IsNaN(v) {
		return strings.TrimSpace(s.prefix + general(v) + s.suffix)
	}
	if len(s.whole) == 0 && !s.point {
		return strings.TrimSpace(s.prefix + s.suffix)
	}
	v *= math.Pow(100, float64(min(s.percents, 4)))
	v /= math.Pow(1000, float64(min(s.scale, 4)))
	decimals := min(s.decimals, 30)
	if s.scientific {
		return strings.TrimSpace(s.prefix + strconv.FormatFloat(v, 'E', decimals, 64) + s.suffix)
	}
	text := strconv.FormatFloat(v, 'f', decimals, 64)
	whole, fraction, _ := strings.Cut(text, ".")
	for len(fraction) > min(s.fixed, decimals) && strings.HasSuffix(fraction, "0") {
		fraction = fraction[:len(fraction)-1]
	}
	text = s.prefix + s.formatWhole(whole)
	if fraction != "" {
		text += "." + fraction
	}
	return strings.TrimSpace(text + s.suffix)
}

// formatWhole puts the digits before the point into the places that the format has.
func (s *formatSection) formatWhole(digits string) string {
	places, zeros := 0, 0
	between := false
	for _, c := range s.whole {
		switch c {
		case '0':
			zeros++
			places++
		case '#', '?':
			places++
		default:
			between = true
		}
	}
	if digits == "0" && zeros == 0 {
		digits = ""
	}
	digits = strings.Repeat("0", max(0, zeros-len(digits))) + digits
	switch {
	case between:
		var out strings.Builder
		extra := max(0, len(digits)-places)
		out.WriteString(digits[:extra])
		digits = digits[extra:]
		skip := places - len(digits)
		for _, c := range s.whole {
			switch {
			case !strings.ContainsRune("0#?", c):
				if skip <= 0 {
					out.WriteRune(c)
				}
			case skip > 0:
				skip--
			default:
				out.WriteByte(digits[0])
				digits = digits[1:]
			}
		}
		return out.String()
	case s.thousands > 0:
		var out strings.Builder
		for i, c := range digits {
			if i > 0 && (len(digits)-i)%3 == 0 {
				out.WriteByte(',')
			}
			out.WriteRune(c)
		}
		return out.String()
	}
	return digits
}

// general writes a number as it is, without the noise of binary fractions.
func general(v float64) string {
	rounded, err := strconv.ParseFloat(strconv.FormatFloat(v, 'e', 14, 64), 64)
	if err != nil {
		return strconv.FormatFloat(v, 'G', -1, 64)
	}
	if a := math.Abs(rounded); a != 0 && (a < 1e-9 || a >= 1e20) {
		return strconv.FormatFloat(rounded, 'E', -1, 64)
	}
	return strconv.FormatFloat(rounded, 'f', -1, 64)
}

// formatDate writes a day and time; empty for what is none.
func (s *formatSection) formatDate(v float64, from1904 bool) string {
	const lastDay = 2958466 // in the year 9999
	if !(v >= 0 && v < lastDay) {
		return ""
	}
	seconds := int64(math.Round(v * 24 * 60 * 60))
	if s.elapsed {
		text := strconv.FormatInt(seconds/3600, 10) + ":" + two(seconds/60%60)
		if s.sec {
			text += ":" + two(seconds%60)
		}
		return text
	}
	epoch := time.Date(1899, 12, 30, 0, 0, 0, 0, time.UTC)
	switch {
	case from1904:
		epoch = time.Date(1904, 1, 1, 0, 0, 0, 0, time.UTC)
	case v < 60: // 1900 is no leap year, but spreadsheets have it as one
		epoch = epoch.AddDate(0, 0, 1)
	}
	at := epoch.AddDate(0, 0, int(seconds/86400)).Add(time.Duration(seconds%86400) * time.Second)
	layout := ""
	switch {
	case s.day || s.month && !s.year:
		layout = "2006-01-02"
	case s.month:
		layout = "2006-01"
	case s.year:
		layout = "2006"
	}
	if s.hour || s.min || s.sec {
		layout = strings.TrimPrefix(layout+" 15:04", " ")
		if s.sec {
			layout += ":05"
		}
	}
	return at.Format(layout)
}

func two(n int64) string {
	if n < 10 {
		return "0" + strconv.FormatInt(n, 10)
	}
	return strconv.FormatInt(n, 10)
}
