package gguf

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// everyKind has a key of each kind, and arrays of each.
var everyKind = []KV{
	{"u8", Of(uint8(200))},
	{"i8", Of(int8(-100))},
	{"u16", Of(uint16(60000))},
	{"i16", Of(int16(-30000))},
	{"u32", Of(uint32(4e9))},
	{"i32", Of(int32(-2e9))},
	{"u64", Of(uint64(math.MaxUint64))},
	{"i64", Of(int64(math.MinInt64))},
	{"f32", Of(float32(0.5))},
	{"f64", Of(math.Pi)},
	{"true", Of(true)},
	{"false", Of(false)},
	{"string", Of("π")},
	{"empty", Of("")},
	{"array.u8", ArrayOf([]uint8{1, 255})},
	{"array.i8", ArrayOf([]int8{-1, 1})},
	{"array.u16", ArrayOf([]uint16{65535})},
	{"array.i16", ArrayOf([]int16{-2, 2, -3})},
	{"array.u32", ArrayOf([]uint32{1 << 31})},
	{"array.i32", ArrayOf([]int32{-1 << 31})},
	{"array.u64", ArrayOf([]uint64{math.MaxUint64})},
	{"array.i64", ArrayOf([]int64{math.MaxInt64})},
	{"array.f32", ArrayOf([]float32{0.25, -1})},
	{"array.f64", ArrayOf([]float64{1e300})},
	{"array.bool", ArrayOf([]bool{true, false})},
	{"array.string", ArrayOf([]string{"a", "", "long"})},
	{"array.empty", ArrayOf([]int32{})},
	{"array.array", Nested([]Value{ArrayOf([]int32{1}), Nested([]Value{ArrayOf([]string{"x", "y"})}), ArrayOf([]bool{})})},
}

func TestEveryKindComesBack(t *testing.T) {
	f := parse(t, write(t, everyKind, nil))
	compare := cmp.AllowUnexported(Value{})
	empty := cmp.Transformer("empty", func(b []byte) string { return string(b) })
	if diff := cmp.Diff(everyKind, f.Metadata(), compare, empty); diff != "" {
		t.Error(diff)
	}
	for _, check := range []struct {
		key  string
		want any
		got  func(string) (any, error)
	}{
		{"u8", uint64(200), boxed(f.Uint)},
		{"u16", uint64(60000), boxed(f.Uint)},
		{"u32", uint64(4e9), boxed(f.Uint)},
		{"u64", uint64(math.MaxUint64), boxed(f.Uint)},
		{"u32", int64(4e9), boxed(f.Int)},
		{"i8", int64(-100), boxed(f.Int)},
		{"i16", int64(-30000), boxed(f.Int)},
		{"i32", int64(-2e9), boxed(f.Int)},
		{"i64", int64(math.MinInt64), boxed(f.Int)},
		{"f32", 0.5, boxed(f.Float)},
		{"f64", math.Pi, boxed(f.Float)},
		{"true", true, boxed(f.Bool)},
		{"false", false, boxed(f.Bool)},
		{"string", "π", boxed(f.String)},
		{"empty", "", boxed(f.String)},
		{"array.u8", []int64{1, 255}, boxed(f.Ints)},
		{"array.i8", []int64{-1, 1}, boxed(f.Ints)},
		{"array.u16", []int64{65535}, boxed(f.Ints)},
		{"array.i16", []int64{-2, 2, -3}, boxed(f.Ints)},
		{"array.u32", []int64{1 << 31}, boxed(f.Ints)},
		{"array.i32", []int64{-1 << 31}, boxed(f.Ints)},
		{"array.i64", []int64{math.MaxInt64}, boxed(f.Ints)},
		{"array.f32", []float64{0.25, -1}, boxed(f.Floats)},
		{"array.f64", []float64{1e300}, boxed(f.Floats)},
		{"array.bool", []bool{true, false}, boxed(f.Bools)},
		{"array.string", []string{"a", "", "long"}, boxed(f.Strings)},
		{"array.empty", []int64{}, boxed(f.Ints)},
	} {
		got, err := check.got(check.key)
		if err != nil {
			t.Error(err)
		} else if diff := cmp.Diff(check.want, got); diff != "" {
			t.Errorf("%s: %s", check.key, diff)
		}
	}
}

func boxed[T any](get func(string) (T, error)) func(string) (any, error) {
	return func(key string) (any, error) {
		x, err := get(key)
		return x, err
	}
}

func TestAllOfNoArray(t *testing.T) {
	for _, v := range []Value{Of(uint8(3)), Of("text"), {}} {
		for e := range v.All() {
			t.Errorf("%v yields %v", v, e)
		}
	}
}

func TestEachInt(t *testing.T) {
	for _, v := range []Value{
		ArrayOf([]int32{-1 << 31, 0, 1<<31 - 1}), ArrayOf([]uint8{0, 255}), ArrayOf([]int64{math.MinInt64}), ArrayOf([]int32{}),
		ArrayOf([]uint64{1, math.MaxUint64}), ArrayOf([]string{"a", "b"}), Of(int32(3)), {},
	} {
		var got, want []string
		for n, err := range v.EachInt {
			got = append(got, fmt.Sprint(n, err))
		}
		for e := range v.All() {
			want = append(want, fmt.Sprint(e.Int()))
		}
		if !slices.Equal(got, want) {
			t.Errorf("%v yields %q, want %q", v, got, want)
		}
		for range v.EachInt { // one that ends early
			break
		}
	}
}

func TestNestedArrays(t *testing.T) {
	v, ok := parse(t, write(t, everyKind, nil)).Value("array.array")
	if !ok || v.Kind() != Array || v.Elem() != Array || v.Len() != 3 {
		t.Fatalf("array.array = %v, %v", v, ok)
	}
	var inner []Value
	for e := range v.All() {
		inner = append(inner, e)
	}
	if ints, err := inner[0].Ints(); err != nil || !cmp.Equal(ints, []int64{1}) {
		t.Errorf("element 0 = %v, %v", ints, err)
	}
	for e := range inner[1].All() {
		texts, err := e.Texts()
		if err != nil || !cmp.Equal(slices.Collect(texts), []string{"x", "y"}) {
			t.Errorf("in place: %v", err)
		}
		for text := range texts { // one that ends early
			if text != "x" {
				t.Errorf("the first text is %q", text)
			}
			break
		}
		if texts, err := e.Strings(); err != nil || !cmp.Equal(texts, []string{"x", "y"}) {
			t.Errorf("element 1, 0 = %v, %v", texts, err)
		}
	}
	if inner[2].Elem() != Bool || inner[2].Len() != 0 {
		t.Errorf("element 2 = %v", inner[2])
	}
}

func TestValueErrors(t *testing.T) {
	f := parse(t, write(t, everyKind, nil))
	for _, test := range []struct {
		key  string
		get  func(string) (any, error)
		want string
	}{
		{"i8", boxed(f.Uint), "is -100 of kind int8, want an integer that is not negative"},
		{"f32", boxed(f.Uint), "is 0.5 of kind float32, want an integer"},
		{"u64", boxed(f.Int), "is 18446744073709551615 of kind uint64, want an integer of 64 bits with sign"},
		{"u8", boxed(f.Float), "is 200 of kind uint8, want a floating-point number"},
		{"u8", boxed(f.Bool), "want a bool"},
		{"true", boxed(f.String), "is true of kind bool, want a string"},
		{"array.u8", boxed(f.Uint), "is an array of 2 × uint8, want an integer"},
		{"u8", boxed(f.Ints), "want an array of integers"},
		{"array.string", boxed(f.Ints), `element 0 is "a" of kind string, want an integer`},
		{"array.u64", boxed(f.Ints), "element 0 is 18446744073709551615"},
		{"array.u8", boxed(f.Floats), "element 0 is 1 of kind uint8"},
		{"array.u8", boxed(f.Bools), "want a bool"},
		{"array.u8", boxed(f.Strings), "is an array of 2 × uint8, want an array of strings"},
		{"string", boxed(f.Strings), `is "π" of kind string, want an array of strings`},
		{"nothing", boxed(f.Uint), "is missing"},
	} {
		_, err := test.get(test.key)
		var e *FormatError
		if !errors.As(err, &e) || e.File != "test.gguf" || e.Key != test.key || !strings.Contains(e.Msg, test.want) {
			t.Errorf("%s: %v, want the key and %q", test.key, err, test.want)
		}
		if missing := test.key == "nothing"; errors.Is(err, ErrMissing) != missing {
			t.Errorf("%s: errors.Is(%v, ErrMissing) = %t", test.key, err, !missing)
		}
	}
	if f.Has("nothing") || !f.Has("u8") {
		t.Error("Has is wrong")
	}
}

func TestValueString(t *testing.T) {
	for want, v := range map[string]Value{
		"-5":                          Of(int16(-5)),
		"2.5":                         Of(float32(2.5)),
		`"x"`:                         Of("x"),
		"[1, 2, 3, 4, …] (5 × uint8)": ArrayOf([]uint8{1, 2, 3, 4, 5}),
		`["a", "b"] (2 × string)`:     ArrayOf([]string{"a", "b"}),
		"[[1 × int32], [0 × bool]] (2 × array)":           Nested([]Value{ArrayOf([]int32{1}), ArrayOf([]bool{})}),
		`"` + strings.Repeat("y", 80) + `"… (1000 bytes)`: Of(strings.Repeat("y", 1000)),
	} {
		if got := v.String(); got != want {
			t.Errorf("%s, want %s", got, want)
		}
	}
	if got := Kind(77).String(); got != "kind 77" {
		t.Errorf("Kind(77) = %s", got)
	}
}

func TestNestedTakesArraysOnly(t *testing.T) {
	defer func() {
		if recover() != "gguf: Nested takes arrays only" {
			t.Error("Nested took a number")
		}
	}()
	Nested([]Value{Of(uint8(1))})
}

// A vocabulary must not cost more than its bytes and its headers.
func TestStringsAllocateTwice(t *testing.T) {
	v := ArrayOf(make([]string, 10000))
	if n := testing.AllocsPerRun(10, func() { v.Strings() }); n > 2 {
		t.Errorf("%v allocations for 10000 strings", n)
	}
}
