package profile

import (
	"bytes"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	profiles "onebit/bench/profile"
	"onebit/bench/results"
	"onebit/reports/render"
	"onebit/reports/reportstest"
)

func TestProfilePage(t *testing.T) {
	p, res := reportstest.ProfileFixture()
	var page, again bytes.Buffer
	if err := errors.Join(reportstest.PrintDoc(&page, Document(p, res, profiles.Filter{}), "html", render.Options{}), reportstest.PrintDoc(&again, Document(p, res, profiles.Filter{}), "html", render.Options{})); err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(page.Bytes(), again.Bytes()) {
		t.Error("the same profile gives two pages")
	}
	text := page.String()
	for _, want := range []string{
		"Profile of m&lt;b&gt;1", "10.2\u00a0k\u00a0tok/s", "could be won", "a &lt;i&gt;doubt", "+2.0 %", "computed from bounds: -1.0%", "2 CPUs", "unattributed", "mapped file",
		"What was counted", ">2.50", "0 for every operation: page-faults/op", "not counted: dTLB &lt;why&gt;",
		`"multiply"`, `"ffn_down in block 0"`, "Roofline of operations", "Resident memory over time", "a test", "The threads beside the first have nothing to do for 90",
	} {
		if !strings.Contains(text, want) {
			t.Errorf("the page has no %q", want)
		}
	}
	for _, bad := range []string{"<b>1", "NaN<", "NaN ", "<i>doubt", "%!"} {
		if strings.Contains(text, bad) {
			t.Errorf("the page has %q", bad)
		}
	}
	empty := &profiles.Profile{Tests: []*profiles.Test{{Threads: 1}}}
	if err := reportstest.PrintDoc(io.Discard, Document(empty, &results.Set{}, profiles.Filter{}), "html", render.Options{}); err != nil {
		t.Errorf("of nothing: %v", err)
	}
}

// Of a long pass the page draws the beginning.
func TestTimelineIsBounded(t *testing.T) {
	p, _ := reportstest.ProfileFixture()
	test := p.Tests[0]
	pass := &profiles.Pass{Duration: time.Second, Threads: make([][]profiles.Mark, 2)}
	for i := range 100_000 {
		pass.Spans = append(pass.Spans, profiles.Span{Key: profiles.Key{Op: "rope"}, Start: time.Duration(i * 10000), End: time.Duration(i*10000 + 5000)})
	}
	test.Shown = pass
	line, about := newTimeline(test)
	for thread, flat := range line.Rows {
		if n := len(flat) / 4; n != mostSegments/2 {
			t.Errorf("thread %d has %d segments, want %d", thread, n, mostSegments/2)
		}
	}
	if line.Length >= int64(time.Second) || !strings.Contains(about, "its first 50ms of 1s") {
		t.Errorf("%d ns: %s", line.Length, about)
	}
}

func TestFlame(t *testing.T) {
	p, _ := reportstest.ProfileFixture()
	line := newFlame(p.Flame())
	names := strings.Join(line.Names, "\n")
	if len(line.Rows) != 4 || !strings.HasPrefix(names, "m<b>1\ntg1\n") || line.Rows[0][1] != line.Length || line.Length != int64(1200*time.Microsecond) {
		t.Errorf("%d rows, the first %v of %d: %q", len(line.Rows), line.Rows[0], line.Length, names)
	}
	var longest int64
	for i := 0; i < len(line.Rows[2]); i += 4 { // of operations
		if line.Names[line.Rows[2][i+3]] == "ffn_down" {
			longest = line.Rows[2][i+1]
		}
	}
	if longest != int64(600*time.Microsecond) {
		t.Errorf("ffn_down has %d ns", longest)
	}
	if none := newFlame((&profiles.Profile{}).Flame()); len(none.Rows) != 1 {
		t.Errorf("of nothing: %d rows", len(none.Rows))
	}
}

func TestWriteProfile(t *testing.T) {
	p, res := reportstest.ProfileFixture()
	dir := filepath.Join(t.TempDir(), "out")
	if err := render.Folder(t.Context(), dir, Document(p, res, profiles.Filter{}), render.FolderOptions{}); err != nil {
		t.Fatal(err)
	}
	if info, err := os.Stat(filepath.Join(dir, "index.html")); err != nil || info.Size() == 0 {
		t.Error(err)
	}
	if err := os.WriteFile(filepath.Join(dir, "index.html"), []byte("mine"), 0o666); err != nil {
		t.Fatal(err)
	}
	if err := render.Folder(t.Context(), dir, Document(p, res, profiles.Filter{}), render.FolderOptions{}); err == nil || !strings.Contains(err.Error(), "is not a report of onebit") {
		t.Errorf("error %v", err)
	}
}
