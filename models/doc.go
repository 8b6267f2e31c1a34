// Package models knows what 1-bit and ternary language models consist of.
//
// An [Architecture] is a table of tensors and metadata keys; a [Config] is the
// numbers that give the table its shapes; a [Preset] is the Config of a real
// model. From these follow, for any model, the list of its tensors
// ([Architecture.Tensors]), a check of a file against it
// ([Architecture.CheckInventory]), and the shapes that its products have
// ([ProjectionShapes]):
//
//	general.architecture ──Lookup──▶ Architecture ─┐
//	                                               ├─▶ TensorSpec{Name, Role, Shape, Type} …
//	<architecture>.* ───ConfigFromGGUF──▶ Config ──┘
//
// A tensor's role, not its format, decides what it is: the same architecture
// is published in 1 bit, in 2 bits and in fp16.
//
//	role        qwen3 (Bonsai)   bitnet*
//	norm        f32              f32
//	embedding   q1_0_g128        f16
//	head        q1_0_g128        tied to the embedding
//	projection  q1_0_g128        i2_s
//
// Adding an architecture is adding a file that registers its table.
package models
