//go:build purego || (!amd64 && !arm64)

package roofline

var (
	archReadKernels  []readKernel
	archWriteKernels []writeKernel
	archCopyKernels  []copyKernel
	archDotKernels   []DotKernel
)
