package server

import "testing"

func TestAskAnswersWithSources(t *testing.T) {
	f := start(t, extractive(), nil)
	a := get[answer](t, f, 200, "POST", "/v1/ask", `{"question":"How long does the battery last?"}`)
	if want := "The battery lasts up to twelve hours. [1]"; a.Text != want {
		t.Errorf("text %q, want %q", a.Text, want)
	}
	if len(a.Citations) != 1 || a.Citations[0].Document != "guide/battery.md" || a.Citations[0].URL != f.url+"/#/d/default/guide%2Fbattery.md/0-150" {
		t.Errorf("citations %+v", a.Citations)
	}
	if len(a.Sentences) != 1 || !a.Sentences[0].Supported {
		t.Errorf("sentences %+v", a.Sentences)
	}
}
