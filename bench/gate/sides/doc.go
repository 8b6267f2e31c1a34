// Package sides makes what a gate compares, and runs it: the benchmarks of two
// revisions of a Go module (Tests), or of two test binaries that are there
// (Binaries). Both are a gate.Target.
//
// Base is checked out of the repository into a directory of its own, with an
// index of its own: nothing is written to the repository, and nothing has to be
// removed from it, whatever ends the gate. In each round every side of a test binary
// is linked anew with another seed of the linker's -randlayout (Linker), so that
// functions lie where they have not lain before.
//
// A process is started for each measurement, with an environment of another size,
// which moves the stack; of it the median of some short runs counts. It counts
// if it printed exactly the results that were asked for and ended as tests do that
// pass. The programs that it started end with it (Program).
//
// Benchmarks of a package whose process takes longer to start than to measure
// share one, if they need about as many operations.
package sides
