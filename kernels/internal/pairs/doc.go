// Package pairs arranges columns of activations two by two, as the kernels with
// SMMLA of arm64 want them.
package pairs
