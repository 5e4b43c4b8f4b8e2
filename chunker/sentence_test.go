package chunker

import (
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestSentenceRanges(t *testing.T) {
	tests := []struct {
		name string
		text string
		want []string
	}{
		{"latin", "One. Two! Three? Four", []string{"One. ", "Two! ", "Three? ", "Four"}},
		{"numbers", "It is 3.14 now. Yes.", []string{"It is 3.14 now. ", "Yes."}},
		{"initials", "The U.S.A. is large. So is it.", []string{"The U.S.A. is large. ", "So is it."}},
		{"lower case goes on", "See e.g. this one. Yes.", []string{"See e.g. this one. ", "Yes."}},
		{"capital after initials", "The U.S. Army.", []string{"The U.S. ", "Army."}}, // a known limit of the rules
		{"wrapped", "One\ntwo. Three\r\nfour.", []string{"One\ntwo. ", "Three\r\nfour."}},
		{"stop at line end", "One.\r\nTwo.", []string{"One.\r\n", "Two."}},
		{"quotes", "He said: \"Go.\" Then (he went.) Done.", []string{"He said: \"Go.\" ", "Then (he went.) ", "Done."}},
		{"chinese", "今天下雨。明天晴！真的？好", []string{"今天下雨。", "明天晴！", "真的？", "好"}},
		{"hindi", "यह पहला है। यह दूसरा है॥ अंत", []string{"यह पहला है। ", "यह दूसरा है॥ ", "अंत"}},
		{"arabic", "هل هذا سؤال؟ نعم.", []string{"هل هذا سؤال؟ ", "نعم."}},
		{"thai", "ภาษาไทยไม่มีจุด เว้นวรรค", []string{"ภาษาไทยไม่มีจุด เว้นวรรค"}},
		{"armenian", "Մեկ։ Երկու։", []string{"Մեկ։ ", "Երկու։"}},
		{"inside a cluster", "Go.\u0600X", []string{"Go.\u0600X"}},
		{"empty", "", nil},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			var got []string
			for r := range sentenceRanges("<"+tt.text+">", Range{1, 1 + len(tt.text)}) {
				got = append(got, r.Of("<"+tt.text+">"))
			}
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Errorf("sentences (-want +got):\n%s", diff)
			}
		})
	}
}
