package langchain

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math"
	"reflect"
	"time"
)

// maxDepth bounds nesting, and so stops at a value that holds itself.
const maxDepth = 64

// encodeValue writes any value as JSON that names Go types wherever JSON leaves
// them open.
func encodeValue(v any) (json.RawMessage, error) {
	open, err := encode(reflect.ValueOf(&v).Elem(), 0)
	if err != nil {
		return nil, err
	}
	return json.Marshal(open)
}

// typed is a value that stands where any type may.
type typed[V any] struct {
	Type  string `json:"type"`
	Value V      `json:"value"`
}

// encode makes of v what json.Marshal writes as decode reads it.
func encode(v reflect.Value, depth int) (any, error) {
	if depth > maxDepth {
		return nil, fmt.Errorf("nested more than %d levels deep", maxDepth)
	}
	t := v.Type()
	switch {
	case t == anyType:
		return encodeAny(v, depth)
	case t == timeType:
		text, err := v.Interface().(time.Time).MarshalText()
		return string(text), err
	case t == bytesType:
		return v.Bytes(), nil
	}
	switch t.Kind() {
	case reflect.String:
		return repair(v.String()), nil
	case reflect.Float32, reflect.Float64:
		if f := v.Float(); math.IsNaN(f) || math.IsInf(f, 0) {
			return nil, fmt.Errorf("%v: want a finite number", f)
		}
	case reflect.Slice:
		if v.IsNil() {
			return nil, nil
		}
		list := make([]any, v.Len())
		for i := range list {
			var err error
			if list[i], err = encode(v.Index(i), depth+1); err != nil {
				return nil, err
			}
		}
		return list, nil
	case reflect.Map:
		if v.IsNil() {
			return nil, nil
		}
		entries := make(map[string]any, v.Len())
		for key, e := range v.Seq2() {
			name := repairName(key.String())
			if _, taken := entries[name]; taken {
				return nil, fmt.Errorf("two of its keys are %q once their bad bytes are escaped", name)
			}
			var err error
			if entries[name], err = encode(e, depth+1); err != nil {
				return nil, err
			}
		}
		return entries, nil
	}
	return v.Interface(), nil
}

func encodeAny(v reflect.Value, depth int) (any, error) {
	if v.IsNil() {
		return nil, nil
	}
	v = v.Elem()
	name, ok := typeName(v.Type())
	if !ok {
		plain, err := asJSON(v.Interface())
		if plain == nil || err != nil {
			return nil, err
		}
		v = reflect.ValueOf(plain)
		name, _ = typeName(v.Type()) // asJSON uses no others
	}
	inner, err := encode(v, depth+1)
	return typed[any]{name, inner}, err
}

// asJSON returns what the JSON of v says, whole numbers as int64.
func asJSON(v any) (plain any, err error) {
	defer func() {
		if p := recover(); p != nil { // in a method of the caller's type
			plain, err = nil, fmt.Errorf("writing it as JSON panicked: %v", p)
		}
	}()
	text, err := json.Marshal(v)
	if err != nil {
		return nil, err
	}
	d := json.NewDecoder(bytes.NewReader(text))
	d.UseNumber()
	if err := d.Decode(&plain); err != nil {
		return nil, err
	}
	return numbers(plain), nil
}

// numbers replaces each json.Number inside v, which nobody else holds, by an
// int64 or a float64 if it fits.
func numbers(v any) any {
	switch v := v.(type) {
	case json.Number:
		if n, ok := number(v); ok {
			return n
		}
	case []any:
		for i, e := range v {
			v[i] = numbers(e)
		}
	case map[string]any:
		for key, e := range v {
			v[key] = numbers(e)
		}
	}
	return v
}

// number is n as an int64, else as a finite float64.
func number(n json.Number) (any, bool) {
	if i, err := n.Int64(); err == nil {
		return i, true
	}
	if f, err := n.Float64(); err == nil && !math.IsNaN(f) && !math.IsInf(f, 0) {
		return f, true
	}
	return nil, false
}

// decodeValue reads what encodeValue wrote.
func decodeValue(text json.RawMessage) (any, error) {
	v, err := decode(text, anyType)
	if err != nil {
		return nil, err
	}
	return v.Interface(), nil
}

func decode(text json.RawMessage, t reflect.Type) (reflect.Value, error) {
	v := reflect.New(t).Elem()
	if bytes.Equal(text, []byte("null")) {
		return v, nil
	}
	switch {
	case t == anyType:
		var open typed[json.RawMessage]
		if err := json.Unmarshal(text, &open); err != nil {
			return v, err
		}
		elem, err := namedType(open.Type)
		if err != nil {
			return v, err
		}
		return decode(open.Value, elem)
	case t == numberType:
		var s string
		err := json.Unmarshal(text, &s)
		v.SetString(s)
		return v, err
	case t.Kind() == reflect.Slice && t != bytesType:
		var list []json.RawMessage
		if err := json.Unmarshal(text, &list); err != nil {
			return v, err
		}
		v.Set(reflect.MakeSlice(t, len(list), len(list)))
		for i, e := range list {
			elem, err := decode(e, t.Elem())
			if err != nil {
				return v, err
			}
			v.Index(i).Set(elem)
		}
		return v, nil
	case t.Kind() == reflect.Map:
		var entries map[string]json.RawMessage
		if err := json.Unmarshal(text, &entries); err != nil {
			return v, err
		}
		v.Set(reflect.MakeMapWithSize(t, len(entries)))
		for key, e := range entries {
			elem, err := decode(e, t.Elem())
			if err != nil {
				return v, err
			}
			v.SetMapIndex(reflect.ValueOf(key), elem)
		}
		return v, nil
	}
	return v, json.Unmarshal(text, v.Addr().Interface())
}
