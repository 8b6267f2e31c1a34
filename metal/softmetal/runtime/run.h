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

// run runs a kernel over a grid, and throws std::runtime_error at the first
// fault. file is the range of the compiled file; exchanges says whether lanes of a
// simdgroup may exchange values.
void run(const Kernel &kernel, const Range &file, bool exchanges, const Triple &grid, const Triple &threadgroup,
	const softmetal_arg *args, int count);

} // namespace softmetal

#endif
