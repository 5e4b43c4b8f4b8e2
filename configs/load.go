package configs

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/goccy/go-yaml"
)

// DefaultFile is read when no file is named and it is there.
const DefaultFile = "waymark.yaml"

// Setting is one value from outside the file, such as a flag.
type Setting struct {
	Key   string // as in the file: "search.k"
	Value string
	From  string // for errors: "--k", "WAYMARK_SEARCH_K"
}

// Sources are where settings come from, the later winning over the earlier.
type Sources struct {
	// File is read; empty means DefaultFile if it is there.
	File string
	// Environ, as os.Environ gives it, holds WAYMARK_ names: the key in upper
	// case with "_" for ".", WAYMARK_SEARCH_K for search.k.
	Environ []string
	// Settings are those of the command line.
	Settings []Setting
}

// Load returns the settings in force.
func Load(src Sources) (Config, error) {
	cfg := Default()
	if err := loadFile(&cfg, src.File); err != nil {
		return Config{}, err
	}
	fields := settings(&cfg)
	if err := setFromEnviron(fields, src.Environ); err != nil {
		return Config{}, err
	}
	for _, s := range src.Settings {
		v, ok := fields[s.Key]
		if !ok {
			return Config{}, fmt.Errorf("%s: unknown setting %q: want one of %s", s.From, s.Key, strings.Join(Keys(), ", "))
		}
		if err := set(v, s.Value); err != nil {
			return Config{}, fmt.Errorf("%s: %s: %w", s.From, s.Key, err)
		}
	}
	if err := cfg.Validate(); err != nil {
		return Config{}, fmt.Errorf("configuration: %w", err)
	}
	return cfg, nil
}

func loadFile(cfg *Config, name string) error {
	optional := name == ""
	if optional {
		name = DefaultFile
	}
	data, err := os.ReadFile(name)
	if optional && errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("configuration file: %w", err)
	}
	before := *cfg
	err = yaml.NewDecoder(bytes.NewReader(data), yaml.DisallowUnknownField()).Decode(cfg)
	if err != nil && !errors.Is(err, io.EOF) {
		return fmt.Errorf("configuration file %s: %s", name, yaml.FormatError(err, false, true))
	}
	return keepEmptySections(data, cfg, before)
}

// keepEmptySections undoes what the decoder does with a file, or a section of
// it, that holds nothing but comments: it would set all of it to zero.
func keepEmptySections(data []byte, cfg *Config, before Config) error {
	var top map[string]any
	if err := yaml.Unmarshal(data, &top); err != nil {
		return fmt.Errorf("configuration file: %w", err)
	}
	if len(top) == 0 {
		*cfg = before
		return nil
	}
	now, was := reflect.ValueOf(cfg).Elem(), reflect.ValueOf(before)
	for i := range now.NumField() {
		if v, named := top[now.Type().Field(i).Tag.Get("yaml")]; named && v == nil {
			now.Field(i).Set(was.Field(i))
		}
	}
	return nil
}

// ignored are WAYMARK_ names that the program reads by itself: the configuration
// file, the keys of the language model, of Qdrant and of the server's callers, and the
// ONNX Runtime library.
var ignored = []string{"WAYMARK_CONFIG", "WAYMARK_LLM_API_KEY", "WAYMARK_QDRANT_API_KEY", "WAYMARK_ONNXRUNTIME",
	"WAYMARK_SERVER_KEYS", "WAYMARK_LIBRECHAT_JWT_SECRET"}

func setFromEnviron(fields map[string]reflect.Value, environ []string) error {
	byName := map[string]string{}
	for key := range fields {
		byName["WAYMARK_"+strings.ToUpper(strings.ReplaceAll(key, ".", "_"))] = key
	}
	for _, entry := range environ {
		name, value, _ := strings.Cut(entry, "=")
		if !strings.HasPrefix(name, "WAYMARK_") || strings.HasPrefix(name, "WAYMARK_TEST_") || slices.Contains(ignored, name) {
			continue
		}
		key, ok := byName[name]
		if !ok {
			return fmt.Errorf("environment variable %s names no setting: want WAYMARK_ and one of %s, in upper case with _ for dots", name, strings.Join(Keys(), ", "))
		}
		if err := set(fields[key], value); err != nil {
			return fmt.Errorf("environment variable %s: %w", name, err)
		}
	}
	return nil
}

// Keys names all settings in order.
func Keys() []string {
	var cfg Config
	var out []string
	for key := range settings(&cfg) {
		out = append(out, key)
	}
	slices.Sort(out)
	return out
}

// settings returns every field of cfg under its key in the file.
func settings(cfg *Config) map[string]reflect.Value {
	out := map[string]reflect.Value{}
	var walk func(prefix string, v reflect.Value)
	walk = func(prefix string, v reflect.Value) {
		for i := range v.NumField() {
			key := prefix + v.Type().Field(i).Tag.Get("yaml")
			if f := v.Field(i); f.Kind() == reflect.Struct {
				walk(key+".", f)
			} else {
				out[key] = f
			}
		}
	}
	walk("", reflect.ValueOf(cfg).Elem())
	return out
}

// set reads a value of v's type. A list is separated by commas.
func set(v reflect.Value, value string) error {
	switch p := v.Addr().Interface().(type) {
	case *string:
		*p = value
	case *[]string:
		*p = nil
		if value != "" {
			*p = strings.Split(value, ",")
		}
	case *bool:
		b, err := strconv.ParseBool(value)
		if err != nil {
			return fmt.Errorf("%q: want true or false", value)
		}
		*p = b
	case *int:
		n, err := strconv.Atoi(value)
		if err != nil {
			return fmt.Errorf("%q: want a whole number", value)
		}
		*p = n
	case *int64:
		n, err := strconv.ParseInt(value, 10, 64)
		if err != nil {
			return fmt.Errorf("%q: want a whole number", value)
		}
		*p = n
	case *float64:
		x, err := strconv.ParseFloat(value, 64)
		if err != nil {
			return fmt.Errorf("%q: want a number", value)
		}
		*p = x
	case *time.Duration:
		d, err := time.ParseDuration(value)
		if err != nil {
			return fmt.Errorf("%q: want a duration such as 90s", value)
		}
		*p = d
	default:
		return fmt.Errorf("a setting of type %s cannot be set from text", v.Type())
	}
	return nil
}
