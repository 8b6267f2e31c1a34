// Package reach tells which benchmarks of a Go module run the same code on two
// sides, so that nobody has to measure them.
//
// A benchmark that runs by itself executes what its function reaches, what the
// initialization of its program and TestMain reach, and nothing else. Both are
// read from the object files of the build cache: each symbol with its bytes, and
// the relocations that say what they refer to. So calls, function values,
// closures, methods behind interfaces, tables, strings, constants, types, inlined
// code, assembly and what linkname connects count alike, and comments, tests and
// functions that nothing reaches do not.
//
//	program = packages that go list -test -deps names, linked by name and number
//	reached = flood from benchmark, TestMain and every init (as the linker's search)
//	same    = all that is reached has the same digest on both sides, both ways
//
// A symbol's digest covers: kind, flags, size, bytes, and of each relocation
// its place, kind, addend and target. A target goes by its name, or by its own
// digest if its name is only a number in its package (..stmp_7). Line tables and
// debugging information are no part of it. If a type never becomes an
// interface its layout counts, and not its methods.
//
// A method is reached if its type may be in an interface and a method of that name
// and type is called through some interface, or reflection may call any: then all.
// Code outside the program can't be known: a benchmark that starts other
// programs, or loads plugins, is not the same. Nor is any of a program whose packages
// have other flags for the linker of C (#cgo LDFLAGS), or that has another GODEBUG, or where the collector of garbage has much more or less to look through. Files that it may read are compared
// by content: those of its package's testdata, and if code outside of Go itself leads to
// a function that opens files, those below the package's folder and any whose name
// the program holds as a string. If it holds a path that leads upwards, or asks where
// its sources are, all of the module count, and a module that is a part of a
// repository is not the same. Text for people (*.md) and hidden files need their name.
//
// The format of objects is internal to a release of Go; cmd/internal/goobj
// documents it. Its numbers are read from the toolchain's own source. Where that
// is not there, or an object is of another format, nothing is said to be the same.
package reach
