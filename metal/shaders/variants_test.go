package shaders

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"onebit/formats"
	"onebit/internal/require"
	"onebit/kernels"
	"onebit/kernels/kerneltest"
	"onebit/metal/softmetal"
)

// bind returns the arguments of a variant by its bindings.
func (v *Variant) bind(weights, weightScales []byte, activations, sums, scales softmetal.Arg, y []float32, s Shape) []softmetal.Arg {
	var args []softmetal.Arg
	b := v.Bindings
	for _, a := range []struct {
		index int
		arg   func(int) softmetal.Arg
	}{
		{b.Weights, func(i int) softmetal.Arg { return softmetal.Buffer(i, weights) }},
		{b.WeightScales, func(i int) softmetal.Arg { return softmetal.Buffer(i, weightScales) }},
		{b.Activations, func(int) softmetal.Arg { return activations }},
		{b.Sums, func(int) softmetal.Arg { return sums }},
		{b.Scales, func(int) softmetal.Arg { return scales }},
		{b.Results, func(i int) softmetal.Arg { return softmetal.Buffer(i, y) }},
		{b.Shape, func(i int) softmetal.Arg { return softmetal.Value(i, s) }},
	} {
		if a.index >= 0 {
			args = append(args, a.arg(a.index))
		}
	}
	return args
}

// multiply runs a variant as a program would that knows of it what the table says.
func (v *Variant) multiply(t *testing.T, p *product) ([]float32, error) {
	t.Helper()
	rows, cols, n := int(p.shape.Rows), int(p.shape.Cols), p.a.N
	plan, err := v.Plan(p.tensor.Type, actColumns(p.a.Scheme), rows, cols, n)
	if err != nil {
		return nil, err
	}
	l, b := compile(t, v.Source, plan.Constants), v.Bindings
	data, weightScales := p.tensor.Data, []byte{0, 0}
	switch v.Layout {
	case Split:
		split, scales := p.codes.Split(data, rows, cols)
		data, weightScales = split, append(scales, weightScales...)
	case Tiled:
		data, weightScales = p.tiled()
	}
	x := softmetal.Buffer(b.Activations, p.a.X)
	var sums, scales softmetal.Arg
	switch v.Quantization {
	case QuantizeInt8:
		x, scales = softmetal.Buffer(b.Activations, p.a.Q), softmetal.Buffer(b.Scales, p.a.Scales)
	case QuantizePlanes:
		a, err := quantizePlanes(l, p.a.Scheme, p.a.X, n)
		if err != nil {
			return nil, err
		}
		x, sums, scales = softmetal.Buffer(b.Activations, a.bits), softmetal.Buffer(b.Sums, a.sums), softmetal.Buffer(b.Scales, a.scales)
	}
	y, s := poisoned(len(p.want)), p.shape
	s.RowBytes = uint32(plan.RowBytes)
	var grid [3]int
	for i := range grid {
		grid[i] = plan.Groups[i] * plan.Threads[i]
	}
	return y, l.Dispatch(v.Kernel, grid, plan.Threads, v.bind(data, weightScales, x, sums, scales, y, s)...)
}

// Every variant of the table multiplies what it plans, of which a part is drawn: to the
// bit, but for those that add floats in another order.
func TestVariants(t *testing.T) {
	const rows, cols = 37, 512
	type plan struct {
		format  *formats.Type
		scheme  kernels.Scheme
		columns int
	}
	for _, v := range Variants() {
		var plans []plan
		for _, tt := range append([]*formats.Type{formats.F32, formats.F16, formats.BF16, formats.Q4_K}, codeTypes()...) {
			for _, scheme := range []kernels.Scheme{kernels.Q8Row, kernels.Q8Per128, kernels.Q8Per32} {
				n := 9
				if v.PerDispatch {
					n = 1
				}
				if _, err := v.Plan(tt, actColumns(scheme), rows, cols, n); err == nil {
					plans = append(plans, plan{tt, scheme, n})
				}
			}
		}
		if len(plans) == 0 {
			t.Errorf("%s multiplies nothing", v.Name)
		}
		for _, p := range require.Draw(t, 4, plans) {
			t.Run(fmt.Sprintf("%s/%s/%s", v.Name, p.format.Name, p.scheme), func(t *testing.T) {
				rng := rand.New(rand.NewPCG(3, 3))
				scheme, x := p.scheme, normal(rng, p.columns*cols)
				tensor := tensorOf(t, p.format, rows, cols, rng)
				if v.Quantization == "" {
					scheme = kernels.F32
				}
				p := newProduct(t, tensor, scheme, x, p.columns)
				got := of(t)(v.multiply(t, p))
				switch {
				case tensor.Type == formats.Q4_K:
					near(t, v.Name, got, p.want, p.size, 2*cols+8)
				case v.Name == "metal-naive":
					near(t, v.Name, got, p.want, p.size, 2*(cols+4))
				case v.Name == "metal-simd":
					near(t, v.Name, got, p.want, withSteps(t, p), cols/16+8+4)
				default:
					same(t, v.Name, got, p.want)
				}
			})
		}
	}
}

// A variant says why it doesn't multiply.
func TestRefusedPlans(t *testing.T) {
	for _, c := range []struct {
		variant    string
		format     *formats.Type
		actColumns uint32
		cols       int
		want       string
	}{
		{"metal-rows", formats.F16, 0, 256, "metal-rows: no Metal shader multiplies f16"},
		{"metal-dense", formats.Q8_0, 0, 256, "metal-dense: q8_0 has no floats"},
		{"metal-dense", formats.F16, 0, 6, "metal-dense: 6 columns; want a multiple of 4"},
		{"metal-simd", formats.Q6_K, 32, 256, "metal-simd: codes of 6 bits; want 1, 2 or 8"},
		{"metal-tiles", formats.Q8_0, 32, 256, "metal-tiles: codes of 8 bits; want 1 or 2"},
		{"metal-bytes", formats.I2_S, 0, 256, "metal-bytes: codes of 2 bits; want 4, 6 or 8"},
		{"metal-bytes", formats.F16, 0, 256, "metal-bytes: no Metal shader multiplies f16"},
		{"metal-bytes", formats.Q6_K, 128, 256, "metal-bytes: activations of q6_k without a scale for every 32 columns"},
		{"metal-lanes", formats.Q8_0, 0, 256, "metal-lanes: matvec_lanes multiplies codes of 1 and 2 bits, not of 8"},
		{"metal-lanes", formats.Q1_0_g128, 128, 384, "metal-lanes: matvec_lanes multiplies rows of a multiple of 128 columns and 4 bytes, not of 384 and 54"},
		{"metal-lanes", formats.Ternary_u32, 0, 130, "metal-lanes: matvec_lanes multiplies rows of a multiple of 128 columns and 16 bytes, not of 130 and 36"},
		{"metal-lanes", formats.Q1_0_g128, 32, 256, "metal-lanes: matvec_lanes multiplies activations with scales for 128 columns or more, not for 32"},
	} {
		for _, v := range Variants() {
			if v.Name != c.variant {
				continue
			}
			if _, err := v.Plan(c.format, c.actColumns, 1, c.cols, 1); err == nil || err.Error() != c.want {
				t.Errorf("error %v, want %s", err, c.want)
			}
		}
	}
}

// Rows that end within a unit, more units than threads of a row, rows that fill no
// simdgroup, and columns of activations that fill no tile.
func TestBytes(t *testing.T) {
	for _, c := range []struct {
		format *formats.Type
		scheme kernels.Scheme
		cols   []int
	}{
		{formats.Q8_0, kernels.Q8Row, []int{32, 672}},
		{formats.Q8_0, kernels.Q8Per128, []int{672}},
		{formats.Q8_0, kernels.Q8Per32, []int{160, 1184}},
		{formats.Q6_K, kernels.Q8Per32, []int{256, 1280}},
		{formats.Q4_0, kernels.Q8Per32, []int{32, 1184}}, {formats.Q4_0, kernels.Q8Row, []int{160}},
	} {
		for _, cols := range c.cols {
			for _, cut := range require.Draw(t, 3, []ByteCut{{4, 1, 4}, {4, 2, 4}, {8, 4, 2}, {32, 1, 4}, {32, 2, 4}, {32, 4, 2}}) {
				t.Run(fmt.Sprintf("%s/%s/%d/%v", c.format.Name, c.scheme, cols, cut), func(t *testing.T) {
					if err := bytesProduct(t, Bytes, c.format, c.scheme, cols, cut); err != nil {
						t.Error(err)
					}
				})
			}
		}
	}
}

// bytesProduct compares products of 37 rows and 3 columns with package kernels.
func bytesProduct(t *testing.T, source string, format *formats.Type, scheme kernels.Scheme, cols int, cut ByteCut) error {
	const rows, n = 37, 3
	rng := rand.New(rand.NewPCG(rows, uint64(cols)))
	p := newProduct(t, tensorOf(t, format, rows, cols, rng), scheme, normal(rng, n*cols), n)
	split, scales := p.codes.Split(p.tensor.Data, rows, cols)
	s, y := p.shape, poisoned(len(p.want))
	s.RowBytes = uint32(p.codes.SplitRowBytes(cols))
	rowGroups, tiles := groups(rows, 2*32/int(cut.Threads)*int(cut.Rows)), groups(n, int(cut.Columns))
	err := compile(t, source, cut.Constants(p.codes, actColumns(scheme))).Dispatch("matvec_bytes", [3]int{rowGroups * 64, tiles, 1}, [3]int{64, 1, 1},
		softmetal.Buffer(0, split), softmetal.Buffer(1, scales), softmetal.Buffer(2, p.a.Q), softmetal.Buffer(3, p.a.Scales),
		softmetal.Buffer(4, y), softmetal.Value(5, s))
	if err != nil {
		return err
	}
	return kerneltest.Same(y, p.want)
}

// The largest sums there are stay exact: all codes and activations at their ends.
func TestBytesLargest(t *testing.T) {
	const cols = 256
	x := make([]float32, cols)
	for i := range x {
		x[i] = 127
	}
	for _, format := range []*formats.Type{formats.Q8_0, formats.Q6_K, formats.Q4_0} {
		codes := layoutOf(format)
		tensor := &formats.Tensor{Name: "w", Type: format, Shape: []int{1, cols}, Data: make([]byte, codes.RowBytes(cols))}
		for i := range tensor.Data {
			tensor.Data[i] = 0x80 // codes of -128, scales of -128
		}
		if format == formats.Q6_K {
			clear(tensor.Data[:192]) // codes of -32
		}
		for b := int(codes.ScaleAt); b < len(tensor.Data); b += int(codes.BlockBytes) {
			tensor.Data[b], tensor.Data[b+1] = 0x01, 0x3c
		}
		p := newProduct(t, tensor, kernels.Q8Per32, x, 1)
		split, scales := p.codes.Split(tensor.Data, 1, cols)
		y, s := poisoned(1), p.shape
		s.RowBytes = uint32(len(split))
		err := compile(t, Bytes, ByteCut{4, 1, 4}.Constants(p.codes, 32)).Dispatch("matvec_bytes", [3]int{32, 1, 1}, [3]int{32, 1, 1},
			softmetal.Buffer(0, split), softmetal.Buffer(1, scales), softmetal.Buffer(2, p.a.Q), softmetal.Buffer(3, p.a.Scales),
			softmetal.Buffer(4, y), softmetal.Value(5, s))
		if err != nil {
			t.Fatal(err)
		}
		same(t, format.Name, y, p.want)
	}
}

// Threads that share a row leave few of them idle in the last turn.
func TestRowThreads(t *testing.T) {
	for units, want := range map[int]int{1: 4, 5: 8, 16: 16, 20: 4, 24: 8, 32: 32, 48: 16, 54: 8, 64: 32, 136: 16} {
		if got := rowThreads(units); got != want {
			t.Errorf("%d threads share a row of %d units, want %d", got, units, want)
		}
	}
}

// A thread has more rows where there are enough for a GPU, and no more rows ×
// columns × bits than its instructions are cached for.
func TestTilesCut(t *testing.T) {
	for _, c := range []struct {
		format        *formats.Type
		actColumns    uint32
		rows, columns int
		want          [2]uint32 // rows of a thread, columns
	}{
		{formats.Q1_0_g128, 128, 2048, 1, [2]uint32{1, 1}},
		{formats.Q1_0_g128, 128, 4096, 1, [2]uint32{2, 1}},
		{formats.Q1_0_g128, 128, 151936, 1, [2]uint32{4, 1}},
		{formats.Q1_0_g128, 32, 151936, 1, [2]uint32{1, 1}}, // whose terms fill the room
		{formats.Q1_0_g128, 128, 151936, 100, [2]uint32{1, 8}},
		{formats.I2_S, 0, 8192, 1, [2]uint32{4, 1}},
		{formats.I2_S, 0, 8192, 2, [2]uint32{2, 2}},
		{formats.I2_S, 0, 8192, 3, [2]uint32{1, 4}},
		{formats.I2_S, 0, 8192, 100, [2]uint32{1, 4}},
		{formats.Q2_0, 128, 8192, 1, [2]uint32{2, 1}},
	} {
		if cut := TilesCut(layoutOf(c.format), c.actColumns, c.rows, c.columns); [2]uint32{cut.Rows, cut.Columns} != c.want {
			t.Errorf("%s, %d rows and %d columns: cut %v × %v, want %v", c.format.Name, c.rows, c.columns, cut.Rows, cut.Columns, c.want)
		}
	}
}

// Matrices of simdgroups give the bits of package kernels for every format and scheme
// that they take, with rows, columns and activations that fill no tile.
func TestMatrices(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 9))
	shapes := []struct {
		format *formats.Type
		scheme kernels.Scheme
		cols   int
	}{
		{formats.Q1_0_g128, kernels.Q8Per128, 256}, {formats.Q1_0_g128, kernels.Q8Row, 384}, {formats.I2_S, kernels.Q8Row, 384},
		{formats.Ternary_u32, kernels.Q8Row, 70}, {formats.TQ2_0, kernels.Q8Per128, 512}, {formats.Q2_0, kernels.Q8Per128, 192},
		{formats.Q8_0, kernels.Q8Per32, 160}, {formats.Q8_0, kernels.Q8Row, 96},
	}
	for _, s := range require.Draw(t, 3, shapes) {
		t.Run(s.format.Name+"/"+string(s.scheme), func(t *testing.T) {
			const rows, columns = 37, 33
			p := newProduct(t, tensorOf(t, s.format, rows, s.cols, rng), s.scheme, normal(rng, columns*s.cols), columns)
			for _, v := range Variants() {
				if _, err := v.Plan(s.format, actColumns(s.scheme), rows, s.cols, columns); v.Kernel == "matmul_simd" && err == nil {
					same(t, v.Name, of(t)(v.multiply(t, p)), p.want)
				}
			}
		})
	}
}
