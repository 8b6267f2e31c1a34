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

// Limits of the device that is played.
enum {
	SOFTMETAL_SIMD_WIDTH = 32,
	SOFTMETAL_MAX_THREADS = 1024,              // of a threadgroup
	SOFTMETAL_MAX_THREADGROUP_MEMORY = 32768,  // bytes
};

// softmetal_compile compiles a source. The error has the compiler's message,
// with the source's lines. The compiled file is kept beside this library, in a
// file named by the source's hash.
softmetal_library *softmetal_compile(const char *source, char **error);
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

// softmetal_parameter says which argument a kernel's parameter i is. It returns 0
// behind the last.
int32_t softmetal_parameter(const softmetal_function *function, int32_t i, int32_t *kind, int32_t *index);

// softmetal_dispatch runs a kernel over a grid of threads (threads, not
// threadgroups: at the grid's edges threadgroups are smaller), and returns
// when all are done: 1. It returns 0 at the first fault, with the names of
// kernel, thread and memory: an argument that is missing, unknown or too
// short; an access outside the arguments, or not aligned as its type is; threads that race for threadgroup
// memory, or a read of what none has written; a barrier that not all threads
// of a threadgroup reach, a simdgroup operation that not all of a simdgroup
// reach. What the threads had written by then is written.
int32_t softmetal_dispatch(softmetal_function *function, const uint32_t grid[3],
	const uint32_t threadgroup[3], const softmetal_arg *args, int32_t count, char **error);

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
