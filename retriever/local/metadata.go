package local

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math"
	"strconv"
	"strings"
	"sync"
)

// metadata is what filters look at, decoded when the first one does: a store
// of many documents opens in less time than that takes.
type metadata struct {
	packed  string // as encodeMetadata wrote it; empty if it came decoded
	once    sync.Once
	decoded map[string]any
}

func (m *metadata) get() map[string]any {
	m.once.Do(func() {
		if m.packed != "" {
			m.decoded, _ = decodeMetadata([]byte(m.packed)) // its sum was right
		}
	})
	return m.decoded
}

// encodeMetadata writes metadata as JSON in which a float64 always shows a
// point or an exponent, so that it does not come back as an integer.
func encodeMetadata(metadata map[string]any) ([]byte, error) {
	out := make(map[string]any, len(metadata))
	for key, v := range metadata {
		switch v := v.(type) {
		case float64:
			if v == math.Trunc(v) && math.Abs(v) < 1e15 {
				out[key] = json.RawMessage(strconv.FormatFloat(v, 'f', 1, 64))
				continue
			}
			out[key] = json.RawMessage(strconv.FormatFloat(v, 'e', -1, 64))
		case []string:
			out[key] = append([]string{}, v...) // nil would be written as null
		default:
			out[key] = v
		}
	}
	return json.Marshal(out)
}

func decodeMetadata(b []byte) (map[string]any, error) {
	d := json.NewDecoder(bytes.NewReader(b))
	d.UseNumber()
	var out map[string]any
	if err := d.Decode(&out); err != nil {
		return nil, fmt.Errorf("metadata: %w", err)
	}
	for key, v := range out {
		var err error
		switch v := v.(type) {
		case json.Number:
			if strings.ContainsAny(string(v), ".e") {
				out[key], err = v.Float64()
			} else {
				out[key], err = v.Int64()
			}
		case []any:
			list := make([]string, len(v))
			for i, e := range v {
				list[i], _ = e.(string) // encodeMetadata writes no other lists
			}
			out[key] = list
		}
		if err != nil {
			return nil, fmt.Errorf("metadata %q: %w", key, err)
		}
	}
	if len(out) == 0 {
		return nil, nil
	}
	return out, nil
}
