package reports_test

import (
	"bytes"
	"compress/gzip"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/rogpeppe/go-internal/txtar"

	"onebit/bench/gate"
	"onebit/bench/gate/sides"
	"onebit/bench/history"
	"onebit/bench/results"
	"onebit/internal/require"
	"onebit/reports/compare"
	gatepage "onebit/reports/gate"
	historypage "onebit/reports/history"
	"onebit/reports/render"
	"onebit/reports/reportstest"
)

// TestVerdicts gives every verdict that was ever wrong, or missing, another chance:
// each file in testdata/verdicts holds what was asked, what was said, and the right
// answer. testdata/README says how to add one.
func TestVerdicts(t *testing.T) {
	require.Unplayed(t, "arithmetic is the same on every machine")
	require.Unraced(t, "other tests do the same work")
	for _, path := range verdictFiles(t) {
		v := readVerdict(t, path)
		t.Run(v.name, func(t *testing.T) { v.check(t) })
	}
}

// A wrongVerdict is a case of the corpus.
type wrongVerdict struct {
	name   string
	header map[string][]string // by the word that begins a line
	files  map[string][]byte
}

// verdictKeys are the words that lines of a case begin with: asked, said, right and
// data tell people what was wrong. Of the answer each line of "want" is a regular
// expression that matches it, and none of "never" does. "still" says why the answer is
// wrong today, and "file" lends the case a file from testdata.
var verdictKeys = []string{"asked", "said", "right", "data", "want", "never", "still", "file"}

const verdictFolder = "testdata/verdicts"

func verdictFiles(t *testing.T) []string {
	t.Helper()
	paths, err := filepath.Glob(filepath.Join(verdictFolder, "*.txtar*"))
	if err != nil || len(paths) == 0 {
		t.Fatalf("%d cases in %s: %v", len(paths), verdictFolder, err)
	}
	return paths
}

func readVerdict(t *testing.T, path string) wrongVerdict {
	t.Helper()
	name, _, _ := strings.Cut(filepath.Base(path), ".")
	v := wrongVerdict{name, map[string][]string{}, map[string][]byte{}}
	archive := txtar.Parse(unpacked(t, path))
	for line := range strings.Lines(string(archive.Comment)) {
		key, value, _ := strings.Cut(strings.TrimSpace(line), ": ")
		if !slices.Contains(verdictKeys, key) {
			t.Fatalf("%s: a line begins with %q, want one of %q", path, key, verdictKeys)
		}
		v.header[key] = append(v.header[key], value)
	}
	for _, f := range archive.Files {
		v.files[f.Name] = f.Data
	}
	for _, lent := range v.header["file"] {
		name, from, _ := strings.Cut(lent, " ")
		v.files[name] = unpacked(t, filepath.Join("testdata", from))
	}
	for _, key := range []string{"asked", "said", "right", "data", "want"} {
		if len(v.header[key]) == 0 {
			t.Fatalf("%s does not say %s", path, key)
		}
	}
	return v
}

// unpacked is what a file holds, compressed or not.
func unpacked(t *testing.T, path string) []byte {
	t.Helper()
	data, err := os.ReadFile(path)
	if err == nil && strings.HasSuffix(path, ".gz") {
		var z *gzip.Reader
		if z, err = gzip.NewReader(bytes.NewReader(data)); err == nil {
			data, err = io.ReadAll(z)
		}
	}
	if err != nil {
		t.Fatalf("%s: %v", path, err)
	}
	return data
}

// check compares today's answer with the right one.
func (v wrongVerdict) check(t *testing.T) {
	answer := v.answer(t)
	var wrong []string
	for _, want := range v.header["want"] {
		if !regexp.MustCompile("(?m)" + want).MatchString(answer) {
			wrong = append(wrong, fmt.Sprintf("want %q", want))
		}
	}
	for _, never := range v.header["never"] {
		if regexp.MustCompile("(?m)" + never).MatchString(answer) {
			wrong = append(wrong, fmt.Sprintf("want no %q", never))
		}
	}
	if testing.Verbose() {
		t.Log(answer)
	}
	switch still := v.header["still"]; {
	case len(wrong) > 0 && still == nil:
		t.Errorf("asked: %s\nright: %s\n%s in\n%s", v.header["asked"], v.header["right"], strings.Join(wrong, ", "), answer)
	case len(wrong) == 0 && still != nil:
		t.Errorf("the answer is right by now: the line %q may go", "still: "+still[0])
	}
}

// answer is what a user reads, with the exit status of a gate in a line of its own, or
// the error.
func (v wrongVerdict) answer(t *testing.T) string {
	dir := t.TempDir()
	for name, data := range v.files {
		if err := os.WriteFile(filepath.Join(dir, name), data, 0o666); err != nil {
			t.Fatal(err)
		}
	}
	answers := map[string]func(t *testing.T, dir string) (string, error){
		"onebit gate": v.gated, "onebit compare": v.compared, "onebit history": v.recalled,
	}
	for asked, answer := range answers {
		if strings.HasPrefix(v.header["asked"][0], asked) {
			text, err := answer(t, dir)
			if err != nil {
				return text + "onebit: " + err.Error() + "\n"
			}
			return text
		}
	}
	t.Fatalf("nobody answers %q", v.header["asked"])
	return ""
}

func (v wrongVerdict) compared(t *testing.T, dir string) (string, error) {
	c, err := compare.Files(t.Context(), compare.Options{}, filepath.Join(dir, "old.txt"), filepath.Join(dir, "new.txt"))
	if err != nil {
		return "", err
	}
	var b strings.Builder
	err = reportstest.PrintDoc(&b, c.Document(false), "table", render.Options{Width: 120})
	return b.String(), err
}

func (v wrongVerdict) recalled(t *testing.T, dir string) (string, error) {
	h, err := history.Load(t.Context(), dir, history.LoadOptions{Units: []string{results.NsPerOp}})
	if err != nil {
		return "", err
	}
	options := history.Options{Seed: 1}
	trends, err := h.Trends(t.Context(), options)
	if err != nil {
		return "", err
	}
	var b strings.Builder
	for _, note := range h.Notes {
		fmt.Fprintf(&b, "note: %s\n", note)
	}
	err = reportstest.PrintDoc(&b, historypage.View{History: h, Trends: trends, Options: options}.Document(), "table", render.Options{})
	return b.String(), err
}

// gated is a gate over what a results file recorded, in as much time, or over two
// programs that print what is given.
func (v wrongVerdict) gated(t *testing.T, dir string) (string, error) {
	options := gate.Options{ThresholdOf: new(gate.Rules).ThresholdOf, KeepGoing: true}
	if data, ok := v.files["results.txt"]; ok {
		return playedGate(t, data, options)
	}
	return printedGate(t, dir, options)
}

func gateAnswer(report *gate.Report, err error) (string, error) {
	if report == nil {
		return "", err
	}
	var b strings.Builder
	fmt.Fprintf(&b, "exit %d\n", report.Exit())
	err = errors.Join(err, reportstest.PrintDoc(&b, gatepage.Document(&gate.Results{Report: report}), "table", render.Options{}))
	return b.String(), err
}

func playedGate(t *testing.T, data []byte, options gate.Options) (string, error) {
	recorded, err := gate.ReadResults(bytes.NewReader(data), "results.txt")
	if err != nil {
		return "", err
	}
	p := newPlayback(recorded.Measurements)
	options.Now = func() time.Time { return time.Time{}.Add(p.now) }
	options.Start, options.Budget = options.Now(), recorded.Report.Elapsed
	return gateAnswer(gate.Run(t.Context(), p, p.benchmarks, options))
}

// A playback is a gate's target that measures again what was measured once. A round
// of two passes was recorded, and is played as two.
type playback struct {
	benchmarks []gate.Benchmark
	n          map[gate.Benchmark]int
	rounds     []map[turn][]gate.Measurement
	round      int
	now        time.Duration
}

type turn struct {
	gate.Benchmark
	gate.Side
}

func newPlayback(all []gate.Measurement) *playback {
	p := &playback{n: map[gate.Benchmark]int{}}
	for _, m := range all {
		if p.n[m.Benchmark] == 0 {
			p.n[m.Benchmark] = m.N
			p.benchmarks = append(p.benchmarks, m.Benchmark)
		}
		for m.Round >= len(p.rounds) {
			p.rounds = append(p.rounds, map[turn][]gate.Measurement{})
		}
		at := turn{m.Benchmark, m.Side}
		p.rounds[m.Round][at] = append(p.rounds[m.Round][at], m)
	}
	return p
}

func (p *playback) Prepare(_ context.Context, round int, _ []gate.Benchmark) error {
	if round/passes >= len(p.rounds) {
		return fmt.Errorf("only %d rounds were recorded", len(p.rounds))
	}
	p.round = round / passes
	return nil
}

// passes are those of a recorded round.
const passes = 2

func (p *playback) Plan(_ context.Context, benchmarks []gate.Benchmark, _ time.Duration) (batches []gate.Batch, err error) {
	for _, b := range benchmarks {
		batches = append(batches, gate.Batch{Benchmarks: []gate.Benchmark{b}, N: p.n[b], Took: time.Millisecond})
	}
	return batches, nil
}

func (p *playback) Run(_ context.Context, side gate.Side, batch gate.Batch) ([][]results.Metric, error) {
	at := turn{batch.Benchmarks[0], side}
	left := p.rounds[p.round][at]
	if len(left) == 0 {
		return nil, fmt.Errorf("round %d has no further process of %v", p.round, at)
	}
	p.rounds[p.round][at] = left[1:]
	p.now = max(p.now, left[0].Start+left[0].Took)
	return [][]results.Metric{left[0].Values}, nil
}

// printedOutput names a folder with what the sides of a gate print instead of running
// benchmarks: this test's binary is such a program, too.
const printedOutput = "ONEBIT_REPORTS_TEST_PRINTS"

func TestMain(m *testing.M) {
	dir := os.Getenv(printedOutput)
	if dir == "" {
		os.Exit(m.Run())
	}
	side := gate.Base
	if strings.Contains(filepath.Base(os.Args[0]), gate.Head.String()) {
		side = gate.Head
	}
	text, err := os.ReadFile(filepath.Join(dir, side.String()+".out"))
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	os.Stdout.Write(text)
	os.Exit(0)
}

func printedGate(t *testing.T, dir string, options gate.Options) (string, error) {
	t.Setenv(printedOutput, dir)
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	tests := &sides.Binaries{Base: self, Head: self, Running: sides.Running{CPUs: 2, Temp: t.TempDir()}}
	list, differ, err := tests.Find(t.Context())
	if err != nil {
		return "", err
	}
	if len(differ) > 0 {
		return fmt.Sprintln(differ), errors.New("benchmarks are not on both sides")
	}
	options.Budget = time.Second
	return gateAnswer(gate.Run(t.Context(), tests, list, options))
}
