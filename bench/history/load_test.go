package history

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"onebit/bench/results"
	"onebit/internal/require"
)

var onlyTime = LoadOptions{Units: []string{results.NsPerOp}}

// folder writes files by name and gives them times a minute apart, in the order
// of their names.
func folder(t testing.TB, files map[string]string) string {
	t.Helper()
	dir := t.TempDir()
	at := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	for _, name := range slices.Sorted(func(yield func(string) bool) {
		for name := range files {
			if !yield(name) {
				return
			}
		}
	}) {
		path := filepath.Join(dir, name)
		at = at.Add(time.Minute)
		err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o777), os.WriteFile(path, []byte(files[name]), 0o666), os.Chtimes(path, at, at))
		if err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

func load(t testing.TB, dir string, opt LoadOptions) *History {
	t.Helper()
	h, err := Load(context.Background(), dir, opt)
	if err != nil {
		t.Fatal(err)
	}
	return h
}

// sketch is a history in a line per series.
func sketch(h *History) string {
	var b strings.Builder
	for _, s := range h.Series {
		fmt.Fprintf(&b, "%s %s %s", s.Package, s.Name, s.Unit)
		for i, at := range s.At {
			fmt.Fprintf(&b, " %s=%v/%d", h.Points[at].Label(), s.Values[i], s.Files[i])
		}
		b.WriteByte('\n')
	}
	return b.String()
}

func TestLoad(t *testing.T) {
	for _, c := range []struct {
		name  string
		files map[string]string
		opt   LoadOptions
		want  string
		note  string
	}{
		{
			"runs of a commit are one point, in the order of commit dates",
			map[string]string{
				"a.txt": "commit: bbbbbb2\ncommit-date: 2026-02-02\nBenchmarkX 1 10 ns/op\nBenchmarkX 1 30 ns/op\nBenchmarkX 1 20 ns/op\n",
				"b.txt": "commit: aaaaaa1\ncommit-date: 2026-02-01\nBenchmarkX-8 1 5 ns/op\n",
				"c.txt": "commit: bbbbbb2\ncommit-date: 2026-02-02\nBenchmarkX 1 22 ns/op\n",
			}, onlyTime,
			" X ns/op bbbbbb2=21/2\n X ns/op aaaaaa1=5/1\n", "",
		},
		{
			"the full form of a commit and a short one are one",
			map[string]string{
				"a.txt": "commit: 0123456789abcdef0123456789abcdef01234567\nBenchmarkX 1 10 ns/op\n",
				"b.txt": "commit: 0123456\nBenchmarkX 1 12 ns/op\n",
				"c.txt": "commit: 0123456-dirty\nBenchmarkX 1 99 ns/op\n",
			}, onlyTime,
			" X ns/op 0123456789=11/2 0123456-dirty=99/1\n", "order from file times: 2 of 2 points have no date inside",
		},
		{
			"machines, packages and GOMAXPROCS apart",
			map[string]string{
				"a.txt": "commit: aaaaaa1\nstarted: 2026-02-01T00:00:00Z\ncpu: one\npkg: p\nBenchmarkX 1 1 ns/op\npkg: q\nBenchmarkX 1 2 ns/op\nBenchmarkX-4 1 3 ns/op\n",
				"b.txt": "commit: aaaaaa1\nstarted: 2026-02-01T00:00:00Z\ncpu: two\npkg: p\nBenchmarkX 1 4 ns/op\n",
			}, onlyTime,
			"p X ns/op aaaaaa1=1/1\nq X ns/op aaaaaa1=2/1\nq X ns/op aaaaaa1=3/1\np X ns/op aaaaaa1=4/1\n",
			"order from when 1 of 1 point were measured",
		},
		{
			"of a gate's sides, head counts; arms are no cases",
			map[string]string{
				"a.txt": "side: base\nBenchmarkX 1 1 ns/op\nside: head\nBenchmarkX 1 2 ns/op\nBenchmarkAA/X/arm=b 1 7 ns/op\nside: control\nBenchmarkX 1 3 ns/op\n",
			}, onlyTime,
			" X ns/op a.txt=2/1\n", "",
		},
		{
			"commits and dates of file names",
			map[string]string{
				"2026-03-02-cafe123.txt": "BenchmarkX 1 2 ns/op\n",
				"2026-03-01/x.txt":       "BenchmarkX 1 1 ns/op\n",
			}, onlyTime,
			" X ns/op 2026-03-01/x.txt=1/1 cafe123=2/1\n", "order from the dates in file names: 2 of 2 points have no date inside",
		},
		{
			"copies count once",
			map[string]string{"a.txt": "BenchmarkX 1 1 ns/op\n", "b.txt": "BenchmarkX 1 1 ns/op\n", "c.txt": "BenchmarkX 1 2 ns/op\n"}, onlyTime,
			" X ns/op a.txt=1/1 c.txt=2/1\n", "1 file is the copy of another and counted once: ",
		},
		{
			"what makes no sense is left out",
			map[string]string{
				"a.txt": "BenchmarkX 1 1 ns/op\nBenchmarkX 1 NaN ns/op\nBenchmarkX 1 -3 ns/op\nBenchmarkX zwei 1 ns/op\nBenchmarkX 0 9 ns/op\nBenchmarkX 1 8",
				"b.txt": "BenchmarkX 1 1e300 ns/op\n", "c.txt": "\x00\x01BenchmarkX 1 1 ns/op\n", "README.md": "no results\n",
				"d.txt": strings.Repeat("x", 1<<20),
				".hide": "BenchmarkX 1 77 ns/op\n",
			}, onlyTime,
			" X ns/op a.txt=1/1 b.txt=1e+300/1\n", "a.txt: the last line is unfinished, and 4 such lines: left out",
		},
		{
			"units of known direction, and what a file says of others",
			map[string]string{
				"a.txt": "Unit p99-ns better=lower\nUnit score better=higher\nUnit size assume=exact\nBenchmarkX 1 10 ns/op 5 B/op 4 p99-ns 4 score 5 size 6 what\n",
			}, LoadOptions{},
			" X B/op a.txt=5/1\n X ns/op a.txt=10/1\n X p99-sec a.txt=4e-09/1\n X score a.txt=4/1\n", "",
		},
		{
			"a filter",
			map[string]string{"a.txt": "BenchmarkX/n=1 1 1 ns/op\nBenchmarkX/n=2 1 2 ns/op\nBenchmarkY 1 3 ns/op\n"},
			LoadOptions{Filter: "/n:2 OR .name:Y", Units: onlyTime.Units},
			" X/n=2 ns/op a.txt=2/1\n Y ns/op a.txt=3/1\n", "",
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			h := load(t, folder(t, c.files), c.opt)
			if got := sketch(h); got != c.want {
				t.Errorf("series:\n%swant:\n%s", got, c.want)
			}
			if !strings.Contains(strings.Join(h.Notes, "\n"), c.note) {
				t.Errorf("notes %q, want %q", h.Notes, c.note)
			}
		})
	}
}

// Names of files and benchmarks that could command a terminal arrive escaped.
func TestLoadHostileNames(t *testing.T) {
	file := "a\x1b[2J.txt"
	if runtime.GOOS == "windows" {
		file = "a.txt" // there can be no such name
	}
	h := load(t, folder(t, map[string]string{file: "cpu: evil\x1b[0m\npkg: p\x07\nBenchmarkX\x1b[31m 1 1 ns/op\n"}), onlyTime)
	s := h.Series[0]
	if all := s.Name + s.Package + h.Machines[s.Machine] + h.Points[0].Label(); strings.ContainsAny(all, "\x1b\x07") || !strings.Contains(s.Name, `\x1b`) {
		t.Errorf("%q", all)
	}
}

func TestLoadErrors(t *testing.T) {
	res := map[string]string{"a.txt": "BenchmarkX/n=1 1 1 ns/op 2 B/op\n"}
	for _, c := range []struct {
		files map[string]string
		opt   LoadOptions
		want  string
	}{
		{nil, onlyTime, "none of 0 files has results in Go's benchmark format"},
		{map[string]string{"a.txt": "hello\n", "b.txt": "x"}, onlyTime, "none of 2 files has results in Go's benchmark format"},
		{res, LoadOptions{Units: []string{"tok/s"}}, "has no values in tok/s; there are: B/op, ns/op"},
		{res, LoadOptions{Filter: "/m:1"}, `unknown key /m (known: .fullname, .name, /n`},
		{res, LoadOptions{Filter: "/n:2"}, "no case has n 2; there are: 1"},
		{res, LoadOptions{Filter: "("}, `filter "("`},
		{map[string]string{"a.txt": "BenchmarkX 1 NaN ns/op\n"}, onlyTime, "no value can be used: "},
		{map[string]string{"a.txt": "BenchmarkX 1 3 furlongs\n"}, LoadOptions{}, "no value can be used"},
	} {
		h, err := Load(context.Background(), folder(t, c.files), c.opt)
		if h != nil || err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%v: %v, want %q", c.files, err, c.want)
		}
	}
	if _, err := Load(context.Background(), filepath.Join(t.TempDir(), "none"), onlyTime); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("no folder: %v", err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if _, err := Load(ctx, folder(t, res), onlyTime); !errors.Is(err, context.Canceled) {
		t.Errorf("cancelled: %v", err)
	}
}

// A file that is too large is left out unread, here one of 1 GB of nothing.
func TestLoadLargeFile(t *testing.T) {
	dir := folder(t, map[string]string{"a.txt": "BenchmarkX 1 1 ns/op\n", "huge.txt": "BenchmarkX 1 1 ns/op\n"})
	if err := os.Truncate(filepath.Join(dir, "huge.txt"), 1<<30); err != nil {
		t.Skip("no sparse files: ", err)
	}
	h := load(t, dir, onlyTime)
	if notes := strings.Join(h.Notes, "\n"); h.Files != 1 || !strings.Contains(notes, "huge.txt") || !strings.Contains(notes, "1024 MiB are more than a results file has") {
		t.Errorf("%d files, notes %q", h.Files, notes)
	}
}

// A repository orders commits, whatever their dates, and counts what lies between.
func TestRepository(t *testing.T) {
	if _, err := exec.LookPath("git"); err != nil {
		require.Skip(t, "git", "there is no git")
	}
	dir := t.TempDir()
	git := func(args ...string) string {
		cmd := exec.Command("git", append([]string{"-C", dir}, args...)...)
		cmd.Env = append(os.Environ(), "GIT_CONFIG_NOSYSTEM=1", "HOME="+dir, "GIT_AUTHOR_NAME=a", "GIT_AUTHOR_EMAIL=a@b.c",
			"GIT_COMMITTER_NAME=a", "GIT_COMMITTER_EMAIL=a@b.c", "GIT_COMMITTER_DATE=2026-01-01T00:00:00Z")
		out, err := cmd.CombinedOutput()
		if err != nil {
			t.Fatalf("git %v: %v\n%s", args, err, out)
		}
		return strings.TrimSpace(string(out))
	}
	git("init", "-q")
	var hashes []string
	for _, subject := range []string{"one", "two", "three"} {
		git("commit", "-q", "--allow-empty", "-m", subject)
		hashes = append(hashes, git("rev-parse", "HEAD"))
	}
	// Measured in the reverse order; one commit is nowhere.
	files := map[string]string{"z.txt": "commit: 0123456789abcdef0123456789abcdef01234567\nstarted: 2020-01-01T00:00:00Z\nBenchmarkX 1 9 ns/op\n"}
	for i, hash := range hashes {
		files[fmt.Sprint(i, ".txt")] = fmt.Sprintf("commit: %s\nstarted: 2026-02-%02dT00:00:00Z\nBenchmarkX 1 %d ns/op\n", hash[:12-i], 9-i, i+1)
	}
	repo := Repository{dir}
	opt := onlyTime
	opt.Commits = repo.Commits
	h := load(t, folder(t, files), opt)
	if got := h.Series[0].Values; !slices.Equal(got, []float64{9, 1, 2, 3}) {
		t.Errorf("order %v", got)
	}
	if p := h.Points[2]; p.Commit != hashes[1] || p.Subject != "two" {
		t.Errorf("%+v", p)
	}
	if !slices.Contains(h.Notes, "1 commit is not in the repository: placed by date") {
		t.Errorf("notes %q", h.Notes)
	}
	if n, err := repo.Between(context.Background(), hashes[0], hashes[2]); n != 2 || err != nil {
		t.Errorf("between: %d, %v", n, err)
	}
	opt.Commits = Repository{t.TempDir()}.Commits
	if _, err := Load(context.Background(), folder(t, files), opt); err == nil || !strings.Contains(err.Error(), "git cat-file in ") {
		t.Errorf("no repository: %v", err)
	}
}

// writeHistory writes results files of many commits: cases with three samples
// each, of which one in twenty has a step and one in forty a bump.
func writeHistory(t testing.TB, files, cases int) string {
	rng := rand.New(rand.NewPCG(7, 8))
	dir := t.TempDir()
	var b bytes.Buffer
	for f := range files {
		b.Reset()
		at := time.Date(2024, 1, 1, f, 0, 0, 0, time.UTC)
		fmt.Fprintf(&b, "goos: linux\ngoarch: amd64\ncpu: simulated\ncpus-usable: 2\ncommit: %040x\ncommit-date: %s\npkg: example.com/m\n", f*7919+1, at.Format(time.RFC3339))
		for c := range cases {
			level := 1000 * float64(c+1)
			switch {
			case c%20 == 7 && f >= files/3, c%40 == 11 && f >= files/2 && f < files/2+files/8:
				level *= 1.05
			}
			for range 3 {
				fmt.Fprintf(&b, "BenchmarkCase/n=%d/variant=generic-2 \t1000\t%.4g ns/op\t%d B/op\t2 allocs/op\n", c, level*math.Exp(0.02*rng.NormFloat64()), 64)
			}
		}
		if err := os.WriteFile(filepath.Join(dir, fmt.Sprintf("%04d.txt", f)), b.Bytes(), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

func TestGenerated(t *testing.T) {
	h := load(t, writeHistory(t, 90, 40), onlyTime)
	if h.Files != 90 || len(h.Points) != 90 || len(h.Series) != 40 {
		t.Fatalf("%d files, %d points, %d series", h.Files, len(h.Points), len(h.Series))
	}
	steps := 0
	for _, c := range trends(t, h).Changes {
		s := h.Series[c.Series]
		n := results.ParseName(s.Name).Get("n")
		if (n == "7" || n == "27") && abs(c.After.From-30) <= 2 && c.Worth == -1 && c.Lo < 1.05 && 1.05 < c.Hi && c.After.Files+c.Before.Files == 90 {
			steps++
		}
	}
	if steps != 2 {
		t.Errorf("%d of 2 steps found: %+v", steps, trends(t, h).Changes)
	}
}

// BenchmarkHistory reads 1,000 files of 500 cases with 3 samples each and finds
// the changes.
func BenchmarkHistory(b *testing.B) {
	dir := writeHistory(b, 1000, 500)
	b.Run("load", func(b *testing.B) {
		for b.Loop() {
			load(b, dir, onlyTime)
		}
	})
	b.Run("trends", func(b *testing.B) {
		h := load(b, dir, onlyTime)
		for b.Loop() {
			trends(b, h)
		}
	})
}
