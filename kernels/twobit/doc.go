// Package twobit multiplies the formats with 2-bit codes, and tq1_0, whose
// digits become such codes. It registers its variants with package kernels, whose
// doc.go draws their layouts.
package twobit
