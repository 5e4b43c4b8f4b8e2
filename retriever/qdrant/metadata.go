package qdrant

import (
	"fmt"
	"math"
	"strconv"
	"strings"

	pb "github.com/qdrant/go-client/qdrant"

	"github.com/waymark-rag/waymark/retriever"
)

// metadataValue writes metadata as the payload keeps it: for people and other
// clients as it is, and for this package with its types.
func metadataValue(metadata map[string]any) (*pb.Value, error) {
	fields := make(map[string]*pb.Value, len(metadata))
	for key, v := range metadata {
		switch v := v.(type) {
		case string:
			fields[key] = pb.NewValueString(v)
		case bool:
			fields[key] = pb.NewValueBool(v)
		case int:
			fields[key] = pb.NewValueInt(int64(v))
		case int64:
			fields[key] = pb.NewValueInt(v)
		case float64:
			fields[key] = pb.NewValueDouble(v)
		case []string:
			list := make([]*pb.Value, len(v))
			for i, e := range v {
				list[i] = pb.NewValueString(e)
			}
			fields[key] = pb.NewValueFromList(list...)
		default:
			return nil, fmt.Errorf("metadata %q: a value of type %T", key, v)
		}
	}
	return pb.NewValueFromFields(fields), nil
}

// readMetadata is the inverse of metadataValue.
func readMetadata(v *pb.Value) (map[string]any, error) {
	fields := v.GetStructValue().GetFields()
	if len(fields) == 0 {
		return nil, nil
	}
	out := make(map[string]any, len(fields))
	for key, v := range fields {
		switch k := v.GetKind().(type) {
		case *pb.Value_StringValue:
			out[key] = k.StringValue
		case *pb.Value_BoolValue:
			out[key] = k.BoolValue
		case *pb.Value_IntegerValue:
			out[key] = k.IntegerValue
		case *pb.Value_DoubleValue:
			out[key] = k.DoubleValue
		case *pb.Value_ListValue:
			list := make([]string, len(k.ListValue.GetValues()))
			for i, e := range k.ListValue.GetValues() {
				list[i] = e.GetStringValue()
			}
			out[key] = list
		default:
			return nil, fmt.Errorf("metadata %q: a value that Waymark does not write", key)
		}
	}
	return out, nil
}

// A filter is evaluated on tokens: for each key of the metadata, the payload has
// a list of keywords under keyEqual that say what its value equals, and numbers
// under keyNumber. So one kind of index serves values of all types, and what is
// equal for Filter.Match is equal here.
const (
	tokenHere   = "?"  // the key is there
	tokenString = "s:" // a string
	tokenItem   = "l:" // an element of a list
	tokenBool   = "b:"
	tokenNumber = "n:"
)

// tokens are the keywords of a metadata value.
func tokens(v any) []string {
	switch v := v.(type) {
	case []string:
		out := make([]string, 1, 1+len(v))
		out[0] = tokenHere
		for _, e := range v {
			out = append(out, tokenItem+e)
		}
		return out
	case string:
		return []string{tokenHere, tokenString + v}
	default:
		return append([]string{tokenHere}, equals(v)...)
	}
}

// equals are the tokens of the values that a scalar equals.
func equals(v any) []string {
	switch v := v.(type) {
	case string:
		return []string{tokenString + v, tokenItem + v}
	case bool:
		return []string{tokenBool + strconv.FormatBool(v)}
	case int:
		return []string{tokenNumber + strconv.Itoa(v)}
	case int64:
		return []string{tokenNumber + strconv.FormatInt(v, 10)}
	case float64:
		if v == math.Trunc(v) && v >= math.MinInt64 && v < math.MaxInt64 {
			return []string{tokenNumber + strconv.FormatInt(int64(v), 10)}
		}
		return []string{tokenNumber + strconv.FormatFloat(v, 'g', -1, 64)}
	}
	return nil
}

// untoken returns the value that a token stands for, as metadata that holds
// nothing else; ok is false for tokenHere.
func untoken(token string) (value any, ok bool) {
	kind, text := token[:min(2, len(token))], token[min(2, len(token)):]
	switch kind {
	case tokenString:
		return text, true
	case tokenItem:
		return []string{text}, true
	case tokenBool:
		return text == "true", true
	case tokenNumber:
		if n, err := strconv.ParseInt(text, 10, 64); err == nil {
			return n, true
		}
		f, err := strconv.ParseFloat(text, 64)
		return f, err == nil
	}
	return nil, false
}

// float returns the value of a number.
func float(v any) (float64, bool) {
	switch v := v.(type) {
	case int:
		return float64(v), true
	case int64:
		return float64(v), true
	case float64:
		return v, true
	}
	return 0, false
}

// fieldName is the name that a metadata key has in the payload: the server takes
// points and brackets in a name for a path.
func fieldName(key string) string {
	var b strings.Builder
	for i := range len(key) {
		switch c := key[i]; {
		case 'a' <= c && c <= 'z', 'A' <= c && c <= 'Z', '0' <= c && c <= '9', c == '-':
			b.WriteByte(c)
		default:
			fmt.Fprintf(&b, "_%02x", c)
		}
	}
	return b.String()
}

// keyOf is the inverse of fieldName.
func keyOf(field string) (string, bool) {
	var b strings.Builder
	for i := 0; i < len(field); i++ {
		if field[i] != '_' {
			b.WriteByte(field[i])
			continue
		}
		if i+2 >= len(field) {
			return "", false
		}
		n, err := strconv.ParseUint(field[i+1:i+3], 16, 8)
		if err != nil {
			return "", false
		}
		b.WriteByte(byte(n))
		i += 2
	}
	return b.String(), true
}

func equalField(key string) string  { return keyEqual + "." + fieldName(key) }
func numberField(key string) string { return keyNumber + "." + fieldName(key) }

// filterPayload is what every point of a document with the metadata is filtered
// by.
func filterPayload(metadata map[string]any) map[string]*pb.Value {
	if len(metadata) == 0 {
		return nil
	}
	equal, number := make(map[string]*pb.Value), make(map[string]*pb.Value)
	for key, v := range metadata {
		var list []*pb.Value
		for _, t := range tokens(v) {
			list = append(list, pb.NewValueString(t))
		}
		equal[fieldName(key)] = pb.NewValueFromList(list...)
		if f, ok := float(v); ok {
			number[fieldName(key)] = pb.NewValueDouble(f)
		}
	}
	out := map[string]*pb.Value{keyEqual: pb.NewValueFromFields(equal)}
	if len(number) > 0 {
		out[keyNumber] = pb.NewValueFromFields(number)
	}
	return out
}

// indexesOf are the indexes that documents need to be filtered by their metadata.
func indexesOf(docs []retriever.Document) []index {
	var out []index
	seen := make(map[string]bool)
	add := func(field string, kind pb.FieldType) {
		if !seen[field] {
			seen[field] = true
			out = append(out, index{key: field, kind: kind})
		}
	}
	for i := range docs {
		for key, v := range docs[i].Metadata {
			add(equalField(key), pb.FieldType_FieldTypeKeyword)
			if _, ok := float(v); ok {
				add(numberField(key), pb.FieldType_FieldTypeFloat)
			}
		}
	}
	return out
}
