// Package names declares what onebit calls its cases: base names, keys, their
// values, and how they stand in a name. bench/cases makes names with it,
// reports reads them with it, and neither spells a key.
//
//	MatVec/format=F/variant=V/act=A/rows=R/cols=C/threads=T/cache=warm|cold
//	Kernel/format=F/variant=V/act=A/rows=R/cols=C/threads=1/level=l1d|l2|dram
//	Read/format=F/rows=R/cols=C/bytes=B/threads=T/cache=warm|cold
//	Read/model=M/bytes=B/threads=T/cache=warm|cold
//	DotPeak/model=M/isa=I/threads=T
//	Model/model=M/engine=E/variant=V/act=A/packing=P/test=T/depth=D/texts=X/text=S/drafts=K/threads=N
//	Op/model=M/engine=E/variant=V/act=A/packing=P/test=T/depth=D/texts=X/text=S/drafts=K/threads=N/block=B/op=O
//	WhatIf/model=M/engine=E/variant=V/act=A/packing=P/test=T/depth=D/texts=X/text=S/drafts=K/threads=N/change=none|head-q8_0|cache-q8_0|native|packed|thread-more
//	Lockstep/model=M/engine=E/variant=V/act=A/input=isolated|accumulated/block=B/tensor=T
//	Head/model=M/variant=V/act=A/packing=P/threads=N/head=F
//	Logits/model=M/engine=E/variant=V/act=A/weights=random/tokens=N
//
// The engine is there if it is not cpu. A GPU's work has no threads. Texts is how
// many are decoded together, text a real one (none: random tokens), drafts the most
// tokens that are drafted for a pass.
//
// and of onebit machine
//
//	Bandwidth/access=read|write|copy/level=L/bytes=B/pages=huge|small/threads=T
//	Latency/bytes=B/pages=huge|small
//	DotPeak/type=int8|f32|bf16/isa=I/threads=T
//	RoundTrip/from=C/to=C
//	Dispatch/threads=T
//	Gather/threads=T
//	Timer
//	Frequency/threads=T
//
// Package bench/cases tells what is measured under each name. Package
// bench, which knows no key, adds the arms of A/A pairs.
package names
