package foreign

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"onebit/bench/results"
)

var llamaMarkdown = Kind{"llama-bench, Markdown", isLlamaMarkdown, readLlamaMarkdown}

func isLlamaMarkdown(data []byte) bool {
	_, _, columns := llamaTable(data)
	return columns != nil
}

// llamaTable finds the table: its cells, the lines' numbers, and its columns,
// nil if there is none.
func llamaTable(data []byte) (cells [][]string, numbers []int, columns []string) {
	n := 0
	for line := range strings.Lines(string(data)) {
		n++
		line = strings.TrimSpace(line)
		if !strings.HasPrefix(line, "|") {
			continue
		}
		row := strings.Split(strings.Trim(line, "|"), "|")
		for i := range row {
			row[i] = strings.TrimSpace(row[i])
		}
		switch {
		case columns == nil && slices.Contains(row, "test") && slices.Contains(row, "t/s"):
			columns = row
		case columns != nil && strings.Trim(row[0], "-:") != "" && !slices.Equal(row, columns):
			cells, numbers = append(cells, row), append(numbers, n)
		}
	}
	return cells, numbers, columns
}

// readLlamaMarkdown reads the table that llama-bench prints unless told
// otherwise. It has rates alone, rounded to two decimals.
func readLlamaMarkdown(data []byte) (*results.Set, error) {
	cells, numbers, columns := llamaTable(data)
	var rows []llamaRow
	for i, line := range cells {
		if len(line) != len(columns) {
			return nil, fmt.Errorf("line %d: it has %d cells and the table %d columns", numbers[i], len(line), len(columns))
		}
		row := llamaRow{fields: map[string]string{}}
		for j, column := range columns {
			row.fields[column] = line[j]
		}
		if err := row.fromMarkdown(); err != nil {
			return nil, fmt.Errorf("line %d: %w", numbers[i], err)
		}
		rows = append(rows, row)
	}
	r, err := llamaResults(rows)
	if err != nil {
		return nil, err
	}
	if _, build, ok := strings.Cut(string(data), "\nbuild: "); ok {
		build, _, _ = strings.Cut(build, "\n")
		for i := range r.Settings {
			if r.Settings[i].Key == "llama-bench" {
				r.Settings[i].Value = "build " + build
			}
		}
	}
	r.Warnings = append(r.Warnings, "times are computed from tokens per second, which the file holds with two decimals")
	return r, nil
}

// markdownColumns are what the table calls fields.
var markdownColumns = map[string]string{
	"model": "model_type", "threads": "n_threads", "backend": "backends", "ngl": "n_gpu_layers", "fa": "flash_attn", "sm": "split_mode",
	"mmap": "use_mmap", "embd": "embeddings", "ts": "tensor_split", "size": "model_size", "params": "model_n_params",
}

// fromMarkdown names a row's fields as the other forms do.
func (row llamaRow) fromMarkdown() error {
	for column, field := range markdownColumns {
		if v, ok := row.fields[column]; ok {
			delete(row.fields, column)
			row.fields[field] = v
		}
	}
	test, depth, _ := strings.Cut(row.fields["test"], " @ d")
	rate, _, _ := strings.Cut(row.fields["t/s"], "±")
	delete(row.fields, "test")
	delete(row.fields, "t/s")
	row.fields["n_depth"], row.fields["n_prompt"], row.fields["n_gen"] = depth, "0", "0"
	for part := range strings.SplitSeq(test, "+") {
		if n, ok := strings.CutPrefix(part, "pp"); ok {
			row.fields["n_prompt"] = n
		} else if n, ok := strings.CutPrefix(part, "tg"); ok {
			row.fields["n_gen"] = n
		} else {
			return fmt.Errorf("unknown test %q", test)
		}
	}
	perSecond, err := strconv.ParseFloat(strings.TrimSpace(rate), 64)
	if err != nil {
		return fmt.Errorf("t/s is %q: give a number", rate)
	}
	if err := positive("t/s", perSecond); err != nil {
		return err
	}
	row.fields["avg_ns"] = strconv.FormatFloat(float64(row.tokens())/perSecond*1e9, 'g', 6, 64)
	return nil
}
