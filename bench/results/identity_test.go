package results

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

const (
	oneModel   = "cpu: one\nmodels: tiny=aaaaaaaa11111111 other=cccccccc22222222\nBenchmarkModel/model=tiny/test=tg8/threads=2 1 10 ns/op\nBenchmarkModel/model=other/test=tg8/threads=2 1 7 ns/op\n"
	otherModel = "cpu: one\nmodels: tiny=bbbbbbbb33333333 other=cccccccc22222222\nBenchmarkModel/model=tiny/test=tg8/threads=2 1 30 ns/op\n" +
		"BenchmarkModel/model=other/test=tg8/threads=2 1 7 ns/op\n--- FAIL: BenchmarkModel/model=tiny/test=pp8/threads=2\n    wrong\n"
	olderFile = "cpu: one\nBenchmarkModel/model=tiny/test=tg8/threads=2 1 20 ns/op\n"
)

// Models of one name and different weights are never pooled: not from two files,
// not from a file of two runs, and not from two machines' files.
func TestDifferentWeightsAreNeverPooled(t *testing.T) {
	dir := t.TempDir()
	path := func(name, text string) string {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
		return path
	}
	a, b, both := path("a.txt", oneModel), path("b.txt", otherModel), path("both.txt", oneModel+otherModel)
	elsewhere := path("elsewhere.txt", strings.ReplaceAll(otherModel, "cpu: one", "cpu: two"))
	check := func(what string, want map[string]int, all ...*Set) {
		t.Helper()
		got, warnings := map[string]int{}, []string(nil)
		for _, r := range all {
			for _, s := range r.Samples {
				got[s.Name.Get(modelKey)]++
			}
			warnings = append(warnings, r.Warnings...)
		}
		for model, n := range want {
			if got[model] != n {
				t.Errorf("%s: %d samples of %s, want %d: %v", what, got[model], model, n, got)
			}
		}
		apart := slices.ContainsFunc(warnings, func(w string) bool {
			return strings.Contains(w, "tiny is the name of models with different weights, which are told apart as tiny@aaaaaaaa and tiny@bbbbbbbb")
		})
		if _, want := want["tiny@aaaaaaaa"]; apart != want {
			t.Errorf("%s: warnings %q", what, warnings)
		}
	}
	apart := map[string]int{"tiny@aaaaaaaa": 1, "tiny@bbbbbbbb": 1, "tiny": 0, "other": 2}
	two, err := ReadFiles(t.Context(), a, b)
	if err != nil {
		t.Fatal(err)
	}
	check("two files", apart, two)
	if f := two.Failures[0].Name.Get(modelKey); f != "tiny@bbbbbbbb" {
		t.Errorf("the failure is of %s", f)
	}
	if got, want := two.Setting(ModelsKey), "tiny@aaaaaaaa=aaaaaaaa11111111 other=cccccccc22222222 tiny@bbbbbbbb=bbbbbbbb33333333"; got != want {
		t.Errorf("the header says %q, want %q", got, want)
	}
	var again strings.Builder
	if err := two.Write(&again); err != nil {
		t.Fatal(err)
	}
	check("written again", apart, readBack(t, again.String()))
	whole, err := ReadFiles(t.Context(), both)
	if err != nil {
		t.Fatal(err)
	}
	check("two runs in a file", apart, whole)
	fleet, err := ReadFleet(t.Context(), File{Path: a}, File{Path: elsewhere})
	if err != nil {
		t.Fatal(err)
	}
	check("two machines", apart, append(slices.Clone(fleet.Machines), &Set{Warnings: fleet.Warnings})...)
	same, err := ReadFiles(t.Context(), a, path("a2.txt", strings.ReplaceAll(oneModel, "10 ns/op", "11 ns/op")))
	if err != nil {
		t.Fatal(err)
	}
	check("the same weights", map[string]int{"tiny": 2, "other": 2}, same)
	older, err := ReadFiles(t.Context(), a, path("older.txt", olderFile))
	if err != nil {
		t.Fatal(err)
	}
	check("an older file", map[string]int{"tiny": 2}, older)
}
