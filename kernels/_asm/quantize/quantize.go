// Package quantize generates the quantizers of activations.
package quantize

import "onebit/kernels/_asm/asm"

// Generate writes all functions of quantize_amd64.s.
func Generate(p *asm.Program) {}
