package cases

import (
	"bytes"
	"context"
	"fmt"
	"math"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"onebit/bench"
	"onebit/bench/names"
	"onebit/bench/results"
	"onebit/bench/roofline"
	"onebit/formats"
	"onebit/internal/cpu"
	"onebit/internal/require"
	"onebit/internal/sysinfo"
	"onebit/kernels"
)

// children are the programs that the test binary can be, by its first
// argument: child processes that measure memory, and stand-ins for others.
var children = map[string]func(args []string) error{
	"memory":      func([]string) error { return MeasureMemory(context.Background(), os.Stdin, os.Stdout) },
	"run":         fakeRun,
	"llama-bench": fakeLlamaBench,
}

func TestMain(m *testing.M) {
	sysinfo.Describe()
	if len(os.Args) > 1 && children[os.Args[1]] != nil {
		if err := children[os.Args[1]](os.Args[2:]); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		os.Exit(0)
	}
	os.Exit(m.Run())
}

// child is the command of one of the children.
func child(t testing.TB, name string) []string {
	t.Helper()
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	return []string{exe, name}
}

// small is a machine with a small last-level cache.
func small() sysinfo.Host {
	return sysinfo.Host{
		UsableCPUs: 2, L3: sysinfo.Value[sysinfo.Bytes]{V: 1 << 20},
		MemAvailable: sysinfo.Value[sysinfo.Bytes]{V: 1 << 30}, Emulator: sysinfo.Value[string]{V: "none"},
	}
}

func lookup(t testing.TB, names ...string) []*formats.Type {
	t.Helper()
	var out []*formats.Type
	for _, name := range names {
		f, err := formats.Lookup(name)
		if err != nil {
			t.Fatal(err)
		}
		out = append(out, f)
	}
	return out
}

// endless are limits that no sample exceeds, however busy the machine is.
func endless() (read, dot float64) { return math.Inf(1), math.Inf(1) }

// suite has two threads, also on one CPU.
func suite(t testing.TB, opt Options) *Suite {
	t.Helper()
	require.Procs(t, 2)
	opt.Host, opt.Features = small(), cpu.Detected()
	opt.Host.MemAvailable.V = 32 << 20 // so that cold is cheap
	s, err := Kernels(opt)
	if err != nil {
		t.Fatal(err)
	}
	s.home.(*env).limits.Measure = endless
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	})
	return s
}

// ran measures a suite and reads back what it wrote.
func ran(t *testing.T, r bench.Runner, s bench.Suite) *results.Set {
	t.Helper()
	var out bytes.Buffer
	if _, err := r.Run(t.Context(), s, &out); err != nil {
		t.Fatal(err)
	}
	res, err := results.Read(&out, "results.txt")
	if err != nil {
		t.Fatal(err)
	}
	return res
}

// measured is what ran returns where nothing fails.
func measured(t *testing.T, r bench.Runner, s bench.Suite) *results.Set {
	t.Helper()
	res := ran(t, r, s)
	for _, f := range res.Failures {
		t.Errorf("%s: %s", f.Name.Full, f.Reason)
	}
	return res
}

// TestEveryVariantIsMeasured runs all of the suite on a small shape.
func TestEveryVariantIsMeasured(t *testing.T) {
	drawn := require.Draw(t, 8, formats.Types())
	s := suite(t, Options{Sources: Synthetic(drawn, []formats.Shape{{Rows: 32, Cols: 512}}, 1), Activations: kernels.Schemes()})
	res := measured(t, bench.Runner{Count: 1, Time: 50 * time.Microsecond}, bench.Suite{Cases: s.Cases})
	for _, v := range kernels.Variants() {
		if v.Available() != nil || !slices.Contains(drawn, v.Format) {
			continue
		}
		i := slices.IndexFunc(res.Samples, func(s results.Sample) bool {
			return s.Name.Get("format") == v.Format.Name && s.Name.Get("variant") == v.Name && s.Name.Get("act") == string(v.Scheme)
		})
		if i < 0 {
			t.Errorf("no sample of %v", v)
			continue
		}
		for _, unit := range []string{results.NsPerOp, results.WeightRate, results.PctRoof, results.PackedBytes, results.NMSE, results.ActNMSE, results.KernelNMSE, results.MaxAbsErr, results.Allocs} {
			if _, ok := res.Samples[i].Value(unit); !ok {
				t.Errorf("sample of %v lacks %s", v, unit)
			}
		}
	}
}

// TestNames holds the names to the contract that scripts rely on.
func TestNames(t *testing.T) {
	s := suite(t, Options{Sources: Synthetic(lookup(t, "q1_0_g128"), []formats.Shape{{Rows: 64, Cols: 256}}, 1)})
	want := []string{
		"MatVec/format=q1_0_g128/variant=scalar/act=q8_128/rows=64/cols=256/threads=1/cache=warm",
		"MatVec/format=q1_0_g128/variant=scalar/act=q8_128/rows=64/cols=256/threads=2/cache=cold",
		"MatVec/format=q1_0_g128/variant=reference/act=f32/rows=64/cols=256/threads=1/cache=warm",
		"Read/format=q1_0_g128/rows=64/cols=256/bytes=2304/threads=1/cache=cold",
	}
	for _, name := range want {
		if !slices.ContainsFunc(s.Cases, func(c bench.Case) bool { return c.Name == name }) {
			t.Errorf("no case %s", name)
		}
	}
}

// instance sets up the first case whose name contains part.
func instance(t *testing.T, s *Suite, part string) bench.Instance {
	t.Helper()
	for _, c := range s.Cases {
		if strings.Contains(c.Name, part) {
			inst, err := c.Setup(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			t.Cleanup(func() {
				if err := inst.Close(); err != nil {
					t.Error(err)
				}
			})
			return inst
		}
	}
	t.Fatalf("no case contains %s", part)
	return nil
}

// TestVerifyCatches hands Verify results that are wrong in ways a broken
// kernel would be.
func TestVerifyCatches(t *testing.T) {
	s := suite(t, Options{Sources: Synthetic(lookup(t, "q1_0_g128"), []formats.Shape{{Rows: 64, Cols: 256}}, 1)})
	m := instance(t, s, "variant=unrolled/act=q8_128/rows=64/cols=256/threads=1/cache=cold").(*matvec)
	if _, err := m.Verify(t.Context()); err != nil {
		t.Fatalf("a right result: %v", err)
	}
	last := m.matrices[len(m.matrices)-1]
	const row, block = 5, 1
	last.Data[(row*2+block)*18+4] ^= 1 // one sign of row 5
	if _, err := m.Verify(t.Context()); err == nil || !strings.Contains(err.Error(), "kernel-nmse") {
		t.Errorf("one wrong sign: error %v, want one about kernel-nmse", err)
	}
	last.Data[(row*2+block)*18+4] ^= 1

	refs, err := m.group.refs(kernels.Q8Per128)
	if err != nil {
		t.Fatal(err)
	}
	copy(m.y, refs.generic)
	m.y[row] *= 1 + 1e-6 // an order of summation that differs
	if err := m.check(refs); err == nil || !strings.Contains(err.Error(), "row 5") {
		t.Errorf("one rounding off: error %v, want one that names row 5", err)
	}
}

// TestVerifyAgain has a process that repeats what another has verified: it
// measures no errors, and finds wrong results all the same.
func TestVerifyAgain(t *testing.T) {
	s := suite(t, Options{Sources: Synthetic(lookup(t, "q1_0_g128"), []formats.Shape{{Rows: 64, Cols: 256}}, 1), Again: true})
	instance(t, s, "variant=reference/act=f32/rows=64/cols=256/threads=1/cache=warm") // verified, too
	m := instance(t, s, "variant=unrolled/act=q8_128/rows=64/cols=256/threads=1/cache=warm").(*matvec)
	metrics, err := m.Verify(t.Context())
	if err != nil || len(metrics) != 1 || metrics[0].Unit != results.PackTime {
		t.Errorf("a right result: %v, %v", metrics, err)
	}
	if m.group.exact != nil || m.group.byAct[kernels.Q8Per128].exact != nil {
		t.Error("the float64 product was computed again")
	}
	const row, block = 5, 1
	m.matrices[0].Data[(row*2+block)*18+4] ^= 1 // one sign of row 5
	if _, err := m.Verify(t.Context()); err == nil || !strings.Contains(err.Error(), "row 5") {
		t.Errorf("one wrong sign: error %v, want one that names row 5", err)
	}
}

// A tensor whose scale is among the smallest of float32 has products that are
// rounded to few digits, and right.
func TestVerifySubnormalScale(t *testing.T) {
	sources := Synthetic(lookup(t, "i2_s"), []formats.Shape{{Rows: 64, Cols: 256}}, 1)
	tensor := sources[0].Tensor
	sources[0].Tensor = func() (*formats.Tensor, error) {
		m, err := tensor()
		if err == nil {
			err = m.Matrix().SetTensorScale(1e-42)
		}
		return m, err
	}
	s := suite(t, Options{Sources: sources, Activations: kernels.Schemes()})
	for _, act := range kernels.Schemes() {
		m := instance(t, s, "variant=scalar/act="+string(act)+"/rows=64/cols=256/threads=1/cache=warm").(*matvec)
		if _, err := m.Verify(t.Context()); err != nil {
			t.Errorf("%s: %v", act, err)
		}
		m.matrices[0].Data[5] ^= 0x40 // a code of a row
		if _, err := m.Verify(t.Context()); err == nil {
			t.Errorf("%s: a wrong code passes", act)
		}
		m.matrices[0].Data[5] ^= 0x40
	}
}

// TestColdRotates proves that cold products read more memory than the cache
// holds, each matrix in its turn.
func TestColdRotates(t *testing.T) {
	s := suite(t, Options{Sources: Synthetic(lookup(t, "i2_s"), []formats.Shape{{Rows: 64, Cols: 256}}, 1)})
	m := instance(t, s, "variant=scalar/act=q8_row/rows=64/cols=256/threads=1/cache=cold").(*matvec)
	total, seen := 0, map[*byte]bool{}
	for _, matrix := range m.matrices {
		total += len(matrix.Data)
		seen[&matrix.Data[0]] = true
	}
	if len(seen) != len(m.matrices) || total <= 1<<20 {
		t.Errorf("%d distinct of %d matrices hold %d bytes, the cache %d", len(seen), len(m.matrices), total, 1<<20)
	}
	m.Run(t.Context(), len(m.matrices)+3)
	if m.next != 3 {
		t.Errorf("after one rotation and 3 products the next matrix is %d", m.next)
	}
}

func tripOf(inst bench.Instance) *roofline.RoundTrip {
	if r, ok := inst.(*roofline.Moving); ok {
		return r.Prober.(*roofline.RoundTrip)
	}
	return inst.(*matvec).RoundTrip
}

// TestProbers lets what works on two threads tell of the round trip, and
// nothing that works on one.
func TestProbers(t *testing.T) {
	s := suite(t, Options{Sources: Synthetic(lookup(t, "q1_0_g128"), []formats.Shape{{Rows: 64, Cols: 256}}, 1), Caches: []string{"warm"}})
	for _, base := range []string{"MatVec/format=q1_0_g128/variant=unrolled/act=q8_128/rows=64/cols=256", "Read/format=q1_0_g128/rows=64/cols=256/bytes=2304"} {
		if trip := tripOf(instance(t, s, base+"/threads=2/cache=warm")); trip == nil {
			t.Errorf("%s on 2 threads tells nothing", base)
		}
		if got := instance(t, s, base+"/threads=1/cache=warm").(bench.Prober).Probe(); got != nil {
			t.Errorf("%s on 1 thread: %v", base, got)
		}
	}
}

// TestImpossibleProductIsNoRow times products that claim to have read a
// milliard times their weights.
func TestImpossibleProductIsNoRow(t *testing.T) {
	s := suite(t, Options{Sources: Synthetic([]*formats.Type{lookup(t, "i2_s")[0]}, []formats.Shape{{Rows: 64, Cols: 256}}, 1), Threads: []int{1}, Caches: []string{"warm"}})
	s.home.(*env).limits.Measure = func() (read, dot float64) { return 1e12, 1e12 }
	for i := range s.Cases {
		s.Cases[i].Bytes *= 1e9
	}
	r := bench.Runner{Count: 1, Time: 50_000}
	res, err := r.Run(t.Context(), bench.Suite{Cases: s.Cases}, &strings.Builder{})
	if err != nil {
		t.Fatal(err)
	}
	if len(res.Samples) > 0 || len(res.Failures) != len(s.Cases) {
		t.Errorf("%d samples, %d failures of %d cases", len(res.Samples), len(res.Failures), len(s.Cases))
	}
}

func TestSelect(t *testing.T) {
	sources := Synthetic(lookup(t, "q1_0_g128"), []formats.Shape{{Rows: 64, Cols: 256}}, 1)
	s, err := Kernels(Options{Sources: sources, Host: small(), Features: 0})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	for _, c := range s.Cases {
		if v := results.ParseName(c.Name).Get("variant"); strings.Contains(v, "avx") || strings.Contains(v, "neon") {
			t.Errorf("%s would run on a machine without features", c.Name)
		}
	}
	for _, u := range s.Unavailable {
		if u.Err == nil {
			t.Errorf("%s is unavailable without a reason", u.Name)
		}
	}
	for _, u := range s.Unavailable {
		if n := results.ParseName(u.Name); n.Get("act") != "" && !strings.HasPrefix(n.Get("variant"), names.Metal) {
			if err := s.Select("/variant:" + n.Get("variant")); err == nil || !strings.Contains(err.Error(), "needs avx2") && !strings.Contains(err.Error(), "needs neon") {
				t.Errorf("%s on a machine without features: %v, want what it needs", n.Get("variant"), err)
			}
			break
		}
	}
	foreign := "neon"
	for _, isa := range kernels.ISAs() {
		if isa.Foreign() != nil {
			foreign = isa.Name
		}
	}
	if err := s.Select("/variant:" + foreign); err == nil || !strings.Contains(err.Error(), "needs") {
		t.Errorf("a variant of another architecture: %v, want what it needs", err)
	}
	if err := s.Select("/variant:nonsense"); err == nil || !strings.Contains(err.Error(), "matches none") {
		t.Errorf("an unknown variant: %v", err)
	}
	if err := s.Select("/variant:unrolled /threads:1"); err != nil {
		t.Fatal(err)
	}
	for _, c := range s.Cases {
		if n := results.ParseName(c.Name); n.Base == "MatVec" && (n.Get("variant") != "unrolled" || n.Get("threads") != "1") {
			t.Errorf("%s was selected", c.Name)
		}
	}
}

// raceDetector is whether it multiplies this program's memory.
var raceDetector bool

// TestPeak measures in a child and compares with what must be there at least.
func TestPeak(t *testing.T) {
	require.Turns(t, "TestErrorOfSchemes", "TestPeak")
	if err := sysinfo.ResetPeak(); err != nil {
		t.Skip(err)
	}
	if raceDetector {
		t.Skip("the race detector multiplies memory")
	}
	const rows, cols = 4096, 4096
	var reply peakReply
	if err := (memoryRequest{Product: &peakRequest{Format: "i2_s", Rows: rows, Cols: cols, Seed: 1}}).ask(t.Context(), "memory", nil, &reply); err != nil {
		t.Fatal(err)
	}
	size := int64(rows * cols / 4)
	peak := reply["i2_s/scalar/q8_row"]
	if peak < size || peak > size+64<<20 {
		t.Errorf("peak memory of a %d byte matrix is %d bytes: the floats that it was made of should be gone, the matrix should not", size, peak)
	}
	for want, req := range map[string]memoryRequest{"nonsense": {Product: &peakRequest{Format: "nonsense"}}, "of nothing": {}} {
		if err := req.ask(t.Context(), "memory", nil, &reply); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", want, err)
		}
	}
}

func BenchmarkMatVec(b *testing.B) { benchmark(b) }
func BenchmarkRead(b *testing.B)   { benchmark(b) }

// BenchmarkModel runs the tests of tiny models with the names of onebit bench
// models.
func BenchmarkModel(b *testing.B) {
	s := modelsSuite(b, ModelsOptions{Prompt: 64, Tokens: 64}, "tiny", "tiny-bitnet")
	if err := s.Select(s.Usual); err != nil {
		b.Fatal(err)
	}
	bench.RunTesting(b, s.Cases)
}

// benchmark runs the default suite's kernels under go test -bench, with the
// names of onebit bench.
func benchmark(b *testing.B) {
	host := sysinfo.Probe()
	s, err := Kernels(Options{Sources: DefaultSources(1), Host: host, Features: cpu.Detected(), Seed: 1})
	if err != nil {
		b.Fatal(err)
	}
	defer s.Close()
	bench.RunTesting(b, s.Cases)
}
