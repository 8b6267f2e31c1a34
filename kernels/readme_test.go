//go:build (amd64 || arm64) && !purego

package kernels_test

import (
	"maps"
	"os"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"testing"

	"onebit/kernels"
)

// TestReadmeVariants holds the README's table of variants to the registry, in the
// columns of this architecture: how each format's weights lie for each instruction
// set, by what activations.
func TestReadmeVariants(t *testing.T) {
	text, err := os.ReadFile("../docs/formats.md")
	if err != nil {
		t.Fatal(err)
	}
	isas := isasHere()
	said, is := readmeTable(t, string(text), isas), registryTable(isas)
	for _, key := range slices.Sorted(maps.Keys(is)) {
		if said[key] == nil {
			t.Errorf("the README has no row for %s: %q", key, is[key])
		} else if !slices.Equal(said[key], is[key]) {
			t.Errorf("the README says of %s %q, the registry %q", key, said[key], is[key])
		}
	}
	for key, cells := range said {
		if is[key] == nil && strings.Join(cells, "") != "" {
			t.Errorf("the README says of %s %q, the registry nothing", key, cells)
		}
	}
}

// The columns of the README's table, and the instruction sets that they are of.
var readmeColumns = map[string][]*kernels.ISA{
	"AVX2":             {kernels.AVX2},
	"AVX-VNNI":         {kernels.AVXVNNI},
	"AVX-512":          {kernels.AVX512, kernels.AVX512VNNI},
	"AMX":              {kernels.AMX},
	"NEON":             {kernels.NEON},
	"NEON dot product": {kernels.NEONDot},
	"NEON i8mm":        {kernels.NEONI8MM},
}

// isasHere returns the columns of this architecture, in order.
func isasHere() (names []string) {
	for name, isas := range readmeColumns {
		if isas[0].Arch == runtime.GOARCH {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	return names
}

var quoted = regexp.MustCompile("`([^`]+)`")

// readmeTable returns the table's cells in columns, by format and scheme.
func readmeTable(t *testing.T, text string, columns []string) map[string][]string {
	_, table, ok := strings.Cut(text, "| weights | activations |")
	table, _, ends := strings.Cut(table, "\n\n")
	if !ok || !ends {
		t.Fatal("the README has no table of weights and activations")
	}
	lines := strings.Split(table, "\n")
	heads := cellsOf(lines[0])
	rows := map[string][]string{}
	for _, line := range lines[2:] {
		cells := cellsOf(line)
		for _, format := range quoted.FindAllStringSubmatch(cells[0], -1) {
			for _, scheme := range quoted.FindAllStringSubmatch(cells[1], -1) {
				key := format[1] + "/" + scheme[1]
				if rows[key] != nil {
					t.Errorf("the README has two rows for %s", key)
				}
				for _, column := range columns {
					rows[key] = append(rows[key], cells[2+slices.Index(heads, column)])
				}
			}
		}
	}
	return rows
}

// cellsOf splits a row of a table in Markdown; what stands before its first cell, as
// in the cut head, does not count.
func cellsOf(line string) (cells []string) {
	for cell := range strings.SplitSeq(strings.Trim(line, "|"), "|") {
		cells = append(cells, strings.TrimSpace(cell))
	}
	return cells
}

// registryTable returns what the README's cells must say.
func registryTable(columns []string) map[string][]string {
	rows := map[string][]string{}
	for _, v := range kernels.Variants() {
		for i, column := range columns {
			if !slices.Contains(readmeColumns[column], v.ISA) {
				continue
			}
			key := v.Format.Name + "/" + string(v.Scheme)
			if rows[key] == nil {
				rows[key] = make([]string, len(columns))
			}
			lies := "packed"
			if v.Layout == kernels.Native {
				lies = "in place"
			}
			switch was := rows[key][i]; was {
			case "", lies:
				rows[key][i] = lies
			default:
				rows[key][i] = "both"
			}
		}
	}
	return rows
}
