package half

import (
	"math"
	"testing"

	"github.com/x448/float16"
)

func isNaN16(h uint16) bool { return h&0x7fff > 0x7c00 }

// Every fp16, against an independent implementation.
func TestToFloat32(t *testing.T) {
	for i := range 1 << 16 {
		h := uint16(i)
		got, want := ToFloat32(h), float16.Frombits(h).Float32()
		if isNaN16(h) {
			// The payload and the sign survive; x448/float16 also sets the quiet bit.
			if b := math.Float32bits(got); !math.IsNaN(float64(got)) || b != uint32(h&0x8000)<<16|0x7f800000|uint32(h&0x3ff)<<13 {
				t.Fatalf("ToFloat32(%#04x) = %#08x", h, b)
			}
			continue
		}
		if math.Float32bits(got) != math.Float32bits(want) {
			t.Fatalf("ToFloat32(%#04x) = %v, want %v", h, got, want)
		}
		if IsFinite(h) == math.IsInf(float64(got), 0) {
			t.Fatalf("IsFinite(%#04x) = %v", h, IsFinite(h))
		}
	}
}

func TestIsFiniteNaN(t *testing.T) {
	for _, h := range []uint16{0x7c00, 0xfc00, 0x7c01, 0x7e00, 0xffff} {
		if IsFinite(h) {
			t.Errorf("IsFinite(%#04x)", h)
		}
	}
}

func TestFromFloat32RoundTrip(t *testing.T) {
	for i := range 1 << 16 {
		h := uint16(i)
		want := h
		if isNaN16(h) {
			want |= 0x200 // quieted, payload kept
		}
		if got := FromFloat32(ToFloat32(h)); got != want {
			t.Fatalf("FromFloat32(ToFloat32(%#04x)) = %#04x, want %#04x", h, got, want)
		}
	}
}

// Between each fp16 and the next lies one float32 that is halfway: it goes to
// the even one, and its neighbours to the nearer one.
func TestFromFloat32Boundaries(t *testing.T) {
	for i := range 0x7c00 {
		low := uint16(i)
		high := low + 1
		next := float64(ToFloat32(high))
		if high == 0x7c00 {
			next = 65536 // where the next step would be
		}
		mid := float32((float64(ToFloat32(low)) + next) / 2)
		even := low + low&1
		for _, c := range []struct {
			x    float32
			want uint16
		}{
			{math.Nextafter32(mid, 0), low},
			{mid, even},
			{math.Nextafter32(mid, math.MaxFloat32), high},
		} {
			if got := FromFloat32(c.x); got != c.want {
				t.Fatalf("FromFloat32(%v) = %#04x, want %#04x", c.x, got, c.want)
			}
			if got := FromFloat32(-c.x); got != c.want|0x8000 {
				t.Fatalf("FromFloat32(%v) = %#04x, want %#04x", -c.x, got, c.want|0x8000)
			}
		}
	}
}

// Every exponent and sign with mantissas around all the bits that rounding
// looks at, against an independent implementation.
func TestFromFloat32AgainstFloat16(t *testing.T) {
	for high := range uint32(1 << 13) { // sign, exponent, 4 bits of mantissa
		for _, low := range []uint32{0, 1, 0xfff, 0x1000, 0x1001, 0x1fff, 0x2000, 0x3000, 0x3fff, 0x40000, 0x7ffff} {
			f := math.Float32frombits(high<<19 | low)
			if math.IsNaN(float64(f)) {
				if h := FromFloat32(f); !isNaN16(h) || h>>15 != uint16(high>>12) {
					t.Fatalf("FromFloat32(NaN %#08x) = %#04x", high<<19|low, h)
				}
				continue
			}
			if got, want := FromFloat32(f), float16.Fromfloat32(f).Bits(); got != want {
				t.Fatalf("FromFloat32(%v) = %#04x, want %#04x", f, got, want)
			}
		}
	}
}

func TestBFloat16(t *testing.T) {
	for i := range 1 << 16 {
		h := uint16(i)
		f := BToFloat32(h)
		if math.Float32bits(f) != uint32(h)<<16 {
			t.Fatalf("BToFloat32(%#04x) = %v", h, f)
		}
		if math.IsNaN(float64(f)) {
			if got := BFromFloat32(f); got != h|0x40 {
				t.Fatalf("BFromFloat32(NaN %#04x) = %#04x", h, got)
			}
			// A payload that lies in the lost bits alone must not become infinity.
			lost := math.Float32frombits(uint32(h&0xff80)<<16 | 1)
			if got := BFromFloat32(lost); got&0x7fff <= 0x7f80 {
				t.Fatalf("BFromFloat32(%#08x) = %#04x, no NaN", math.Float32bits(lost), got)
			}
			continue
		}
		if h&0x7fff == 0x7f80 { // infinity has no successor
			if got := BFromFloat32(f); got != h {
				t.Fatalf("BFromFloat32(%v) = %#04x", f, got)
			}
			continue
		}
		for _, c := range []struct {
			low  uint32
			want uint16
		}{{0, h}, {1, h}, {0x7fff, h}, {0x8000, h + h&1}, {0x8001, h + 1}, {0xffff, h + 1}} {
			x := math.Float32frombits(uint32(h)<<16 | c.low)
			if got := BFromFloat32(x); got != c.want {
				t.Fatalf("BFromFloat32(%#08x) = %#04x, want %#04x", math.Float32bits(x), got, c.want)
			}
		}
	}
}
