// Package arch describes the architectures of language models as data: the
// tensors that a model consists of, the metadata keys that give their shapes,
// and what else a file of the architecture means. It computes nothing with
// weights and lists no architecture: each is one file of package models, which
// has a [Table] and the computation of a block.
//
//	Table{Global, Block} ─┐
//	                      ├─▶ TensorSpec{Name, Role, Shape, Type} …
//	Config ───────────────┘
//
// A [Config] is the numbers that give a table its shapes. It comes from the
// metadata of a GGUF file ([Table.ReadConfig]), and [Table.Metadata] writes it
// back. A [Preset] is the Config of a real model. [Table.CheckInventory]
// compares the tensors of a file with the table.
//
// A tensor's role, not its format, decides what it is: the same architecture
// is published in 1 bit, in 2 bits and in fp16.
package arch
