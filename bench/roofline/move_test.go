package roofline

import (
	"bytes"
	"slices"
	"testing"

	"onebit/internal/cpu"
	"onebit/internal/guard"
	"onebit/internal/require"
)

// lacking skips a kernel that can't run here, or fails where it must.
func lacking(t *testing.T, requires cpu.Set) {
	if missing := cpu.Detected().Missing(requires); missing != 0 {
		require.Skip(t, missing.String(), "the kernel needs it")
	}
}

func TestEveryByteIsWritten(t *testing.T) {
	for _, k := range running(archWriteKernels, ^cpu.Set(0)) {
		t.Run(k.Name, func(t *testing.T) {
			lacking(t, k.Requires)
			for _, n := range lengths() {
				for _, b := range []*guard.Buffer{guard.New(t, n), guard.Start(t, n), guard.Misaligned(t, n, 1)} {
					random(b.Bytes(), uint64(n))
					if err := guard.Catch(func() { fill(k, b.Bytes(), 0xA5) }); err != nil {
						t.Fatalf("%d bytes: %v", n, err)
					}
					if i := slices.IndexFunc(b.Bytes(), func(v byte) bool { return v != 0xA5 }); i >= 0 {
						t.Fatalf("%d bytes: byte %d is %#x", n, i, b.Bytes()[i])
					}
				}
			}
		})
	}
}

func TestEveryByteIsCopied(t *testing.T) {
	for _, k := range running(archCopyKernels, ^cpu.Set(0)) {
		t.Run(k.Name, func(t *testing.T) {
			lacking(t, k.Requires)
			for _, n := range lengths() {
				for _, at := range []int{0, 1} {
					src, dst := guard.Misaligned(t, n, at), guard.New(t, n)
					random(src.Bytes(), uint64(n))
					random(dst.Bytes(), uint64(n)+1)
					src.ReadOnly(t)
					if err := guard.Catch(func() { copyTo(k, dst.Bytes(), src.Bytes()) }); err != nil {
						t.Fatalf("%d bytes: %v", n, err)
					}
					if !bytes.Equal(dst.Bytes(), src.Bytes()) {
						t.Fatalf("%d bytes: the copy differs", n)
					}
				}
			}
		})
	}
}

// A kernel of wide stores must leave alone what is before and behind its
// buffer, whatever the alignment.
func TestNothingElseIsWritten(t *testing.T) {
	const room = 4096
	for _, k := range running(archWriteKernels, cpu.Detected()) {
		for _, from := range []int{0, 1, 7, 31, 63, 64, 65} {
			for _, n := range []int{0, 1, 64, 511, 512, 1100, 2048} {
				whole := make([]byte, room)
				fill(k, whole[from:from+n], 1)
				if got := bytes.Count(whole, []byte{1}); got != n {
					t.Fatalf("%s: %d bytes from %d: %d were written", k.Name, n, from, got)
				}
			}
		}
	}
}

func TestLongBuffersAreMovedInChunks(t *testing.T) {
	const n = 2*chunk + 12345
	a, err := NewBuffer(2*n, Small)
	if err != nil {
		t.Fatal(err)
	}
	defer a.Free()
	dst, src := a.Bytes()[:n], a.Bytes()[n:]
	for i, k := range running(archCopyKernels, cpu.Detected()) {
		fillGo(src, byte(i+1))
		src[chunk] = 99
		copyTo(k, dst, src)
		if !bytes.Equal(dst, src) {
			t.Errorf("%s: the copy differs", k.Name)
		}
	}
	for i, k := range running(archWriteKernels, cpu.Detected()) {
		fill(k, dst, byte(100+i))
		if got := bytes.Count(dst, []byte{byte(100 + i)}); got != n {
			t.Errorf("%s: %d of %d bytes were written", k.Name, got, n)
		}
	}
}

func TestCopyToAShorterBufferPanics(t *testing.T) {
	defer func() {
		if recover() == nil {
			t.Error("100 bytes were copied to 99")
		}
	}()
	copyTo(running(archCopyKernels, 0)[0], make([]byte, 99), make([]byte, 100))
}

func TestFewerFeaturesGiveFewerMoves(t *testing.T) {
	for _, have := range []cpu.Set{0, cpu.AVX2, cpu.NEON} {
		writes, copies := running(archWriteKernels, have), running(archCopyKernels, have)
		if writes[len(writes)-1].Name != "go" || copies[len(copies)-1].Name != "go" {
			t.Errorf("%v: the pure Go kernels are missing", have)
		}
	}
}

func TestChainGoesThroughEveryLine(t *testing.T) {
	for _, lines := range []int{1, 2, 3, 64, 1000} {
		a, err := NewBuffer(lines*LineBytes+7, Huge)
		if err != nil {
			t.Fatal(err)
		}
		c := newChain(a.Bytes(), 1)
		if c.Lines() != lines {
			t.Errorf("%d lines, want %d", c.Lines(), lines)
		}
		seen := make([]int, lines)
		for range lines {
			seen[c.Walk(1)]++
		}
		for i, n := range seen {
			if n != 1 {
				t.Fatalf("%d lines: %d of a cycle's steps end at line %d", lines, n, i)
			}
		}
		if at := c.Walk(0); at != 0 {
			t.Errorf("%d lines: a whole cycle ends at line %d", lines, at)
		}
		if at := c.Walk(lines * 300); at != 0 {
			t.Errorf("%d lines: 300 cycles end at line %d", lines, at)
		}
		if err := a.Free(); err != nil {
			t.Error(err)
		}
	}
}

// The walk of this build is the pure Go one, step for step.
func TestChainEqualsTheGoWalk(t *testing.T) {
	a, err := NewBuffer(777*LineBytes, Huge)
	if err != nil {
		t.Fatal(err)
	}
	defer a.Free()
	c := newChain(a.Bytes(), 5)
	// A chain of the same seed over offsets.
	offsets := slices.Clone(a.Bytes())
	for i := range 777 {
		copy(offsets[i*LineBytes:], words8(next(a.Bytes(), i)-c.origin))
	}
	at := uint64(0)
	for steps := range 100 {
		at = chaseGo(offsets, at, steps)
		if got := c.Walk(steps); got != int(at)/LineBytes {
			t.Fatalf("%d steps end at line %d, want %d", steps, got, at/LineBytes)
		}
	}
}

func TestCyclesDependOnEveryIteration(t *testing.T) {
	// The same operations, written as a loop.
	want := func(n int) uint64 {
		x, a, b := uint64(1), uint64(0x9e3779b97f4a7c15), uint64(n)|1
		operations := 0
		for range n {
			for i := range 10 {
				if i%2 == 0 {
					x = ((x ^ a) + b) ^ a
				} else {
					x = ((x + b) ^ a) + b
				}
				operations += 3
			}
			x = (x ^ a) + b
			operations += 2
		}
		if operations != n*CyclesInLoop {
			t.Errorf("%d operations in %d iterations, want %d each", operations, n, CyclesInLoop)
		}
		return x
	}
	for _, n := range []int{0, 1, 2, 1000} {
		if got := Cycles(n); got != want(n) {
			t.Errorf("Cycles(%d) = %#x, want %#x", n, got, want(n))
		}
	}
}
