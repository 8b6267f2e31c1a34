package gate

import (
	"bytes"
	"os"
	"path/filepath"
	"testing"

	"onebit/bench/results"
)

type annotated map[string]string

func (l annotated) Locate(b Benchmark) (string, int) { return l[b.Name], 7 }

// What became slower is shown at the function that takes longer, or else at the
// benchmark, in a file of the repository; names that others gave command nothing.
func TestAnnotate(t *testing.T) {
	root := t.TempDir()
	dir := filepath.Join(root, "codec")
	if err := os.Mkdir(dir, 0o777); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"decode.go", "codec_test.go"} {
		if err := os.WriteFile(filepath.Join(dir, name), nil, 0o666); err != nil {
			t.Fatal(err)
		}
	}
	const pkg = "example.com/m/codec"
	slower := func(name string, change float64) Finding {
		return Finding{
			Benchmark: Benchmark{Package: pkg, Name: name}, Unit: results.NsPerOp, Better: -1, Verdict: Slower, Exact: true,
			Change: Interval{Center: change, Lo: change, Hi: change},
		}
	}
	report := &Report{Findings: []Finding{
		slower("Encode", 0.1), slower("Decode", 0.3), slower("Trimmed", 0.2), slower("Odd\n::set-output", 0.05),
		{Benchmark: Benchmark{Package: pkg, Name: "Sum"}, Unit: results.NsPerOp, Better: -1, Verdict: Same, Pass: true},
	}}
	profile := func(name, file string) Profile {
		return Profile{Benchmark: Benchmark{Package: pkg, Name: name}, Functions: []FunctionChange{
			{Name: "runtime.mallocgc", File: "/usr/lib/go/src/runtime/malloc.go", HeadFlat: 99, Error: 1},
			{Name: "runtime.memmove", File: "runtime/memmove.s", HeadFlat: 98, Error: 1},
			{Name: "codec.faster", File: file, BaseFlat: 50, Error: 1},
			{Name: "codec.decode", File: file, Line: 12, HeadFlat: 40, BaseFlat: 10, Error: 1},
		}}
	}
	tests := filepath.Join(dir, "codec_test.go")
	var out bytes.Buffer
	Annotate(&out, report, []Profile{profile("Decode", filepath.Join(dir, "decode.go")), profile("Trimmed", pkg+"/decode.go")},
		annotated{"Encode": tests, "Decode": tests, "Trimmed": tests}, root)
	const want = `::error file=codec/decode.go,line=12,title=onebit gate::slower: Decode +35.0%25: codec.decode takes 30 ns more
::error file=codec/decode.go,line=12,title=onebit gate::slower: Trimmed +22.1%25: codec.decode takes 30 ns more
::error file=codec/codec_test.go,line=7,title=onebit gate::slower: Encode +10.5%25
::error title=onebit gate::slower: Odd%0A::set-output +5.1%25
`
	if out.String() != want {
		t.Errorf("%s\nwant\n%s", out.String(), want)
	}
	report.Alarms = []string{"base differs from itself"}
	out.Reset()
	if Annotate(&out, report, nil, annotated{}, root); out.Len() > 0 {
		t.Errorf("on an unfit machine: %s", out.String())
	}
}
