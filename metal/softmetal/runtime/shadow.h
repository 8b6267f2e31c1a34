#ifndef SOFTMETAL_SHADOW_H
#define SOFTMETAL_SHADOW_H

#include <algorithm>
#include <array>
#include <cstddef>
#include <unordered_map>
#include <vector>

namespace softmetal {

// An Access is one by a thread of a threadgroup, after so many barriers of the
// threadgroup and of its simdgroup.
struct Access {
	int thread, simdgroup;
	unsigned epoch, simd_epoch;
	bool write, atomic;
};

// ordered says whether a comes after before: it is of the same thread, a barrier
// is between, or both are atomic.
bool ordered(const Access &before, const Access &a);

struct Conflict {
	enum { none, unwritten, race } kind;
	Access other;
};

// A Shadow remembers, for every byte of threadgroup memory, its last write and
// two of its readers since the last barrier: two of different simdgroups if
// there are such, since only those race whatever barriers their simdgroups pass.
// The bytes of a word are one until one is accessed alone.
class Shadow {
public:
	// grow makes room for the first n bytes.
	void grow(size_t n) {
		if (words.size() * word < n) words.resize((n + word - 1) / word);
	}

	// clear forgets what it knows, and has room for the first n bytes.
	void clear(size_t n) {
		words.assign((n + word - 1) / word, State{});
		parts.clear();
	}

	// add takes in an access. It returns how it conflicts with an earlier one:
	// the two are of different threads, one writes, not both are atomic, and no
	// barrier is between; or it reads what nobody has written.
	Conflict add(size_t at, size_t size, const Access &a);

private:
	static constexpr size_t word = 4;
	struct State {
		bool written = false, parted = false;
		int readers = 0;
		Access write, read[2];

		Conflict add(const Access &a);
		void add_reader(const Access &a);
	};
	std::vector<State> words;
	std::unordered_map<size_t, std::array<State, word>> parts; // of the words that are parted

	std::array<State, word> &part(size_t i);
};

} // namespace softmetal

#endif
