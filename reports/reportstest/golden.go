package reportstest

import (
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"onebit/bench/results"
)

var Update = flag.Bool("update", false, "write the golden files anew")

// Testdata is the path of a file that tests of all rooms share, from the folder of reports or of a room in it.
func Testdata(name string) string {
	shared := filepath.Join("testdata", filepath.FromSlash(name))
	if matches, _ := filepath.Glob(shared); len(matches) > 0 {
		return shared
	}
	return filepath.Join("..", shared)
}

// GoldenInput is a results file that goldens are rendered from: that of a real run, cut down by the
// flags that its header's command names. testdata/README says how to make it anew.
func GoldenInput(t *testing.T, name string) *results.Set {
	t.Helper()
	res, err := results.ReadFiles(t.Context(), Testdata(name))
	if err != nil {
		t.Fatal(err)
	}
	return res
}

func CheckGolden(t *testing.T, name string, got []byte) {
	t.Helper()
	path := Testdata(name)
	if *Update {
		if err := os.WriteFile(path, got, 0o666); err != nil {
			t.Fatal(err)
		}
		return
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	CompareText(t, name, string(want), string(got))
}

func CompareText(t *testing.T, what, want, got string) {
	t.Helper()
	wantLines, gotLines := strings.SplitAfter(want, "\n"), strings.SplitAfter(got, "\n")
	for i := range max(len(wantLines), len(gotLines)) {
		var w, g string
		if i < len(wantLines) {
			w = wantLines[i]
		}
		if i < len(gotLines) {
			g = gotLines[i]
		}
		if w != g {
			t.Errorf("%s line %d:\nwant %q\ngot  %q", what, i+1, w, g)
			return
		}
	}
}
