// Package architectures has the architectures of models that onebit knows, a file each:
// its tensors and keys, its chat templates and presets, its classes at Hugging Face, and
// the computation of a block. A file registers itself; nothing else lists architectures.
package architectures
