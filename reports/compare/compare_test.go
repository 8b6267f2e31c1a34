package compare

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"onebit/reports/render"
)

// A twoRuns makes the results files of two runs of one suite: 24 cases of each of two classes, three
// processes of three samples, quiet.
type twoRuns struct {
	factor  func(name string) float64 // by how much longer a case or ceiling takes in the new run
	nmse    float64                   // of the new run; 0: the old one's
	rss     float64                   // peak memory of a case in the new run, relative
	arms    [2]string                 // the case that is doubled as an A/A pair, by run
	extra   int                       // cases that only the new run has
	failure bool                      // of the first case, in the new run
	warning string                    // of the new run
}

func (r twoRuns) write(t *testing.T) (old, new string) {
	t.Helper()
	rng := rand.New(rand.NewPCG(1, 2))
	return writeTemp(t, "old.txt", r.text(rng, 0)), writeTemp(t, "new.txt", r.text(rng, 1))
}

func (r twoRuns) text(rng *rand.Rand, run int) string {
	var b strings.Builder
	fmt.Fprintf(&b, "goos: linux\nclasses: threads cache\ncommit: c%d\nstarted: 2026-11-22T0%d:00:00Z\n\n", run, run)
	if r.failure && run == 1 {
		b.WriteString("--- FAIL: BenchmarkMatVec/format=f0/variant=v0/rows=8/cols=8/threads=1/cache=cold\n    row 3: 17, want 18\n")
	}
	if r.warning != "" && run == 1 {
		fmt.Fprintf(&b, "# warning: %s\n", r.warning)
	}
	b.WriteString("# warning: this is a virtual machine\n# group g\n")
	var names []string
	for threads := 1; threads <= 2; threads++ {
		for i := range 24 + run*r.extra {
			names = append(names, fmt.Sprintf("MatVec/format=f%d/variant=v%d/rows=8/cols=8/threads=%d/cache=cold", i%3, i, threads))
		}
		names = append(names, fmt.Sprintf("Read/format=f0/rows=8/cols=8/bytes=64/threads=%d/cache=cold", threads))
	}
	if arm := r.arms[run]; arm != "" {
		names = append(names, "AA/"+arm+"/arm=b")
	}
	for process := 1; process <= 3; process++ {
		fmt.Fprintf(&b, "# process %d\n", process)
		rng.Shuffle(len(names), func(i, j int) { names[i], names[j] = names[j], names[i] })
		for _, name := range names {
			// The time depends on the name alone.
			ns := 1000 + 10*float64(len(name)) + float64(name[len("MatVec/format=f")]%3)
			if run == 1 && r.factor != nil {
				ns *= r.factor(name)
			}
			nmse, rss := 1e-5, 1e7
			if run == 1 && r.nmse != 0 {
				nmse = r.nmse
			}
			if run == 1 && r.rss != 0 && strings.Contains(name, "variant=v7/") {
				rss *= r.rss
			}
			ns *= math.Exp(0.003 * rng.NormFloat64())
			for sample := range 3 {
				fmt.Fprintf(&b, "Benchmark%s-2 10 %.6g ns/op", name, ns*(1+0.01*rng.ExpFloat64()))
				if strings.HasPrefix(name, "MatVec") {
					fmt.Fprintf(&b, " %g nmse", nmse)
				}
				if sample == 0 {
					fmt.Fprintf(&b, " %.0f peak-RSS-B", rss*(1+0.002*rng.Float64()))
				}
				b.WriteString("\n")
			}
		}
	}
	return b.String()
}

func (r twoRuns) compare(t *testing.T, opt Options) *Comparison {
	t.Helper()
	old, new := r.write(t)
	c, err := Files(t.Context(), opt, old, new)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func slowed(by float64, what ...string) func(string) float64 {
	return func(name string) float64 {
		for _, w := range what {
			if !strings.Contains(name, w) {
				return 1
			}
		}
		return by
	}
}

func TestCompareVerdict(t *testing.T) {
	const doubled = "MatVec/format=f0/variant=v0/rows=8/cols=8/threads=1/cache=cold"
	tests := []struct {
		name string
		runs twoRuns
		want string // begins the verdict
		also []string
	}{
		{"equal", twoRuns{}, "nothing shows a change\n", []string{" % is the least change of a variant that this pair of runs shows.",
			"48 cases in both.", "commit: c0, then c1", "No case is beyond noise.", "onebit gate --suite kernels --base-binary OLD --head-binary NEW --filter '/format:f2 /variant:v20' measures"}},
		{"a case", twoRuns{factor: slowed(1.3, "variant=v3/", "threads=2")}, "v3 of f0, 8×8, 2 threads, cold is 30 % slower, ±", []string{"; nothing else shows a change\n", "Beyond noise"}},
		{"two cases", twoRuns{factor: func(n string) float64 {
			return slowed(1.5, "v3/", "threads=2")(n) * slowed(0.7, "v5/", "threads=1")(n)
		}}, "v3 of f0, 8×8, 2 threads, cold is 49 % slower, ±", []string{"; v5 of f2, 8×8, 1 thread, cold is 30 % faster, ±"}},
		{"a variant", twoRuns{factor: slowed(1.1, "variant=v3/")}, "v3 of f0 is 9.9 % slower, ±", []string{" %; nothing else shows a change\n"}},
		{"the machine", twoRuns{factor: slowed(1.9)}, "nothing shows a change", []string{
			"The machine: reading memory took 1.", "All cases together: 90 % slower, which the machine's ceilings explain"}},
		{"a disturbed machine", twoRuns{factor: slowed(1.9, "MatVec"), warning: "group g: a CPU was busy"}, "nothing shows a change", []string{
			"All cases together: 90 % slower, which may be the machine: a run was disturbed"}},
		{"the memory alone", twoRuns{factor: slowed(0.5, "Read")}, "nothing shows a change", []string{"was 2.0", "times as fast in NEW (1 thread, cold cache)"}},
		{"the suite", twoRuns{factor: slowed(1.2, "MatVec")}, "all cases together are 20 % slower, the machine's ceilings are not", nil},
		{"the suite and the machine", twoRuns{factor: func(n string) float64 { return 1.2 * slowed(1.2, "MatVec")(n) }},
			"nothing shows a change", []string{"All cases together: 44 % slower, which may be the machine: "}},
		{"a class", twoRuns{factor: slowed(0.8, "MatVec", "threads=2")}, "the 24 cases of 2 threads, cold are 20 % faster, the machine's ceilings are not", nil},
		{"errors", twoRuns{nmse: 1.0000001e-5}, "errors or bytes differ in 48 cases; nothing else shows a change", []string{"errors or bytes differ in 48 cases", "1.0000001e-05", "and 43 more"}},
		{"memory", twoRuns{rss: 2}, "peak memory differs in 1 layout; nothing else", []string{"Peak memory beyond its noise"}},
		{"another pair", twoRuns{arms: [2]string{"", doubled}}, "nothing shows a change", []string{"48 cases in both."}},
		{"more cases", twoRuns{extra: 810}, "nothing shows a change", []string{"48 cases in both; 1,620 only in NEW."}},
		{"a doubt", twoRuns{warning: "a CPU was busy"}, "nothing shows a change", []string{"NEW has 1 warning of its own, such as: a CPU was busy\n"}},
		{"a wrong case", twoRuns{failure: true}, "1 case wrong in NEW only", []string{"Wrong in NEW only, not timed: " + doubled}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			c := tt.runs.compare(t, Options{})
			var b bytes.Buffer
			if err := c.WriteText(&b, CompareTextOptions{}); err != nil {
				t.Fatal(err)
			}
			if !strings.HasPrefix(b.String(), tt.want) {
				t.Errorf("verdict %q, want %q", c.Verdict, tt.want)
			}
			for _, want := range tt.also {
				if !strings.Contains(b.String(), want) {
					t.Errorf("no %q", want)
				}
			}
			if strings.Contains(b.String(), "AA") {
				t.Error("an A/A pair is shown")
			}
			if t.Failed() {
				t.Logf("\n%s", b.String())
			}
		})
	}
}

// TestCompareOneProcessAndFew: files of go test, with few cases and without processes or ceilings.
func TestCompareOneProcessAndFew(t *testing.T) {
	file := func(name string, factor float64, cases int) string {
		var b strings.Builder
		for i := range cases {
			for round := range 6 {
				fmt.Fprintf(&b, "BenchmarkSort/n=%d-8 100 %d ns/op\n", i, int(factor*float64(1000*(i+1)+3*((round*7+i)%5))))
			}
		}
		return writeTemp(t, name, b.String())
	}
	tests := []struct {
		factor float64
		cases  int
		want   []string
	}{
		{1.1, 2, []string{"nothing shows a change\n", "onebit gate --base-binary OLD --head-binary NEW measures", "2 cases can't show", "A file has cases of one process"}},
		{5, 2, []string{"Sort/n=0 is 400 % slower, ±", "Sort/n=1 is 400 % slower, ±"}},
		{1.2, 40, []string{"all cases together are 20 % slower (no ceiling was measured: it may be the machine)"}},
	}
	for _, tt := range tests {
		c, err := Files(t.Context(), Options{}, file("old.txt", 1, tt.cases), file("new.txt", tt.factor, tt.cases))
		if err != nil {
			t.Fatal(err)
		}
		var b bytes.Buffer
		if err := c.WriteText(&b, CompareTextOptions{}); err != nil {
			t.Fatal(err)
		}
		for _, want := range tt.want {
			if !strings.Contains(b.String(), want) {
				t.Errorf("factor %v: no %q in\n%s", tt.factor, want, b.String())
			}
		}
	}
}

// TestCompareOrder: cases stand in the order of names, not of the rounds, and text keeps to its width.
func TestCompareOrder(t *testing.T) {
	c := twoRuns{factor: slowed(1.3, "variant=v3/")}.compare(t, Options{Filter: "/variant:(v3 OR v4 OR v10)"})
	var got []string
	for _, x := range c.Cases {
		got = append(got, strings.TrimPrefix(x.Name, "MatVec/"))
	}
	want := []string{
		"format=f0/variant=v3/rows=8/cols=8/threads=1/cache=cold", "format=f0/variant=v3/rows=8/cols=8/threads=2/cache=cold",
		"format=f1/variant=v4/rows=8/cols=8/threads=1/cache=cold", "format=f1/variant=v4/rows=8/cols=8/threads=2/cache=cold",
		"format=f1/variant=v10/rows=8/cols=8/threads=1/cache=cold", "format=f1/variant=v10/rows=8/cols=8/threads=2/cache=cold",
	}
	if !slices.Equal(got, want) {
		t.Errorf("cases\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
	for _, width := range []int{50, 60, 80} {
		var b bytes.Buffer
		if err := c.WriteText(&b, CompareTextOptions{Width: width, All: true}); err != nil {
			t.Fatal(err)
		}
		for line := range strings.Lines(b.String()) {
			if n := len([]rune(strings.TrimSuffix(line, "\n"))); n > width {
				t.Errorf("width %d: a line of %d: %q", width, n, line)
			}
		}
		for _, want := range []string{"variant", "v10", "change"} {
			if !strings.Contains(b.String(), want) {
				t.Errorf("width %d: no %q in\n%s", width, want, b.String())
			}
		}
	}
}

func TestCompareJSON(t *testing.T) {
	data, err := json.Marshal(twoRuns{factor: slowed(1.3, "variant=v3/", "threads=2")}.compare(t, Options{}))
	if err != nil {
		t.Fatal(err)
	}
	var c Comparison
	if err := json.Unmarshal(data, &c); err != nil {
		t.Fatal(err)
	}
	if c.Slower != 1 || len(c.Families) != 24 || len(c.Cases) != 48 || c.New.Label != "NEW" || c.Old.Commit != "c0" || c.Failed == nil || c.Exact == nil || len(c.Ceilings) != 2 {
		t.Errorf("%s", data[:600])
	}
	i := slices.IndexFunc(c.Cases, func(x CaseChange) bool { return x.Sign != 0 })
	if x := c.Cases[i]; x.Q >= 0.05 || x.Noise > 0.25 || math.Abs(x.Change-1.3) > 0.05 || len(x.PerCeiling) != 1 || !strings.Contains(x.Name, "variant=v3/") {
		t.Errorf("%+v", x)
	}
}

func TestCompareErrors(t *testing.T) {
	old, _ := twoRuns{}.write(t)
	empty := writeTemp(t, "empty.txt", "")
	tests := []struct {
		name     string
		opt      Options
		old, new string
		want     string
	}{
		{"missing", Options{}, old, filepath.Join(t.TempDir(), "none.txt"), "none.txt"},
		{"empty", Options{}, old, empty, "empty.txt: no benchmarks to compare; give a results.txt"},
		{"no results", Options{}, writeTemp(t, "readme.md", "# Title\n\nText.\n"), old, "readme.md: no benchmarks"},
		{"talk of benchmarks", Options{}, writeTemp(t, "readme.md", "Benchmarks for all\n"), old, "readme.md:1: "},
		{"a picture", Options{}, writeTemp(t, "x.png", "\x89PNG\r\n\x1a\n\x00\x00"), old, "x.png: no benchmarks"},
		{"nothing in common", Options{}, old, writeTemp(t, "other.txt", "BenchmarkB 1 5 ns/op\n"), "no benchmarks to compare in common"},
		{"no times", Options{}, old, writeTemp(t, "other.txt", "BenchmarkMatVec/format=f0/variant=v0/rows=8/cols=8/threads=1/cache=cold-2 1 0 ns/op\n"), "in common that have a time"},
		{"filter", Options{Filter: "/variant:nope"}, old, old, `filter "/variant:nope": no case has variant nope; there are: v`},
		{"filter by another key", Options{Filter: "/varnt:v0"}, old, old, `filter "/varnt:v0": unknown key /varnt (known: `},
		{"bad filter", Options{Filter: "a:("}, old, old, `filter "a:("`},
		{"a NaN", Options{}, old, writeTemp(t, "nan.txt", "goos: x\nBenchmarkA 1 NaN ns/op\n"), "nan.txt:2: NaN ns/op is not a measurement"},
		{"an infinity in a foreign unit", Options{}, writeTemp(t, "inf.txt", "BenchmarkA 1 5 ns/op -Inf furlongs\n"), old, "inf.txt:1: -Inf furlongs is not a measurement"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			finishes(t, time.Minute, func() {
				if _, err := Files(t.Context(), tt.opt, tt.old, tt.new); err == nil || !strings.Contains(err.Error(), tt.want) {
					t.Errorf("error %v, want one with %q", err, tt.want)
				}
			})
		})
	}
	if _, err := Files(t.Context(), Options{}, old, "label="+filepath.Join(t.TempDir(), "none.txt")); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("missing file: %v is not fs.ErrNotExist", err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := Files(ctx, Options{}, old, old); !errors.Is(err, context.Canceled) {
		t.Errorf("cancelled: error %v", err)
	}
}

// TestCompareEndsOnExtremes: finite values that are hard on sums, ranks and axes.
func TestCompareEndsOnExtremes(t *testing.T) {
	many := func(values ...string) string {
		var b strings.Builder
		for i := range 100_000 {
			fmt.Fprintf(&b, "BenchmarkA 1 %s ns/op\n", values[i%len(values)])
		}
		return b.String()
	}
	tests := map[string][2]string{
		"many samples of two values": {many("5", "6"), many("6", "5")},
		"huge and tiny":              {"BenchmarkA 1 1e308 ns/op\nBenchmarkB 1 5e-324 ns/op\nBenchmarkC 1 1 ns/op\n", "BenchmarkA 1 5e-324 ns/op\nBenchmarkB 1 1e308 ns/op\nBenchmarkC 1 1 ns/op\n"},
		"as far as a ratio goes":     {"BenchmarkA 1 1e300 ns/op\nBenchmarkB 1 1 ns/op\n", "BenchmarkA 1 1 ns/op\nBenchmarkB 1 1e300 ns/op\n"},
		"zeros":                      {"BenchmarkA 1 0 ns/op\nBenchmarkB 1 1 ns/op\n", "BenchmarkA 1 0 ns/op\nBenchmarkB 1 1 ns/op\n"},
	}
	for name, texts := range tests {
		t.Run(name, func(t *testing.T) {
			old, new := writeTemp(t, "old.txt", texts[0]), writeTemp(t, "new.txt", texts[1])
			finishes(t, time.Minute, func() {
				c, err := Files(t.Context(), Options{}, old, new)
				if err != nil {
					t.Error(err)
					return
				}
				if _, err := json.Marshal(c); err != nil {
					t.Error(err)
				}
				if err := c.WriteHTML(io.Discard); err != nil {
					t.Error(err)
				}
			})
		})
	}
}

func TestComparePage(t *testing.T) {
	c := twoRuns{factor: slowed(1.3, "variant=v3/"), rss: 2, warning: "<b>"}.compare(t, Options{})
	dir := filepath.Join(t.TempDir(), "page")
	if err := render.Folder(t.Context(), dir, c.Document(false), render.FolderOptions{}); err != nil {
		t.Fatal(err)
	}
	page, err := os.ReadFile(filepath.Join(dir, "index.html"))
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"v3 of f0 is 30\u00a0% slower, ±", `class="time worse`, `id="ranking"`, `id="cases"`, `id="memory"`, "onebit gate --suite kernels", "commit c1"} {
		if !bytes.Contains(page, []byte(want)) {
			t.Errorf("no %q", want)
		}
	}
	if bytes.Contains(page, []byte("<b>")) {
		t.Error("a warning's markup is the page's")
	}
	old, _ := twoRuns{}.write(t)
	same, err := Files(t.Context(), Options{}, "a="+old, "b="+old)
	if err != nil {
		t.Fatal(err)
	}
	var b bytes.Buffer
	if err := same.WriteHTML(&b); err != nil || bytes.Contains(b.Bytes(), []byte(`class="time worse`)) || !strings.Contains(b.String(), "Nothing shows a change.") {
		t.Errorf("a file against itself: %v\n%.300s", err, b.String())
	}
	if same.New.Label != "b" || same.Suite.Ratio != 1 {
		t.Errorf("a file against itself: %+v, %+v", same.New, same.Suite)
	}
}

// TestCompareForeign: what other programs wrote is read as it is.
func TestCompareForeign(t *testing.T) {
	file := func(name string, seconds float64) string {
		return writeTemp(t, name, fmt.Sprintf(`{"results": [{"command": "sleep", "times": [%v, %v, %v]}]}`, seconds, 1.01*seconds, 1.02*seconds))
	}
	c, err := Files(t.Context(), Options{}, file("old.json", 1), file("new.json", 3))
	if err != nil {
		t.Fatal(err)
	}
	if len(c.Cases) != 1 || math.Abs(c.Cases[0].Ratio-3) > 1e-6 {
		t.Errorf("%+v", c.Cases)
	}
	bad := writeTemp(t, "bad.json", `{"results": [{"command": "sleep", "times": [-1]}]}`)
	if _, err := Files(t.Context(), Options{}, bad, bad); err == nil || !strings.HasPrefix(err.Error(), bad+": hyperfine") {
		t.Errorf("error %v, want one that names the file and hyperfine", err)
	}
}

// An endless reader cancels after so many reads what would never end.
type endless struct {
	cancel context.CancelFunc
	reads  int
}

func (e *endless) Read(p []byte) (int, error) {
	if e.reads--; e.reads == 0 {
		e.cancel()
	}
	if e.reads < -10 {
		return 0, errors.New("read on after the end of the context")
	}
	for i := range p {
		p[i] = "BenchmarkA 1 5 ns/op\n"[i%21]
	}
	return len(p) / 21 * 21, nil
}

// TestCompareEndsWithItsContext: a file that never ends does with its context.
func TestCompareEndsWithItsContext(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	if _, err := readResults(ctx, &endless{cancel, 5}, "endless.txt"); !errors.Is(err, context.Canceled) {
		t.Errorf("error %v", err)
	}
}

// TestRunOriginSource: what is not known of a run is left out.
func TestRunOriginSource(t *testing.T) {
	for want, o := range map[string]RunOrigin{"OLD": {Label: "OLD"}, "NEW · measured today · commit abc": {Label: "NEW", Started: "today", Commit: "abc"}} {
		if got := o.source(); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}

// TestShortNames: labels of a comparison's plot have what differs, and a number says of what.
func TestShortNames(t *testing.T) {
	got := shortNames([]string{"MatVec/format=f/variant=a/rows=8/threads=1/cache=cold", "MatVec/format=f/variant=b/rows=8/threads=2/cache=warm"})
	if want := []string{"MatVec a 1 thread cold", "MatVec b 2 threads warm"}; !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
}

// TestAtLeast: noise beyond any use is no percentage of five digits.
func TestAtLeast(t *testing.T) {
	for noise, want := range map[float64]string{0.25: "25 %", 0.99: "99 %", 12.05: "a factor of 13.1"} {
		if got := atLeast(noise); got != want {
			t.Errorf("atLeast(%v) = %q, want %q", noise, got, want)
		}
	}
}

// Models of one name and different weights are not compared, and it is said.
func TestCompareModelsOfOneName(t *testing.T) {
	text := func(digest string, ns int) string {
		var b strings.Builder
		fmt.Fprintf(&b, "classes: threads test\nmodels: model=%s other=0123456789abcdef\n", digest)
		for process := 1; process <= 3; process++ {
			fmt.Fprintf(&b, "# process %d\nBenchmarkModel/model=model/test=tg8/threads=2 1 %d ns/op\nBenchmarkModel/model=other/test=tg8/threads=2 1 %d ns/op\n", process, ns+process, 900+process)
		}
		return b.String()
	}
	old := writeTemp(t, "old.txt", text("1111111111111111", 100))
	c, err := Files(t.Context(), Options{}, old, writeTemp(t, "new.txt", text("2222222222222222", 1000)))
	if err != nil {
		t.Fatal(err)
	}
	if len(c.Cases) != 1 || !strings.Contains(c.Cases[0].Name, "model=other") || c.OnlyOld != 1 || c.OnlyNew != 1 {
		t.Errorf("compared %+v, %d and %d in one file only", c.Cases, c.OnlyOld, c.OnlyNew)
	}
	const said = "model is the name of models with different weights, which are told apart as model@11111111 and model@22222222"
	if !strings.Contains(strings.Join(c.remarks(), "\n"), said) {
		t.Errorf("remarks %q lack %q", c.remarks(), said)
	}
	alone := strings.ReplaceAll(text("2222222222222222", 1000), "model=other/", "model=third/")
	if _, err := Files(t.Context(), Options{}, old, writeTemp(t, "alone.txt", alone)); err == nil || !strings.Contains(err.Error(), said) {
		t.Errorf("error %v, want one that says why there is nothing to compare", err)
	}
}

// finishes fails the test if f takes longer than any machine needs.
func finishes(t *testing.T, limit time.Duration, f func()) {
	t.Helper()
	done := make(chan struct{})
	go func() {
		defer close(done)
		f()
	}()
	select {
	case <-done:
	case <-time.After(limit):
		t.Fatalf("not finished after %v", limit)
	}
}

func writeTemp(t *testing.T, name, text string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), name)
	if err := os.WriteFile(path, []byte(text), 0o666); err != nil {
		t.Fatal(err)
	}
	return path
}
