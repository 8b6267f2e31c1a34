// Package gguf reads and writes GGUF, the container in which ggml's models and
// bitnet.cpp's come.
//
// [Open] maps a file and checks all of it but the weights themselves; tensors
// and metadata arrays are then used in place. [NewWriter] writes a file from
// front to back without keeping any of it. Everything wrong with a file is a
// [*container.FormatError] with the byte, and the tensor or key, it concerns.
//
// # The container
//
// Source: ggml-org/ggml include/gguf.h and src/gguf.cpp, and docs/gguf.md.
// Versions 2 and 3 are alike: 3 allows big-endian files, which are refused here,
// as is version 1 with its 32-bit counts. Everything is little-endian.
//
//	byte 0     4         8          16       24
//	     |"GGUF"| version | tensors  | keys   | metadata … | descriptions … | 0… | data … |
//	      magic   uint32    uint64     uint64                                ^    ^
//	                                                        padding to the alignment
//
//	string       | length uint64 | bytes |
//	metadata     | key string | kind uint32 | value |          one after the other
//	array value  | kind uint32 | count uint64 | elements |
//	description  | name string | n uint32 | n × dimension uint64 | type id uint32 | offset uint64 |
//
//	data         | tensor | 0… | tensor | 0… |
//	             ^offset 0     ^ the next multiple of the alignment
//
// Dimensions stand innermost first: a projection of 2048 rows × 6144 columns has
// the dimensions 6144, 2048 and the Shape [2048 6144]. Offsets count from the
// start of the data. The alignment is 32, or the value of general.alignment
// (uint32, a power of two). The padding behind the last tensor may be absent.
// ggml wants tensors in the order of their descriptions, with nothing but
// padding between them; here any order and gaps will do, but no overlap.
//
// # Several files
//
// Source: ggml-org/llama.cpp tools/gguf-split/gguf-split.cpp, and
// src/llama-model-loader.cpp. A model may be split into NAME-00001-of-00003.gguf
// and so on. Each is a whole GGUF file of some of the tensors, and says
//
//	split.no             uint16   which it is, from 0 on
//	split.count          uint16   how many there are
//	split.tensors.count  int32    how many tensors all of them have
//
// The other metadata is in the first part, which may have no tensors. A merged
// file may keep a split.count of 0. [Open] takes any part (llama.cpp only the first),
// maps the others, which it finds by their names, and joins them: tensors are used
// in place in the file that has them. Nothing but these keys, and no tensor that is
// there twice or not at all, tells a part of another model. [Parts] shares the
// tensors of a model among files that are to be written.
//
// # Type ids
//
// A type's number does not say what a tensor holds: several projects took the
// same numbers.
//
//	id   meanings                       bytes for n weights    source
//	36   i2_s, i2_s_arm, i2_s_x4        n/4 + 32               Eddie-Wang1120/llama.cpp, branch merge-dev
//	     iq4_nl_4_4                     n/32 · 18              ggml, removed since
//	37   i8_s                           n                      Eddie-Wang1120/llama.cpp
//	     iq4_nl_4_8                     n/32 · 18              ggml, removed since
//	38   tl1                            n/4 + 32               Eddie-Wang1120/llama.cpp
//	     iq4_nl_8_8                     n/32 · 18              ggml, removed since
//	39   tl2                            see sizeTL2            Eddie-Wang1120/llama.cpp
//	     mxfp4                          n/32 · 17              ggml
//	40   nvfp4                          n/64 · 36              ggml
//	     q1_0_g32 (named Q1_0)          n/32 · 6               PrismML-Eng/llama.cpp 59f2b8485, since dropped
//	41   q1_0_g128                      n/128 · 18             ggml (Q1_0); Prism (once Q1_0_g128, then Q1_0)
//	42   q2_0                           n/64 · 18              ggml
//	     q2_0_g128                      n/128 · 34             PrismML-Eng/llama.cpp
//	     stq1_0                         n/256 · 42             ggml-org/llama.cpp pull request 22836, in May 2026
//	43   stq1_0                         n/256 · 42             later builds of its authors
//	142  pq2_0                          n/128 · 34             PrismML-Eng/llama.cpp
//	143  ptq1_0                         n/128 · 28             PrismML-Eng/llama.cpp
//
// So the bytes from a tensor to the next one, or to the end of the file, decide:
// a meaning is taken if its size, or its size with padding, is exactly that, and
// no other's is. If none fits or several do, which happens to small tensors only,
// that is an error, and [Options] has to say. general.file_type is never asked:
// its 40 is I2_S to bitnet.cpp and Q1_0 to ggml.
//
// The three packings of I2_S have one size, and no metadata tells them apart.
// i2_s is what converters write and what the official files hold on every
// machine; the other two are taken only when Options.Types names them.
//
// Types that onebit cannot decode are listed with their size and their bytes can
// be copied, but [File.Tensor] refuses them, by name and with what to do.
//
// A type says nothing about the basis that weights are in. Bonsai 2 rotates them by
// a Hadamard matrix, in files of pq2_0, ptq1_0 and also q2_0; that is stated by
// metadata (prism.hadamard.*), which callers that multiply must heed.
package gguf
