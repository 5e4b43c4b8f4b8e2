package pipeline

import (
	"testing"

	"github.com/waymark-rag/waymark/chunker"
)

func TestAbove(t *testing.T) {
	for _, tt := range []struct {
		id, title, text, want string
	}{
		{"records.jsonl/1", "Jeff Porcaro", "He was an American drummer.", "Jeff Porcaro"},
		{"a.md", "Boat house", "# Boat house\n\nThe key.", ""},
		{"a.html", "Boat house", "A key.\n\nOf the Boat\n  house.", ""}, // broken over two lines
		{"sub/notes.txt", "notes.txt", "The key.", ""},
		{"a.txt", "", "The key.", ""},
	} {
		if got := Above(chunker.Document{ID: tt.id, Title: tt.title, Text: tt.text}); got != tt.want {
			t.Errorf("%s %q: %q, want %q", tt.id, tt.title, got, tt.want)
		}
	}
}
