package langchain

import (
	"encoding/json"
	"fmt"
	"reflect"
	"strings"
	"time"
)

var (
	stringType = reflect.TypeFor[string]()
	anyType    = reflect.TypeFor[any]()
	timeType   = reflect.TypeFor[time.Time]()
	numberType = reflect.TypeFor[json.Number]()
	bytesType  = reflect.TypeFor[[]byte]()
)

// baseTypes are the types that a name can tell, with slices of them and maps to them
// from string.
var baseTypes = func() map[string]reflect.Type {
	types := map[string]reflect.Type{"any": anyType, "time.Time": timeType, "json.Number": numberType}
	for _, t := range []reflect.Type{
		stringType, reflect.TypeFor[bool](), reflect.TypeFor[float32](), reflect.TypeFor[float64](),
		reflect.TypeFor[int](), reflect.TypeFor[int8](), reflect.TypeFor[int16](), reflect.TypeFor[int32](), reflect.TypeFor[int64](),
		reflect.TypeFor[uint](), reflect.TypeFor[uint8](), reflect.TypeFor[uint16](), reflect.TypeFor[uint32](), reflect.TypeFor[uint64](),
	} {
		types[t.Name()] = t
	}
	return types
}()

var baseNames = func() map[reflect.Type]string {
	names := make(map[reflect.Type]string, len(baseTypes))
	for name, t := range baseTypes {
		names[t] = name
	}
	return names
}()

// typeName returns the name from which namedType finds t again.
func typeName(t reflect.Type) (string, bool) {
	if name, ok := baseNames[t]; ok {
		return name, true
	}
	if t.Name() != "" {
		return "", false // a type of somebody's own
	}
	switch {
	case t.Kind() == reflect.Slice:
		name, ok := typeName(t.Elem())
		return "[]" + name, ok
	case t.Kind() == reflect.Map && t.Key() == stringType:
		name, ok := typeName(t.Elem())
		return "map[string]" + name, ok
	}
	return "", false
}

// namedType returns the type of that name.
func namedType(name string) (reflect.Type, error) {
	if t, ok := baseTypes[name]; ok {
		return t, nil
	}
	if elem, ok := strings.CutPrefix(name, "[]"); ok {
		t, err := namedType(elem)
		if err != nil {
			return nil, err
		}
		return reflect.SliceOf(t), nil
	}
	if elem, ok := strings.CutPrefix(name, "map[string]"); ok {
		t, err := namedType(elem)
		if err != nil {
			return nil, err
		}
		return reflect.MapOf(stringType, t), nil
	}
	return nil, fmt.Errorf("unknown type %q", name)
}
