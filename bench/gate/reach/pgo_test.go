package reach

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/google/pprof/profile"

	"onebit/internal/require"
)

// A profile of head's main package makes the compiler inline a function that is
// too large otherwise. Go compiles everything anew with it, also its own packages.
func TestProfileGuided(t *testing.T) {
	if !require.All() {
		t.Skip("compiles Go's packages; ONEBIT_ALL=1 runs it")
	}
	var trees [2]Tree
	for i := range trees {
		dir := t.TempDir()
		for name, text := range map[string]string{"go.mod": "module example.com/hot\n\ngo 1.24\n", "hot.go": hotSource, "hot_test.go": hotTest} {
			if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o666); err != nil {
				t.Fatal(err)
			}
		}
		if i == 1 {
			writeHotProfile(t, filepath.Join(dir, "default.pgo"))
		}
		trees[i] = Tree{Go: goIn(dir), Flags: []string{"-trimpath"}}
	}
	r, err := Compare(t.Context(), trees[0], trees[1], []string{"."})
	if err != nil {
		t.Fatal(err)
	}
	if v := r.Of("example.com/hot", "Hot"); v.Same {
		t.Errorf("%+v, want another code: it was compiled with a profile", v)
	}
}

const hotSource = `package main

func main() {}

func large(x uint64) uint64 {
	for i := range x % 7 {
		x = x*3 + i
		x ^= x << 13
		x ^= x >> 7
		x ^= x << 17
		x = x*5 + 1
		x ^= x << 11
		x ^= x >> 5
		x = x*7 + 3
		x ^= x << 9
		x ^= x >> 3
		x = x*11 + 5
		x ^= x<<15 | x>>2
		x ^= x<<19 | x>>4
	}
	return x
}

func caller(x uint64) uint64 {
	for range 10 {
		x += large(x)
	}
	return x
}
`

const hotTest = `package main

import "testing"

var sink uint64

func BenchmarkHot(b *testing.B) { sink = caller(uint64(b.N)) }
`

// writeHotProfile writes a profile in which caller spends all its time in large.
func writeHotProfile(t *testing.T, path string) {
	t.Helper()
	caller := &profile.Function{ID: 1, Name: "main.caller", SystemName: "main.caller", Filename: "hot.go", StartLine: 24}
	large := &profile.Function{ID: 2, Name: "main.large", SystemName: "main.large", Filename: "hot.go", StartLine: 5}
	at := func(id uint64, f *profile.Function, line int64) *profile.Location {
		return &profile.Location{ID: id, Line: []profile.Line{{Function: f, Line: line}}}
	}
	stack := []*profile.Location{at(1, large, 7), at(2, caller, 26)}
	p := &profile.Profile{
		SampleType: []*profile.ValueType{{Type: "samples", Unit: "count"}, {Type: "cpu", Unit: "nanoseconds"}},
		PeriodType: &profile.ValueType{Type: "cpu", Unit: "nanoseconds"}, Period: 1e7,
		Function: []*profile.Function{caller, large}, Location: stack,
		Sample: []*profile.Sample{{Location: stack, Value: []int64{1000, 1e10}}},
	}
	file, err := os.Create(path)
	if err != nil {
		t.Fatal(err)
	}
	if err := p.Write(file); err != nil {
		t.Fatal(err)
	}
	if err := file.Close(); err != nil {
		t.Fatal(err)
	}
}
