//go:build purego || (!amd64 && !arm64)

package roofline

var (
	archReadKernels []ReadKernel
	archDotKernels  []DotKernel
)
