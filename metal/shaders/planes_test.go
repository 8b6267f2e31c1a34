package shaders

import (
	"encoding/binary"
	"fmt"
	"math/rand/v2"
	"runtime"
	"strings"
	"testing"

	"onebit/formats"
	"onebit/internal/require"
	"onebit/kernels"
	"onebit/kernels/kerneltest"
	"onebit/metal/softmetal"
)

// An actPlanes is activations as quantize_planes writes them.
type actPlanes struct {
	bits         []uint32
	sums         []int32
	scales       []float32
	stride, cols int
	groups       int
}

var schemeIndex = map[kernels.Scheme]uint32{kernels.Q8Row: 0, kernels.Q8Per128: 1, kernels.Q8Per32: 2}

// actColumns is how many columns have one scale; 0: all.
func actColumns(scheme kernels.Scheme) uint32 {
	return map[kernels.Scheme]uint32{kernels.Q8Row: 0, kernels.Q8Per128: 128, kernels.Q8Per32: 32}[scheme]
}

func quantizePlanes(l library, scheme kernels.Scheme, x []float32, n int) (*actPlanes, error) {
	cols := len(x) / n
	stride := (cols + 255) / 256 * 256
	group := scheme.GroupLen(cols)
	p := &actPlanes{stride: stride, cols: cols, groups: (cols + group - 1) / group}
	p.bits, p.sums, p.scales = make([]uint32, n*stride/4), make([]int32, n*stride/32), poisoned(n*p.groups)
	for i := range p.bits {
		p.bits[i] = 0x5a5a5a5a
	}
	return p, l.Dispatch("quantize_planes", [3]int{64 * p.groups, n, 1}, [3]int{64, 1, 1},
		softmetal.Buffer(0, x), softmetal.Buffer(1, p.bits), softmetal.Buffer(2, p.sums), softmetal.Buffer(3, p.scales),
		softmetal.Value(4, [3]uint32{uint32(cols), uint32(stride), uint32(p.groups)}), softmetal.Value(5, schemeIndex[scheme]))
}

// at returns the activation of a column at a bit of a word.
func (p *actPlanes) at(column, word, bit int) int8 {
	words := p.stride / 32
	var q uint8
	for plane := range 8 {
		q |= uint8(p.bits[(column*8+plane)*words+word]>>bit&1) << plane
	}
	return int8(q)
}

// Packed weights have activations in their order, whose bits are those of package
// kernels' integers.
func TestQuantizePlanes(t *testing.T) {
	codes, err := CodesOf(formats.Ternary_u32)
	if err != nil {
		t.Fatal(err)
	}
	for _, scheme := range []kernels.Scheme{kernels.Q8Row, kernels.Q8Per128, kernels.Q8Per32} {
		for _, cols := range []int{1, 130, 700} {
			t.Run(fmt.Sprintf("%s/%d", scheme, cols), func(t *testing.T) {
				cut := TilesCut(codes, actColumns(scheme), 1, 1)
				x := adversarial(rand.New(rand.NewPCG(2, uint64(cols))), cols)
				n := len(x) / cols
				p, err := quantizePlanes(compile(t, Planes, cut.Constants(codes)), scheme, x, n)
				if err != nil {
					t.Fatal(err)
				}
				v, err := kernels.Lookup("ternary_u32", "scalar", scheme)
				if err != nil {
					t.Fatal(err)
				}
				var want kernels.Activations
				v.Prepare(&want, x, n, cols)
				for i, q := range want.Q {
					if got := p.at(i/want.Stride, i%want.Stride/32, i%32); got != q {
						t.Fatalf("column %d of activations, value %d is %d, want %d", i/want.Stride, i%want.Stride, got, q)
					}
				}
				for i, sum := range want.Sums {
					if p.sums[i] != sum {
						t.Fatalf("sum %d is %d, want %d", i, p.sums[i], sum)
					}
				}
				same(t, "scales", p.scales, want.Scales)
			})
		}
	}
}

// tiles runs matvec_tiles with so many simdgroups that share a tile.
func (p *product) tiles(t *testing.T, source string, cut Cut, parts int) ([]float32, error) {
	t.Helper()
	l := compile(t, source, cut.Constants(p.codes))
	a, err := quantizePlanes(l, p.a.Scheme, p.a.X, p.a.N)
	if err != nil {
		return nil, err
	}
	codes, scales := p.tiled()
	y := poisoned(len(p.want))
	groups := (Tiles(int(p.shape.Rows)) + int(cut.Rows) - 1) / int(cut.Rows)
	return y, l.Dispatch("matvec_tiles", [3]int{groups * parts * 32, (p.a.N + int(cut.Columns) - 1) / int(cut.Columns), 1}, [3]int{parts * 32, 1, 1},
		softmetal.Buffer(0, codes), softmetal.Buffer(1, scales), softmetal.Buffer(2, a.bits), softmetal.Buffer(3, a.sums), softmetal.Buffer(4, a.scales),
		softmetal.Buffer(5, y), softmetal.Value(6, p.shape))
}

// tiled returns the weights in tiles.
func (p *product) tiled() (codes, scales []byte) {
	rows, cols := int(p.shape.Rows), int(p.shape.Cols)
	n, m := p.codes.TileBytes(cols)
	codes, scales = make([]byte, Tiles(rows)*n), make([]byte, max(2, Tiles(rows)*m))
	for i := range Tiles(rows) {
		p.codes.Tile(codes[i*n:][:n], scales[i*m:], p.tensor.Data, rows, cols, i)
	}
	return codes, scales
}

// lanes runs matvec_lanes with so many simdgroups in a threadgroup.
func (p *product) lanes(t *testing.T, source string, cut Cut, simdgroups int) ([]float32, error) {
	t.Helper()
	l := compile(t, source, cut.Constants(p.codes))
	a, err := quantizePlanes(l, p.a.Scheme, p.a.X, p.a.N)
	if err != nil {
		return nil, err
	}
	y := poisoned(len(p.want))
	rows := int(32/cut.Threads*cut.Rows) * simdgroups
	groups := (int(p.shape.Rows) + rows - 1) / rows
	return y, l.Dispatch("matvec_lanes", [3]int{groups * simdgroups * 32, (p.a.N + int(cut.Columns) - 1) / int(cut.Columns), 1}, [3]int{simdgroups * 32, 1, 1},
		softmetal.Buffer(0, p.tensor.Data), softmetal.Buffer(2, a.bits), softmetal.Buffer(3, a.sums), softmetal.Buffer(4, a.scales),
		softmetal.Buffer(5, y), softmetal.Value(6, p.shape))
}

// All bits are those of package kernels, whatever the cut.
func TestPlanes(t *testing.T) {
	eachProduct(t, func(t *testing.T, tt *formats.Type, rows, cols, n int, scheme kernels.Scheme, rng *rand.Rand) {
		p := newProduct(t, kerneltest.Tensor(t, tt, rows, cols, rng), scheme, normal(rng, n*cols), n)
		if p.codes.Bits > 2 {
			return
		}
		cut := TilesCut(p.codes, actColumns(scheme), rows, n)
		same(t, "matvec_tiles", of(t)(p.tiles(t, Planes, cut, 4)), p.want)
		if cut, err := LanesCut(p.codes, actColumns(scheme), cols, n); err == nil {
			same(t, "matvec_lanes", of(t)(p.lanes(t, Planes, cut, 2)), p.want)
		}
	})
}

// Several tiles and columns a thread, of which the last threads have none.
func TestCuts(t *testing.T) {
	for _, tt := range require.Draw(t, 2, []*formats.Type{formats.Q1_0_g128, formats.Q2_0, formats.TQ2_0, formats.I2_S}) {
		for _, scheme := range []kernels.Scheme{kernels.Q8Row, kernels.Q8Per128} {
			t.Run(tt.Name+"/"+string(scheme), func(t *testing.T) {
				const rows, cols, n = 41, 1024, 3
				rng := rand.New(rand.NewPCG(rows, cols))
				p := newProduct(t, kerneltest.Tensor(t, tt, rows, cols, rng), scheme, normal(rng, n*cols), n)
				for _, cut := range []Cut{{Columns: 1, Rows: 2}, {Columns: 2, Rows: 2}, {Columns: 8, Rows: 1}} {
					cut.ActColumns, cut.Threads = actColumns(scheme), 32
					same(t, fmt.Sprintf("matvec_tiles %+v", cut), of(t)(p.tiles(t, Planes, cut, 3)), p.want)
					cut.InFile = true
					for _, cut.Threads = range []uint32{4, 32} {
						same(t, fmt.Sprintf("matvec_lanes %+v", cut), of(t)(p.lanes(t, Planes, cut, 2)), p.want)
					}
				}
			})
		}
	}
}

// What is packed has the same weights, and takes no memory for each of them beside it.
func TestPack(t *testing.T) {
	const rows, cols = 64, 4096
	for _, tt := range []*formats.Type{formats.TQ1_0, formats.PTQ1_0, formats.I2_S_X4} {
		tensor := kerneltest.Tensor(t, tt, rows, cols, rand.New(rand.NewPCG(7, 2)))
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		packed, err := Pack(tensor)
		runtime.ReadMemStats(&after)
		if err != nil {
			t.Fatal(err)
		}
		if packed.Type != PackedType(tt) {
			t.Errorf("%s is packed as %s", tt.Name, packed.Type.Name)
		}
		if took, most := after.TotalAlloc-before.TotalAlloc, uint64(len(packed.Data)+rows*cols/4); took > most {
			t.Errorf("%s: %d bytes were allocated to pack %d", tt.Name, took, len(packed.Data))
		}
		got, _, _ := weights(t, packed)
		want, _, _ := weights(t, tensor)
		same(t, tt.Name, got, want)
	}
	bad := kerneltest.Tensor(t, formats.I2_S_X4, 4, 16, rand.New(rand.NewPCG(7, 3)))
	bad.Data[3] = 0xff
	if _, err := Pack(bad); err == nil || !strings.Contains(err.Error(), bad.Name) || !strings.Contains(err.Error(), "code 3 has no meaning") {
		t.Errorf("error %v for a code without a meaning", err)
	}
}

// A tile has the codes of its rows, bit by bit.
func TestTile(t *testing.T) {
	eachProduct(t, func(t *testing.T, tt *formats.Type, rows, cols, _ int, scheme kernels.Scheme, rng *rand.Rand) {
		tensor, err := Pack(kerneltest.Tensor(t, tt, rows, cols, rng))
		if err != nil {
			t.Fatal(err)
		}
		codes, err := CodesOf(tensor.Type)
		if err != nil || codes.Bits > 2 || scheme != kernels.Q8Row {
			return
		}
		n, m := codes.TileBytes(cols)
		tile, scales := make([]byte, n), make([]byte, m)
		codes.Tile(tile, scales, tensor.Data, rows, cols, 0)
		for i := range n / 4 {
			chunk, bit, row, word := i/(tileRows*4*int(codes.Bits)), i/(tileRows*4)%int(codes.Bits), i/4%tileRows, i%4
			var want, mask uint32 // behind the last column are the file's bits
			for k := range 32 {
				if column := 128*chunk + 32*word + k; row < rows && column < cols {
					want |= codes.code(tensor.Data[row*codes.RowBytes(cols):], column) >> bit & 1 << k
					mask |= 1 << k
				}
			}
			if got := binary.LittleEndian.Uint32(tile[4*i:]) & mask; got != want {
				t.Fatalf("chunk %d, bit %d, row %d, word %d is %08x, want %08x", chunk, bit, row, word, got, want)
			}
		}
	})
}

// code returns the code of a column as its bits.
func (c Codes) code(row []byte, k int) uint32 {
	if c.BlockColumns != 0 {
		row = row[k/int(c.BlockColumns)*int(c.BlockBytes)+int(c.At):]
		k %= int(c.BlockColumns)
	}
	if c.Bits == 1 {
		return uint32(row[k/8] >> (k % 8) & 1)
	}
	span := int(c.Span)
	place := k / span % 4
	if c.HighFirst {
		place = 3 - place
	}
	return uint32(row[k/(4*span)*span+k%span] >> (2 * place) & 3)
}
