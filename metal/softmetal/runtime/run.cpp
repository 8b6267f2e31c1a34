#include "run.h"

#include <csetjmp>
#include <cstdint>
#include <cstring>
#include <memory>
#include <stdexcept>
#include <sys/mman.h>
#include <ucontext.h>
#include <unordered_map>
#if defined __x86_64__
#include <xmmintrin.h>
#endif

#include "shadow.h"

namespace softmetal {
namespace {

std::string text(const Triple &t) {
	return "(" + std::to_string(t.at[0]) + "," + std::to_string(t.at[1]) + "," + std::to_string(t.at[2]) + ")";
}

// Flushing makes subnormal floats zero for as long as it lives.
class Flushing {
public:
#if defined __x86_64__
	Flushing() : before(_mm_getcsr()) { _mm_setcsr(before | 0x8040); } // results, and operands
	~Flushing() { _mm_setcsr(before); }

private:
	const unsigned before;
#else
	Flushing() {
		asm volatile("mrs %0, fpcr" : "=r"(before));
		asm volatile("msr fpcr, %0" : : "r"(before | 1ul << 24));
	}
	~Flushing() { asm volatile("msr fpcr, %0" : : "r"(before)); }

private:
	unsigned long before;
#endif
};

enum class State { ready, at_barrier, at_simd_barrier, at_exchange, returned };

const char *words(State s) {
	switch (s) {
	case State::at_barrier: return "waits at the threadgroup_barrier";
	case State::at_simd_barrier: return "waits at the simdgroup_barrier";
	case State::at_exchange: return "waits at the simdgroup operation";
	case State::returned: return "has returned";
	case State::ready: break;
	}
	return "runs";
}

// A Fibre is a thread of a threadgroup.
struct Fibre {
	Thread thread;
	State state;
	bool started = false;
	int flags, line; // of the barrier at which it waits
	char *stack;
	ucontext_t start;
	jmp_buf at;
};

// Stacks are mapped once for a system thread. Below each is as much that is not
// mapped, which stops an overflow.
class Stacks {
public:
	static constexpr size_t page = 65536, size = 2 * page;

	~Stacks() {
		for (char *s : all) munmap(s - page, size);
	}
	// get returns the lower end of stack i, which is page bytes long.
	char *get(size_t i) {
		while (all.size() <= i) {
			void *m = mmap(nullptr, size, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
			if (m == MAP_FAILED || mprotect(static_cast<char *>(m) + page, page, PROT_READ | PROT_WRITE) != 0)
				throw std::runtime_error("no memory for the stacks of a threadgroup");
			all.push_back(static_cast<char *>(m) + page);
		}
		return all[i];
	}

private:
	std::vector<char *> all;
};

thread_local Stacks stacks;

// Epochs count the barriers passed that order a kind of memory.
struct Epochs {
	unsigned device, threadgroup;
	void pass(int flags) {
		if (flags & order_device) device++;
		if (flags & order_threadgroup) threadgroup++;
	}
};

// The lanes of a simdgroup hand over their values in two places in turn: a lane
// can be at the next while others still read this one.
struct Simdgroup {
	Lanes lanes[2];
	Epochs epochs;
};

// A Variable is one in threadgroup memory.
struct Variable {
	std::string name;
	int line;
	size_t at, size;
};

// A Writer is a thread that wrote a byte of a buffer.
struct Writer {
	Access access;
	Triple thread, group;
};

// A Buffer is an argument, and who wrote which of its bytes.
struct Buffer {
	Range range;
	std::unordered_map<size_t, Writer> writers;
};

class Dispatch {
public:
	Dispatch(const Kernel &kernel, const Range &file, const Device &device, Triple grid, Triple threadgroup, const softmetal_arg *args, int count, uint64_t *budget)
		: kernel(kernel), file(file), device(device), grid(grid), threadgroup(threadgroup), budget(budget) {
		bind(args, count);
	}

	void run() {
		Triple groups, at;
		for (int i = 0; i < 3; i++) groups.at[i] = (grid.at[i] + threadgroup.at[i] - 1) / threadgroup.at[i];
		for (at.at[2] = 0; at.at[2] < groups.at[2]; at.at[2]++)
			for (at.at[1] = 0; at.at[1] < groups.at[1]; at.at[1]++)
				for (at.at[0] = 0; at.at[0] < groups.at[0]; at.at[0]++) run_group(at, groups);
	}

	// What threads call, through the Runtime below.

	void access(const char *p, size_t size, unsigned align, bool write, bool atomic) {
		const Fibre &f = *current;
		if (budget && *budget == 0) fail("is one access to memory too many: the GPU would be stopped");
		if (budget) --*budget;
		if (p >= f.stack && p + size <= f.stack + Stacks::page) return;
		const bool aligned = (reinterpret_cast<uintptr_t>(p) & (align - 1)) == 0;
		if (aligned && p >= shared_memory && p + size <= shared_memory + shared_used)
			return check_race(size_t(p - shared_memory), size, write, atomic);
		if (aligned && in_buffer(p, size)) return check_order(buffers[last], size_t(p - buffers[last].range.begin), size, write, atomic);
		if (aligned && within(file, p, size)) return;
		refuse(p, size, align, write, aligned);
	}

	void wait(State state, int flags, int line) {
		Fibre &f = *current;
		f.state = state;
		f.flags = flags;
		f.line = line;
		if (_setjmp(f.at) == 0) _longjmp(scheduler, 1);
	}

	const Lanes *exchange(const void *value, size_t size, int line) {
		if (!device.exchanges)
			fail("exchanges values in a simdgroup in line " + std::to_string(line) + ", which GPUs before Apple7 do not");
		const Thread &t = current->thread;
		Simdgroup &s = simdgroups[t.simdgroup_index_in_threadgroup];
		// Every lane takes part in every exchange: their counts agree.
		Lanes &lanes = s.lanes[exchanges[t.thread_index_in_threadgroup]++ % 2];
		memcpy(lanes.value[t.thread_index_in_simdgroup], value, size);
		wait(State::at_exchange, 0, line);
		return &lanes;
	}

	unsigned lane() const { return current->thread.thread_index_in_simdgroup; }

	void *shared(const char *name, size_t size, size_t align, int line) {
		for (const Variable &v : variables)
			if (v.line == line && v.name == name) return shared_memory + v.at;
		const size_t at = (shared_used + align - 1) / align * align;
		if (at + size > SOFTMETAL_MAX_THREADGROUP_MEMORY)
			fail("declares variable " + std::string(name) + ": more than " + std::to_string(SOFTMETAL_MAX_THREADGROUP_MEMORY) + " bytes of threadgroup memory");
		variables.push_back({name, line, at, size});
		shared_used = at + size;
		shadow.grow(shared_used);
		memset(shared_memory + at, 0xff, size);
		return shared_memory + at;
	}

	// start runs a thread, and those of the threadgroups behind it that follow it on its
	// stack.
	[[noreturn]] void start() {
		for (;;) {
			kernel.run(current->thread);
			current->state = State::returned;
			if (_setjmp(current->at) == 0) _longjmp(scheduler, 1);
		}
	}

private:
	const Kernel &kernel;
	const Range &file;
	const Device device;
	const Triple grid, threadgroup;
	uint64_t *const budget; // of accesses; null: there is none
	std::vector<Buffer> buffers;
	size_t last = 0; // the buffer that was used last
	std::vector<void *> arguments;

	std::vector<std::unique_ptr<Fibre>> fibres;
	std::vector<Simdgroup> simdgroups;
	std::vector<unsigned> exchanges; // of each thread
	size_t threads = 0; // of this threadgroup
	Triple group{};
	Epochs epochs{};
	Fibre *current = nullptr;
	jmp_buf scheduler;
	std::string fault;

	alignas(64) char shared_memory[SOFTMETAL_MAX_THREADGROUP_MEMORY];
	size_t shared_used = 0;
	std::vector<Variable> variables;
	Shadow shadow;

	std::string title() const { return std::string("kernel ") + kernel.name; }

	// bind gives every parameter of the kernel its argument.
	void bind(const softmetal_arg *args, int count) {
		arguments.resize(size_t(kernel.count));
		std::vector<bool> used(static_cast<size_t>(count));
		for (int i = 0; i < kernel.count; i++) {
			const Parameter &p = kernel.parameters[i];
			const softmetal_arg *found = nullptr;
			for (int j = 0; j < count; j++)
				if (args[j].kind == p.kind && args[j].index == p.index) found = &args[j], used[size_t(j)] = true;
			const std::string name = std::string(p.kind == SOFTMETAL_BUFFER ? "buffer " : "threadgroup memory ") + std::to_string(p.index) + " (" + p.name + ")";
			if (!found) throw std::runtime_error(title() + ": " + name + " is not set");
			if (found->length < p.least)
				throw std::runtime_error(title() + ": " + name + " has " + std::to_string(found->length) + " bytes, and one element " + std::to_string(p.least));
			arguments[size_t(i)] = p.kind == SOFTMETAL_BUFFER ? bind_buffer(*found, name) : bind_shared(*found, p.name);
		}
		for (int j = 0; j < count; j++)
			if (!used[size_t(j)])
				throw std::runtime_error(title() + " has no " + (args[j].kind == SOFTMETAL_BUFFER ? "buffer " : "threadgroup memory ") + std::to_string(args[j].index));
	}

	void *bind_buffer(const softmetal_arg &arg, const std::string &name) {
		const char *data = static_cast<const char *>(arg.data);
		buffers.push_back({{data, data + arg.length, name}, {}});
		return arg.data;
	}

	void *bind_shared(const softmetal_arg &arg, const char *name) {
		const size_t at = (shared_used + 15) / 16 * 16;
		if (arg.length > SOFTMETAL_MAX_THREADGROUP_MEMORY || at + arg.length > SOFTMETAL_MAX_THREADGROUP_MEMORY)
			throw std::runtime_error(title() + ": more than " + std::to_string(SOFTMETAL_MAX_THREADGROUP_MEMORY) + " bytes of threadgroup memory");
		variables.push_back({name, 0, at, arg.length});
		shared_used = at + arg.length;
		return shared_memory + at;
	}

	static bool within(const Range &r, const char *p, size_t size) { return p >= r.begin && p + size <= r.end; }

	bool in_buffer(const char *p, size_t size) {
		if (last < buffers.size() && within(buffers[last].range, p, size)) return true;
		for (last = 0; last < buffers.size(); last++)
			if (within(buffers[last].range, p, size)) return true;
		return false;
	}

	// place says where an address is, in or near which of the
	// kernel's memory.
	std::string place(const char *p, size_t size) const {
		const Range *nearest = nullptr;
		size_t least = size_t(1) << 20;
		for (const Buffer &buffer : buffers) {
			const Range &b = buffer.range;
			const size_t away = p < b.begin ? size_t(b.begin - p) : p + size > b.end ? size_t(p + size - b.end) : 0;
			if (away < least) least = away, nearest = &b;
		}
		for (const Variable &v : variables) {
			const char *begin = shared_memory + v.at, *end = begin + v.size;
			const size_t away = p < begin ? size_t(begin - p) : size_t(p + size - end);
			if (p + size > shared_memory && away < least)
				return "at offset " + std::to_string(p - begin) + " of threadgroup memory " + v.name + ", which has " + std::to_string(v.size) + " bytes";
		}
		if (!nearest) return "at an address near none of its buffers";
		return "at offset " + std::to_string(p - nearest->begin) + " of " + nearest->name + ", which has " +
			std::to_string(nearest->end - nearest->begin) + " bytes";
	}

	[[noreturn, gnu::cold, gnu::noinline]] void refuse(const char *p, size_t size, unsigned align, bool write, bool aligned) {
		fail(std::string(write ? "writes " : "reads ") + std::to_string(size) + " bytes" + (aligned ? "" : ", aligned to " + std::to_string(align) + ",") +
			" " + place(p, size));
	}

	// fail ends the dispatch from inside a thread.
	[[noreturn, gnu::cold, gnu::noinline]] void fail(const std::string &what) {
		fault = title() + ", thread " + text(current->thread.thread_position_in_threadgroup) + " of threadgroup " + text(group) + " " + what;
		_longjmp(scheduler, 1);
	}

	Access mine(unsigned Epochs::*memory, bool write, bool atomic) const {
		const Thread &t = current->thread;
		const unsigned simd = t.simdgroup_index_in_threadgroup;
		return {int(t.thread_index_in_threadgroup), int(simd), epochs.*memory, simdgroups[simd].epochs.*memory, write, atomic};
	}

	// check_order fails if another thread wrote to the place and no barrier is
	// between; none ever is between threadgroups. What others have read before a
	// write is not known.
	void check_order(Buffer &b, size_t at, size_t size, bool write, bool atomic) {
		if (write || !b.writers.empty()) check_writers(b, at, size, write, atomic);
	}

	[[gnu::noinline]] void check_writers(Buffer &b, size_t at, size_t size, bool write, bool atomic) {
		const Access a = mine(&Epochs::device, write, atomic);
		for (size_t i = at; i < at + size; i++) {
			const auto found = b.writers.find(i);
			if (found != b.writers.end()) {
				const Writer &w = found->second;
				const bool same_group = !memcmp(&w.group, &group, sizeof group);
				if (same_group ? !ordered(w.access, a) : !(w.access.atomic && atomic))
					fail(std::string(write ? "writes" : "reads") + " offset " + std::to_string(i) + " of " + b.range.name + ", which thread " +
						text(w.thread) + " of threadgroup " + text(w.group) + " writes with no barrier between");
			}
			if (write) b.writers[i] = {a, current->thread.thread_position_in_threadgroup, group};
		}
	}

	void check_race(size_t at, size_t size, bool write, bool atomic) {
		const Conflict c = shadow.add(at, size, mine(&Epochs::threadgroup, write, atomic));
		if (c.kind != Conflict::none) conflict(c, at, write);
	}

	[[noreturn, gnu::cold, gnu::noinline]] void conflict(const Conflict &c, size_t at, bool write) {
		std::string name = "memory";
		size_t offset = at;
		for (const Variable &v : variables)
			if (at >= v.at && at < v.at + v.size) name = v.name, offset = at - v.at;
		const std::string which = " offset " + std::to_string(offset) + " of threadgroup memory " + name;
		if (c.kind == Conflict::unwritten) fail("reads" + which + ", which no thread of it has written");
		fail(std::string(write ? "writes" : "reads") + which + ", which thread " +
			text(fibres[size_t(c.other.thread)]->thread.thread_position_in_threadgroup) + (c.other.write ? " writes" : " reads") + " with no barrier between");
	}

	void run_group(const Triple &at, const Triple &groups) {
		group = at;
		set_up(groups);
		for (;;) {
			for (size_t i = 0; i < threads; i++) {
				if (fibres[i]->state != State::ready) continue;
				resume(*fibres[i]);
				if (!fault.empty()) throw std::runtime_error(fault);
			}
			if (all(0, threads, State::returned)) return;
			if (!release_simdgroups() && !release_threadgroup()) throw std::runtime_error(divergence());
		}
	}

	void set_up(const Triple &groups) {
		Triple size;
		threads = 1;
		for (int i = 0; i < 3; i++) {
			const unsigned left = grid.at[i] - group.at[i] * threadgroup.at[i];
			size.at[i] = left < threadgroup.at[i] ? left : threadgroup.at[i];
			threads *= size.at[i];
		}
		const unsigned width = device.width, simds = unsigned((threads + width - 1) / width);
		simdgroups.assign(simds, {});
		for (unsigned i = 0; i < simds; i++) {
			const unsigned left = unsigned(threads) - i * width;
			simdgroups[i].lanes[0].count = simdgroups[i].lanes[1].count = left < width ? left : width;
		}
		exchanges.assign(threads, 0);
		memset(shared_memory, 0xff, shared_used);
		shadow.clear(shared_used);
		epochs = {};
		while (fibres.size() < threads) {
			fibres.push_back(std::make_unique<Fibre>());
			fibres.back()->stack = stacks.get(fibres.size() - 1);
		}
		for (unsigned i = 0; i < threads; i++) {
			Fibre &f = *fibres[i];
			f.state = State::ready;
			Thread &t = f.thread;
			t.thread_position_in_threadgroup = {{i % size.at[0], i / size.at[0] % size.at[1], i / size.at[0] / size.at[1]}};
			for (int k = 0; k < 3; k++)
				t.thread_position_in_grid.at[k] = group.at[k] * threadgroup.at[k] + t.thread_position_in_threadgroup.at[k];
			t.threadgroup_position_in_grid = group;
			t.threads_per_threadgroup = size;
			t.threads_per_grid = grid;
			t.threadgroups_per_grid = groups;
			t.thread_index_in_threadgroup = i;
			t.thread_index_in_simdgroup = i % width;
			t.simdgroup_index_in_threadgroup = i / width;
			t.simdgroups_per_threadgroup = simds;
			t.threads_per_simdgroup = width;
			t.arguments = arguments.data();
		}
	}

	void resume(Fibre &f);

	// all says whether threads [from, to) are in that state, at one line.
	bool all(size_t from, size_t to, State state) const {
		for (size_t i = from; i < to; i++)
			if (fibres[i]->state != state || (state != State::returned && fibres[i]->line != fibres[from]->line)) return false;
		return true;
	}

	void ready(size_t from, size_t to) {
		for (size_t i = from; i < to; i++) fibres[i]->state = State::ready;
	}

	// release_simdgroups lets those go on whose lanes have all arrived.
	bool release_simdgroups() {
		bool any = false;
		for (size_t s = 0; s < simdgroups.size(); s++) {
			const size_t from = s * device.width, to = from + simdgroups[s].lanes[0].count;
			const bool barrier = all(from, to, State::at_simd_barrier);
			if (!barrier && !all(from, to, State::at_exchange)) continue;
			if (barrier) simdgroups[s].epochs.pass(fibres[from]->flags);
			ready(from, to);
			any = true;
		}
		return any;
	}

	bool release_threadgroup() {
		if (!all(0, threads, State::at_barrier)) return false;
		epochs.pass(fibres[0]->flags);
		ready(0, threads);
		return true;
	}

	std::string where(const Fibre &f) const {
		return "thread " + text(f.thread.thread_position_in_threadgroup) + " " + words(f.state) +
			(f.state == State::returned ? "" : " of line " + std::to_string(f.line));
	}

	// divergence names two threads that wait for what will not come: within a
	// simdgroup if there are such, in the threadgroup otherwise.
	std::string divergence() const {
		for (size_t s = 0; s < simdgroups.size(); s++) {
			const size_t from = s * device.width, to = from + simdgroups[s].lanes[0].count;
			const std::string found = apart(from, from, to);
			if (!found.empty()) return found;
		}
		return apart(0, 0, threads);
	}

	std::string apart(size_t one, size_t from, size_t to) const {
		const Fibre &f = *fibres[one];
		for (size_t i = from; i < to; i++)
			if (fibres[i]->state != f.state || (f.state != State::returned && fibres[i]->line != f.line))
				return title() + ", threadgroup " + text(group) + ": " + where(f) + ", and " + where(*fibres[i]);
		return "";
	}
};

// running is the dispatch of this system thread.
thread_local Dispatch *running;

void start() { running->start(); }

// resume runs a fibre until it waits or returns. The first time its context is
// made; from then on _setjmp and _longjmp switch, which do no system calls.
void Dispatch::resume(Fibre &f) {
	current = &f;
	if (_setjmp(scheduler) != 0) return;
	if (f.started) _longjmp(f.at, 1);
	f.started = true;
	getcontext(&f.start);
	f.start.uc_stack.ss_sp = f.stack;
	f.start.uc_stack.ss_size = Stacks::page;
	f.start.uc_link = nullptr;
	makecontext(&f.start, softmetal::start, 0);
	setcontext(&f.start);
}

void access(const volatile void *at, unsigned long size, unsigned align, bool write, bool atomic) {
	running->access(static_cast<const char *>(const_cast<const void *>(at)), size, align, write, atomic);
}
void barrier(int flags, int line) { running->wait(State::at_barrier, flags, line); }
void simd_barrier(int flags, int line) { running->wait(State::at_simd_barrier, flags, line); }
const Lanes *exchange(const void *value, unsigned long size, int line) { return running->exchange(value, size, line); }
unsigned lane() { return running->lane(); }
void *shared(const char *name, unsigned long size, unsigned long align, int line) { return running->shared(name, size, align, line); }

} // namespace

const Runtime *runtime() {
	static const Runtime r = {access, barrier, simd_barrier, exchange, lane, shared};
	return &r;
}

void run(const Kernel &kernel, const Range &file, const Device &device, const Triple &grid, const Triple &threadgroup, const softmetal_arg *args, int count, uint64_t *budget) {
	const auto dispatch = std::make_unique<Dispatch>(kernel, file, device, grid, threadgroup, args, count, budget);
	const Flushing flushing;
	running = dispatch.get();
	try {
		dispatch->run();
	} catch (...) {
		running = nullptr;
		throw;
	}
	running = nullptr;
}

} // namespace softmetal
