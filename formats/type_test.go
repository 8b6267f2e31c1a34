package formats

import (
	"errors"
	"math"
	"os"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
)

func TestRegistry(t *testing.T) {
	var names []string
	for _, f := range Types() {
		names = append(names, f.Name)
		if got, err := Lookup(f.Name); got != f || err != nil {
			t.Errorf("Lookup(%q) = %v, %v", f.Name, got, err)
		}
		if f.Summary == "" || f.BlockLen < 1 {
			t.Errorf("%s is described as %+v", f.Name, f)
		}
	}
	want := []string{
		"bf16", "f16", "f32", "i2_s", "i2_s_arm", "i2_s_x4", "iq4_nl", "pq2_0", "ptq1_0",
		"q1_0_g128", "q2_0", "q2_0_g128", "q4_0", "q4_k", "q5_0", "q6_k", "q8_0", "ternary_u32", "tq1_0", "tq2_0",
	}
	if !slices.Equal(names, want) {
		t.Errorf("Types are %v, want %v", names, want)
	}
	_, err := Lookup("q3_k")
	if err == nil || !strings.Contains(err.Error(), `"q3_k"`) || !strings.Contains(err.Error(), "i2_s_arm, i2_s_x4") {
		t.Errorf("Lookup of an unknown format: %v", err)
	}
}

// The table in the package comment is what BitsPerWeight computes.
func TestDocTable(t *testing.T) {
	doc, err := os.ReadFile("doc.go")
	if err != nil {
		t.Fatal(err)
	}
	_, table, _ := strings.Cut(string(doc), "# Bits per weight\n")
	table, _, _ = strings.Cut(table, "// # ")
	row := regexp.MustCompile(`(?m)^//\t(\w+) +(\d+) +(\d+|-) +([0-9.]+)$`)
	listed := map[string]bool{}
	for _, m := range row.FindAllStringSubmatch(table, -1) {
		f := lookup(t, m[1])
		listed[f.Name] = true
		if block, _ := strconv.Atoi(m[2]); block != f.BlockLen {
			t.Errorf("doc.go: %s: block %d, is %d", f.Name, block, f.BlockLen)
		}
		if m[3] != "-" {
			// The bytes of a block are what one more block per row adds.
			one, err1 := f.Bytes(1, f.BlockLen)
			two, err2 := f.Bytes(1, 2*f.BlockLen)
			if size, _ := strconv.Atoi(m[3]); err1 != nil || err2 != nil || size != two-one {
				t.Errorf("doc.go: %s: %d bytes a block, are %d", f.Name, size, two-one)
			}
		}
		got, err := f.BitsPerWeight(256, 2560)
		if want, _ := strconv.ParseFloat(m[4], 64); err != nil || got != want {
			t.Errorf("doc.go: %s: %v bits per weight, are %v (%v)", f.Name, want, got, err)
		}
	}
	for _, f := range Types() {
		if !listed[f.Name] {
			t.Errorf("doc.go: %s is not in the table", f.Name)
		}
	}
}

// Real shapes whose sizes are known: Bonsai-1.7B's and BitNet 2B4T's.
func TestBytesOfRealShapes(t *testing.T) {
	for _, c := range []struct {
		name       string
		rows, cols int
		want       int
	}{
		{"q1_0_g128", 6144, 2048, 6144 * 16 * 18},
		{"i2_s", 6912, 2560, 6912*640 + 32},
		{"ternary_u32", 32002, 1537, 32002*97*4 + 4},
		{"q2_0", 2048, 6144, 2048 * 96 * 18},
		{"q2_0_g128", 2048, 6144, 2048 * 48 * 34},
		{"pq2_0", 17408, 5120, 17408 * 40 * 34},
		{"ptq1_0", 5120, 17408, 5120 * 136 * 28},
		{"q4_k", 73448, 4096, 73448 * 16 * 144},
		{"q6_k", 151936, 2048, 151936 * 8 * 210},
	} {
		if got, err := lookup(t, c.name).Bytes(c.rows, c.cols); err != nil || got != c.want {
			t.Errorf("%s %d×%d: %d, %v; want %d", c.name, c.rows, c.cols, got, err, c.want)
		}
	}
}

func TestBadShapes(t *testing.T) {
	type shape struct{ rows, cols int }
	for _, f := range Types() {
		b := f.BlockLen
		bad := []shape{
			{0, b}, {-1, b}, {4, 0}, {4, -b}, {0, 0}, {-4, -b},
			{1 << 40, 2 * b * 4}, {math.MaxInt, b}, {4, math.MaxInt / b * b}, {math.MinInt, b},
		}
		if b > 1 {
			bad = append(bad, shape{4, 1}, shape{4, b - 1}, shape{4, b + 1}, shape{4, b / 2})
		}
		if f == I2_S_X4 {
			bad = append(bad, shape{1, 8}, shape{3, 8}, shape{5, 8})
		}
		for _, s := range bad {
			_, err := f.Bytes(s.rows, s.cols)
			wantError(t, f, err, "")
			_, err = f.BitsPerWeight(s.rows, s.cols)
			wantError(t, f, err, "")
			wantError(t, f, f.Matrix(nil, s.rows, s.cols).Validate(), "")
			wantError(t, f, f.Matrix(nil, s.rows, s.cols).Dequantize(nil), "")
			wantError(t, f, f.Matrix(nil, s.rows, s.cols).Quantize(nil), "")
			_, err = f.Matrix(nil, s.rows, s.cols).TensorScale()
			wantError(t, f, err, "")
		}
	}
}

func TestBadLengths(t *testing.T) {
	for _, f := range Types() {
		rows, cols := testShape(f)
		data := zeroMatrix(t, f, rows, cols)
		w := make([]float32, rows*cols)

		for _, bad := range [][]byte{nil, data[:len(data)-1], append(slices.Clone(data), 0)} {
			wantError(t, f, f.Matrix(bad, rows, cols).Dequantize(w), "bytes given")
			wantError(t, f, f.Matrix(bad, rows, cols).Validate(), "bytes given")
			wantError(t, f, f.Matrix(bad, rows, cols).Quantize(w), "bytes given")
			if f.scaleAt != nil {
				_, err := f.Matrix(bad, rows, cols).TensorScale()
				wantError(t, f, err, "bytes given")
			}
		}
		for _, bad := range [][]float32{nil, w[1:], append(slices.Clone(w), 0)} {
			wantError(t, f, f.Matrix(data, rows, cols).Dequantize(bad), "room for")
			wantError(t, f, f.Matrix(data, rows, cols).Quantize(bad), "floats given")
		}
		for _, r := range [][2]int{{-1, 1}, {0, rows + 1}, {2, 1}, {rows + 1, rows + 1}, {math.MinInt, 0}} {
			wantError(t, f, f.Matrix(data, rows, cols).DequantizeRows(nil, r[0], r[1]), "rows [")
		}
		if err := f.Matrix(data, rows, cols).DequantizeRows(nil, rows, rows); err != nil {
			t.Errorf("%s: no rows at the end: %v", f.Name, err)
		}
	}
}

func TestQuantizeRefusesNonFinite(t *testing.T) {
	for _, f := range Types() {
		rows, cols := testShape(f)
		data := zeroMatrix(t, f, rows, cols)
		w := make([]float32, rows*cols)
		for _, bad := range []float32{float32(math.NaN()), float32(math.Inf(1)), float32(math.Inf(-1))} {
			w[2*cols+3] = bad
			wantPlace(t, f, f.Matrix(data, rows, cols).Quantize(w), 2, 3, -1)
		}
	}
}

// What fp16 or bfloat16 cannot hold is an error with the place of the weight,
// or of the block whose scale it is.
func TestQuantizeOverflow(t *testing.T) {
	for _, c := range []struct {
		name     string
		fits     float32 // the largest weight that fits
		col      int     // of a weight put in row 1
		placeCol int
	}{
		{"f16", math.Nextafter32(65520, 0), 5, 5},
		{"bf16", math.Float32frombits(0x7f7f7fff), 5, 5},
		{"q8_0", math.Nextafter32(65520*127, 0), 33, 32},
		{"q4_0", math.Nextafter32(65520*8, 0), 33, 32},
		{"q5_0", math.Nextafter32(65520*16, 0), 33, 32},
		{"iq4_nl", math.Nextafter32(65520*127, 0), 33, 32},
		{"q4_k", 65504 * 63, 300, 256},       // offsets have eight times the scale
		{"q6_k", 65504 * 127 * 32, 300, 256}, // its d is never rounded down
		{"q2_0", math.Nextafter32(65520, 0), 65, 64},
		{"q2_0_g128", math.Nextafter32(65520, 0), 255, 128},
		{"pq2_0", math.Nextafter32(65520, 0), 255, 128},
		{"ptq1_0", math.Nextafter32(65520, 0), 255, 128},
		{"tq1_0", math.Nextafter32(65520, 0), 300, 256},
		{"tq2_0", math.Nextafter32(65520, 0), 300, 256},
		{"q1_0_g128", math.Nextafter32(65520*128, 0), 130, 128},
	} {
		f := lookup(t, c.name)
		rows, cols := testShape(f)
		data := zeroMatrix(t, f, rows, cols)
		w := make([]float32, rows*cols)
		w[cols+c.col] = -c.fits
		if err := f.Matrix(data, rows, cols).Quantize(w); err != nil {
			t.Errorf("%s: %v does not fit: %v", f.Name, c.fits, err)
		}
		if err := f.Matrix(data, rows, cols).Validate(); err != nil {
			t.Errorf("%s: %v", f.Name, err)
		}
		w[cols+c.col] = math.Nextafter32(-c.fits, float32(math.Inf(-1)))
		err := f.Matrix(data, rows, cols).Quantize(w)
		wantPlace(t, f, err, 1, c.placeCol, -1)
	}
	// The formats with one float32 scale hold any finite weight.
	for _, f := range []*Type{I2_S, I2_S_ARM, I2_S_X4, Ternary_u32, F32} {
		rows, cols := testShape(f)
		data := zeroMatrix(t, f, rows, cols)
		w := sparse(rows*cols, 0, map[int]float32{3: math.MaxFloat32, 4: -math.MaxFloat32})
		got := make([]float32, len(w))
		if err := f.Matrix(data, rows, cols).Quantize(w); err != nil {
			t.Errorf("%s: %v", f.Name, err)
		} else if err := f.Matrix(data, rows, cols).Dequantize(got); err != nil || firstDifference(got, w) >= 0 {
			t.Errorf("%s: the largest float32 does not survive (%v)", f.Name, err)
		}
	}
}

func TestErrorText(t *testing.T) {
	e := I2_S.errorf("code %d has no meaning", 3)
	if got, want := e.Error(), "i2_s: code 3 has no meaning"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
	if got, want := e.at(7, 130, 65).Error(), "i2_s: code 3 has no meaning at row 7, column 130, byte 65"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
	if got, want := e.at(-1, -1, 32).Error(), "i2_s: code 3 has no meaning at byte 32"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
}

func TestTensor(t *testing.T) {
	data := zeroMatrix(t, F16, 6, 5)
	for _, c := range []struct {
		shape      []int
		rows, cols int
		ok         bool
	}{
		{[]int{6, 5}, 6, 5, true},
		{[]int{2, 3, 5}, 6, 5, true},
		{[]int{30}, 1, 30, true},
		{nil, 1, 1, false},
		{[]int{5, 5}, 5, 5, false},
		{[]int{-2, -3, 5}, 0, 5, false},
		{[]int{0, 5}, 0, 5, false},
		{[]int{6, 0}, 6, 0, false},
		{[]int{1 << 32, 1 << 32, 6, 5}, 0, 5, false}, // the product wraps to 0
		{[]int{1<<62 + 1, 4, 6, 5}, 0, 5, false},     // and here to 24
	} {
		x := Tensor{Name: "blk.0.attn_q.weight", Type: F16, Shape: c.shape, Data: data}
		if rows, cols := x.Dims(); rows != c.rows || cols != c.cols {
			t.Errorf("Dims of %v = %d, %d", c.shape, rows, cols)
		}
		w, err := x.Floats()
		if (err == nil) != c.ok || c.ok && len(w) != 30 {
			t.Errorf("Floats of %v: %d, %v", c.shape, len(w), err)
		}
		verr := x.Validate()
		if (verr == nil) != c.ok {
			t.Errorf("Validate of %v: %v", c.shape, verr)
		}
		for _, err := range []error{err, verr} {
			if err != nil && !strings.HasPrefix(err.Error(), "tensor blk.0.attn_q.weight: f16: ") {
				t.Errorf("error does not name the tensor: %v", err)
			}
		}
	}
}

func TestTensorScale(t *testing.T) {
	for _, f := range Types() {
		rows, cols := testShape(f)
		data := zeroMatrix(t, f, rows, cols)
		switch f {
		case I2_S, I2_S_ARM, I2_S_X4, Ternary_u32:
			w := sparse(rows*cols, 0, map[int]float32{7: -0.3, 8: 0.3})
			if err := f.Matrix(data, rows, cols).Quantize(w); err != nil {
				t.Fatal(err)
			}
			if s, err := f.Matrix(data, rows, cols).TensorScale(); s != 0.3 || err != nil {
				t.Errorf("%s: TensorScale = %v, %v", f.Name, s, err)
			}
		default:
			_, err := f.Matrix(data, rows, cols).TensorScale()
			wantError(t, f, err, "no scale for the whole tensor")
		}
	}
}

// testShape is a shape of f with several rows and blocks, and with a row that
// ends within a word where the format allows that.
func testShape(f *Type) (rows, cols int) {
	if f.BlockLen == 1 {
		return 8, 37
	}
	return 8, 2 * f.BlockLen
}

// zeroMatrix returns a matrix whose weights are zero (or as near as f comes).
func zeroMatrix(t testing.TB, f *Type, rows, cols int) []byte {
	t.Helper()
	n, err := f.Bytes(rows, cols)
	if err != nil {
		t.Fatal(err)
	}
	data := make([]byte, n)
	if err := f.Matrix(data, rows, cols).Quantize(make([]float32, rows*cols)); err != nil {
		t.Fatal(err)
	}
	return data
}

// wantError checks that err is an *Error of f whose text has msg.
func wantError(t testing.TB, f *Type, err error, msg string) {
	t.Helper()
	var e *Error
	if !errors.As(err, &e) {
		t.Errorf("%s: error is %v (%T)", f.Name, err, err)
		return
	}
	if e.Type != f.Name || !strings.Contains(err.Error(), msg) {
		t.Errorf("%s: error is %q, want one with %q", f.Name, err, msg)
	}
}

// wantPlace checks that err is an *Error of f with that place.
func wantPlace(t testing.TB, f *Type, err error, row, col, offset int) {
	t.Helper()
	var e *Error
	if !errors.As(err, &e) {
		t.Errorf("%s: error is %v (%T)", f.Name, err, err)
		return
	}
	if e.Type != f.Name || e.Row != row || e.Col != col || e.Offset != offset {
		t.Errorf("%s: error is %q, want row %d, column %d, byte %d", f.Name, err, row, col, offset)
	}
}

func TestTernaryGroup(t *testing.T) {
	want := map[*Type]int{I2_S: 1024, I2_S_ARM: 1024, I2_S_X4: 1024, Ternary_u32: 1024, TQ1_0: 256, TQ2_0: 256, Q2_0: 64, Q2_0_g128: 128, PQ2_0: 128, PTQ1_0: 128}
	for _, typ := range Types() {
		if got := typ.TernaryGroup(4, 256); got != want[typ] {
			t.Errorf("%s: %d, want %d", typ.Name, got, want[typ])
		}
	}
}
