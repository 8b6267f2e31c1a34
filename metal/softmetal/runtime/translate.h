#ifndef SOFTMETAL_TRANSLATE_H
#define SOFTMETAL_TRANSLATE_H

#include <string>

namespace softmetal {

struct Translation {
	std::string cpp;
	bool contracts = true; // no #pragma METAL fp contract(off) stands before all functions
};

// translate turns a Metal source into C++ for the metal_stdlib beside this
// file: lines stay where they were. It drops address spaces and attributes, puts
// variables of threadgroup memory there, and adds the table of kernels and of
// function constants that the runtime reads. It throws std::runtime_error, with
// the line, for what it does not understand, and what Metal refuses.
Translation translate(const std::string &source);

} // namespace softmetal

#endif
