#ifndef SOFTMETAL_RUN_H
#define SOFTMETAL_RUN_H

#include <string>
#include <vector>

#include "shader.h"
#include "softmetal.h"

namespace softmetal {

// runtime returns what every shader calls.
const Runtime *runtime();

// A Range is memory that a thread may use.
struct Range {
	const char *begin, *end;
	std::string name;
};

// A Device is what a kernel runs on.
struct Device {
	bool exchanges = true; // lanes of a simdgroup may exchange values
	unsigned width = SOFTMETAL_SIMD_WIDTH; // of a simdgroup
};

// run runs a kernel over a grid, and throws std::runtime_error at the first
// fault. file is the range of the compiled file; budget, unless it is null, is how many
// accesses there may be, and are left.
void run(const Kernel &kernel, const Range &file, const Device &device, const Triple &grid, const Triple &threadgroup,
	const softmetal_arg *args, int count, uint64_t *budget);

} // namespace softmetal

#endif
