//go:build cgo && onnx

package onnx

import (
	"fmt"
	"strings"
)

// prose returns a text of at least n tokens.
func prose(n int) string {
	var b strings.Builder
	for i := 0; b.Len() < 6*n; i++ {
		fmt.Fprintf(&b, "Section %d says that value %d belongs to item %d of the harbour list.\n", i, 7*i%97, i%13)
	}
	return b.String()
}
