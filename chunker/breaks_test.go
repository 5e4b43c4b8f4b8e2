package chunker

import "testing"

func TestWholeClusters(t *testing.T) {
	const family, flags = "👨\u200d👩\u200d👧", "🇩🇪🇫🇷🇯🇵"
	tests := []struct {
		text            string
		start, end, cut int
	}{
		{"abc", 0, 2, 2},
		{"a\r\nb", 0, 2, 1},
		{"a\r\nb", 0, 3, 3},
		{"e\u0301x", 0, 1, 0},
		{family + "x", 0, len("👨\u200d"), 0},
		{"x" + family, 0, 1 + len("👨\u200d👩"), 1},
		{flags, 0, 8, 8},
		{flags, 0, 12, 8},
		{flags, 4, 12, 12}, // start is taken for a boundary
		{"한국", 0, 3, 3},
	}
	for _, tt := range tests {
		if got := wholeClusters(tt.text, tt.start, tt.end); got != tt.cut {
			t.Errorf("%q from %d to %d: cut at %d, want %d", tt.text, tt.start, tt.end, got, tt.cut)
		}
	}
}
