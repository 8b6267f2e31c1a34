package history

import (
	"io"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"onebit/bench/history"
	"onebit/reports/render"
	"onebit/reports/reportstest"
)

func historyView(t *testing.T, series, points int) View {
	h, found, between := reportstest.HistoryFixture(t, series, points)
	return View{History: h, Trends: found, Between: between}
}

func TestHistoryPage(t *testing.T) {
	v := historyView(t, 70, 40)
	dir := t.TempDir()
	if err := render.Folder(t.Context(), dir, v.Document(), render.FolderOptions{}); err != nil {
		t.Fatal(err)
	}
	page, err := os.ReadFile(filepath.Join(dir, "index.html"))
	if err != nil {
		t.Fatal(err)
	}
	text := string(page)
	for _, never := range []string{"<script>alert", "<i>note", "<b>one", "NaN%", "NaN ", "ZgotmplZ"} {
		if strings.Contains(text, never) {
			t.Errorf("the page holds %s", never)
		}
	}
	for _, want := range []string{"2 changes of level in 70 series over 40 points", "60 of 70 series are drawn", "(3 commits)", `stroke:var(--s1)`, "2026-01-20 … 2026-01-21"} {
		if !strings.Contains(text, want) {
			t.Errorf("the page lacks %s", want)
		}
	}
	if n := strings.Count(text, `<svg role="img"`); n != mostHistories {
		t.Errorf("%d pictures", n)
	}
	again := t.TempDir()
	if err := render.Folder(t.Context(), again, v.Document(), render.FolderOptions{}); err != nil {
		t.Fatal(err)
	}
	if second, _ := os.ReadFile(filepath.Join(again, "index.html")); string(second) != text {
		t.Error("the same history gives another page")
	}
}

func TestHistoryForms(t *testing.T) {
	v := historyView(t, 4, 40)
	d := v.Document().Data.(JSON)
	if len(d.Changes) != 2 || d.Tested != 4 {
		t.Fatalf("%+v", d)
	}
	for _, c := range d.Changes {
		if c.Unit == "allocs/op" {
			if c.Ratio != nil || c.Before != 0 || c.After != 1 {
				t.Errorf("from zero: %+v", c)
			}
		} else if c.Ratio == nil || math.Abs(*c.Ratio-1.2) > 0.01 || c.Worth != "worse" || c.Commits != 3 {
			t.Errorf("%+v", c)
		}
	}
	var wide, narrow strings.Builder
	for width, b := range map[int]*strings.Builder{0: &wide, 50: &narrow} {
		if err := WriteHistoryTable(b, v, width); err != nil {
			t.Fatal(err)
		}
	}
	if !strings.Contains(wide.String(), "1.01 µs → 1.21 µs") || !strings.Contains(wide.String(), "more") {
		t.Errorf("table:\n%s", wide.String())
	}
	for line := range strings.Lines(narrow.String()) {
		if n := len([]rune(line)); n > 70 {
			t.Errorf("%d columns: %s", n, line)
		}
	}
	v.Alike = 0.5
	v.Common = []history.Common{{Point: 20, Changed: 3, Of: 4, Up: true, GoVersionMoved: true}}
	v.Points[20].GoVersion = "go1.26"
	doubts := strings.Join(v.doubts(), "\n")
	for _, want := range []string{"3 of 4 series moved up together at ", "where Go became go1.26", "resemble each other"} {
		if !strings.Contains(doubts, want) {
			t.Errorf("doubts %q lack %q", doubts, want)
		}
	}
}

func WriteHistoryTable(w io.Writer, v View, width int) error {
	return reportstest.PrintDoc(w, v.Document(), "table", render.Options{Width: width})
}
