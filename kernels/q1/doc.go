// Package q1 multiplies q1_0_g128, Bonsai's format of one bit per weight. It
// registers its variants with package kernels, whose doc.go draws their layouts.
package q1
