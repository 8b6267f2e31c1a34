package gguf

import (
	"math"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"onebit/formats/container"
)

// everyKind has a key of each kind, and arrays of each.
var everyKind = []container.KV{
	{Key: "u8", Value: container.Of(uint8(200))},
	{Key: "i8", Value: container.Of(int8(-100))},
	{Key: "u16", Value: container.Of(uint16(60000))},
	{Key: "i16", Value: container.Of(int16(-30000))},
	{Key: "u32", Value: container.Of(uint32(4e9))},
	{Key: "i32", Value: container.Of(int32(-2e9))},
	{Key: "u64", Value: container.Of(uint64(math.MaxUint64))},
	{Key: "i64", Value: container.Of(int64(math.MinInt64))},
	{Key: "f32", Value: container.Of(float32(0.5))},
	{Key: "f64", Value: container.Of(math.Pi)},
	{Key: "true", Value: container.Of(true)},
	{Key: "false", Value: container.Of(false)},
	{Key: "string", Value: container.Of("π")},
	{Key: "empty", Value: container.Of("")},
	{Key: "array.u8", Value: container.ArrayOf([]uint8{1, 255})},
	{Key: "array.i8", Value: container.ArrayOf([]int8{-1, 1})},
	{Key: "array.u16", Value: container.ArrayOf([]uint16{65535})},
	{Key: "array.i16", Value: container.ArrayOf([]int16{-2, 2, -3})},
	{Key: "array.u32", Value: container.ArrayOf([]uint32{1 << 31})},
	{Key: "array.i32", Value: container.ArrayOf([]int32{-1 << 31})},
	{Key: "array.u64", Value: container.ArrayOf([]uint64{math.MaxUint64})},
	{Key: "array.i64", Value: container.ArrayOf([]int64{math.MaxInt64})},
	{Key: "array.f32", Value: container.ArrayOf([]float32{0.25, -1})},
	{Key: "array.f64", Value: container.ArrayOf([]float64{1e300})},
	{Key: "array.bool", Value: container.ArrayOf([]bool{true, false})},
	{Key: "array.string", Value: container.ArrayOf([]string{"a", "", "long"})},
	{Key: "array.empty", Value: container.ArrayOf([]int32{})},
	{Key: "array.array", Value: container.Nested([]container.Value{container.ArrayOf([]int32{1}), container.Nested([]container.Value{container.ArrayOf([]string{"x", "y"})}), container.ArrayOf([]bool{})})},
}

func TestEveryKindComesBack(t *testing.T) {
	f := parse(t, write(t, everyKind, nil))
	compare := cmp.AllowUnexported(container.Value{})
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

func TestNestedArrays(t *testing.T) {
	v, ok := parse(t, write(t, everyKind, nil)).Value("array.array")
	if !ok || v.Kind() != container.Array || v.Elem() != container.Array || v.Len() != 3 {
		t.Fatalf("array.array = %v, %v", v, ok)
	}
	var inner []container.Value
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
	if inner[2].Elem() != container.Bool || inner[2].Len() != 0 {
		t.Errorf("element 2 = %v", inner[2])
	}
}
