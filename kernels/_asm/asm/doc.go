// Package asm is what the generators share: an avo context, addresses of rows that
// lie a stride apart, transpositions, the instructions
// that avo lacks, and the way to the printed files.
//
// Within a generator, registers are virtual and avo allocates them:
//
//	func Generate(p *asm.Program) {
//		p.Func("name", "func(dst *float32, src *byte, n int)", "name sets dst[i] = …")
//		src := p.Load(p.Param("src"), p.GP64())
//		…
//		p.RET()
//	}
package asm
