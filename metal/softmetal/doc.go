// Package softmetal runs Metal shaders on Linux, to find what is wrong with
// them: the very .metal source, compiled as C++ by g++ against a stand-in for
// metal_stdlib, with each thread of a threadgroup a fibre.
//
//	library, err := softmetal.Compile(source, map[int]any{0: uint32(8)})
//	err = library.Dispatch("add", [3]int{n, 1, 1}, [3]int{64, 1, 1},
//		softmetal.Buffer(0, x), softmetal.Buffer(1, y))
//
// A dispatch fails at the first of these faults, with the kernel, the thread
// and the memory:
//
//   - an access outside the buffers, to the byte, or one that is not aligned as
//     its type is;
//   - two threads that use the same threadgroup memory, one of them writing,
//     with no barrier between;
//   - an access to a buffer's byte that another thread has written, with no
//     barrier between;
//   - a read of threadgroup memory that no thread of the threadgroup has written;
//   - a threadgroup_barrier that not all threads of a threadgroup reach, or a
//     simdgroup operation that not all lanes of a simdgroup reach;
//   - an argument that is missing, unknown or too short.
//
// It proves numbers, indices and synchronisation. It does not prove what only
// Apple's compiler knows: the typing of address spaces, implicit conversions
// of vectors. Float operations here are IEEE's but for subnormal numbers, which are
// zero, and rounded one by one only where the source says fp contract(off): elsewhere
// a product and a sum are one operation, if the CPU has it.
//
// The library in runtime/ has a C interface, softmetal.h, on which this package
// and the stand-in for Metal.framework rest. It is compiled at first use, into
// the user's cache.
package softmetal
