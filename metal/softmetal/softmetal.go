package softmetal

import (
	"fmt"
	"maps"
	"math"
	"slices"
	"unsafe"
)

// An Arg is an argument of a kernel.
type Arg struct {
	kind, index int
	data        []byte // a buffer's, in the caller's memory
	length      int
}

// The kinds of softmetal.h.
const (
	bufferArg = iota
	threadgroupArg
)

// Buffer is the argument [[buffer(index)]]: the memory of data, which holds
// what the kernel wrote when Dispatch returns. T has no pointers.
func Buffer[T any](index int, data []T) Arg {
	var bytes []byte
	if len(data) > 0 {
		bytes = unsafe.Slice((*byte)(unsafe.Pointer(&data[0])), len(data)*int(unsafe.Sizeof(data[0])))
	}
	return Arg{kind: bufferArg, index: index, data: bytes, length: len(bytes)}
}

// Value is the argument [[buffer(index)]] of a kernel that takes one value:
// constant T &name. T is laid out as in Metal, and has no pointers.
func Value[T any](index int, value T) Arg { return Buffer(index, []T{value}) }

// Threadgroup is the argument [[threadgroup(index)]]: so many bytes.
func Threadgroup(index, bytes int) Arg {
	return Arg{kind: threadgroupArg, index: index, length: bytes}
}

// Memory returns the index and the memory of a buffer; threadgroup memory has none.
func (a Arg) Memory() (index int, data []byte) { return a.index, a.data }

// A constant is the value of a function constant.
type constant struct {
	index int
	typ   string
	value []byte
}

// constantsOf returns the constants in the order of their indices.
func constantsOf(values map[int]any) ([]constant, error) {
	var out []constant
	for _, index := range slices.Sorted(maps.Keys(values)) {
		c, err := constantOf(values[index])
		if err != nil {
			return nil, fmt.Errorf("softmetal: function constant %d: %w", index, err)
		}
		c.index = index
		out = append(out, c)
	}
	return out, nil
}

func constantOf(value any) (constant, error) {
	le := func(v uint32) []byte { return []byte{byte(v), byte(v >> 8), byte(v >> 16), byte(v >> 24)} }
	switch v := value.(type) {
	case bool:
		if v {
			return constant{typ: "bool", value: []byte{1}}, nil
		}
		return constant{typ: "bool", value: []byte{0}}, nil
	case uint32:
		return constant{typ: "uint", value: le(v)}, nil
	case int32:
		return constant{typ: "int", value: le(uint32(v))}, nil
	case float32:
		return constant{typ: "float", value: le(math.Float32bits(v))}, nil
	}
	return constant{}, fmt.Errorf("values are bool, uint32, int32 or float32, not %T", value)
}
