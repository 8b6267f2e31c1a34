package gguf

import "onebit/formats/container"

// What GGUF has in common with other containers, under the names that callers
// know it by.
type (
	FormatError = container.FormatError
	TensorInfo  = container.TensorInfo
	KV          = container.KV
	Value       = container.Value
	Scalar      = container.Scalar
)

// The kinds that callers ask for.
const (
	Bool    = container.Bool
	String  = container.String
	Array   = container.Array
	Float32 = container.Float32
	Float64 = container.Float64
)

// ErrMissing is container.ErrMissing.
var ErrMissing = container.ErrMissing

// Of is container.Of.
func Of[T Scalar](x T) Value { return container.Of(x) }

// ArrayOf is container.ArrayOf.
func ArrayOf[T Scalar](xs []T) Value { return container.ArrayOf(xs) }
