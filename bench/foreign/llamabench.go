package foreign

import (
	"bytes"
	"encoding/csv"
	"encoding/json"
	"errors"
	"fmt"
	"path"
	"slices"
	"strconv"
	"strings"

	"onebit/bench/names"
	"onebit/bench/results"
)

var (
	llamaJSON  = Kind{"llama-bench, JSON", isLlamaJSON, readLlamaJSON}
	llamaLines = Kind{"llama-bench, JSON lines", isLlamaLines, readLlamaLines}
	llamaCSV   = Kind{"llama-bench, CSV", isLlamaCSV, readLlamaCSV}
)

// A llamaRow is one test by llama-bench: its fields as text, and the times of
// its repetitions, which CSV lacks.
type llamaRow struct {
	fields  map[string]string
	samples []float64 // ns
}

// llamaResult are fields that tell what a test was or what it found. All the
// others are parameters.
var llamaResult = []string{
	"n_prompt", "n_gen", "n_depth", "n_threads", "model_filename", "test_time",
	"avg_ns", "stddev_ns", "avg_ts", "stddev_ts", "samples_ns", "samples_ts",
	"build_commit", "build_number", "cpu_info", "gpu_info", "backends", "model_size", "model_n_params",
}

func isLlamaJSON(data []byte) bool {
	data = bytes.TrimSpace(data)
	in := json.NewDecoder(bytes.NewReader(data))
	if token, err := in.Token(); err != nil || token != json.Delim('[') || !in.More() {
		return false
	}
	var first json.RawMessage
	return in.Decode(&first) == nil && isLlamaLines(first)
}

func isLlamaLines(data []byte) bool { return hasFields(data, "n_prompt", "n_gen", "avg_ns") }

func isLlamaCSV(data []byte) bool {
	first, _, _ := bytes.Cut(data, []byte("\n"))
	columns := strings.Split(strings.TrimSpace(string(first)), ",")
	return slices.Contains(columns, "n_prompt") && slices.Contains(columns, "avg_ns")
}

func readLlamaJSON(data []byte) (*results.Set, error) {
	var objects []map[string]json.RawMessage
	if err := json.Unmarshal(data, &objects); err != nil {
		return nil, at(err)
	}
	return llamaObjects(objects)
}

func readLlamaLines(data []byte) (*results.Set, error) {
	objects, err := jsonLines[map[string]json.RawMessage](data, "test")
	if err != nil {
		return nil, err
	}
	return llamaObjects(objects)
}

func llamaObjects(objects []map[string]json.RawMessage) (*results.Set, error) {
	rows := make([]llamaRow, len(objects))
	for i, o := range objects {
		rows[i].fields = map[string]string{}
		for k, raw := range o {
			var text string
			if json.Unmarshal(raw, &text) != nil {
				text = string(raw)
			}
			rows[i].fields[k] = text
		}
		if raw, ok := o["samples_ns"]; ok {
			if err := json.Unmarshal(raw, &rows[i].samples); err != nil {
				return nil, fmt.Errorf("test %d: samples_ns: %w", i+1, err)
			}
		}
	}
	return llamaResults(rows)
}

func readLlamaCSV(data []byte) (*results.Set, error) {
	lines, err := csv.NewReader(bytes.NewReader(data)).ReadAll()
	if err != nil {
		return nil, err
	}
	var rows []llamaRow
	for _, line := range lines[1:] {
		row := llamaRow{fields: map[string]string{}}
		for i, column := range lines[0] {
			row.fields[column] = line[i]
		}
		rows = append(rows, row)
	}
	return llamaResults(rows)
}

// llamaResults turns rows into samples.
func llamaResults(rows []llamaRow) (*results.Set, error) {
	if len(rows) == 0 {
		return nil, errors.New("it has no tests")
	}
	differ := llamaDiffering(rows)
	r := &results.Set{Settings: llamaHeader(rows, differ)}
	means := 0
	for i, row := range rows {
		name, err := row.name(differ)
		if err != nil {
			return nil, fmt.Errorf("test %d: %w", i+1, err)
		}
		times := row.samples
		if len(times) == 0 {
			mean, err := row.number("avg_ns")
			if err != nil {
				return nil, fmt.Errorf("test %d: %w", i+1, err)
			}
			times = []float64{mean}
			means++
		}
		for _, ns := range times {
			if err := positive("a time", ns); err != nil {
				return nil, fmt.Errorf("test %d: %w", i+1, err)
			}
			r.Samples = append(r.Samples, results.Sample{Name: results.ParseName(name), Iters: 1, Process: 1, Values: []results.Metric{
				{Unit: results.NsPerOp, Value: ns}, {Unit: results.TokenRate, Value: float64(row.tokens()) / ns * 1e9},
			}})
		}
	}
	if means > 0 {
		r.Warnings = append(r.Warnings, onlyMeans)
	}
	return r, nil
}

const onlyMeans = "the file holds means of repetitions, not the repetitions: how much they differ is not known"

// name is the test's, in the words of bench models.
func (row llamaRow) name(differ []string) (string, error) {
	for _, f := range []string{"n_prompt", "n_gen", "n_depth", "n_threads"} {
		if row.fields[f] == "" && (f == "n_depth" || f == "n_threads") {
			continue // which not every version has
		}
		if n, err := row.number(f); err != nil || n < 0 || n > 1<<30 {
			return "", fmt.Errorf("%s is %q: give a number of tokens or threads", f, row.fields[f])
		}
	}
	var parts []string
	for _, p := range []struct{ kind, field string }{{names.Prompt, "n_prompt"}, {names.Decode, "n_gen"}} {
		if n := row.fields[p.field]; n != "0" {
			parts = append(parts, p.kind+n)
		}
	}
	if len(parts) == 0 {
		return "", errors.New("n_prompt and n_gen are 0: that is no test")
	}
	depth := row.fields["n_depth"]
	if depth == "0" {
		depth = ""
	}
	keys := []key{
		{names.Model, llamaModel(row.fields)}, {names.Variant, names.LlamaBench},
		{names.Test, strings.Join(parts, "+")}, {names.Depth, depth}, {names.Threads, row.fields["n_threads"]},
	}
	for _, f := range differ {
		keys = append(keys, key{f, row.fields[f]})
	}
	return name(names.BaseModel, keys...), nil
}

// llamaModel is the name of the model's file, or else what llama-bench calls
// the model.
func llamaModel(fields map[string]string) string {
	file := path.Base(strings.ReplaceAll(fields["model_filename"], `\`, "/"))
	if file = strings.TrimSuffix(file, ".gguf"); file != "." && file != "" {
		return file
	}
	return fields["model_type"]
}

func (row llamaRow) number(field string) (float64, error) {
	v, err := strconv.ParseFloat(row.fields[field], 64)
	if err != nil {
		return 0, fmt.Errorf("%s is %q: give a number", field, row.fields[field])
	}
	return v, nil
}

// tokens is how many a repetition takes in and makes; name has checked them.
func (row llamaRow) tokens() int {
	prompt, _ := strconv.Atoi(row.fields["n_prompt"])
	gen, _ := strconv.Atoi(row.fields["n_gen"])
	return prompt + gen
}

// llamaDiffering are the parameters that are not the same in all rows: they
// have to be in the names.
func llamaDiffering(rows []llamaRow) (differ []string) {
	for f := range rows[0].fields {
		other := func(r llamaRow) bool { return r.fields[f] != rows[0].fields[f] }
		if !slices.Contains(llamaResult, f) && f != "model_type" && slices.ContainsFunc(rows, other) {
			differ = append(differ, f)
		}
	}
	slices.Sort(differ)
	return differ
}

// llamaHeader is what is true of all rows.
func llamaHeader(rows []llamaRow, differ []string) []results.Setting {
	first := rows[0].fields
	version := fmt.Sprintf("build %s (%s)", first["build_number"], first["build_commit"])
	if b := first["backends"]; b != "" {
		version += ", backends " + b
	}
	var args []string
	for f, value := range first {
		if !slices.Contains(llamaResult, f) && f != "model_type" && !slices.Contains(differ, f) && value != "" {
			args = append(args, f+"="+value)
		}
	}
	slices.Sort(args)
	return header(
		"cpu", first["cpu_info"], "gpu", first["gpu_info"],
		"started", first["test_time"], names.LlamaBench, version,
		names.LlamaBench+"-args", strings.Join(args, " "),
	)
}
