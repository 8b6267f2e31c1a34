package shaders

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"strings"
	"testing"

	"onebit/internal/require"
)

var (
	// A function constant, whose value clang need not know.
	functionConstant = regexp.MustCompile(`(?m)^constant (\w+ +\w+) *\[\[function_constant\(\d+\)\]\];`)
	// A name that is the compiler's own.
	reserved = regexp.MustCompile(`\b(__\w+|_[A-Z]\w*)`)
	// A pointer or reference of clang's tree that has the address space of all, which Metal lacks.
	everywhere = regexp.MustCompile(`:\d+ (?:(?:used|referenced) )?(\w+) '([^']*__generic [^']*[*&])`)
)

// clang returns what clang says of a source as C++ for OpenCL, which Metal's
// language has its address spaces and its limits from, and what of clang it uses that
// Metal has not; "" if there is nothing to say.
func clang(t *testing.T, source string) string {
	t.Helper()
	if runtime.GOOS == "darwin" {
		t.Skip("Metal's own compiler has the word")
	}
	compiler, err := exec.LookPath("clang")
	if err != nil {
		require.Skip(t, "clang", err.Error())
	}
	path := filepath.Join(t.TempDir(), "shader.metal")
	if err := os.WriteFile(path, []byte(functionConstant.ReplaceAllString(source, "extern constant $1;")), 0o600); err != nil {
		t.Fatal(err)
	}
	// Metal is C++14. What is declared and not used is so in a part of the sources only.
	check := exec.Command(compiler, "-x", "cl", "-cl-std=clc++2021", "-target", "spir64", "-cl-no-stdinc",
		"-Xclang", "-cl-ext=-cl_khr_fp64,-__opencl_c_fp64,+cl_khr_fp16", "-Xclang", "-ast-dump", "-fno-color-diagnostics", "-fsyntax-only",
		"-Wall", "-Wextra", "-Wpedantic", "-Wc++98-c++11-c++14-compat", "-Wconversion", "-Wno-sign-conversion", "-Werror",
		"-Wno-unknown-attributes", "-Wno-unknown-pragmas", "-Wno-unused-function", "-Wno-unused-const-variable", "-Itestdata/clang", path)
	var said strings.Builder
	check.Stderr = &said
	tree, err := check.Output()
	if err != nil && said.Len() == 0 {
		t.Fatal(err)
	}
	for _, m := range everywhere.FindAllSubmatch(tree, -1) {
		if name := string(m[1]); name != "used" && name != "referenced" { // which are of no name, of what clang makes
			fmt.Fprintf(&said, "%s is a %s: it has no address space\n", name, m[2])
		}
	}
	if strings.Contains(string(tree), "LambdaExpr") {
		said.WriteString("a lambda, which Metal 2.3 has not\n")
	}
	for _, name := range reserved.FindAllString(source, -1) {
		fmt.Fprintf(&said, "%s is a compiler's name\n", name)
	}
	return said.String()
}

// sources are all that Metal compiles, by their files.
var sources = map[string]string{
	"matvec": MatVec, "planes": Planes, "bytes": Bytes, "matrices": Matrices, "heads": Heads, "quantize": Quantize, "operations": Operations,
	"attention": Attention, "experts": Experts, "top": Top, "delta": Delta, "hadamard": Hadamard,
}

// All files are among the sources, and no float operation of theirs is contracted.
func TestSources(t *testing.T) {
	files, err := filepath.Glob("*.metal")
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range files {
		name := strings.TrimSuffix(f, ".metal")
		if name != "rounding" && sources[name] == "" {
			t.Errorf("%s is not among the sources", f)
		}
		// top compares integers only.
		if name != "rounding" && name != "top" && !strings.Contains(sources[name], "\n#pragma METAL fp contract(off)") {
			t.Errorf("%s lets a compiler contract products and sums", f)
		}
	}
}

func TestClang(t *testing.T) {
	for name, source := range sources {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if out := clang(t, source); out != "" {
				t.Error(out)
			}
		})
	}
}

// What Apple's compiler refuses and g++ does not.
func TestClangRefuses(t *testing.T) {
	for _, m := range []struct{ name, source, old, new, found string }{
		{"device memory as a thread's", "planes", "device const uint4 *planes, uint apart", "thread const uint4 *planes, uint apart", "address space"},
		{"threadgroup memory as device's", "operations", "threadgroup Pair *sums, uint i", "device Pair *sums, uint i", "no known conversion from '__local Pair"},
		{"a thread's memory as threadgroup", "planes", "thread const Weights *weights", "threadgroup const Weights *weights", "no known conversion from '__private Weights"},
		{"a cast to another address space", "matvec", "*(device const half *)(row", "*(thread const half *)(row", "address space"},
		{"a pointer without one", "hadamard", "x += ulong(group.y)", "const float *first_x = x;\n\tx += ulong(group.y) + ulong(first_x[0])", "first_x is a const __generic float *: it has no address space"},
		{"a write to constant memory", "operations", "if (i < n) x[i] *= by;", "if (i < n) x[i] *= by++;", "read-only"},
		{"double", "operations", "const float mean = ", "const double mean = ", "double"},
		{"a literal of double", "quantize", "m = max(m, 1e-5f)", "m = max(m, 1e-5)", "double"},
		{"a builtin of the compiler", "operations", "1 / sqrt(mean", "1 / __builtin_sqrtf(mean", "__builtin_sqrtf is a compiler's name"},
		{"a fast function", "operations", "precise::exp(-gate[i])) * up[i];\n}\n\n// gate = max", "fast::exp(-gate[i])) * up[i];\n}\n\n// gate = max", "'fast'"},
		{"initializers of C++20", "operations", "return Pair{y, fma(x, x, -y)};", "return Pair{.high = y, .low = fma(x, x, -y)};", "C++20"},
		{"if constexpr", "top", "if (rank < limit", "if constexpr (true) if (rank < limit", "C++"},
		{"a pointer to a function", "operations", "const float y = x * x;", "float (*root)(float) = sqrt;\n\tconst float y = root(x) * x;", "pointers to functions"},
		{"threadgroup memory of a helper as device's", "top", "threadgroup ulong *room, uint i", "device ulong *room, uint i", "no known conversion from '__local ulong"},
		{"an array of pointers without one", "bytes", "device const uint4 *rows[most_rows];", "const uint4 *rows[most_rows];", "address space"},
		{"a lambda", "operations", "const float y = x * x;", "const auto times = [](float a) { return a * a; };\n\tconst float y = times(x);", "a lambda"},
		{"a library function of C", "operations", "1 / sqrt(mean", "1 / sqrtf(mean", "sqrtf"},
	} {
		t.Run(m.name, func(t *testing.T) {
			t.Parallel()
			if out := clang(t, plant(t, m.source, m.old, m.new)); !strings.Contains(out, m.found) || out == "" {
				t.Errorf("found %q, want %q", out, m.found)
			}
		})
	}
}
