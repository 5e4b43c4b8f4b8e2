package retriever

import (
	"fmt"
	"slices"
	"strings"
)

// Filter restricts a search to documents whose metadata meets all conditions.
// The zero value matches everything. [Filter.Match] defines what a filter
// means; every store follows it.
type Filter struct {
	All []Condition `json:"all,omitempty"`
}

// Condition is one test of one metadata key.
type Condition struct {
	Key   string `json:"key"`
	Op    Op     `json:"op"`
	Value any    `json:"value"`
}

// Op is how a condition compares the metadata value with its own.
//
// A string list meets a condition when one of its elements does, but for
// [Ne], which is always the opposite of [Eq]. A document without the key meets
// no condition but Ne and [Exists] false. Values of different kinds (a string
// and a number) are never equal and neither is less than the other.
type Op string

// The operations. A "scalar" is a string, a bool or a number.
const (
	// Eq holds when the values are equal. Numbers are compared by value, so
	// int64(3) equals 3.0. Value: a scalar.
	Eq Op = "eq"
	// Ne holds when Eq does not, also where the key is missing.
	Ne Op = "ne"
	// In holds when Eq does for one of several values. Value: a list of
	// scalars, at least one.
	In Op = "in"
	// Prefix holds for a string that starts with Value. Value: a string.
	Prefix Op = "prefix"
	// Contains holds for a string of which Value is a part, and for a list of
	// which Value is a whole element. Value: a string.
	Contains Op = "contains"
	// Lt, Lte, Gt and Gte compare numbers by value and strings by byte order,
	// which is the order of time for dates written 2006-01-02. Value: a number
	// or a string.
	Lt  Op = "lt"
	Lte Op = "lte" // see Lt
	Gt  Op = "gt"  // see Lt
	Gte Op = "gte" // see Lt
	// Exists holds when the key is there, or with the value false when it is
	// not. Value: a bool.
	Exists Op = "exists"
)

var ops = []Op{Eq, Ne, In, Prefix, Contains, Lt, Lte, Gt, Gte, Exists}

// Validate reports the first condition that cannot be evaluated.
func (f Filter) Validate() error {
	for _, c := range f.All {
		if err := c.validate(); err != nil {
			return err
		}
	}
	return nil
}

func (c Condition) validate() error {
	if c.Key == "" {
		return fmt.Errorf("filter condition with operation %q: its key is empty", c.Op)
	}
	ok, want := false, ""
	switch c.Op {
	case Eq, Ne:
		ok, want = isScalar(c.Value), "a string, a bool or a finite number"
	case In:
		list, isList := scalars(c.Value)
		ok, want = isList && len(list) > 0, "a list of strings, bools or finite numbers, at least one"
	case Prefix, Contains:
		_, ok = c.Value.(string)
		want = "a string"
	case Lt, Lte, Gt, Gte:
		_, isBool := c.Value.(bool)
		ok, want = isScalar(c.Value) && !isBool, "a finite number or a string"
	case Exists:
		_, ok = c.Value.(bool)
		want = "true or false"
	default:
		return fmt.Errorf("filter on %q: unknown operation %q, want one of %q", c.Key, c.Op, ops)
	}
	if !ok {
		return fmt.Errorf("filter on %q: operation %q cannot take %#v, want %s", c.Key, c.Op, c.Value, want)
	}
	return nil
}

// Match reports whether a document with the given metadata meets all
// conditions. Conditions that Validate refuses are never met.
func (f Filter) Match(metadata map[string]any) bool {
	for _, c := range f.All {
		if !c.match(metadata) {
			return false
		}
	}
	return true
}

func (c Condition) match(metadata map[string]any) bool {
	have, found := metadata[c.Key]
	switch c.Op {
	case Exists:
		want, ok := c.Value.(bool)
		return ok && want == found
	case Ne:
		return isScalar(c.Value) && !(found && anyElement(have, c.equals))
	case Contains:
		if _, isList := have.([]string); isList {
			return anyElement(have, c.equals)
		}
	}
	return found && anyElement(have, c.holds)
}

func (c Condition) equals(have any) bool { return equal(have, c.Value) }

// holds applies every operation but Ne and Exists to one scalar.
func (c Condition) holds(have any) bool {
	switch c.Op {
	case Eq:
		return equal(have, c.Value)
	case In:
		list, _ := scalars(c.Value)
		return slices.ContainsFunc(list, func(want any) bool { return equal(have, want) })
	case Prefix, Contains:
		s, ok1 := have.(string)
		part, ok2 := c.Value.(string)
		if c.Op == Prefix {
			return ok1 && ok2 && strings.HasPrefix(s, part)
		}
		return ok1 && ok2 && strings.Contains(s, part)
	}
	order, ok := compare(have, c.Value)
	switch c.Op {
	case Lt:
		return ok && order < 0
	case Lte:
		return ok && order <= 0
	case Gt:
		return ok && order > 0
	case Gte:
		return ok && order >= 0
	}
	return false
}

// CheckKeys returns an *UnknownKeyError for the first condition on a key that
// is not among the known ones. Stores call it with the metadata keys of their
// documents, unless they hold none.
func (f Filter) CheckKeys(known []string) error {
	for _, c := range f.All {
		if !slices.Contains(known, c.Key) {
			known = slices.Sorted(slices.Values(known))
			return &UnknownKeyError{Key: c.Key, Known: known}
		}
	}
	return nil
}

// UnknownKeyError says that a filter names a metadata key that no document has.
type UnknownKeyError struct {
	Key   string
	Known []string // sorted
}

func (e *UnknownKeyError) Error() string {
	if len(e.Known) == 0 {
		return fmt.Sprintf("filter on %q: no document has any metadata", e.Key)
	}
	return fmt.Sprintf("filter on %q: no document has that metadata key, want one of %q", e.Key, e.Known)
}
