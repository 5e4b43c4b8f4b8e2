package langchain

import (
	"errors"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"

	"github.com/waymark-rag/waymark/retriever"
)

// operators are the keys of an operator map.
var operators = func() map[string]retriever.Op {
	out := make(map[string]retriever.Op)
	for _, op := range []retriever.Op{
		retriever.Eq, retriever.Ne, retriever.In, retriever.Prefix, retriever.Contains,
		retriever.Lt, retriever.Lte, retriever.Gt, retriever.Gte, retriever.Exists,
	} {
		out["$"+string(op)] = op
	}
	return out
}()

// Filter reads a filter as vectorstores.WithFilters takes it: nil, a
// retriever.Filter, or a map from metadata keys to
//
//	"go"                          the value wanted
//	[]string{"go", "python"}      a list of which it is one
//	map[string]any{"$gte": 2020}  operators, all of which must hold: $eq $ne $in
//	                              $prefix $contains $lt $lte $gt $gte $exists
//
// as [retriever.Op] defines them. All conditions must hold. Values may have any
// type of number or string; a time.Time is compared as a time.
func Filter(filters any) (retriever.Filter, error) {
	var f retriever.Filter
	switch filters := filters.(type) {
	case nil:
	case retriever.Filter:
		for _, c := range filters.All {
			f.All = append(f.All, condition(c.Key, c.Op, c.Value))
		}
	case map[string]any:
		for _, key := range slices.Sorted(maps.Keys(filters)) {
			conditions, err := conditions(key, filters[key])
			if err != nil {
				return retriever.Filter{}, err
			}
			f.All = append(f.All, conditions...)
		}
	default:
		return f, fmt.Errorf("filters of type %T: want a map[string]any or a retriever.Filter", filters)
	}
	return f, f.Validate()
}

// conditions translates one entry of a map.
func conditions(key string, value any) ([]retriever.Condition, error) {
	if strings.HasPrefix(key, "$") {
		return nil, fmt.Errorf("filter %q: want a metadata key here and operators below it; all conditions must hold, there is no other way to join them", key)
	}
	v := reflect.ValueOf(value)
	switch v.Kind() {
	case reflect.Invalid:
		return nil, fmt.Errorf(`filter on %q: nil is no value to compare with: for documents without the key use {"$exists": false}`, key)
	case reflect.Slice, reflect.Array:
		return []retriever.Condition{condition(key, retriever.In, value)}, nil
	case reflect.Map:
		if v.Type().Key().Kind() != reflect.String {
			break // which Validate refuses
		}
		out, err := operations(key, v)
		if err != nil {
			return nil, fmt.Errorf("filter on %q: %w", key, err)
		}
		return out, nil
	}
	return []retriever.Condition{condition(key, retriever.Eq, value)}, nil
}

// operations translates an operator map.
func operations(key string, m reflect.Value) ([]retriever.Condition, error) {
	known := slices.Sorted(maps.Keys(operators))
	var out []retriever.Condition
	for name, v := range m.Seq2() {
		op, ok := operators[name.String()]
		if !ok {
			return nil, fmt.Errorf("unknown operator %q, want one of %q", name.String(), known)
		}
		out = append(out, condition(key, op, v.Interface()))
	}
	if len(out) == 0 {
		return nil, fmt.Errorf("an empty map, want operators, of %q", known)
	}
	slices.SortFunc(out, func(a, b retriever.Condition) int { return strings.Compare(string(a.Op), string(b.Op)) })
	return out, nil
}

// condition writes key and value as metadata is stored.
func condition(key string, op retriever.Op, value any) retriever.Condition {
	c := retriever.Condition{Key: repairName(key), Op: op, Value: scalar(value)}
	if v := reflect.ValueOf(value); v.Kind() == reflect.Slice || v.Kind() == reflect.Array {
		list := make([]any, v.Len())
		for i := range list {
			list[i] = scalar(v.Index(i).Interface())
		}
		c.Value = list
	}
	return c
}

// scalar returns what metadata holds of a value; what cannot be compared stays as
// it is, for Validate to refuse.
func scalar(v any) any {
	switch s := reflect.ValueOf(v); {
	case s.Kind() == reflect.String && s.Type() != numberType:
		return repair(s.String())
	case s.Kind() == reflect.Bool:
		return s.Bool()
	}
	if native, _ := filterable(v); native != nil {
		return native
	}
	return v
}

// explainUnknownKey rewords a store's refusal of a key for people who know
// metadata as AddDocuments takes it.
func explainUnknownKey(err error) error {
	var unknown *retriever.UnknownKeyError
	if !errors.As(err, &unknown) {
		return err
	}
	known := slices.DeleteFunc(slices.Clone(unknown.Known), func(key string) bool { return key == metaValues })
	return fmt.Errorf("%w; only strings, bools, numbers, times and lists of strings can be filtered by", &retriever.UnknownKeyError{Key: unknown.Key, Known: known})
}
