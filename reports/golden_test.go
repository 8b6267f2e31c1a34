package reports

import (
	"bytes"
	"flag"
	"onebit/internal/require"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"onebit/bench/results"
)

var update = flag.Bool("update", false, "write the golden files anew")

// goldenInput is a results file that goldens are rendered from: that of a real run, cut down by the
// flags that its header's command names. testdata/README says how to make it anew.
func goldenInput(t *testing.T, name string) *results.Set {
	t.Helper()
	res, err := results.ReadFiles(t.Context(), filepath.Join("testdata", name))
	if err != nil {
		t.Fatal(err)
	}
	return res
}

func checkGolden(t *testing.T, name string, got []byte) {
	t.Helper()
	path := filepath.Join("testdata", name)
	if *update {
		if err := os.WriteFile(path, got, 0o666); err != nil {
			t.Fatal(err)
		}
		return
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	compareText(t, name, string(want), string(got))
}

// TestGolden holds the kinds of report that are text to their goldens.
func TestGolden(t *testing.T) {
	res := goldenInput(t, "results.txt")
	for _, k := range Formats() {
		if k.Name == "html" || k.Name == "samples" || k.Name == "json" {
			continue // too large to read; other tests look at them
		}
		t.Run(k.Name, func(t *testing.T) {
			var b bytes.Buffer
			if err := k.Render(t.Context(), &b, res); err != nil {
				t.Fatal(err)
			}
			checkGolden(t, "golden-"+k.Name+"."+k.Extension, b.Bytes())
		})
	}
	for _, width := range []int{80, 40} {
		var b bytes.Buffer
		if err := WriteTable(&b, res, TableOptions{Width: width, Top: -1}); err != nil {
			t.Fatal(err)
		}
		checkGolden(t, map[int]string{80: "golden-table-80.txt", 40: "golden-table-40.txt"}[width], b.Bytes())
	}
}

// TestGoldenModels does so for results of whole models.
func TestGoldenModels(t *testing.T) {
	res := goldenInput(t, "models.txt")
	var table, markdown bytes.Buffer
	if err := WriteTable(&table, res, TableOptions{Width: 120}); err != nil {
		t.Fatal(err)
	}
	checkGolden(t, "golden-models-table.txt", table.Bytes())
	if err := WriteMarkdown(&markdown, res); err != nil {
		t.Fatal(err)
	}
	checkGolden(t, "golden-models-markdown.md", markdown.Bytes())
}

// TestSameResultsSameBytes renders twice and compares the page and one plot in eight, all under ONEBIT_ALL.
func TestSameResultsSameBytes(t *testing.T) {
	if testing.Short() {
		t.Skip("draws every picture twice")
	}
	require.Turns(t, "TestSameResultsSameBytes", "TestFleetSameBytes")
	both := fixture(t, slices.Concat(small().results(), smallModels().results()))
	read := func() map[string][]byte {
		dir := t.TempDir()
		if err := Write(t.Context(), dir, both, WriteOptions{}); err != nil {
			t.Fatal(err)
		}
		files := make(map[string][]byte)
		err := filepath.WalkDir(dir, func(path string, entry os.DirEntry, err error) error {
			if err != nil || entry.IsDir() {
				return err
			}
			rel, err := filepath.Rel(dir, path)
			if err != nil {
				return err
			}
			files[filepath.ToSlash(rel)], err = os.ReadFile(path)
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
		return files
	}
	first := read()
	for _, want := range []string{
		"index.html", "plots/roofline-2048x2048.png",
		"plots/latency-matvec-i2_s.png", "plots/error-speed.png",
		"plots/latency-model-bonsai-1-7b.png", "plots/depth-bonsai-1-7b-tg128.png", "plots/memory-bonsai-1-7b.png", "plots/memory-speed-bonsai-1-7b.png",
		"plots/error-speed-bonsai-1-7b.png", "plots/ops-bonsai-1-7b-tg128--2-threads.png", "plots/op-blocks-bonsai-1-7b-tg128--2-threads.png",
		"plots/error-depth-bonsai-1-7b.png", "plots/error-isolated-bonsai-1-7b.png", "plots/error-accumulated-bonsai-1-7b.png",
	} {
		if len(first[want]) == 0 {
			t.Errorf("%s was not written", want)
		}
	}
	second := read()
	for name, data := range first {
		if !bytes.Equal(data, second[name]) {
			t.Errorf("%s differs the second time", name)
		}
	}
	if len(first) != len(second) || len(first) != len(docOf(t, both).Figures())+1 {
		t.Errorf("%d files, then %d", len(first), len(second))
	}
}

func compareText(t *testing.T, what, want, got string) {
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
