package hotspot

import (
	"bytes"
	"errors"
	"maps"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"reflect"
	"runtime"
	"strings"
	"testing"

	"github.com/google/pprof/profile"

	"onebit/internal/require"
)

func TestMain(m *testing.M) {
	if os.Getenv(childVariable) == "" {
		os.Exit(m.Run())
	}
	var err error
	if os.Getenv(childVariable) == "thread" { // not the process's first
		runtime.LockOSThread()
		done := make(chan error)
		go func() { done <- child() }()
		err = <-done
	} else {
		err = child()
	}
	if err != nil {
		os.Stderr.WriteString(err.Error())
		os.Exit(1)
	}
}

const childVariable = "ONEBIT_TEST_CHILD"

// spin has a loop that is gone through n times.
//
//go:noinline
func spin(n int) (sum int) {
	for i := range n {
		sum += i ^ sum
	}
	return sum
}

func child() error {
	mark, err := Stepped(os.Stdin, os.Stdout)
	if err != nil {
		return err
	}
	for _, n := range []int{200, 600} {
		if err := mark(); err != nil {
			return err
		}
		_ = spin(n)
	}
	return mark()
}

func recorded(t *testing.T, name string) []byte {
	t.Helper()
	text, err := os.ReadFile(filepath.Join("testdata", name))
	if err != nil {
		t.Fatal(err)
	}
	return text
}

// innermost is the recorded kernel's loop over blocks of weights, which the sample
// at its middle makes hot.
func innermost(t *testing.T, name string, middle uint64) []Instruction {
	t.Helper()
	code, err := parseObjdump(recorded(t, name))
	if err != nil {
		t.Fatal(err)
	}
	loop, ok := HotLoop(code, Samples{middle: 10, code[0].Addr: 30})
	if !ok || loop.Nested {
		t.Fatalf("%s: loop %+v, %v", name, loop, ok)
	}
	return code[loop.First : loop.Last+1]
}

// The kernels' documentation counts the same instructions otherwise: a tile of 16
// rows by 128 columns is 32 VPDPBUSD with a mask each, 4 loads of 64 bytes and as
// many shifts; 16 rows by 32 columns are 32 SDOT with a CMTST each.
func TestMixOfRecordedKernels(t *testing.T) {
	for _, test := range []struct {
		file    string
		middle  uint64
		dots    string
		count   map[Kind]float64
		reads   float64
		last    string
		backTo  string
		hasDots int
	}{
		{"amd64.gnu.txt", 0x82e73b, "vpdpbusd", amd64Kinds, amd64Reads, "jne 82e632", "prefetcht0 0x800(%rcx)", 32},
		{"amd64.llvm.txt", 0x82e73b, "vpdpbusd", amd64Kinds, amd64Reads, "jne 0x82e632", "prefetcht0 2048(%rcx)", 32},
		{"arm64.gnu.txt", 0x36de04, "sdot", arm64Kinds, 3, "b.ne 36dd74", "ldp q16, q17, [x8], #32", 32},
		{"arm64.llvm.txt", 0x36de04, "sdot", arm64Kinds, 3, "b.ne 0x36dd74", "ldp q16, q17, [x8], #32", 32},
	} {
		loop := innermost(t, test.file, test.middle)
		var mix Mix
		dots := 0
		for _, i := range loop {
			mix.Add(i, 1)
			if i.Mnemonic == test.dots {
				dots++
			}
		}
		if dots != test.hasDots {
			t.Errorf("%s: %d %s, want %d", test.file, dots, test.dots, test.hasDots)
		}
		for _, kind := range Kinds {
			if mix.Kinds[kind] != test.count[kind] {
				t.Errorf("%s: %v of kind %v, want %v", test.file, mix.Kinds[kind], kind, test.count[kind])
			}
		}
		if mix.Reads != test.reads || mix.Total() != float64(len(loop)) {
			t.Errorf("%s: %v reads, want %v; %v in all, of %d", test.file, mix.Reads, test.reads, mix.Total(), len(loop))
		}
		// All but address arithmetic, the sums of activations, branches and prefetches.
		if want := map[string]float64{"vpdpbusd": 87, "sdot": 67}[test.dots]; mix.Vectors != want {
			t.Errorf("%s: %v on vectors, want %v", test.file, mix.Vectors, want)
		}
		if got := loop[len(loop)-1].String(); got != test.last {
			t.Errorf("%s: the loop ends with %q, want %q", test.file, got, test.last)
		}
		if got := loop[0].String(); got != test.backTo {
			t.Errorf("%s: the loop begins with %q, want %q", test.file, got, test.backTo)
		}
	}
}

var (
	// Of 16 rows by 128 columns, as the generator in kernels/_asm writes them.
	amd64Kinds = map[Kind]float64{
		Load: 4 + 1 + 1, Store: 1, MultiplyAdd: 32 + 2, Convert: 1 + 1,
		Arithmetic: 32 + 4 + 3 + 2 + 4 + 1, // masks, shifts, zeroes, shifts of planes, their sums, the row's sum
		Scalar:     3 + 1 + 4 + 1, Branch: 1, Prefetch: 5,
	}
	amd64Reads = 4. + 1 + 1 + 3 + 32 + 2 // loads, sums of activations, products, scales

	arm64Kinds = map[Kind]float64{Load: 3, MultiplyAdd: 32, Arithmetic: 32, Scalar: 1, Branch: 1, Prefetch: 1}
)

func TestKinds(t *testing.T) {
	for text, want := range map[string]struct {
		kind  Kind
		reads bool
	}{
		"mov %rax,0x8(%rsp)":                   {Store, false},
		"mov 0x8(%rsp),%rax":                   {Load, true},
		"mov %rax,%rbx":                        {Scalar, false},
		"add $0x1,(%rax)":                      {Scalar, true},
		"cmpb $0x0,0x17(%rip)":                 {Scalar, true},
		"lea 0x8(%rax),%rbx":                   {Scalar, false},
		"movzbl (%rax,%rcx,1),%edx":            {Load, true},
		"imul %r9d,%r10d":                      {MultiplyAdd, false},
		"vpdpbusd (%r11){1to16},%zmm1,%zmm2":   {MultiplyAdd, true},
		"vmovdqu32 (%rcx),%zmm9{%k1}{z}":       {Load, true},
		"vmovups %ymm1,(%rdi)":                 {Store, false},
		"vpbroadcastd (%rsp),%zmm6":            {Load, true},
		"vpbroadcastd %r10d,%zmm6":             {Shuffle, false},
		"vpshufb %ymm1,%ymm2,%ymm3":            {Shuffle, false},
		"vcvtph2ps (%rcx),%zmm6":               {Convert, true},
		"vpsrlw $0x4,%zmm9,%zmm9":              {Arithmetic, false},
		"kmovq (%rax),%k1":                     {Load, true},
		"addss %xmm1,%xmm0":                    {Arithmetic, false},
		"prefetcht0 (%r15)":                    {Prefetch, false},
		"jmp *(%rax)":                          {Branch, true},
		"ret":                                  {Branch, false},
		"call 401000":                          {Branch, false},
		"nopw 0x0(%rax,%rax,1)":                {Scalar, false},
		"ldp q16, q17, [x8], #32":              {Load, true},
		"str q20, [x0], #16":                   {Store, false},
		"sdot v0.4s, v8.16b, v16.4b[0]":        {MultiplyAdd, false},
		"tbl v0.16b, {v1.16b, v2.16b}, v3.16b": {Shuffle, false},
		"ext v20.16b, v20.16b, v20.16b, #4":    {Shuffle, false},
		"mov x8, x2":                           {Scalar, false},
		"bic v1.16b, v2.16b, v3.16b":           {Arithmetic, false},
		"b.ne 36dd74":                          {Branch, false},
		"cbz x7, 36df70":                       {Branch, false},
		"prfm pldl1keep, [x1, #4096]":          {Prefetch, false},
		"fcvtl v16.4s, v12.4h":                 {Convert, false},
		"madd x0, x1, x2, x3":                  {MultiplyAdd, false},
		"fadd s0, s1, s2":                      {Arithmetic, false},
	} {
		i := parseInstruction(1, "\t"+text)
		if i.Kind() != want.kind || i.Reads() != want.reads {
			t.Errorf("%s: %v, reads %v; want %v, %v", text, i.Kind(), i.Reads(), want.kind, want.reads)
		}
	}
}

func TestParseObjdumpRefusesNonsense(t *testing.T) {
	for _, text := range []string{"", "objdump: x: file format not recognized", "  20:\tret\n  10:\tret\n"} {
		if code, err := parseObjdump([]byte(text)); err == nil {
			t.Errorf("%q: %v", text, code)
		}
	}
	code, err := parseObjdump([]byte("  10:\tlock cmpxchg %rcx,(%rdx)\n  14:\t<unknown>\n  18:\tjne    10 <f>\n"))
	if err != nil || len(code) != 3 || code[0].Mnemonic != "cmpxchg" || code[1].Mnemonic != "unknown" || code[2].Target != 0x10 {
		t.Errorf("%v, %v", code, err)
	}
}

func TestPaddingIsLeftOut(t *testing.T) {
	code, err := parseObjdump(recorded(t, "amd64.gnu.txt"))
	if err != nil {
		t.Fatal(err)
	}
	if n := len(code); code[n-1].Mnemonic != "int3" {
		t.Fatalf("the recording ends with %v", code[n-1])
	}
	code = withoutPadding(code)
	if last := code[len(code)-1].Mnemonic; last != "ret" {
		t.Errorf("what is left ends with %s", last)
	}
}

func TestLoops(t *testing.T) {
	code, err := parseObjdump([]byte("  10:\tnop\n  11:\tnop\n  12:\tjne 11\n  13:\tje 11\n  14:\tjmp 10\n  15:\tjmp 20\n  16:\tcall 10\n"))
	if err != nil {
		t.Fatal(err)
	}
	all := Loops(code, Samples{0x11: 3, 0x12: 4, 0x14: 9})
	want := []Loop{{First: 0, Last: 4, Samples: 16, Nested: true}, {First: 1, Last: 3, Samples: 7}}
	if !reflect.DeepEqual(all, want) {
		t.Errorf("%+v, want %+v", all, want)
	}
	// Less than half is no hot loop, and half is.
	if l, _ := HotLoop(code, Samples{0x11: 3, 0x12: 4, 0x14: 9}); l.Last != 4 {
		t.Errorf("the inner loop with 7 of 16 samples is hot: %+v", l)
	}
	if l, _ := HotLoop(code, Samples{0x11: 8, 0x14: 8}); l.Last != 3 {
		t.Errorf("the inner loop with 8 of 16 samples is not hot: %+v", l)
	}
	if l, ok := HotLoop(code, Samples{0x15: 5}); ok {
		t.Errorf("a loop without samples is hot: %+v", l)
	}
}

func TestParseMCA(t *testing.T) {
	for name, want := range map[string]mcaSummary{
		"amd64.mca.txt": {37.042, 34, 0.8635, 0.4318},
		"arm64.mca.txt": {32.013, 32, 0.6870, 0.1572},
	} {
		got, err := parseMCA(recorded(t, name))
		got.onPorts, got.onResults = math.Round(1e4*got.onPorts)/1e4, math.Round(1e4*got.onResults)/1e4
		if err != nil || got != want {
			t.Errorf("%s: %+v, %v; want %+v", name, got, err, want)
		}
	}
	for _, text := range []string{"", "Iterations: 0\nTotal Cycles: 5\nBlock RThroughput: 1\n", "Iterations: 10\n"} {
		if got, err := parseMCA([]byte(text)); err == nil {
			t.Errorf("%q: %+v", text, got)
		}
	}
}

func TestParseMCAVersion(t *testing.T) {
	for text, want := range map[string][2]string{
		"Debian LLVM version 14.0.6\n  Host CPU: (unknown)\n":                 {"14.0.6", ""},
		"LLVM (http://llvm.org/):\n  LLVM version 19.1.0\n  Host CPU: znver5": {"19.1.0", "znver5"},
		"Homebrew LLVM version 18.1.8\n  Host CPU: apple-m1\n":                {"18.1.8", "apple-m1"},
	} {
		if version, host := parseMCAVersion(text); version != want[0] || host != want[1] {
			t.Errorf("%q: %q, %q", text, version, host)
		}
	}
}

// What is given to llvm-mca: branches go to a label, products become loads.
func TestAssembly(t *testing.T) {
	loop := innermost(t, "amd64.gnu.txt", 0x82e73b)
	text := assembly(loop)
	if !strings.HasPrefix(text, "L:\nprefetcht0 0x800(%rcx)\n") || !strings.HasSuffix(text, "jne L\n") {
		t.Errorf("assembly:\n%s", text)
	}
	loads := loadsOf(loop)
	if n := strings.Count(loads, "\n"); n != int(amd64Reads)+5 || strings.Contains(loads, "vpdpbusd") || strings.Contains(loads, "1to16") {
		t.Errorf("%d loads:\n%s", n, loads)
	}
	if loads := loadsOf(innermost(t, "arm64.llvm.txt", 0x36de04)); strings.Count(loads, "\n") != 4 || !strings.Contains(loads, "ldp q12, q13, [x1], #32\n") {
		t.Errorf("loads of arm64:\n%s", loads)
	}
}

func TestAnalyze(t *testing.T) {
	mca, err := FindMCA(t.Context())
	if err != nil {
		require.Skip(t, "llvm-mca", err.Error())
	}
	name, middle := "amd64.gnu.txt", uint64(0x82e73b)
	if runtime.GOARCH == "arm64" {
		name, middle = "arm64.gnu.txt", 0x36de04
	}
	loop := innermost(t, name, middle)
	a, err := mca.Analyze(t.Context(), loop, "GenuineIntel", "")
	if err != nil {
		t.Fatal(err)
	}
	if !(a.Loads > 0 && a.Loads <= a.Ports && a.Ports <= a.Simulated) || a.CPU == "" || a.Version != mca.Version {
		t.Errorf("%+v", a)
	}
	if _, err := mca.Analyze(t.Context(), loop, "", "no-such-cpu"); err == nil || !strings.Contains(err.Error(), "no-such-cpu") {
		t.Errorf("an unknown CPU: %v", err)
	}
	if a, err := (&MCA{Path: mca.Path}).Analyze(t.Context(), loop, "nobody", ""); err != nil || !a.StandIn {
		t.Errorf("of a maker that is not known: %+v, %v", a, err)
	}
}

func spinFunction(t *testing.T) Function {
	t.Helper()
	f, ok := FunctionOf(uint64(reflect.ValueOf(spin).Pointer()) + 1)
	if !ok || !strings.HasSuffix(f.Name, ".spin") || f.Start != uint64(reflect.ValueOf(spin).Pointer()) || f.End <= f.Start {
		t.Fatalf("%+v, %v", f, ok)
	}
	if next, ok := FunctionOf(f.End); ok && next.Start != f.End {
		t.Fatalf("behind %+v is %+v", f, next)
	}
	return f
}

// Sample works on this machine, by whatever it has; how many samples it takes is
// the machine's.
func TestSample(t *testing.T) {
	if _, how, err := Sample(func() error { _ = spin(1 << 16); return nil }); err != nil || how == "" {
		t.Errorf("%v, by %q", err, how)
	}
	broken := errors.New("broken")
	if _, _, err := Sample(func() error { return broken }); !errors.Is(err, broken) {
		t.Errorf("the work's error is lost: %v", err)
	}
	if _, err := sampleByRuntime(func() error { return broken }); !errors.Is(err, broken) {
		t.Errorf("the work's error is lost by the runtime's profiler: %v", err)
	}
}

// A profile of the Go runtime has the innermost address first.
func TestSamplesOfTheRuntime(t *testing.T) {
	at := func(id, addr uint64) *profile.Location { return &profile.Location{ID: id, Address: addr} }
	inner, outer := at(1, 0x10), at(2, 0x20)
	p := &profile.Profile{
		SampleType: []*profile.ValueType{{Type: "samples", Unit: "count"}, {Type: "cpu", Unit: "nanoseconds"}},
		Location:   []*profile.Location{inner, outer},
		Sample: []*profile.Sample{
			{Location: []*profile.Location{inner, outer}, Value: []int64{3, 30}},
			{Location: []*profile.Location{outer}, Value: []int64{1, 10}},
			{Location: []*profile.Location{inner}, Value: []int64{2, 20}},
			{Value: []int64{7, 70}}, // nobody knows where
		},
	}
	var b bytes.Buffer
	if err := p.Write(&b); err != nil {
		t.Fatal(err)
	}
	s, err := samplesOf(&b)
	if want := (Samples{0x10: 5, 0x20: 1}); err != nil || !maps.Equal(s, want) || s.Total() != 6 {
		t.Errorf("%v, %v; want %v", s, err, want)
	}
	if _, err := samplesOf(strings.NewReader("no profile")); err == nil {
		t.Error("text is a profile")
	}
}

func TestDisassembleThisProgram(t *testing.T) {
	tool, err := FindDisassembler(t.Context())
	if err != nil {
		require.Skip(t, "objdump", err.Error())
	}
	f := spinFunction(t)
	code, err := tool.Disassemble(t.Context(), f)
	if err != nil {
		t.Fatal(err)
	}
	if code[0].Addr != f.Start || code[len(code)-1].Addr >= f.End || len(Loops(code, nil)) != 1 {
		t.Errorf("%+v: %v", f, code)
	}
	if _, err := (&Disassembler{Path: filepath.Join(t.TempDir(), "objdump")}).Disassemble(t.Context(), f); err == nil {
		t.Error("a disassembler that is not there disassembles")
	}
}

func TestCountIsExact(t *testing.T) {
	if runtime.GOOS != "linux" || runtime.GOARCH != "amd64" {
		if _, err := Count(t.Context(), exec.Command("none"), 1); err == nil {
			t.Error("instructions are counted")
		}
		return
	}
	command := exec.CommandContext(t.Context(), os.Args[0])
	command.Env = append(os.Environ(), childVariable+"=1")
	parts, err := Count(t.Context(), command, 2)
	if err != nil {
		require.Skip(t, "ptrace", err.Error()) // containers forbid it
	}
	f := spinFunction(t)
	for part, n := range []int{200, 600} {
		body, executed := 0, 0
		for addr, times := range parts[part] {
			if f.Start <= addr && addr < f.End {
				executed++
				if times == n {
					body++
				}
			}
		}
		// What is not in the loop is executed once, and its head once more.
		if body < 3 || executed > body+8 {
			t.Errorf("part %d: %d of %d instructions %d times: %v", part, body, executed, n, parts[part])
		}
	}
	command = exec.CommandContext(t.Context(), filepath.Join(t.TempDir(), "none"))
	if _, err := Count(t.Context(), command, 1); err == nil {
		t.Error("a child that is not there is stepped through")
	}
	command = exec.CommandContext(t.Context(), "true")
	if _, err := Count(t.Context(), command, 1); err == nil {
		t.Error("a child that ends at once is stepped through")
	}
}
