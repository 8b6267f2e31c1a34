package container

import (
	"encoding/binary"
	"fmt"
	"iter"
	"math"
	"strings"
	"unsafe"

	"onebit/internal/term"
)

// A Kind is the type of a metadata value, with the number that GGUF has for it.
type Kind uint32

// The kinds of metadata values. Source: ggml-org/ggml include/gguf.h, enum
// gguf_type.
const (
	Uint8 Kind = iota
	Int8
	Uint16
	Int16
	Uint32
	Int32
	Float32
	Bool
	String
	Array
	Uint64
	Int64
	Float64
)

// kinds gives each kind its name and, where that is fixed, its size in bytes.
var kinds = [...]struct {
	name string
	size int
}{
	Uint8: {"uint8", 1}, Int8: {"int8", 1}, Uint16: {"uint16", 2}, Int16: {"int16", 2},
	Uint32: {"uint32", 4}, Int32: {"int32", 4}, Float32: {"float32", 4}, Bool: {"bool", 1},
	String: {"string", 0}, Array: {"array", 0},
	Uint64: {"uint64", 8}, Int64: {"int64", 8}, Float64: {"float64", 8},
}

func (k Kind) String() string {
	if int(k) < len(kinds) {
		return kinds[k].name
	}
	return fmt.Sprintf("kind %d", uint32(k))
}

// Kinds is how many kinds there are: all below it are known.
const Kinds = Kind(len(kinds))

// Size returns the bytes of a value, 0 for strings and arrays, which have no
// fixed number.
func (k Kind) Size() int { return kinds[k].size }

// A Value is one metadata value in the form that GGUF gives it, little-endian.
// It may alias a file: it is read only, and gone when that is closed. What its
// methods return is a copy. The zero Value is a uint8 without a byte and must
// not be used.
type Value struct {
	kind, elem Kind
	n          int    // elements of an array
	data       []byte // a string without its length, an array's elements without their count
}

// Stored makes a Value of n elements, if it is an array, of bytes in a file: a
// string without its length, an array's elements without their count, each as
// Value.Append writes it. The caller has checked them.
func Stored(kind, elem Kind, n int, data []byte) Value {
	return Value{kind: kind, elem: elem, n: n, data: data}
}

// IsZero reports whether v is the zero Value.
func (v Value) IsZero() bool { return len(v.data) < kinds[v.kind].size }

// KV is a metadata key with its value.
type KV struct {
	Key   string
	Value Value
}

// Scalar is a Go type that a metadata value can have.
type Scalar interface {
	bool | uint8 | int8 | uint16 | int16 | uint32 | int32 | uint64 | int64 | float32 | float64 | string
}

// Of makes a Value of the kind that matches T.
func Of[T Scalar](x T) Value {
	if s, ok := any(x).(string); ok {
		return Value{kind: String, data: []byte(s)}
	}
	return Value{kind: kindOf[T](), data: encode(x)}
}

// ArrayOf makes an array.
func ArrayOf[T Scalar](xs []T) Value {
	v := Value{kind: Array, elem: kindOf[T](), n: len(xs)}
	if texts, ok := any(xs).([]string); ok {
		for _, s := range texts {
			v.data = binary.LittleEndian.AppendUint64(v.data, uint64(len(s)))
			v.data = append(v.data, s...)
		}
		return v
	}
	v.data = encode(xs)
	return v
}

// Nested makes an array of arrays. Readers that follow ggml refuse these.
func Nested(arrays []Value) Value {
	v := Value{kind: Array, elem: Array, n: len(arrays)}
	for _, a := range arrays {
		if a.kind != Array {
			panic("container: Nested takes arrays only")
		}
		v.data = a.Append(v.data)
	}
	return v
}

func kindOf[T Scalar]() Kind {
	var zero T
	switch any(zero).(type) {
	case bool:
		return Bool
	case uint8:
		return Uint8
	case int8:
		return Int8
	case uint16:
		return Uint16
	case int16:
		return Int16
	case uint32:
		return Uint32
	case int32:
		return Int32
	case uint64:
		return Uint64
	case int64:
		return Int64
	case float32:
		return Float32
	case float64:
		return Float64
	}
	return String
}

// encode cannot fail: Scalar admits only types of a fixed size, and strings
// are taken out before.
func encode(x any) []byte {
	b, err := binary.Append(nil, binary.LittleEndian, x)
	if err != nil {
		panic("container: a scalar of no fixed size")
	}
	return b
}

// Append adds the value's bytes as they stand in a GGUF file, behind its kind.
func (v Value) Append(b []byte) []byte {
	switch v.kind {
	case String:
		b = binary.LittleEndian.AppendUint64(b, uint64(len(v.data)))
	case Array:
		b = binary.LittleEndian.AppendUint32(b, uint32(v.elem))
		b = binary.LittleEndian.AppendUint64(b, uint64(v.n))
	}
	return append(b, v.data...)
}

// Kind returns the value's type.
func (v Value) Kind() Kind { return v.kind }

// Elem returns the type of an array's elements; it means nothing for other
// kinds.
func (v Value) Elem() Kind { return v.elem }

// Len returns the number of an array's elements, 0 for other kinds.
func (v Value) Len() int { return v.n }

// All yields an array's elements, nothing for other kinds.
func (v Value) All() iter.Seq[Value] {
	return func(yield func(Value) bool) {
		if size := kinds[v.elem].size; size > 0 {
			for i := range v.n {
				if !yield(Value{kind: v.elem, data: v.data[i*size:][:size:size]}) {
					return
				}
			}
			return
		}
		rest := v.data
		for range v.n {
			var e Value
			if e, rest = next(v.elem, rest); !yield(e) {
				return
			}
		}
	}
}

// next cuts the first value, a string or an array, off bytes that were checked
// when they were read or made.
func next(k Kind, data []byte) (v Value, rest []byte) {
	if k == String {
		end := 8 + int(binary.LittleEndian.Uint64(data))
		return Value{kind: String, data: data[8:end:end]}, data[end:]
	}
	v = Value{kind: Array, elem: Kind(binary.LittleEndian.Uint32(data)), n: int(binary.LittleEndian.Uint64(data[4:]))}
	data = data[12:]
	rest = data
	if size := kinds[v.elem].size; size > 0 {
		rest = data[v.n*size:]
	} else {
		for range v.n {
			_, rest = next(v.elem, rest)
		}
	}
	end := len(data) - len(rest)
	v.data = data[:end:end]
	return v, rest
}

// EachInt yields what Int returns for each element of an array, nothing for other
// kinds: a vocabulary has an int32 for each token.
func (v Value) EachInt(yield func(int64, error) bool) {
	if v.elem != Int32 {
		for e := range v.All() {
			if !yield(e.Int()) {
				return
			}
		}
		return
	}
	for i := range v.n {
		if !yield(int64(int32(binary.LittleEndian.Uint32(v.data[4*i:]))), nil) {
			return
		}
	}
}

func (v Value) want(what string) error {
	if v.kind == Array {
		return fmt.Errorf("is an array of %d × %v, want %s", v.n, v.elem, what)
	}
	return fmt.Errorf("is %v of kind %v, want %s", v, v.kind, what)
}

// bits returns an integer's value: the number itself if it is not negative,
// else its two's complement.
func (v Value) bits() (u uint64, negative, ok bool) {
	var i int64
	switch v.kind {
	case Uint8:
		return uint64(v.data[0]), false, true
	case Uint16:
		return uint64(binary.LittleEndian.Uint16(v.data)), false, true
	case Uint32:
		return uint64(binary.LittleEndian.Uint32(v.data)), false, true
	case Uint64:
		return binary.LittleEndian.Uint64(v.data), false, true
	case Int8:
		i = int64(int8(v.data[0]))
	case Int16:
		i = int64(int16(binary.LittleEndian.Uint16(v.data)))
	case Int32:
		i = int64(int32(binary.LittleEndian.Uint32(v.data)))
	case Int64:
		i = int64(binary.LittleEndian.Uint64(v.data))
	default:
		return 0, false, false
	}
	return uint64(i), i < 0, true
}

// Uint returns an integer of any kind that is not negative.
func (v Value) Uint() (uint64, error) {
	u, negative, ok := v.bits()
	if !ok || negative {
		return 0, v.want("an integer that is not negative")
	}
	return u, nil
}

// Int returns an integer of any kind that an int64 holds.
func (v Value) Int() (int64, error) {
	u, negative, ok := v.bits()
	if !ok || !negative && u > math.MaxInt64 {
		return 0, v.want("an integer of 64 bits with sign")
	}
	return int64(u), nil
}

// Float returns a float32 or float64.
func (v Value) Float() (float64, error) {
	switch v.kind {
	case Float32:
		return float64(math.Float32frombits(binary.LittleEndian.Uint32(v.data))), nil
	case Float64:
		return math.Float64frombits(binary.LittleEndian.Uint64(v.data)), nil
	}
	return 0, v.want("a floating-point number")
}

// Bool returns a bool.
func (v Value) Bool() (bool, error) {
	if v.kind != Bool {
		return false, v.want("a bool")
	}
	return v.data[0] != 0, nil
}

// Text returns a string.
func (v Value) Text() (string, error) {
	if v.kind != String {
		return "", v.want("a string")
	}
	return string(v.data), nil
}

// Ints returns an array of integers of any kind.
func (v Value) Ints() ([]int64, error) { return elements(v, "an array of integers", Value.Int) }

// Floats returns an array of float32 or float64.
func (v Value) Floats() ([]float64, error) {
	return elements(v, "an array of floating-point numbers", Value.Float)
}

// Bools returns an array of bools.
func (v Value) Bools() ([]bool, error) { return elements(v, "an array of bools", Value.Bool) }

func elements[T any](v Value, what string, get func(Value) (T, error)) ([]T, error) {
	if v.kind != Array {
		return nil, v.want(what)
	}
	out := make([]T, 0, v.n)
	for e := range v.All() {
		x, err := get(e)
		if err != nil {
			return nil, fmt.Errorf("element %d %w", len(out), err)
		}
		out = append(out, x)
	}
	return out, nil
}

// Strings returns an array of strings. They share one copy of the array's
// bytes, so that a vocabulary costs two allocations.
func (v Value) Strings() ([]string, error) {
	if v.kind != Array || v.elem != String {
		return nil, v.want("an array of strings")
	}
	out := make([]string, 0, v.n)
	v.texts(string(v.data), func(s string) bool {
		out = append(out, s)
		return true
	})
	return out, nil
}

// Texts yields what Strings returns, without a copy: the strings are the file's
// bytes and gone after Close.
func (v Value) Texts() (iter.Seq[string], error) {
	if v.kind != Array || v.elem != String {
		return nil, v.want("an array of strings")
	}
	return func(yield func(string) bool) {
		v.texts(unsafe.String(unsafe.SliceData(v.data), len(v.data)), yield)
	}, nil
}

// texts cuts all, which is the data of an array of strings.
func (v Value) texts(all string, yield func(string) bool) {
	pos := 0
	for range v.n {
		n := int(binary.LittleEndian.Uint64(v.data[pos:]))
		pos += 8 + n
		if !yield(all[pos-n : pos]) {
			return
		}
	}
}

// String formats the value for people: long strings and arrays are cut.
func (v Value) String() string {
	switch v.kind {
	case String:
		return term.QuoteAlways(unsafe.String(unsafe.SliceData(v.data), len(v.data)))
	case Array:
		return v.arrayString()
	case Bool:
		return fmt.Sprint(v.data[0] != 0)
	case Float32:
		return fmt.Sprint(math.Float32frombits(binary.LittleEndian.Uint32(v.data)))
	case Float64:
		return fmt.Sprint(math.Float64frombits(binary.LittleEndian.Uint64(v.data)))
	}
	if u, negative, _ := v.bits(); !negative {
		return fmt.Sprint(u)
	}
	i, _ := v.Int()
	return fmt.Sprint(i)
}

func (v Value) arrayString() string {
	const most = 4
	var parts []string
	for e := range v.All() {
		if len(parts) == most {
			parts = append(parts, "…")
			break
		}
		if e.kind == Array { // not deeper, or a hostile file could make this long
			parts = append(parts, fmt.Sprintf("[%d × %v]", e.n, e.elem))
			continue
		}
		parts = append(parts, e.String())
	}
	return fmt.Sprintf("[%s] (%d × %v)", strings.Join(parts, ", "), v.n, v.elem)
}
