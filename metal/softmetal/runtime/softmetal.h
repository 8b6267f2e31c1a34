// softmetal runs Metal shaders on Linux, to find what is wrong with them. It
// compiles the very .metal source as C++ with g++ against the metal_stdlib
// beside this header, and runs each thread of a threadgroup as a fibre.
//
// Every function that can fail returns null or 0 and sets *error to a message
// that the caller gives to softmetal_free. All functions may be called from
// any thread; dispatches of one library wait for each other.
#ifndef SOFTMETAL_H
#define SOFTMETAL_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

// A library is a compiled source; a function is one of its kernels with values
// for the function constants.
typedef struct softmetal_library softmetal_library;
typedef struct softmetal_function softmetal_function;

// A constant is the value of a function constant, by its name or, if name is
// null, by its index. type is the field's name of it in Metal: "bool", "int",
// "uint", "short", "ushort", "char", "uchar", "float" or "half".
typedef struct {
	const char *name;
	int32_t index;
	const char *type;
	const void *value;
} softmetal_constant;

enum {
	SOFTMETAL_BUFFER = 0,      // [[buffer(index)]]: length bytes at data, used in place
	SOFTMETAL_THREADGROUP = 1, // [[threadgroup(index)]]: length bytes, data is ignored
};

typedef struct {
	int32_t kind;
	int32_t index;
	void *data;
	uint64_t length;
} softmetal_arg;

// What a kernel's parameter is.
typedef struct {
	int32_t kind, index;
	int32_t align;    // of one element
	int32_t constant; // its address space is constant
	int32_t written;  // it is not const
} softmetal_parameter_info;

// Limits of the device that is played.
enum {
	SOFTMETAL_SIMD_WIDTH = 32,                 // unless softmetal_simd_width says otherwise
	SOFTMETAL_MAX_SIMD_WIDTH = 64,
	SOFTMETAL_MAX_THREADS = 1024,              // of a threadgroup
	SOFTMETAL_MAX_BUFFERS = 31,                // of a kernel
	SOFTMETAL_MAX_THREADGROUP_MEMORY = 32768,  // bytes
};

// softmetal_compile compiles a source. The error has the compiler's message,
// with the source's lines. The compiled file is kept beside this library, in a
// file named by the hash of the source and of how it is compiled. With fast
// mathematics, float operations are reordered and replaced. Without, products and
// sums are contracted all the same where the CPU can, as Metal's are, unless the
// source says fp contract(off).
softmetal_library *softmetal_compile(const char *source, int32_t fast_math, char **error);
// softmetal_close frees a library whose functions have been freed.
void softmetal_close(softmetal_library *library);

// softmetal_kernel returns the name of kernel i, or null behind the last.
const char *softmetal_kernel(const softmetal_library *library, int32_t i);

// softmetal_function_new finds a kernel. It fails if there is none of that
// name, if a constant is unknown or of another type, or if the source has a
// function constant that is not among them.
softmetal_function *softmetal_function_new(softmetal_library *library, const char *kernel,
	const softmetal_constant *constants, int32_t count, char **error);
void softmetal_function_free(softmetal_function *function);

// softmetal_max_threads returns the most threads of a threadgroup:
// [[max_total_threads_per_threadgroup]] or the device's limit.
int32_t softmetal_max_threads(const softmetal_function *function);

// softmetal_before_apple7 makes an operation in which lanes of a simdgroup exchange
// values a fault of its dispatches, as for a GPU that has none. Their barrier is not
// such an operation.
void softmetal_before_apple7(softmetal_function *function);

// softmetal_simd_width makes simdgroups of its dispatches so many threads, a power of
// two up to SOFTMETAL_MAX_SIMD_WIDTH.
void softmetal_simd_width(softmetal_function *function, int32_t width);

// softmetal_parameter says what a kernel's parameter i is. It returns 0 behind the
// last.
int32_t softmetal_parameter(const softmetal_function *function, int32_t i, softmetal_parameter_info *parameter);

// softmetal_dispatch runs a kernel over a grid of threads (threads, not
// threadgroups: at the grid's edges threadgroups are smaller), and returns
// when all are done: 1. It returns 0 at the first fault, with the names of
// kernel, thread and memory: an argument that is missing, unknown or too
// short; an access outside the arguments, or not aligned as its type is; threads that race for threadgroup
// memory, or a read of what none has written; a barrier that not all threads
// of a threadgroup reach, a simdgroup operation that not all of a simdgroup
// reach. What the threads had written by then is written. Subnormal floats are
// zero, as on Apple's GPUs. budget, unless it is null, is how many accesses to memory
// there may be, and how many are left: a dispatch that wants more fails, and leaves 0.
int32_t softmetal_dispatch(softmetal_function *function, const uint32_t grid[3], const uint32_t threadgroup[3],
	const softmetal_arg *args, int32_t count, uint64_t *budget, char **error);

// softmetal_alloc returns zeroed memory that no other lies within 64 KiB of, so
// that an access outside it is not one inside another. Give buffers of it to
// softmetal_dispatch; free them with softmetal_release.
void *softmetal_alloc(uint64_t length);
void softmetal_release(void *memory, uint64_t length);

// softmetal_free frees an error.
void softmetal_free(char *error);

#ifdef __cplusplus
}
#endif

#endif
