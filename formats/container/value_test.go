package container

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"
)

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

func TestValueErrors(t *testing.T) {
	f := NewKeys("test.gguf", []KV{
		{"u8", Of(uint8(200))}, {"i8", Of(int8(-100))}, {"u64", Of(uint64(math.MaxUint64))}, {"f32", Of(float32(0.5))},
		{"true", Of(true)}, {"string", Of("π")}, {"array.u8", ArrayOf([]uint8{1, 255})},
		{"array.u64", ArrayOf([]uint64{math.MaxUint64})}, {"array.string", ArrayOf([]string{"a", "", "long"})},
	})
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
		if recover() != "container: Nested takes arrays only" {
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
