//go:build unix

package main

import "strings"

var (
	subjects = strings.Fields("pump valve turbine ledger harbour lighthouse orchard engine archive bridge tunnel kiln compass violin glacier printer telescope greenhouse reservoir workshop")
	verbs    = strings.Fields("feeds cools guards records replaces measures heats lifts drains paints repairs signals stores tests weighs turns")
	objects  = strings.Fields("water copper timber letters lamps seeds records tools stones paper rope glass coal linen honey maps wool salt cables tiles")
	places   = strings.Fields("north south upper lower inner outer old new first second third western eastern")
)

func (w *writer) word(of []string) string { return of[w.random.IntN(len(of))] }

func (w *writer) sentence() string {
	s := "the " + w.word(places) + " " + w.word(subjects) + " " + w.word(verbs) + " the " + w.word(objects) +
		" of the " + w.word(places) + " " + w.word(subjects) + "."
	return strings.ToUpper(s[:1]) + s[1:]
}

// paragraph is text of about so many bytes.
func (w *writer) paragraph(size int) string {
	var b strings.Builder
	for b.Len() < size {
		if b.Len() > 0 {
			b.WriteByte(' ')
		}
		b.WriteString(w.sentence())
	}
	return b.String()
}

func (w *writer) text() string { return w.paragraph(w.size) }

func (w *writer) title() string { return "The " + w.word(places) + " " + w.word(subjects) }
