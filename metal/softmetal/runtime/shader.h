// What a compiled shader and the runtime know of each other.
#ifndef SOFTMETAL_SHADER_H
#define SOFTMETAL_SHADER_H

namespace softmetal {

// A Triple is a position or a size, x first.
struct Triple {
	unsigned at[3];
};

// A Thread is what a kernel can ask about the thread that runs it.
struct Thread {
	Triple thread_position_in_grid, thread_position_in_threadgroup, threadgroup_position_in_grid;
	Triple threads_per_threadgroup, threads_per_grid, threadgroups_per_grid;
	unsigned thread_index_in_threadgroup, thread_index_in_simdgroup, simdgroup_index_in_threadgroup;
	unsigned simdgroups_per_threadgroup, threads_per_simdgroup;
	void *const *arguments; // in the order of the kernel's Parameters
};

// Lanes are the values that the threads of a simdgroup exchange.
struct Lanes {
	static const unsigned most_lanes = 64, most = 16; // bytes of a value
	alignas(16) unsigned char value[most_lanes][most];
	unsigned count; // lanes of this simdgroup
};

// Flags of barriers.
enum { order_device = 1, order_threadgroup = 2 };

// A Runtime is what a shader calls. line is that of its source.
struct Runtime {
	// access is called before every one, with the alignment that it relies on.
	void (*access)(const volatile void *at, unsigned long size, unsigned align, bool write, bool atomic);
	// flags are those of metal::mem_flags: the memory that is ordered.
	void (*barrier)(int flags, int line);
	void (*simd_barrier)(int flags, int line);
	// exchange waits for all lanes of the simdgroup, and returns their values.
	const Lanes *(*exchange)(const void *value, unsigned long size, int line);
	unsigned (*lane)(); // of the thread that calls
	// shared returns threadgroup memory for a variable: the same to all threads.
	void *(*shared)(const char *name, unsigned long size, unsigned long align, int line);
};

// A Parameter is a kernel's, one that it gets from the dispatch.
struct Parameter {
	const char *name;
	int kind, index;
	unsigned long least; // bytes of one element
	unsigned align;
	bool constant, written;
};

struct Kernel {
	const char *name;
	void (*run)(const Thread &);
	const Parameter *parameters;
	int count;
	unsigned max_threads; // 0: the device's
};

struct Constant {
	const char *name, *type;
	int index;
	void *value;
	unsigned long size;
};

// A Shader is what a compiled file exports, under the name softmetal_shader.
struct Shader {
	const Kernel *kernels;
	int kernel_count;
	const Constant *constants;
	int constant_count;
	const Runtime **runtime; // set when the file is loaded
};

} // namespace softmetal

#endif
