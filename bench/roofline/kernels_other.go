//go:build purego || (!amd64 && !arm64)

package roofline

var (
	archReadKernels  []ReadKernel
	archWriteKernels []WriteKernel
	archCopyKernels  []CopyKernel
	archDotKernels   []DotKernel
)
