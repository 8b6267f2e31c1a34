package q1

import (
	"github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"

	"onebit/kernels/_asm/asm"
)

// span is the fields of a quantize.Span.
var span spanFields

type spanFields struct{}

func (spanFields) share(at reg.Register, group int) operand.Mem { return asm.At(at, 4*group) }
func (spanFields) unit(at reg.Register) operand.Mem             { return asm.At(at, 16) }
func (spanFields) total(at reg.Register) operand.Mem            { return asm.At(at, 20) }
func (spanFields) minusSum(at reg.Register) operand.Mem         { return asm.At(at, 24) }
