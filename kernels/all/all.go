// Package all links every family of kernels: a program that imports it, for its side
// effects, has all their variants in the registry of package kernels.
package all

import (
	_ "onebit/kernels/heads"
	_ "onebit/kernels/q1"
	_ "onebit/kernels/twobit"
)
