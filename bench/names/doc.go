// Package names declares what onebit calls its cases: base names, keys, their
// values, and how they stand in a name. bench/cases makes names with it,
// reports reads them with it, and neither spells a key.
//
//	MatVec/format=F/variant=V/act=A/rows=R/cols=C/threads=T/cache=warm|cold
//	Read/format=F/rows=R/cols=C/bytes=B/threads=T/cache=warm|cold
//	Read/model=M/bytes=B/threads=T/cache=warm|cold
//	DotPeak/model=M/isa=I/threads=T
//	Model/model=M/variant=V/act=A/packing=P/test=T/depth=D/threads=N
//	Op/model=M/variant=V/act=A/packing=P/test=T/depth=D/threads=N/block=B/op=O
//	Lockstep/model=M/variant=V/act=A/input=isolated|accumulated/block=B/tensor=T
//	Logits/model=M/variant=V/act=A/weights=random/tokens=N
//
// What is measured under each name is told in package bench/cases. Package
// bench, which knows no key, adds the arms of A/A pairs.
package names
