package reach

import (
	"cmp"
	"encoding/json"
	"fmt"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"onebit/bench/noise"
)

// countedVersions names modules with two versions or more, as in
// "github.com/google/uuid v1.4.0 v1.5.0 v1.6.0; …", of which neighbours are compared.
const countedVersions = "ONEBIT_COUNTED_VERSIONS"

// TestSameCodeRunsAlike counts the instructions of every benchmark that is said to run
// the same code, on both sides: valgrind's cachegrind needs no quiet machine. It takes
// minutes and the module proxy, so somebody has to ask for it
// (docs/measurements/gate.md).
func TestSameCodeRunsAlike(t *testing.T) {
	modules := os.Getenv(countedVersions)
	if modules == "" {
		t.Skip("set " + countedVersions + " to count what modules' versions execute")
	}
	for module := range strings.SplitSeq(modules, ";") {
		f := strings.Fields(module)
		for i := range f[2:] {
			t.Run(fmt.Sprintf("%s %s %s", f[0], f[1+i], f[2+i]), func(t *testing.T) { countVersions(t, f[0], f[1+i], f[2+i]) })
		}
	}
}

func countVersions(t *testing.T, module, old, now string) {
	dirs := [2]string{versionIn(t, module, old), versionIn(t, module, now)}
	var trees [2]Tree
	for i, dir := range dirs {
		trees[i] = Tree{Go: goIn(dir), Flags: []string{"-trimpath"}}
	}
	r, err := Compare(t.Context(), trees[0], trees[1], []string{"./..."})
	if err != nil {
		t.Fatal(err)
	}
	all, same := 0, 0
	var apart []float64
	for pkg, verdicts := range r.Verdicts {
		all += len(verdicts)
		var names []string
		for name, v := range verdicts {
			if v.Same {
				names = append(names, name)
			}
		}
		if same += len(names); len(names) == 0 {
			continue
		}
		var tests [2]testProgram
		for i, dir := range dirs {
			tests[i] = buildTests(t, dir, strings.TrimPrefix(strings.TrimPrefix(pkg, module), "/"))
		}
		for _, b := range tests[0].leaves(t, names) {
			t.Run(b.name, func(t *testing.T) { apart = append(apart, b.compare(t, tests)) })
		}
	}
	if t.Logf("%d benchmarks, %d of them the same", all, same); same > 0 {
		t.Logf("counted in %d parts, %.3g%% apart (median), %.3g%% at most", len(apart), 100*noise.Median(apart), 100*slices.Max(apart))
	}
}

// versionIn is a folder with a module's version.
func versionIn(t *testing.T, module, version string) string {
	t.Helper()
	out, err := exec.Command("go", "mod", "download", "-json", module+"@"+version).Output()
	var found struct{ Dir string }
	if err == nil {
		err = json.Unmarshal(out, &found)
	}
	if err != nil {
		t.Fatalf("%s@%s: %v", module, version, err)
	}
	dir := filepath.Join(t.TempDir(), "module")
	if err := os.CopyFS(dir, os.DirFS(found.Dir)); err != nil {
		t.Fatal(err)
	}
	return dir
}

// A testProgram is a test binary, and where it runs.
type testProgram struct{ file, dir string }

func buildTests(t *testing.T, module, pkg string) testProgram {
	t.Helper()
	p := testProgram{filepath.Join(t.TempDir(), "tests"), filepath.Join(module, pkg)}
	if _, err := goIn(p.dir)(t.Context(), "test", "-c", "-trimpath", "-o", p.file, "."); err != nil {
		t.Fatal(err)
	}
	return p
}

// run runs benchmarks, so many operations each, under other programs if there are any.
func (p testProgram) run(t *testing.T, match string, operations string, under ...string) string {
	t.Helper()
	args := append(under, p.file, "-test.run=^$", "-test.bench="+match, "-test.benchtime="+operations, "-test.cpu=1")
	cmd := exec.Command(args[0], args[1:]...)
	cmd.Dir, cmd.Env = p.dir, append(os.Environ(), "GOGC=off", "GOMEMLIMIT=1GiB") // collecting begins at any moment
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("%q: %v: %s", args, err, out)
	}
	return string(out)
}

// A leaf is a benchmark without sub-benchmarks.
type leaf struct {
	name string
	n    int // operations whose instructions are counted
}

var resultLine = regexp.MustCompile(`(?m)^Benchmark(\S+)\s+\d+\s+(\S+) ns/op`)

// leaves are the parts of benchmarks, with as many operations as take some
// milliseconds.
func (p testProgram) leaves(t *testing.T, names []string) (all []leaf) {
	out := p.run(t, "^Benchmark("+strings.Join(names, "|")+")$", "2ms")
	for _, m := range resultLine.FindAllStringSubmatch(out, -1) {
		ns, err := strconv.ParseFloat(m[2], 64)
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, leaf{m[1], int(math.Ceil(5e6 / max(ns, 1)))})
	}
	return all
}

// compare counts on both sides, again and again until what was counted of one lies
// among what was counted of the other. Six of each that lie apart do so by chance
// twice in a thousand.
func (b leaf) compare(t *testing.T, tests [2]testProgram) (apart float64) {
	var counts [2][]float64
	among := false
	for n := 1; n <= 6 && !among; n++ {
		for i, p := range tests {
			counts[i] = append(counts[i], b.count(t, p))
		}
		among = n > 1 && slices.Max(counts[0]) >= slices.Min(counts[1]) && slices.Max(counts[1]) >= slices.Min(counts[0])
	}
	apart = math.Abs(noise.Median(counts[1])/noise.Median(counts[0]) - 1)
	t.Logf("%.6g and %.6g instructions an operation, %.2g%% apart", counts[0], counts[1], 100*apart)
	if !among {
		t.Error("the same code executes other numbers of instructions")
	}
	return apart
}

var instructions = regexp.MustCompile(`I\s+refs:\s+([\d,]+)`)

// count is the instructions of an operation: those of n operations less those of a
// tenth as many, so that what a program does once is not among them.
func (b leaf) count(t *testing.T, p testProgram) float64 {
	levels := strings.Split(b.name, "/")
	for i, l := range levels {
		levels[i] = "^" + regexp.QuoteMeta(l) + "$"
	}
	match := "^Benchmark" + strings.TrimPrefix(strings.Join(levels, "/"), "^")
	of := func(n int) float64 {
		out := p.run(t, match, strconv.Itoa(n)+"x", "valgrind", "--tool=cachegrind", "--cache-sim=no", "--cachegrind-out-file=/dev/null")
		m := instructions.FindStringSubmatch(out)
		if m == nil || !resultLine.MatchString(out) {
			t.Fatalf("no count in %s", out)
		}
		n64, err := strconv.ParseFloat(strings.ReplaceAll(m[1], ",", ""), 64)
		if err != nil {
			t.Fatal(err)
		}
		return n64
	}
	few := cmp.Or(b.n/10, 1)
	return (of(b.n+1) - of(few)) / float64(b.n+1-few)
}
