package softamx

import (
	"encoding/binary"
	"encoding/hex"
	"errors"
	"math/rand/v2"
	"strings"
	"testing"
)

// What GNU objdump makes of the bytes is beside them.
func TestDecode(t *testing.T) {
	for code, want := range map[string]Instruction{
		"c4e2784900":           {Op: LDTILECFG, Len: 5, Address: Address{Base: 0, Index: -1}},                             // ldtilecfg (%rax)
		"c4c278490424":         {Op: LDTILECFG, Len: 6, Address: Address{Base: 12, Index: -1}},                            // ldtilecfg (%r12)
		"c4c278494508":         {Op: LDTILECFG, Len: 6, Address: Address{Base: 13, Index: -1, Disp: 8}},                   // ldtilecfg 0x8(%r13)
		"c4e27849c0":           {Op: TILERELEASE, Len: 5},                                                                 // tilerelease
		"c4e27b49d8":           {Op: TILEZERO, Len: 5, Tile: 3},                                                           // tilezero %tmm3
		"c4c27b4b2431":         {Op: TILELOADD, Len: 6, Tile: 4, Address: Address{Base: 9, Index: 6}},                     // tileloadd (%r9,%rsi,1),%tmm4
		"c4827b4bb4ba00100000": {Op: TILELOADD, Len: 10, Tile: 6, Address: Address{10, 15, 2, 4096}},                      // tileloadd 0x1000(%r10,%r15,4),%tmm6
		"c4e27a4b84b840010000": {Op: TILESTORED, Len: 10, Address: Address{0, 7, 2, 320}},                                 // tilestored %tmm0,0x140(%rax,%rdi,4)
		"c4e27b4b6cf0f8":       {Op: TILELOADD, Len: 7, Tile: 5, Address: Address{Base: 0, Index: 6, Shift: 3, Disp: -8}}, // tileloadd -0x8(%rax,%rsi,8),%tmm5
		"c4e2535ec4":           {Op: TDPBSSD, Len: 5, Tile: 0, A: 4, B: 5},                                                // tdpbssd %tmm5,%tmm4,%tmm0
		"c4e2515ed4":           {Op: TDPBUSD, Len: 5, Tile: 2, A: 4, B: 5},                                                // tdpbusd %tmm5,%tmm4,%tmm2
		"c4e2525ed4":           {Op: TDPBSUD, Len: 5, Tile: 2, A: 4, B: 5},                                                // tdpbsud %tmm5,%tmm4,%tmm2
		"c4e2505ed4":           {Op: TDPBUUD, Len: 5, Tile: 2, A: 4, B: 5},                                                // tdpbuud %tmm5,%tmm4,%tmm2
	} {
		bytes, err := hex.DecodeString(code)
		if err != nil {
			t.Fatal(err)
		}
		if got, ok := Decode(append(bytes, 0x90)); !ok || got != want {
			t.Errorf("%s is %+v, %v, want %+v", code, got, ok, want)
		}
		for n := range bytes {
			if got, ok := Decode(bytes[:n]); ok {
				t.Errorf("%s, %d bytes of it, is %+v", code, n, got)
			}
		}
	}
	for _, code := range []string{
		"c4e27d50d1",     // vpdpbusd %ymm1,%ymm0,%ymm2
		"c4e2535ee5",     // tdpbssd into a source
		"c4e27b4b20",     // tileloadd without rows
		"c462535ec4",     // tile 8
		"c4e2d35ec4",     // W1
		"c4e2575ec4",     // L=256
		"c4e3535ec4",     // map 0F3A
		"0f0b9090909090", // ud2
	} {
		bytes, err := hex.DecodeString(code)
		if err != nil {
			t.Fatal(err)
		}
		if got, ok := Decode(bytes); ok {
			t.Errorf("%s is %+v", code, got)
		}
	}
}

func FuzzDecode(f *testing.F) {
	f.Add([]byte{0xc4, 0xe2, 0x53, 0x5e, 0xc4})
	f.Fuzz(func(t *testing.T, code []byte) {
		i, ok := Decode(code)
		if ok && (i.Len < 5 || i.Len > len(code) || i.Tile >= tiles || i.A >= tiles || i.B >= tiles || i.Address.Index == 4) {
			t.Errorf("%x is %+v", code, i)
		}
	})
}

// A flat is memory that begins at address 0.
type flat []byte

var errOutside = errors.New("outside")

func (m flat) Read(rows [][]byte, at []uint64) error {
	for i, row := range rows {
		if at[i]+uint64(len(row)) > uint64(len(m)) {
			return errOutside
		}
		copy(row, m[at[i]:])
	}
	return nil
}

func (m flat) Write(rows [][]byte, at []uint64) error {
	for i, row := range rows {
		if at[i]+uint64(len(row)) > uint64(len(m)) {
			return errOutside
		}
		copy(m[at[i]:], row)
	}
	return nil
}

// config returns a configuration of tiles by their rows and bytes.
func config(shapes ...[2]int) []byte {
	c := make([]byte, 64)
	c[0] = 1
	for t, s := range shapes {
		c[48+t] = byte(s[0])
		binary.LittleEndian.PutUint16(c[16+2*t:], uint16(s[1]))
	}
	return c
}

const (
	regZero = 0 // rax: where memory begins
	regStep = 1 // rcx: from row to row
)

// rowsAt addresses rows from disp on.
func rowsAt(disp int64) Address { return Address{Base: regZero, Index: regStep, Disp: disp} }

func do(t *testing.T, u *Unit, m flat, instructions ...Instruction) {
	t.Helper()
	for _, i := range instructions {
		if err := u.Do(&i, &[16]uint64{regStep: 64}, m); err != nil {
			t.Fatal(err)
		}
	}
}

// TestProducts compares with the sum over dwords of a row and a column, of bytes that
// are signed or not.
func TestProducts(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	const from, a, b, to = 1024, 2048, 3072, 4096
	for op, signed := range map[Op][2]bool{TDPBUUD: {}, TDPBUSD: {false, true}, TDPBSUD: {true, false}, TDPBSSD: {true, true}} {
		for range 20 {
			m, n, k := 1+rng.IntN(16), 1+rng.IntN(16), 1+rng.IntN(16)
			memory := make(flat, 5120)
			for i := from; i < to; i++ {
				memory[i] = byte(rng.Uint32())
			}
			copy(memory, config([2]int{m, 4 * n}, [2]int{m, 4 * k}, [2]int{k, 4 * n}))
			var u Unit
			do(t, &u, memory,
				Instruction{Op: LDTILECFG, Address: Address{Index: -1}},
				Instruction{Op: TILELOADD, Tile: 0, Address: rowsAt(from)},
				Instruction{Op: TILELOADD, Tile: 1, Address: rowsAt(a)},
				Instruction{Op: TILELOADD, Tile: 2, Address: rowsAt(b)},
				Instruction{Op: op, Tile: 0, A: 1, B: 2},
				Instruction{Op: TILESTORED, Tile: 0, Address: rowsAt(to)},
				Instruction{Op: TILERELEASE},
			)
			if u.InUse {
				t.Error("tiles are in use after tilerelease")
			}
			for r := range 16 {
				for c := range 16 {
					want := int64(int32(binary.LittleEndian.Uint32(memory[from+64*r+4*c:])))
					for i := range 4 * k {
						x, y := int64(memory[a+64*r+i]), int64(memory[b+64*(i/4)+4*c+i%4])
						if signed[0] {
							x = int64(int8(x))
						}
						if signed[1] {
							y = int64(int8(y))
						}
						want += x * y
					}
					if r >= m || c >= n {
						want = 0 // not stored
					}
					if got := int32(binary.LittleEndian.Uint32(memory[to+64*r+4*c:])); got != int32(want) {
						t.Fatalf("%s, %d × %d over %d dwords: sum %d, %d is %d, want %d", op, m, n, k, r, c, got, int32(want))
					}
				}
			}
		}
	}
}

// TestZero expects zeros of TILEZERO, and of LDTILECFG.
func TestZero(t *testing.T) {
	for _, zero := range []Instruction{{Op: TILEZERO}, {Op: LDTILECFG, Address: Address{Index: -1}}} {
		memory := make(flat, 128)
		copy(memory, config([2]int{1, 64}))
		memory[64] = 7
		var u Unit
		do(t, &u, memory, Instruction{Op: LDTILECFG, Address: Address{Index: -1}}, Instruction{Op: TILELOADD, Address: rowsAt(64)},
			zero, Instruction{Op: TILESTORED, Address: rowsAt(64)})
		if memory[64] != 0 || !u.InUse {
			t.Errorf("after %s a byte is %d, in use %v", zero.Op, memory[64], u.InUse)
		}
	}
}

// TestRefused expects the errors where a CPU raises an exception.
func TestRefused(t *testing.T) {
	product := Instruction{Op: TDPBSSD, Tile: 0, A: 1, B: 2}
	reserved, palette := config(), config()
	reserved[2], palette[0] = 1, 2
	for _, c := range []struct {
		config []byte
		then   Instruction
		want   string
	}{
		{palette, Instruction{}, "palette 2"},
		{reserved, Instruction{}, "byte 2 of the configuration is 1"},
		{config([2]int{17, 64}), Instruction{}, "tile 0 has 17 rows"},
		{config([2]int{1, 65}), Instruction{}, "rows of 65 bytes"},
		{config([2]int{0, 64}), Instruction{}, "tile 0 has 0 rows"},
		{config(), Instruction{Op: TILEZERO}, "not configured"},
		{config(), Instruction{Op: TILELOADD, Address: rowsAt(0)}, "not configured"},
		{config(), Instruction{Op: TILESTORED, Address: rowsAt(0)}, "not configured"},
		{config([2]int{1, 4}, [2]int{1, 4}), product, "not configured"},
		{config([2]int{1, 4}, [2]int{2, 4}, [2]int{1, 4}), product, "1 × 4 bytes += 2 × 4 · 1 × 4"},
		{config([2]int{1, 4}, [2]int{1, 8}, [2]int{1, 4}), product, "1 × 4 bytes += 1 × 8 · 1 × 4"},
		{config([2]int{1, 4}, [2]int{1, 4}, [2]int{1, 8}), product, "1 × 4 bytes += 1 × 4 · 1 × 8"},
		{config([2]int{1, 4}, [2]int{1, 3}, [2]int{1, 4}), product, "are not dwords"},
		{config([2]int{2, 64}), Instruction{Op: TILELOADD, Address: rowsAt(1)}, "outside"},
		{config([2]int{2, 64}), Instruction{Op: TILESTORED, Address: rowsAt(1)}, "outside"},
	} {
		memory := make(flat, 128)
		copy(memory, c.config)
		var u Unit
		registers := [16]uint64{regStep: 64}
		err := u.Do(&Instruction{Op: LDTILECFG, Address: Address{Index: -1}}, &registers, memory)
		if err == nil && c.then.Op != "" {
			err = u.Do(&c.then, &registers, memory)
		}
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("error %v, want %q", err, c.want)
		}
	}
}
