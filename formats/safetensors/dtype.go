package safetensors

import "onebit/formats"

// U8 is the dtype of bytes whose meaning only the model knows.
const U8 = "U8"

// A dtype is what a header calls the type of a tensor's elements.
type dtype struct {
	bits int
	typ  *formats.Type // nil: its elements are not read
}

// dtypes are those of huggingface/safetensors safetensors/src/tensor.rs, Dtype.
var dtypes = map[string]dtype{
	"F32": {32, formats.F32}, "F16": {16, formats.F16}, "BF16": {16, formats.BF16},
	U8: {8, nil}, "BOOL": {8, nil}, "I8": {8, nil}, "I16": {16, nil}, "U16": {16, nil},
	"I32": {32, nil}, "U32": {32, nil}, "I64": {64, nil}, "U64": {64, nil}, "F64": {64, nil}, "C64": {64, nil},
	"F8_E4M3": {8, nil}, "F8_E5M2": {8, nil}, "F8_E8M0": {8, nil},
	"F4": {4, nil}, "F6_E2M3": {6, nil}, "F6_E3M2": {6, nil},
}
