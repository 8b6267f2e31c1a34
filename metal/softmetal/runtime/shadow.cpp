#include "shadow.h"

namespace softmetal {

bool ordered(const Access &before, const Access &a) {
	if (before.thread == a.thread || before.epoch != a.epoch || (before.atomic && a.atomic)) return true;
	return before.simdgroup == a.simdgroup && before.simd_epoch != a.simd_epoch;
}

void Shadow::add_reader(Byte &b, const Access &a) {
	if (b.readers > 0 && b.read[0].epoch != a.epoch) b.readers = 0;
	for (int i = 0; i < b.readers; i++) {
		if (b.read[i].simdgroup != a.simdgroup || (b.readers == 2 && b.read[0].simdgroup != b.read[1].simdgroup && b.read[i].thread != a.thread)) continue;
		if (b.read[i].thread == a.thread || b.read[i].simd_epoch != a.simd_epoch) {
			b.read[i] = a;
			return;
		}
	}
	if (b.readers < 2) b.read[b.readers++] = a;
	else if (b.read[0].simdgroup == b.read[1].simdgroup && a.simdgroup != b.read[0].simdgroup) b.read[1] = a;
}

Conflict Shadow::add(size_t at, size_t size, const Access &a) {
	for (size_t i = at; i < at + size; i++) {
		Byte &b = bytes[i];
		if (!a.write && !b.written) return {Conflict::unwritten, {}};
		if (b.written && !ordered(b.write, a)) return {Conflict::race, b.write};
		if (!a.write) {
			add_reader(b, a);
			continue;
		}
		for (int r = 0; r < b.readers; r++)
			if (!ordered(b.read[r], a)) return {Conflict::race, b.read[r]};
		b.written = true;
		b.write = a;
		b.readers = 0;
	}
	return {Conflict::none, {}};
}

} // namespace softmetal
