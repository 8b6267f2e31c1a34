package foreign

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"
	"unicode"

	"onebit/bench/results"
	"onebit/internal/bounded"
)

// A Kind is a program's way to write its results.
type Kind struct {
	Name string // such as "llama-bench, CSV"
	is   func(data []byte) bool
	read func(data []byte) (*results.Set, error)
}

// Kinds are all that Read knows.
var Kinds = []Kind{llamaJSON, llamaLines, llamaCSV, llamaMarkdown, googleBenchmark, hyperfine, sweepBench, ollamaBench, localScore, llmSpeed}

// maxFile is more than any of these programs writes.
const maxFile = 64 << 20

// Read reads results of another program, and says of which kind they are.
// Errors don't name the file.
func Read(r io.Reader) (*results.Set, Kind, error) {
	data, err := bounded.Read(r, maxFile)
	if err != nil {
		return nil, Kind{}, err
	}
	data = bytes.TrimPrefix(data, []byte("\ufeff"))
	for _, k := range Kinds {
		if !k.is(data) {
			continue
		}
		res, err := k.read(data)
		if err == nil && len(res.Samples)+len(res.Failures) == 0 {
			err = errors.New("it has no results")
		}
		if err != nil {
			return nil, k, fmt.Errorf("%s: %w", k.Name, err)
		}
		return res, k, nil
	}
	return nil, Kind{}, unknown(data)
}

func unknown(data []byte) error {
	var names []string
	for _, k := range Kinds {
		names = append(names, k.Name)
	}
	why := ""
	if err := json.Unmarshal(data, new(any)); err != nil && startsJSON(data) {
		why = fmt.Sprintf(" (as JSON it is broken: %v)", at(err))
	}
	return fmt.Errorf("these are results of none of %s%s", strings.Join(names, "; "), why)
}

func startsJSON(data []byte) bool {
	data = bytes.TrimSpace(data)
	return len(data) > 0 && (data[0] == '{' || data[0] == '[')
}

// at adds to an error of the JSON decoder where it is.
func at(err error) error {
	var syntax *json.SyntaxError
	var kind *json.UnmarshalTypeError
	switch {
	case errors.As(err, &syntax):
		return fmt.Errorf("byte %d: %w", syntax.Offset, err)
	case errors.As(err, &kind):
		return fmt.Errorf("byte %d: %w", kind.Offset, err)
	}
	return err
}

// jsonLines reads JSON values one after another, each a what.
func jsonLines[T any](data []byte, what string) (all []T, err error) {
	for in := json.NewDecoder(bytes.NewReader(data)); ; {
		var v T
		switch err := in.Decode(&v); {
		case errors.Is(err, io.EOF):
			return all, nil
		case err != nil:
			return nil, fmt.Errorf("%s %d, behind byte %d: %w", what, len(all)+1, in.InputOffset(), err)
		}
		all = append(all, v)
	}
}

// header makes settings of keys and values in turn, without those of which the file
// knows nothing: "", or the number 0.
func header(pairs ...string) (all []results.Setting) {
	for i := 0; i < len(pairs); i += 2 {
		if value := pairs[i+1]; value != "" && value != "0" {
			all = append(all, results.Setting{Key: pairs[i], Value: value})
		}
	}
	return all
}

// hasFields reports whether the JSON object that data begins with has all of
// these fields, whatever else it has.
func hasFields(data []byte, fields ...string) bool {
	var object map[string]json.RawMessage
	if json.NewDecoder(bytes.NewReader(data)).Decode(&object) != nil {
		return false
	}
	for _, f := range fields {
		if _, ok := object[f]; !ok {
			return false
		}
	}
	return true
}

// A key is one key=value of a name.
type key struct{ name, value string }

// name joins the parts of a name. Keys without a value are left out.
func name(base string, keys ...key) string {
	var b strings.Builder
	b.WriteString(word(base))
	for _, k := range keys {
		if k.value != "" {
			b.WriteString("/" + word(k.name) + "=" + word(k.value))
		}
	}
	return whole(b.String())
}

// whole is a name that does not read as one of another GOMAXPROCS.
func whole(name string) string {
	if results.ParseName(name).Full != name {
		return name + "_"
	}
	return name
}

// word is a text as a part of a name: without white space, and without what
// parts a name.
func word(s string) string {
	s = strings.Join(strings.Fields(s), "_")
	return strings.Map(func(r rune) rune {
		if r == '/' || r == '=' || unicode.IsControl(r) || unicode.IsSpace(r) {
			return '_'
		}
		return r
	}, s)
}

// positive reports a value that no measurement has.
func positive(what string, v float64) error {
	if !(v > 0) || v > 1e300 {
		return fmt.Errorf("%s is %v: give a positive number", what, v)
	}
	return nil
}
