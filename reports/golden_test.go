package reports_test

import (
	"bytes"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"onebit/internal/require"
	"onebit/reports/render"
	"onebit/reports/reportstest"
)

// TestGolden holds the kinds of report that are text to their goldens.
func TestGolden(t *testing.T) {
	res := reportstest.GoldenInput(t, "results.txt")
	for _, k := range render.Printers() {
		if k.Name == "html" || k.Name == "samples" || k.Name == "json" {
			continue // too large to read; other tests look at them
		}
		t.Run(k.Name, func(t *testing.T) {
			var b bytes.Buffer
			if err := reportstest.Print(t.Context(), &b, k.Name, res); err != nil {
				t.Fatal(err)
			}
			reportstest.CheckGolden(t, "golden-"+k.Name+"."+k.Extension, b.Bytes())
		})
	}
	for _, width := range []int{80, 40} {
		var b bytes.Buffer
		if err := reportstest.WriteTable(&b, res, reportstest.TableOptions{Width: width, Top: -1}); err != nil {
			t.Fatal(err)
		}
		reportstest.CheckGolden(t, map[int]string{80: "golden-table-80.txt", 40: "golden-table-40.txt"}[width], b.Bytes())
	}
}

// TestGoldenModels does so for results of whole models.
func TestGoldenModels(t *testing.T) {
	res := reportstest.GoldenInput(t, "models.txt")
	var table, markdown bytes.Buffer
	if err := reportstest.WriteTable(&table, res, reportstest.TableOptions{Width: 120}); err != nil {
		t.Fatal(err)
	}
	reportstest.CheckGolden(t, "golden-models-table.txt", table.Bytes())
	if err := reportstest.Print(t.Context(), &markdown, "markdown", res); err != nil {
		t.Fatal(err)
	}
	reportstest.CheckGolden(t, "golden-models-markdown.md", markdown.Bytes())
}

// TestSameResultsSameBytes renders twice and compares the page and one plot in eight, all under ONEBIT_ALL.
func TestSameResultsSameBytes(t *testing.T) {
	if testing.Short() {
		t.Skip("draws every picture twice")
	}
	require.Turns(t, "TestSameResultsSameBytes", "TestFleetSameBytes")
	both := reportstest.Set(t, slices.Concat(reportstest.Small().Results(), reportstest.SmallModels().Results()))
	read := func() map[string][]byte {
		dir := t.TempDir()
		if err := reportstest.Write(t.Context(), dir, render.FolderOptions{}, both); err != nil {
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
	if len(first) != len(second) || len(first) != len(reportstest.DocOf(t, both).Figures())+1 {
		t.Errorf("%d files, then %d", len(first), len(second))
	}
}
