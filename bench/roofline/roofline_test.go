package roofline

import (
	"encoding/binary"
	"math"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"onebit/internal/cpu"
	"onebit/internal/guard"
)

// words is the definition of a checksum, a word at a time.
func words(buf []byte) uint64 {
	var sum uint64
	for len(buf) > 0 {
		var w [8]byte
		buf = buf[copy(w[:], buf):]
		sum += binary.LittleEndian.Uint64(w[:])
	}
	return sum
}

func random(b []byte, seed uint64) {
	r := rand.New(rand.NewPCG(seed, 0))
	for i := range b {
		b[i] = byte(r.Uint32())
	}
}

// lengths are all short ones, and those around every step and the chunk.
func lengths() []int {
	var list []int
	for n := range 201 {
		list = append(list, n)
	}
	for _, n := range []int{256, 512, 1024, 2048, 4096, 65536} {
		list = append(list, n-1, n, n+1, n+63)
	}
	return list
}

// everyReadKernel calls f for each kernel of this build, and names the missing
// features of those that can't run here.
func everyReadKernel(t *testing.T, f func(t *testing.T, k readKernel)) {
	for _, k := range running(archReadKernels, ^cpu.Set(0)) {
		t.Run(k.Name, func(t *testing.T) {
			lacking(t, k.Requires)
			f(t, k)
		})
	}
}

func TestEveryByteIsRead(t *testing.T) {
	everyReadKernel(t, func(t *testing.T, k readKernel) {
		for _, n := range lengths() {
			for _, b := range []*guard.Buffer{guard.New(t, n), guard.Start(t, n), guard.Misaligned(t, n, 1)} {
				random(b.Bytes(), uint64(n))
				want := words(b.Bytes())
				b.ReadOnly(t)
				var got uint64
				if err := guard.Catch(func() { got = sum(k, b.Bytes()) }); err != nil {
					t.Fatalf("%d bytes: %v", n, err)
				}
				if got != want {
					t.Fatalf("%d bytes: sum %#x, want %#x", n, got, want)
				}
			}
		}
	})
}

func TestLongBuffersAreReadInChunks(t *testing.T) {
	a, err := NewBuffer(2*chunk+12345, Huge)
	if err != nil {
		t.Fatal(err)
	}
	defer a.Free()
	want := words(a.Bytes())
	everyReadKernel(t, func(t *testing.T, k readKernel) {
		if got := sum(k, a.Bytes()); got != want {
			t.Errorf("sum %#x, want %#x", got, want)
		}
	})
}

func TestNewBufferIsWritten(t *testing.T) {
	for _, n := range []int{0, 1, 7, 8, 12, 4096, 3<<20 + 5} {
		a, err := NewBuffer(n, Huge)
		if err != nil {
			t.Fatal(err)
		}
		buf := a.Bytes()
		if len(buf) != n {
			t.Errorf("%d bytes, want %d", len(buf), n)
		}
		for len(buf) > 0 {
			w := buf[:min(8, len(buf))]
			if words(w) == 0 {
				t.Fatalf("%d bytes: %d before the end is a word of zero", n, len(buf))
			}
			buf = buf[len(w):]
		}
		if err := a.Free(); err != nil {
			t.Error(err)
		}
	}
}

func TestPartsCoverTheBuffer(t *testing.T) {
	for _, n := range []int{0, 1, 64, 200, 4096, 100_000, 1 << 20} {
		for _, threads := range []int{1, 2, 3, 7} {
			buf := make([]byte, n)
			longest, shortest := 0, n
			for i := range threads {
				p := part(buf, i, threads)
				for j := range p {
					p[j]++
				}
				longest, shortest = max(longest, len(p)), min(shortest, len(p))
			}
			for i, v := range buf {
				if v != 1 {
					t.Fatalf("%d bytes on %d threads: byte %d is in %d parts", n, threads, i, v)
				}
			}
			if longest-shortest > max(128, n/4) {
				t.Errorf("%d bytes on %d threads: parts of %d and %d bytes", n, threads, longest, shortest)
			}
		}
	}
}

// everyDotKernel are those of all types.
func everyDotKernel(have cpu.Set) []DotKernel {
	return slices.Concat(DotKernels(Int8, have), DotKernels(Float32, have), DotKernels(BFloat16, have))
}

// dotWant is the definition of what a DotKernel adds in an iteration: the products of
// as many numbers as its lanes hold, or of two matrices, a·bᵀ.
func dotWant(k DotKernel) (sum int) {
	a, b := integers(k.Type)
	lanes, rows, cols := k.lanes, 1, k.lanes
	switch {
	case k.Name == "i8mm":
		rows, cols = 2, 8
	case k.Name == "bfmmla":
		rows, cols = 2, 4
	case k.Type == BFloat16:
		cols = 2 * lanes
	}
	for i := range rows * rows {
		for l := range cols {
			sum += a[i/rows*cols+l] * b[i%rows*cols+l]
		}
	}
	return sum * k.chains
}

// integers are the factors of a type.
func integers(kind string) (a, b []int) {
	for i := range floatA {
		switch kind {
		case Float32:
			a, b = append(a, int(floatA[i])), append(b, int(floatB[i]))
		case BFloat16:
			a, b = append(a, unpair(bfloatA[i])...), append(b, unpair(bfloatB[i])...)
		}
	}
	if kind == Int8 {
		for i := range intA {
			a, b = append(a, int(intA[i])), append(b, int(intB[i]))
		}
	}
	return a, b
}

// unpair is the two bfloat16 in a number, which are integers.
func unpair(v float32) []int {
	bits := math.Float32bits(v)
	return []int{int(math.Float32frombits(bits << 16)), int(math.Float32frombits(bits &^ 0xffff))}
}

func TestDotKernels(t *testing.T) {
	for _, k := range everyDotKernel(^cpu.Set(0)) {
		t.Run(k.Type+"/"+k.Name, func(t *testing.T) {
			lacking(t, k.Requires)
			want := dotWant(k)
			if want == 0 {
				t.Fatal("the operands' product is zero, which proves nothing")
			}
			for _, n := range []int{0, 1, 2, 1000, maxFloatIterations} {
				if macs, sum := k.Dot(n); sum != uint32(want*n) || macs != n*k.chains*k.macs {
					t.Errorf("Dot(%d) is %d multiply-adds with sum %d, want sum %d", n, macs, sum, uint32(want*n))
				}
			}
		})
	}
}

func TestOperandsSuitEveryInstruction(t *testing.T) {
	a, b := operands()
	for i := 0; i < 64; i += 2 {
		if a[i] < 0 || a[i+1] < 0 {
			t.Errorf("a[%d:%d] = %v, want no negative number", i, i+2, a[i:i+2])
		}
		if sum := int(a[i])*int(b[i]) + int(a[i+1])*int(b[i+1]); sum != int(int16(sum)) {
			t.Errorf("products %d and %d sum to %d, which saturates", i, i+1, sum)
		}
	}
	if slices.Min(b[:16]) >= 0 || slices.Max(b[:16]) <= 0 {
		t.Error("b does not have both signs")
	}
}

// goOf is the last kernel of a type.
func goOf(have cpu.Set, kind string) string {
	all := DotKernels(kind, have)
	return all[len(all)-1].Name
}

func TestFewerFeaturesGiveFewerKernels(t *testing.T) {
	for _, have := range []cpu.Set{0, cpu.AVX2, cpu.NEON, ^cpu.Set(0)} {
		reads := running(archReadKernels, have)
		for _, last := range []string{reads[len(reads)-1].Name, goOf(have, Int8), goOf(have, Float32)} {
			if last != "go" {
				t.Errorf("%v: the pure Go kernels are missing", have)
			}
		}
		for _, k := range reads {
			if !have.Has(k.Requires) {
				t.Errorf("%v: %s needs %v", have, k.Name, k.Requires)
			}
		}
		for _, k := range everyDotKernel(have) {
			if !have.Has(k.Requires) {
				t.Errorf("%v: %s needs %v", have, k.Name, k.Requires)
			}
		}
	}
}

// TestFastest lets kernels work on a clock of their own: a kernel does k units
// in each pass of a microsecond.
func TestFastest(t *testing.T) {
	var clock time.Time
	passes := map[int]int{}
	run := func(k, n int) int {
		clock = clock.Add(time.Duration(n) * time.Microsecond)
		if passes[k] += n; passes[k] == n {
			return 1000 * n // the first turn, which does not count
		}
		return k * n
	}
	now := func() time.Time { return clock }
	for _, kernels := range [][]int{{3}, {1, 5, 2}, {5, 1}, {1, 2, 5}} {
		clear(passes)
		got, rate := fastest(kernels, run, now, time.Millisecond)
		if want := slices.Max(kernels); got != want || rate != float64(want)*1e6 {
			t.Errorf("of %v: %d does %v a second, want %d", kernels, got, rate, want)
		}
		for k, n := range passes {
			if near := 10*k >= 7*slices.Max(kernels); near && n < 5000 || n < 2000 || !near && n > 3100 {
				t.Errorf("of %v: kernel %d ran for %d µs", kernels, k, n)
			}
		}
	}
}

// TestFastestOnACoarseClock finds a kernel that is 1% faster with a clock that
// advances by 15 ms.
func TestFastestOnACoarseClock(t *testing.T) {
	const step = 15 * time.Millisecond
	var passed time.Time
	run := func(k, n int) int {
		passed = passed.Add(time.Duration(n) * time.Duration(k) * time.Nanosecond)
		return n
	}
	for _, kernels := range [][]int{{1000, 1010}, {1010, 1000}} {
		got, rate := fastest(kernels, run, func() time.Time { return passed.Truncate(step) }, 1000*step)
		if got != 1000 || rate < 0.99e6 || rate > 1.01e6 {
			t.Errorf("of %v: %d with %v a second, want 1000 with a million", kernels, got, rate)
		}
	}
}

// A disturbance of one turn decides nothing.
func TestFastestTakesTheBestTurn(t *testing.T) {
	var clock time.Time
	turns := 0
	run := func(k, n int) int {
		clock = clock.Add(10 * time.Millisecond)
		if turns++; turns == 3 { // the second turn of the first kernel
			clock = clock.Add(time.Second)
		}
		return k
	}
	if got, _ := fastest([]int{2, 1}, run, func() time.Time { return clock }, time.Millisecond); got != 2 {
		t.Errorf("the fastest is %d, want 2", got)
	}
}

// next is what a line of a chain holds.
func next(buf []byte, i int) uint64 { return binary.LittleEndian.Uint64(buf[i*LineBytes:]) }

func words8(w uint64) []byte { return binary.LittleEndian.AppendUint64(nil, w) }
