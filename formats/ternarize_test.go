package formats

import (
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
)

func TestTernarizeGolden(t *testing.T) {
	for _, c := range []struct {
		w     []float32
		scale float32
		codes []int8
	}{
		{[]float32{1, -1, 0.5, 0}, 0.625, []int8{1, -1, 1, 0}},
		{[]float32{1, 3}, 2, []int8{0, 1}},               // 1/2 rounds to even: 0
		{[]float32{-1, -3}, 2, []int8{0, -1}},            //
		{[]float32{1, -9, 0, 2}, 3, []int8{0, -1, 0, 1}}, // -3 is clamped
		{[]float32{0, 0}, 1e-5, []int8{0, 0}},
		{[]float32{1e-6, -1e-5}, 1e-5, []int8{0, -1}}, // the mean, 5.5e-6, is below the least scale
		{nil, 1e-5, nil},
	} {
		w := slices.Clone(c.w)
		scale, err := Ternarize(w, w)
		if err != nil || scale != c.scale {
			t.Errorf("Ternarize(%v) = %v, %v", c.w, scale, err)
		}
		for i, q := range c.codes {
			if w[i] != float32(q)*c.scale {
				t.Errorf("Ternarize(%v): weight %d is %v", c.w, i, w[i])
			}
		}
	}
}

// The formula as it is written down: clamp(round half even(w/s), -1, 1).
func TestTernarizeFormula(t *testing.T) {
	for d, dist := range distributions {
		r := rand.New(rand.NewPCG(uint64(d), 9))
		w := make([]float32, 1000)
		for i := range w {
			w[i] = dist.draw(r, i)
		}
		var sum float64
		for _, x := range w {
			sum += math.Abs(float64(x))
		}
		s := max(float32(sum/1000), 1e-5)
		// Exact ties too; changing them changes the mean, so it is given up on
		// here and only the rounding is checked.
		w[1], w[2] = s/2, -s/2
		for i, x := range w {
			want := max(-1, min(1, math.RoundToEven(float64(x)/float64(s))))
			if got := ternaryDigit(x, s/2); float64(got) != want {
				t.Errorf("%s: weight %d, %v, scale %v: %d, want %v", dist.name, i, x, s, got, want)
			}
		}
		w[1], w[2] = 0, 0
		got := make([]float32, len(w))
		scale, err := Ternarize(got, w)
		if err != nil {
			t.Fatal(err)
		}
		for i, x := range w {
			want := max(-1, min(1, math.RoundToEven(float64(x)/float64(scale))))
			if got[i] != float32(want)*scale {
				t.Errorf("%s: weight %d, %v, scale %v: %v, want %v of it", dist.name, i, x, scale, got[i], want)
			}
		}
	}
}

// A ternarized matrix goes through every ternary encoder unharmed.
func TestTernarizeThenQuantize(t *testing.T) {
	for _, f := range []*Type{I2_S, I2_S_ARM, I2_S_X4, Ternary_u32, Q2_0, Q2_0_g128, TQ1_0, TQ2_0} {
		w, rows, cols := draw(f, 0)
		s, err := Ternarize(w, w)
		if err != nil {
			t.Fatal(err)
		}
		_, back := there(t, f, w, rows, cols)
		for i, x := range w {
			tol := 0.0
			if f.scaleAt == nil { // an fp16 scale
				tol = float64(s) * 0x1p-11
			}
			if math.Abs(float64(back[i]-x)) > tol || (back[i] == 0) != (x == 0) {
				t.Errorf("%s: weight %v became %v", f.Name, x, back[i])
				break
			}
		}
	}
}

func TestTernarizeErrors(t *testing.T) {
	w := []float32{1, 2, float32(math.NaN()), 3}
	if _, err := Ternarize(make([]float32, 4), w); err == nil || !strings.Contains(err.Error(), "index 2") {
		t.Errorf("Ternarize: %v", err)
	}
	for name, call := range map[string]func(){
		"Ternarize": func() { Ternarize(make([]float32, 3), w) },
		"Digits":    func() { new(Ternarizer).Digits(make([]int8, 5), w) },
	} {
		func() {
			defer func() {
				if s, ok := recover().(string); !ok || !strings.HasPrefix(s, "formats: "+name) {
					t.Errorf("%s: panicked with %v", name, s)
				}
			}()
			call()
		}()
	}
}

func TestMorphTernary(t *testing.T) {
	// mean|w| = 1, also for weights that Quantize would keep with s = 2.
	x, err := MorphTernary([]float32{2, 0, 0, -2}, 2, 2)
	if err != nil {
		t.Fatal(err)
	}
	want := []byte{0x56, 0x55, 0x55, 0x55, 0x51, 0x55, 0x55, 0x55, 0, 0, 0x80, 0x3f}
	if string(x.Data) != string(want) || x.Type != Ternary_u32 || !slices.Equal(x.Shape, []int{2, 2}) {
		t.Errorf("MorphTernary = %v % x", x.Shape, x.Data)
	}
	if w, err := x.Floats(); err != nil || !slices.Equal(w, []float32{1, 0, 0, -1}) {
		t.Errorf("weights %v, %v", w, err)
	}
}

func TestTernaryNative(t *testing.T) {
	x, err := NativeTernary([]float32{1, -1, 0, 0.9999995, -1.0000005, 5e-7}, 2, 3)
	if err != nil {
		t.Fatal(err)
	}
	if w, err := x.Floats(); err != nil || !slices.Equal(w, []float32{1, -1, 0, 1, -1, 0}) {
		t.Errorf("weights %v, %v", w, err)
	}
	if s, err := Ternary_u32.Matrix(x.Data, 2, 3).TensorScale(); s != 1 || err != nil {
		t.Errorf("scale %v, %v", s, err)
	}
	for _, bad := range []float32{0.5, 2, -2, 1.00001, -0.99999, 1e9, float32(math.NaN()), float32(math.Inf(1))} {
		_, err := NativeTernary([]float32{1, 0, 0, 0, bad, 0}, 2, 3)
		wantPlace(t, Ternary_u32, err, 1, 1, -1)
	}
}

func TestTernaryConstructorsShapes(t *testing.T) {
	for _, make := range []func([]float32, int, int) (*Tensor, error){MorphTernary, NativeTernary} {
		_, err := make([]float32{1, 0}, 2, 2)
		wantError(t, Ternary_u32, err, "floats given")
		_, err = make(nil, 0, 2)
		wantError(t, Ternary_u32, err, "shape")
		_, err = make(nil, 1<<40, 1<<40)
		wantError(t, Ternary_u32, err, "shape")
	}
}

// A matrix that comes in parts gives what Ternarize gives for the whole, and
// EncodeDigits what Quantize gives.
func TestTernarizerInParts(t *testing.T) {
	const rows, cols = 8, 256
	for d, dist := range distributions {
		r := rand.New(rand.NewPCG(uint64(d), 5))
		w := make([]float32, rows*cols)
		for i := range w {
			w[i] = dist.draw(r, i)
		}
		whole := slices.Clone(w)
		scale, err := Ternarize(whole, w)
		if err != nil {
			t.Fatal(err)
		}
		var a, b Ternarizer
		a.Add(w[:3*cols])
		b.Add(w[3*cols : 4*cols])
		b.Add(w[4*cols:])
		a.Merge(&b)
		if isTernary(w, absMax(w)) {
			whole, scale = w, absMax(w)
		}
		if a.Scale() != scale {
			t.Errorf("%s: scale %v, want %v", dist.name, a.Scale(), scale)
		}
		for _, typ := range []*Type{I2_S, I2_S_ARM, Ternary_u32} {
			size, err := typ.Bytes(rows, cols)
			if err != nil {
				t.Fatal(err)
			}
			want, got, digits := make([]byte, size), make([]byte, size), make([]int8, 5*cols)
			if err := typ.Matrix(want, rows, cols).Quantize(whole); err != nil {
				t.Fatal(err)
			}
			for _, part := range [][2]int{{3, 8}, {0, 3}} {
				digits := digits[:(part[1]-part[0])*cols]
				a.Digits(digits, w[part[0]*cols:part[1]*cols])
				if err := typ.Matrix(got, rows, cols).EncodeDigits(digits, part[0], part[1]); err != nil {
					t.Fatal(err)
				}
			}
			// An encoder cannot know the scale of weights that are all 0.
			wantScale, _ := typ.Matrix(want, rows, cols).TensorScale()
			if err := typ.Matrix(got, rows, cols).SetTensorScale(wantScale); err != nil {
				t.Fatal(err)
			}
			if !slices.Equal(got, want) {
				t.Errorf("%s, %s: the parts differ from the whole", dist.name, typ.Name)
			}
		}
	}
}

// Only weights of a single magnitude keep it.
func TestTernarizerKeepsTernary(t *testing.T) {
	for _, tt := range []struct {
		parts [][]float32
		want  float32
	}{
		{[][]float32{{0.5, 0, -0.5}, {0, 0}, {-0.5}}, 0.5},
		{[][]float32{{0, 0}}, 0},
		{[][]float32{{1, 0}, {2, 0}}, 0.75},
		{[][]float32{{1, 2}, {0, 0}}, 0.75},
		{[][]float32{{0, 0}, {1, 2}, {1, 1}}, 5. / 6},
	} {
		var z, merged Ternarizer
		for _, p := range tt.parts {
			z.Add(p)
			var part Ternarizer
			part.Add(p)
			merged.Merge(&part)
		}
		if z.Scale() != tt.want || merged.Scale() != tt.want {
			t.Errorf("%v: scale %v, merged %v, want %v", tt.parts, z.Scale(), merged.Scale(), tt.want)
		}
	}
}

func TestEncodeDigitsRefuses(t *testing.T) {
	digits, data := make([]int8, 256), make([]byte, 2*128/4+32)
	for _, tt := range []struct {
		t        *Type
		data     []byte
		from, to int
		want     string
	}{
		{TQ2_0, data, 0, 2, "cannot be written from digits"},
		{I2_S_X4, data, 0, 2, "cannot be written from digits"},
		{I2_S, data[1:], 0, 2, "95 bytes given"},
		{I2_S, data, 1, 3, "rows [1, 3) of 2"},
		{I2_S, data, 1, 2, "256 digits given for 1×128"},
	} {
		if err := tt.t.Matrix(tt.data, 2, 128).EncodeDigits(digits, tt.from, tt.to); err == nil || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%s: %v, want %q", tt.t.Name, err, tt.want)
		}
	}
	if err := TQ2_0.Matrix(data, 2, 128).SetTensorScale(1); err == nil {
		t.Error("tq2_0 took a tensor scale")
	}
	if err := I2_S.Matrix(data[1:], 2, 128).SetTensorScale(1); err == nil {
		t.Error("data cut short was accepted")
	}
}

func BenchmarkTernarizer(b *testing.B) {
	r := rand.New(rand.NewPCG(1, 2))
	w, digits := make([]float32, 1<<16), make([]int8, 1<<16)
	for i := range w {
		w[i] = float32(r.NormFloat64())
	}
	data := make([]byte, 1<<14+32)
	b.Run("add", func(b *testing.B) {
		b.SetBytes(1 << 16)
		for b.Loop() {
			var t Ternarizer
			t.Add(w)
		}
	})
	b.Run("digits", func(b *testing.B) {
		var t Ternarizer
		t.Add(w)
		b.SetBytes(1 << 16)
		for b.Loop() {
			t.Digits(digits, w)
		}
	})
	b.Run("encode", func(b *testing.B) {
		b.SetBytes(1 << 16)
		for b.Loop() {
			if err := I2_S.Matrix(data, 64, 1024).EncodeDigits(digits, 0, 64); err != nil {
				b.Fatal(err)
			}
		}
	})
}
