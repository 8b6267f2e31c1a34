package sides

import (
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"reflect"
	"runtime"
	"strings"
	"testing"

	"onebit/internal/require"
)

func TestReadCachegrind(t *testing.T) {
	for text, want := range map[string]map[string]float64{
		"desc: I1 cache: 1\ncmd: ./x -a 1\nevents: Ir\nfl=???\nfn=runtime.main\n0 12\nfn=p.F[go.shape.int]\n0 30\nfl=/a b.c\nfn=p.F[go.shape.int]\n7 4\n9 1\nsummary: 47\n": {"runtime.main": 12, "p.F[go.shape.int]": 35},
		"events: Ir\nfl=???\nfn=???\n0 5\n": {"": 5},
		"events: Ir\n":                      nil,
		"fn=a\n0 many\n":                    nil,
	} {
		path := filepath.Join(t.TempDir(), "counts")
		if err := os.WriteFile(path, []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
		if got, err := readCachegrind(path); !reflect.DeepEqual(got, want) || (err == nil) != (want != nil) {
			t.Errorf("%q: %v, %v; want %v", text, got, err, want)
		}
	}
}

// valgrind counts a program of Go by function, and says what it cannot play.
func TestCachegrind(t *testing.T) {
	require.Unraced(t, "counts another program")
	by, err := cachegrind()
	if err != nil {
		require.Skip(t, "valgrind", err.Error())
	}
	binary := countedBinary(t)
	counter, err := newTester(&Running{Temp: t.TempDir()}, nil)
	if err != nil {
		t.Fatal(err)
	}
	const n, work = 20, 1000
	few, err := by.count(t.Context(), counter, binary, "^BenchmarkSum$", n)
	if err != nil {
		t.Fatal(err)
	}
	many, err := by.count(t.Context(), counter, binary, "^BenchmarkSum$", 2*n)
	if err != nil {
		t.Fatal(err)
	}
	each := (many["example.com/p.sum"] - few["example.com/p.sum"]) / n
	if each < 2*work || each > 10*work || each != math.Trunc(each) {
		t.Errorf("a sum of %d numbers executes %v instructions", work, each)
	}
	if _, err := by.count(t.Context(), counter, binary, "^BenchmarkNone$", n); err == nil || !strings.Contains(err.Error(), "does not run on one CPU") {
		t.Errorf("a benchmark that is not there: %v", err)
	}
	if _, err := by.count(t.Context(), counter, binary, "^BenchmarkWide$", n); runtime.GOARCH == "amd64" && (err == nil || !strings.Contains(err.Error(), "an instruction that valgrind does not know (0x62 ")) {
		t.Errorf("AVX-512: %v", err)
	}
}

// countedBinary is a test binary with a known loop, and with an instruction of
// AVX-512 where there is one.
func countedBinary(t *testing.T) testBinary {
	t.Helper()
	dir := t.TempDir()
	files := map[string]string{
		"go.mod": "module example.com/p\n\ngo 1.26\n",
		"p_test.go": `package p

import "testing"

var numbers [1000]int

//go:noinline
func sum() (s int) {
	for _, x := range numbers {
		s += x
	}
	return s
}

func BenchmarkSum(b *testing.B) {
	for range b.N {
		numbers[0] = sum()
	}
}

func BenchmarkWide(b *testing.B) {
	for range b.N {
		wide()
	}
}
`,
		"p_amd64.s":  "#include \"textflag.h\"\n\nTEXT ·wide(SB), NOSPLIT, $0-0\n\tVPXORQ Z0, Z0, Z0\n\tRET\n",
		"p_amd64.go": "package p\n\nfunc wide()\n",
		"p_other.go": "//go:build !amd64\n\npackage p\n\nfunc wide() {}\n",
	}
	for name, text := range files {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	cmd := exec.Command("go", "test", "-c", "-ldflags="+named, "-o", "p.test")
	cmd.Dir = dir
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("go test -c: %v: %s", err, out)
	}
	return testBinary{file: filepath.Join(dir, "p.test"), dir: dir, pkg: "example.com/p"}
}
