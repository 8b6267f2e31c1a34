#include "shadow.h"

namespace softmetal {

bool ordered(const Access &before, const Access &a) {
	if (before.thread == a.thread || before.epoch != a.epoch || (before.atomic && a.atomic)) return true;
	return before.simdgroup == a.simdgroup && before.simd_epoch != a.simd_epoch;
}

void Shadow::State::add_reader(const Access &a) {
	if (readers > 0 && read[0].epoch != a.epoch) readers = 0;
	for (int i = 0; i < readers; i++) {
		if (read[i].simdgroup != a.simdgroup || (readers == 2 && read[0].simdgroup != read[1].simdgroup && read[i].thread != a.thread)) continue;
		if (read[i].thread == a.thread || read[i].simd_epoch != a.simd_epoch) {
			read[i] = a;
			return;
		}
	}
	if (readers < 2) read[readers++] = a;
	else if (read[0].simdgroup == read[1].simdgroup && a.simdgroup != read[0].simdgroup) read[1] = a;
}

Conflict Shadow::State::add(const Access &a) {
	if (!a.write && !written) return {Conflict::unwritten, {}};
	if (written && !ordered(write, a)) return {Conflict::race, write};
	if (!a.write) {
		add_reader(a);
		return {Conflict::none, {}};
	}
	for (int r = 0; r < readers; r++)
		if (!ordered(read[r], a)) return {Conflict::race, read[r]};
	written = true;
	write = a;
	readers = 0;
	return {Conflict::none, {}};
}

// part returns the bytes of word i, each by itself.
std::array<Shadow::State, Shadow::word> &Shadow::part(size_t i) {
	auto &bytes = parts[i];
	if (!words[i].parted) {
		bytes.fill(words[i]);
		words[i].parted = true;
	}
	return bytes;
}

Conflict Shadow::add(size_t at, size_t size, const Access &a) {
	Conflict c{Conflict::none, {}};
	const size_t end = at + size;
	while (at < end && c.kind == Conflict::none) {
		State &w = words[at / word];
		if (!w.parted && at % word == 0 && end - at >= word) {
			c = w.add(a);
			at += word;
			continue;
		}
		c = part(at / word)[at % word].add(a);
		at++;
	}
	return c;
}

} // namespace softmetal
