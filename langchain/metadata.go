package langchain

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"math"
	"reflect"
	"slices"
	"strings"
	"time"
)

// timeLayout writes times in UTC so that they are ordered as their bytes are.
const timeLayout = "2006-01-02T15:04:05.000000000Z"

// storeMetadata turns the caller's metadata into what a store holds: of each value
// what can be filtered by, and, under metaValues, those which that alone would not
// give back. Keys that searches add are left out.
func storeMetadata(metadata map[string]any) (map[string]any, error) {
	out := make(map[string]any, len(metadata))
	kept := make(map[string]json.RawMessage)
	for _, key := range slices.Sorted(maps.Keys(metadata)) {
		switch {
		case slices.Contains(ours, key):
			continue
		case strings.HasPrefix(key, prefix):
			return nil, fmt.Errorf("metadata %q: keys that start with %q are Waymark's own: choose another", key, prefix)
		}
		if err := storeValue(out, kept, repairName(key), metadata[key]); err != nil {
			return nil, fmt.Errorf("metadata %q: %w", key, err)
		}
	}
	if len(kept) > 0 {
		text, err := json.Marshal(kept)
		if err != nil {
			return nil, err
		}
		out[metaValues] = string(text)
	}
	return out, nil
}

func storeValue(out map[string]any, kept map[string]json.RawMessage, key string, v any) error {
	if key == "" {
		return errors.New("the key is empty")
	}
	if _, taken := out[key]; taken || kept[key] != nil {
		return fmt.Errorf("another key is %q already once its bad bytes are escaped", key)
	}
	text, err := encodeValue(v)
	if err != nil {
		return err
	}
	if v, err = decodeValue(text); err != nil { // now repaired, and nobody else's
		return err
	}
	native, same := filterable(v)
	if native != nil {
		out[key] = native
	}
	if !same {
		kept[key] = text
	}
	return nil
}

// userMetadata is the opposite of storeMetadata. The result shares nothing with
// what the store returned, which other hits may share.
func userMetadata(stored map[string]any) (map[string]any, error) {
	out := make(map[string]any, len(stored)+len(ours))
	for key, v := range stored {
		if list, ok := v.([]string); ok {
			v = slices.Clone(list)
		}
		out[key] = v
	}
	text, ok := stored[metaValues].(string)
	if !ok {
		return out, nil
	}
	delete(out, metaValues)
	var kept map[string]json.RawMessage
	if err := json.Unmarshal([]byte(text), &kept); err != nil {
		return nil, fmt.Errorf("metadata %q: %w", metaValues, err)
	}
	for key, text := range kept {
		v, err := decodeValue(text)
		if err != nil {
			return nil, fmt.Errorf("metadata %q: %w", key, err)
		}
		out[key] = v
	}
	return out, nil
}

// filterable returns what a store can hold of v, nil if nothing, and whether that
// comes back as v itself.
func filterable(v any) (native any, same bool) {
	switch v := v.(type) {
	case string, bool, int64, float64:
		return v, true
	case []string:
		if v == nil {
			return nil, false
		}
		return v, len(v) > 0 // a store may give an empty list back as nil
	case json.Number:
		native, _ = number(v)
		return native, false
	case time.Time:
		return v.UTC().Format(timeLayout), false
	case []any:
		if v == nil {
			return nil, false
		}
		list := make([]string, len(v))
		for i, e := range v {
			var ok bool
			if list[i], ok = e.(string); !ok {
				return nil, false
			}
		}
		return list, false
	}
	rv := reflect.ValueOf(v)
	switch {
	case rv.CanInt():
		return rv.Int(), false
	case rv.CanUint() && rv.Uint() <= math.MaxInt64:
		return int64(rv.Uint()), false
	case rv.CanFloat():
		return rv.Float(), false
	}
	return nil, false
}
