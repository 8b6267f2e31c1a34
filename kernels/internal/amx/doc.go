// Package amx multiplies batches of activations with 1-bit and 2-bit weights on the
// tiles of AMX, which Intel's Xeons have from 2023 on. Its kernels are the batches of the
// variants called amx-int8, which are else those for AVX-512 VNNI.
//
// Tiles live within one call of a kernel, which shapes them first and gives them back at
// last. Go does not preempt assembly, so no goroutine is moved to another thread with
// tiles in use; a signal that comes meanwhile has Linux save them in its frame.
package amx
