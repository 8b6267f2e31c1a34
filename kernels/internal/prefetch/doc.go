// Package prefetch says into which cache kernels fetch weights ahead.
package prefetch
