// Metal.framework, as much of it as package metal calls, over the software
// Metal of softmetal.h. It plays the worst GPU that Metal allows: commands are
// done when someone waits for them, and no sooner; between commit and wait the
// host's view of the buffers that they use is gone, so that touching it faults.
#include "objc.h"
#include "softmetal.h"

#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <climits>
#include <cstring>
#include <map>
#include <vector>

namespace frameworks {
namespace {

// What this device is.
const unsigned long usual_buffer_length = 1ul << 30, working_set = 3ul << 30;
const unsigned long max_bytes = 4096, max_index = SOFTMETAL_MAX_BUFFERS - 1;
const unsigned long least_alignment = 4; // of an argument's offset, on Apple's GPUs
const unsigned long page = 16384; // Apple's, whatever this machine's is
const unsigned long guard = 64ul << 10; // bytes beside a buffer that are nobody's
const size_t most_commands = 64; // of a queue that are not done
const long family_apple1 = 1001, family_apple7 = 1007, family_metal3 = 5001;

struct Size {
	unsigned long width, height, depth;
	unsigned long all() const { return width * height * depth; }
};

std::string text(const Size &s) {
	return std::to_string(s.width) + "x" + std::to_string(s.height) + "x" + std::to_string(s.depth);
}

// The newest family of Apple's GPUs that this is one of.
long family = family_apple7;

unsigned long max_buffer_length = usual_buffer_length;

// What tests change of it.
int simd_width = SOFTMETAL_SIMD_WIDTH;
unsigned long max_threads = SOFTMETAL_MAX_THREADS; // of the kernels that are made from now on
uint64_t most_accesses = 0; // of a command buffer, before it is stopped; 0: as many as it likes

// A Fault happens to a few of what comes, after some that are spared.
struct Fault {
	int spared = 0, left = 0;

	// strikes tells whether it happens to this one.
	bool strikes() {
		if (left == 0 || spared-- > 0)
			return false;
		spared = 0;
		left--;
		return true;
	}
};

// Where counters are sampled, of MTLCounterSamplingPoint: at the ends of an encoder, as
// Apple's own GPUs do; or between dispatches, as others; or nowhere, below 0.
enum Sampling { at_stages = 0, at_dispatches = 2 };
long sampling = at_stages;
const unsigned long most_samples = 4096;
const uint64_t no_sample = UINT64_MAX; // MTLCounterErrorValue
const unsigned long not_sampled = ULONG_MAX; // MTLCounterDontSample

// Faults that tests ask for.
bool no_device = false;
Fault allocation_fault, command_fault;
int command_code = 0;
const char *const asked_for = "a fault that the test asked for";

unsigned long allocated = 0;

struct Error : Object {
	const long code;
	const std::string message;
	Error(long code, std::string message) : Object("NSError"), code(code), message(std::move(message)) {}
};

// explain stores an error where the caller wants one.
void explain(Error **out, long code, const char *message) {
	if (out != nullptr) {
		*out = new Error(code, message);
		autorelease(*out);
	}
}

// Storage modes, in the options of resources: of what else options can have, nothing
// is played.
enum Storage { shared = 0, managed = 1, in_private = 2 };

// A Buffer's memory is mapped twice: the host's view can be taken away while
// the device uses its own.
struct Buffer : Object {
	char *host, *device;
	const unsigned long length;
	const bool wrapped; // memory of the host's: there is one view
	const Storage storage;
	int in_flight = 0;

	Buffer(char *host, char *device, unsigned long length, bool wrapped, Storage storage)
		: Object("MTLBuffer"), host(host), device(device), length(length), wrapped(wrapped), storage(storage) {
		if (!wrapped)
			allocated += length;
	}

	void destroy() override {
		if (wrapped)
			return;
		allocated -= length;
		munmap(device - guard, length + 2 * guard);
		// The addresses stay taken: a use after release faults.
		mmap(host, length, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED | MAP_NORESERVE, -1, 0);
	}

	void take(int n) {
		const bool was_taken = in_flight > 0;
		in_flight += n;
		const bool is_taken = in_flight > 0;
		if (!wrapped && was_taken != is_taken)
			mprotect(host, length, is_taken ? PROT_NONE : PROT_READ | PROT_WRITE);
	}
};

struct Library : Object {
	softmetal_library *const library;
	explicit Library(softmetal_library *library) : Object("MTLLibrary"), library(library) {}
	void destroy() override { softmetal_close(library); }
};

struct Function : Object {
	Library *const library;
	softmetal_function *const function;
	Function(Library *library, softmetal_function *function)
		: Object("MTLFunction"), library(library), function(function) {
		retain(library);
	}
	void destroy() override {
		softmetal_function_free(function);
		release(library);
	}
};

struct Pipeline : Object {
	Function *const function;
	const unsigned long max_threads; // by the registers that the kernel takes
	std::vector<softmetal_parameter_info> parameters;

	explicit Pipeline(Function *function)
		: Object("MTLComputePipelineState"), function(function),
		  max_threads(std::min(frameworks::max_threads, static_cast<unsigned long>(softmetal_max_threads(function->function)))) {
		retain(function);
		softmetal_parameter_info next;
		while (softmetal_parameter(function->function, static_cast<int32_t>(parameters.size()), &next))
			parameters.push_back(next);
	}
	void destroy() override { release(function); }
};

struct Constants : Object {
	struct Value {
		const char *type;
		unsigned char bytes[4];
	};
	std::map<int, Value> values;
	Constants() : Object("MTLFunctionConstantValues") {}
};

struct Array : Object {
	const std::vector<Object *> items;
	explicit Array(std::vector<Object *> items) : Object("NSArray"), items(std::move(items)) {
		for (Object *const item : this->items)
			retain(item);
	}
	void destroy() override {
		for (Object *const item : items)
			release(item);
	}
};

struct Data : Object {
	const std::vector<uint64_t> words;
	explicit Data(std::vector<uint64_t> words) : Object("NSData"), words(std::move(words)) {}
};

struct CounterSet : Object {
	const std::string name;
	explicit CounterSet(std::string name) : Object("MTLCounterSet"), name(std::move(name)) {}
};

struct SamplesDescriptor : Object {
	CounterSet *set = nullptr;
	unsigned long count = 0, storage = 0;
	SamplesDescriptor() : Object("MTLCounterSampleBufferDescriptor") {}
	void destroy() override { release(set); }
};

struct Samples : Object {
	std::vector<uint64_t> times;
	int in_flight = 0;
	explicit Samples(unsigned long count) : Object("MTLCounterSampleBuffer"), times(count, no_sample) {}
};

// The ends of an encoder, at which samples are taken.
struct Ends : Object {
	Samples *samples = nullptr;
	unsigned long start = not_sampled, end = not_sampled;
	Ends() : Object("MTLComputePassSampleBufferAttachmentDescriptor") {}
	void destroy() override { release(samples); }
};

struct EndsArray : Object {
	Ends *const first = new Ends; // Apple's has four
	EndsArray() : Object("MTLComputePassSampleBufferAttachmentDescriptorArray") {}
	void destroy() override { release(first); }
};

struct PassDescriptor : Object {
	unsigned long type = 0;
	EndsArray *const ends = new EndsArray;
	PassDescriptor() : Object("MTLComputePassDescriptor") {}
	void destroy() override { release(ends); }
};

// A Stamp is a sample that commands take before the dispatches of a turn.
struct Stamp {
	Samples *samples;
	unsigned long index;
	unsigned turn;
};

// A Binding is an argument of a kernel: a buffer, bytes or threadgroup memory.
struct Binding {
	Buffer *buffer = nullptr;
	unsigned long offset = 0, length = 0;
	std::vector<unsigned char> bytes;
};

struct Dispatch {
	Pipeline *pipeline;
	std::map<int, Binding> buffers, threadgroup;
	Size grid, threads; // of all threadgroups, of one
	unsigned turn = 0;  // dispatches of one turn may run at the same time

	// conflict returns which buffer of this one another uses, of which either writes; -1:
	// none.
	int conflict(const Dispatch &other) const {
		for (const softmetal_parameter_info &mine : pipeline->parameters)
			for (const softmetal_parameter_info &its : other.pipeline->parameters) {
				if (mine.kind != SOFTMETAL_BUFFER || its.kind != SOFTMETAL_BUFFER || !(mine.written || its.written))
					continue;
				const Binding *const a = bound(mine), *const b = other.bound(its);
				if (a->buffer != nullptr && a->buffer == b->buffer)
					return mine.index;
			}
		return -1;
	}

	// bound returns what the argument is that a kernel takes, or null.
	const Binding *bound(const softmetal_parameter_info &parameter) const {
		const auto &bindings = parameter.kind == SOFTMETAL_BUFFER ? buffers : threadgroup;
		const auto found = bindings.find(parameter.index);
		return found == bindings.end() ? nullptr : &found->second;
	}

	// arguments returns those that the kernel takes; what else is set, is for
	// another one.
	std::vector<softmetal_arg> arguments() const {
		std::vector<softmetal_arg> args;
		for (const softmetal_parameter_info &p : pipeline->parameters) {
			const Binding &b = *bound(p);
			const void *const data = b.buffer == nullptr ? b.bytes.data() : static_cast<const void *>(b.buffer->device + b.offset);
			args.push_back({p.kind, p.index, const_cast<void *>(data), b.length});
		}
		return args;
	}
};

// The states that MTLCommandBuffer has and this one can be in.
enum Status { not_enqueued = 0, committed = 2, completed = 4, failed = 5 };

const long error_timeout = 2, error_page_fault = 3; // MTLCommandBufferErrorTimeout, …PageFault

struct Encoder;
struct Queue;

struct Commands : Object {
	Queue *const queue;
	Encoder *encoder = nullptr; // that has not ended
	std::vector<Dispatch> dispatches;
	std::vector<Stamp> stamps;
	unsigned turn = 0; // of the dispatch that comes next
	std::vector<Object *> held;
	Status status = not_enqueued;
	Error *error = nullptr;
	double start = 0, end = 0;

	explicit Commands(Queue *queue);
	void destroy() override;
	void run();
	std::vector<Dispatch> order() const;
	void fail(long code, const std::string &message);
	// hold keeps an object for as long as the commands live.
	void hold(Object *object);
	// take gives buffers to the device, or back.
	void take(int n);
	// stamp adds a sample.
	void stamp(Samples *samples, unsigned long index, const char *selector);
};

struct Queue : Object {
	std::vector<Commands *> pending;
	size_t open = 0; // commands that are not done
	Queue() : Object("MTLCommandQueue") {}
	void destroy() override { finish(nullptr); }
	// finish runs what was committed, up to last.
	void finish(const Commands *last);
};

struct Encoder : Object {
	Commands *const commands;
	Dispatch next{};
	bool ended = false;
	Ends *ends = nullptr; // where it is sampled
	const bool concurrent; // dispatches are, unless there is a barrier between

	Encoder(Commands *commands, bool concurrent) : Object("MTLComputeCommandEncoder"), commands(commands), concurrent(concurrent) { retain(commands); }
	void destroy() override;
	bool open(const char *selector) const;
	void end();
};

double now() {
	timespec t;
	clock_gettime(CLOCK_MONOTONIC, &t);
	return static_cast<double>(t.tv_sec) + 1e-9 * static_cast<double>(t.tv_nsec);
}

Commands::Commands(Queue *queue) : Object("MTLCommandBuffer"), queue(queue) { queue->open++; }

void Commands::destroy() {
	if (status == not_enqueued)
		queue->open--;
	for (Object *const object : held)
		release(object);
	release(error);
	// What is left of the object takes little memory.
	held = {};
	dispatches = {};
	stamps = {};
}

void Commands::hold(Object *object) {
	retain(object);
	held.push_back(object);
}

void Commands::take(int n) {
	for (const Dispatch &d : dispatches)
		for (const auto &b : d.buffers)
			if (b.second.buffer != nullptr)
				b.second.buffer->take(n);
	for (const Stamp &s : stamps)
		s.samples->in_flight += n;
}

void Commands::stamp(Samples *samples, unsigned long index, const char *selector) {
	if (index >= samples->times.size()) {
		violation(std::string(selector) + " sample " + std::to_string(index) + " of " + std::to_string(samples->times.size()));
		return;
	}
	hold(samples);
	stamps.push_back({samples, index, turn});
}

void Commands::fail(long code, const std::string &message) {
	status = failed;
	error = new Error(code, message);
}

// order returns the dispatches turn by turn, those of one the last first: what may
// run at the same time may run in any order.
std::vector<Dispatch> Commands::order() const {
	std::vector<Dispatch> all(dispatches.rbegin(), dispatches.rend());
	std::stable_sort(all.begin(), all.end(), [](const Dispatch &a, const Dispatch &b) { return a.turn < b.turn; });
	return all;
}

// clock_now is the GPU's clock, of a unit that nobody would guess.
uint64_t clock_now() {
	timespec t;
	clock_gettime(CLOCK_MONOTONIC, &t);
	return 3 * (static_cast<uint64_t>(t.tv_sec) * 1000000000 + static_cast<uint64_t>(t.tv_nsec));
}

// run does the dispatches one after another, until one fails.
void Commands::run() {
	size_t stamped = 0;
	const auto stamp_up_to = [&](unsigned turn) {
		for (; stamped < stamps.size() && stamps[stamped].turn <= turn; stamped++)
			stamps[stamped].samples->times[stamps[stamped].index] = clock_now();
	};
	status = completed;
	start = now();
	if (command_fault.strikes())
		fail(command_code, asked_for);
	uint64_t left = most_accesses;
	for (const Dispatch &d : order()) {
		if (status == failed)
			break;
		stamp_up_to(d.turn);
		const std::vector<softmetal_arg> args = d.arguments();
		const uint32_t grid[3] = {
			static_cast<uint32_t>(d.grid.width), static_cast<uint32_t>(d.grid.height), static_cast<uint32_t>(d.grid.depth)};
		const uint32_t threads[3] = {
			static_cast<uint32_t>(d.threads.width), static_cast<uint32_t>(d.threads.height), static_cast<uint32_t>(d.threads.depth)};
		char *message = nullptr;
		if (!softmetal_dispatch(d.pipeline->function->function, grid, threads, args.data(), static_cast<int32_t>(args.size()), most_accesses == 0 ? nullptr : &left, &message)) {
			fail(most_accesses != 0 && left == 0 ? error_timeout : error_page_fault, message);
			softmetal_free(message);
		}
	}
	if (status != failed)
		stamp_up_to(turn);
	end = now();
	take(-1);
	queue->open--;
}

void Queue::finish(const Commands *last) {
	while (!pending.empty()) {
		Commands *const c = pending.front();
		pending.erase(pending.begin());
		c->run();
		release(c);
		if (c == last)
			break;
	}
}

bool Encoder::open(const char *selector) const {
	if (ended)
		violation(std::string("-[MTLComputeCommandEncoder ") + selector + "]: encoding has ended");
	return !ended;
}

void Encoder::end() {
	ended = true;
	commands->encoder = nullptr;
	commands->turn++;
	if (ends != nullptr && ends->end != not_sampled)
		commands->stamp(ends->samples, ends->end, "endOfEncoderSampleIndex");
}

void Encoder::destroy() {
	if (!ended) {
		violation("MTLComputeCommandEncoder: released without endEncoding");
		end();
	}
	release(ends);
	release(commands);
	next = {};
}

// Methods of NSError.

long error_code(Error *self, Selector) { return self->code; }

Object *error_text(Error *self, Selector) { return autorelease(new String(self->message)); }

// Methods of MTLDevice.

struct Device : Object {
	Device() : Object("MTLDevice") {}
};

Object *device_name(Device *, Selector) { return autorelease(new String("softmetal")); }
unsigned long device_max_buffer(Device *, Selector) { return max_buffer_length; }
unsigned long device_working_set(Device *, Selector) { return working_set; }
unsigned long device_threadgroup_memory(Device *, Selector) { return SOFTMETAL_MAX_THREADGROUP_MEMORY; }
Size device_threads(Device *, Selector) { return {SOFTMETAL_MAX_THREADS, SOFTMETAL_MAX_THREADS, SOFTMETAL_MAX_THREADS}; }

unsigned long device_allocated(Device *, Selector) {
	const Lock lock;
	return allocated;
}

// A BOOL is the lowest byte of what is returned; above it may be anything.
unsigned long device_supports(Device *, Selector, long asked) {
	const Lock lock;
	return 0xbad00 | static_cast<unsigned long>((asked >= family_apple1 && asked <= family) || asked == family_metal3);
}

Object *device_counter_sets(Device *, Selector selector) {
	const Lock lock;
	in_pool(selector);
	CounterSet *const others = new CounterSet("statistic"), *const clock = new CounterSet("timestamp");
	Array *const sets = new Array({others, clock});
	release(others);
	release(clock);
	return autorelease(sets);
}

unsigned long device_samples_at(Device *, Selector, long point) {
	const Lock lock;
	return 0xbad00 | static_cast<unsigned long>(point == sampling);
}

Object *device_samples(Device *, Selector selector, SamplesDescriptor *descriptor, Error **out) {
	const Lock lock;
	in_pool(selector);
	if (!alive(descriptor, "MTLCounterSampleBufferDescriptor", selector))
		return nullptr;
	const bool possible = descriptor->set != nullptr && descriptor->set->name == "timestamp" && sampling >= 0;
	if (!possible || descriptor->count == 0 || descriptor->count > most_samples || allocation_fault.strikes()) {
		explain(out, 1, possible ? "no sample buffer of that size" : "no such counters"); // MTLCounterSampleBufferErrorInvalid
		return nullptr;
	}
	if (descriptor->storage != shared)
		violation(std::string(selector) + " samples that are not shared are not played");
	return new Samples(descriptor->count);
}

unsigned long array_count(Array *self, Selector) { return self->items.size(); }

Object *array_at(Array *self, Selector selector, unsigned long i) {
	const Lock lock;
	if (i < self->items.size())
		return self->items[i];
	violation(std::string(selector) + " " + std::to_string(i) + " of " + std::to_string(self->items.size()));
	return nullptr;
}

const void *data_bytes(Data *self, Selector) { return self->words.data(); }
unsigned long data_length(Data *self, Selector) { return self->words.size() * sizeof(uint64_t); }
Object *counter_set_name(CounterSet *self, Selector) { return autorelease(new String(self->name)); }

// Methods of MTLCounterSampleBuffer and of the descriptors.

Object *samples_descriptor_new(Object *, Selector) { return new SamplesDescriptor; }
void samples_descriptor_count(SamplesDescriptor *self, Selector, unsigned long n) { self->count = n; }
void samples_descriptor_storage(SamplesDescriptor *self, Selector, unsigned long mode) { self->storage = mode; }

void samples_descriptor_set(SamplesDescriptor *self, Selector selector, CounterSet *set) {
	const Lock lock;
	if (!alive(set, "MTLCounterSet", selector))
		return;
	retain(set);
	release(self->set);
	self->set = set;
}

Object *samples_resolve(Samples *self, Selector selector, unsigned long first, unsigned long n) {
	const Lock lock;
	in_pool(selector);
	if (first + n > self->times.size() || n == 0) {
		violation(std::string(selector) + " " + std::to_string(first) + " to " + std::to_string(first + n) + " of " + std::to_string(self->times.size()));
		return nullptr;
	}
	if (self->in_flight > 0)
		violation(std::string(selector) + ": before the commands are done that take the samples");
	const auto begin = self->times.begin() + static_cast<long>(first);
	return autorelease(new Data(std::vector<uint64_t>(begin, begin + static_cast<long>(n))));
}

Object *pass_new(Object *, Selector) {
	const Lock lock;
	return autorelease(new PassDescriptor);
}
void pass_type(PassDescriptor *self, Selector, unsigned long type) { self->type = type; }
Object *pass_ends(PassDescriptor *self, Selector) { return self->ends; }

Object *ends_at(EndsArray *self, Selector selector, unsigned long i) {
	const Lock lock;
	if (i != 0)
		violation(std::string(selector) + " more than one is not played");
	return self->first;
}

void ends_samples(Ends *self, Selector selector, Samples *samples) {
	const Lock lock;
	if (!alive(samples, "MTLCounterSampleBuffer", selector))
		return;
	retain(samples);
	release(self->samples);
	self->samples = samples;
}
void ends_start(Ends *self, Selector, unsigned long i) { self->start = i; }
void ends_end(Ends *self, Selector, unsigned long i) { self->end = i; }

Object *device_queue(Device *, Selector selector) {
	const Lock lock;
	in_pool(selector);
	return allocation_fault.strikes() ? nullptr : new Queue;
}

// storage_of returns what options say, as shared where they say what is not played.
Storage storage_of(unsigned long options, const char *selector) {
	const unsigned long mode = options >> 4;
	if (options % 16 == 0 && mode <= in_private)
		return static_cast<Storage>(mode);
	violation(std::string(selector) + " options " + std::to_string(options) + " are not played");
	return shared;
}

// view maps memory, of a file or of its own, and nothing else near it: a little
// outside the buffer is outside all.
char *view(unsigned long length, int file) {
	void *const room = mmap(nullptr, length + 2 * guard, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	if (room == MAP_FAILED)
		return nullptr;
	const int kind = file < 0 ? MAP_PRIVATE | MAP_ANONYMOUS : MAP_SHARED;
	void *const at = mmap(static_cast<char *>(room) + guard, length, PROT_READ | PROT_WRITE, kind | MAP_FIXED, file, 0);
	return at == MAP_FAILED ? nullptr : static_cast<char *>(at);
}

Object *device_buffer(Device *, Selector selector, unsigned long length, unsigned long options) {
	const Lock lock;
	in_pool(selector);
	const Storage storage = storage_of(options, selector);
	if (length == 0 || length > max_buffer_length) {
		violation("-[MTLDevice newBufferWithLength:options:]: length " + std::to_string(length));
		return nullptr;
	}
	if (allocation_fault.strikes())
		return nullptr;
	const unsigned long whole = (length + page - 1) / page * page;
	const int file = memfd_create("MTLBuffer", MFD_CLOEXEC);
	if (file < 0)
		return nullptr;
	char *host = nullptr, *device = nullptr;
	if (ftruncate(file, static_cast<off_t>(whole)) == 0) {
		// The host's view of managed memory is another memory: nobody synchronises it.
		host = view(whole, storage == shared ? file : -1);
		device = view(whole, file);
	}
	close(file);
	if (host == nullptr || device == nullptr)
		return nullptr;
	return new Buffer(host, device, length, false, storage);
}

Object *device_wrap(Device *, Selector selector, char *data, unsigned long length, unsigned long options, void *) {
	const Lock lock;
	in_pool(selector);
	if (storage_of(options, selector) != shared) {
		violation(std::string(selector) + " memory of the program's own that is not shared");
		return nullptr;
	}
	if (reinterpret_cast<unsigned long>(data) % page != 0 || length % page != 0 || length == 0 || length > max_buffer_length) {
		violation("-[MTLDevice newBufferWithBytesNoCopy:length:options:deallocator:]: not whole pages, or too many");
		return nullptr;
	}
	return allocation_fault.strikes() ? nullptr : new Buffer(data, data, length, true, shared);
}

// Options are those of a compiler: fast mathematics unless someone says otherwise.
struct Options : Object {
	bool fast_math = true;
	Options() : Object("MTLCompileOptions") {}
};

Object *device_library(Device *, Selector selector, String *source, Options *options, Error **out) {
	const Lock lock;
	in_pool(selector);
	if (!alive(source, "NSString", selector) || !alive(options, "MTLCompileOptions", selector))
		return nullptr;
	const long compile_failure = 3; // MTLLibraryErrorCompileFailure
	if (allocation_fault.strikes()) {
		explain(out, compile_failure, asked_for);
		return nullptr;
	}
	char *message = nullptr;
	softmetal_library *const library = softmetal_compile(source->text.c_str(), options->fast_math, &message);
	if (library == nullptr) {
		explain(out, compile_failure, message);
		softmetal_free(message);
		return nullptr;
	}
	return new Library(library);
}

Object *device_pipeline(Device *, Selector selector, Function *function, Error **out) {
	const Lock lock;
	in_pool(selector);
	if (!alive(function, "MTLFunction", selector))
		return nullptr;
	if (allocation_fault.strikes()) {
		const long internal_error = 3; // a number of the driver's own
		explain(out, internal_error, asked_for);
		return nullptr;
	}
	return new Pipeline(function);
}

// Methods of what shaders are made of.

Object *options_new(Object *, Selector) { return new Options; }
void options_fast_math(Options *self, Selector, bool fast) { self->fast_math = fast; }

Object *constants_new(Object *, Selector) { return new Constants; }

void constants_set(Constants *self, Selector selector, const void *value, unsigned long type, unsigned long index) {
	const Lock lock;
	// Numbers of MTLDataType, the field's names and sizes.
	static const struct {
		unsigned long number;
		const char *name;
		unsigned long size;
	} types[] = {{3, "float", 4}, {29, "int", 4}, {33, "uint", 4}, {53, "bool", 1}};
	for (const auto &t : types)
		if (t.number == type) {
			Constants::Value v{t.name, {}};
			memcpy(v.bytes, value, t.size);
			self->values[static_cast<int>(index)] = v;
			return;
		}
	violation(std::string(selector) + " type " + std::to_string(type) + " is not played");
}

Object *library_function(Library *self, Selector selector, String *name, Constants *values, Error **out) {
	const Lock lock;
	in_pool(selector);
	if (!alive(name, "NSString", selector) || !alive(values, "MTLFunctionConstantValues", selector))
		return nullptr;
	std::vector<softmetal_constant> constants;
	for (const auto &v : values->values)
		constants.push_back({nullptr, v.first, v.second.type, v.second.bytes});
	char *message = nullptr;
	softmetal_function *const function = softmetal_function_new(
		self->library, name->text.c_str(), constants.data(), static_cast<int32_t>(constants.size()), &message);
	if (function == nullptr) {
		const long function_not_found = 5; // MTLLibraryErrorFunctionNotFound
		explain(out, function_not_found, message);
		softmetal_free(message);
		return nullptr;
	}
	if (family < family_apple7)
		softmetal_before_apple7(function);
	softmetal_simd_width(function, simd_width);
	return new Function(self, function);
}

unsigned long pipeline_max_threads(Pipeline *self, Selector) { return self->max_threads; }
unsigned long pipeline_width(Pipeline *, Selector) { return static_cast<unsigned long>(simd_width); }

void *buffer_contents(Buffer *self, Selector) { return self->storage == in_private ? nullptr : self->host; }
unsigned long buffer_length(Buffer *self, Selector) { return self->length; }

// Methods of MTLCommandQueue and MTLCommandBuffer.

Object *queue_commands(Queue *self, Selector selector) {
	const Lock lock;
	if (self->open == most_commands && self->pending.empty()) {
		violation(std::string(selector) + ": " + std::to_string(most_commands) + " command buffers are open and none is committed, it would wait for ever");
		return nullptr;
	}
	if (self->open == most_commands)
		self->finish(self->pending.front());
	return allocation_fault.strikes() ? nullptr : autorelease(new Commands(self));
}

Object *encoder_of(Commands *self, bool concurrent) {
	if (self->encoder != nullptr)
		violation("-[MTLCommandBuffer computeCommandEncoder]: the encoder before it has not ended");
	if (self->status != not_enqueued) {
		violation("-[MTLCommandBuffer computeCommandEncoder]: committed already");
		return nullptr;
	}
	if (allocation_fault.strikes())
		return nullptr;
	self->encoder = new Encoder(self, concurrent);
	return autorelease(self->encoder);
}

Object *commands_encoder(Commands *self, Selector) {
	const Lock lock;
	return encoder_of(self, false);
}

Object *commands_encoder_of_type(Commands *self, Selector selector, unsigned long type) {
	const Lock lock;
	if (type > 1) // MTLDispatchTypeConcurrent
		violation(std::string(selector) + " type " + std::to_string(type));
	return encoder_of(self, type == 1);
}

Object *commands_encoder_of_pass(Commands *self, Selector selector, PassDescriptor *pass) {
	const Lock lock;
	in_pool(selector);
	if (!alive(pass, "MTLComputePassDescriptor", selector))
		return nullptr;
	Ends *const ends = pass->ends->first;
	if (ends->samples != nullptr && sampling != at_stages)
		violation(std::string(selector) + ": this GPU does not sample at the ends of an encoder");
	Object *const made = encoder_of(self, pass->type == 1);
	if (made == nullptr || ends->samples == nullptr || sampling != at_stages)
		return made;
	retain(ends);
	self->encoder->ends = ends;
	if (ends->start != not_sampled)
		self->stamp(ends->samples, ends->start, "startOfEncoderSampleIndex");
	return made;
}

void commands_commit(Commands *self, Selector selector) {
	const Lock lock;
	in_pool(selector);
	if (self->encoder != nullptr)
		violation("-[MTLCommandBuffer commit]: an encoder has not ended");
	if (self->status != not_enqueued) {
		violation("-[MTLCommandBuffer commit]: committed already");
		return;
	}
	if (!alive(self->queue, "MTLCommandQueue", "-[MTLCommandBuffer commit]"))
		return;
	self->status = committed;
	self->take(1);
	retain(self);
	self->queue->pending.push_back(self);
}

void commands_wait(Commands *self, Selector selector) {
	const Lock lock;
	in_pool(selector);
	if (self->status == not_enqueued)
		violation("-[MTLCommandBuffer waitUntilCompleted]: not committed, it would wait for ever");
	if (self->status == committed)
		self->queue->finish(self);
}

long commands_status(Commands *self, Selector) {
	const Lock lock;
	return self->status;
}

Object *commands_error(Commands *self, Selector) {
	const Lock lock;
	return self->error;
}

// time_of returns a time, which commands have when they are done.
double time_of(const Commands *commands, double t, const char *selector) {
	const Lock lock;
	if (commands->status < completed)
		violation(std::string("-[MTLCommandBuffer ") + selector + "]: read before completion");
	return t;
}

double commands_start(Commands *self, Selector) { return time_of(self, self->start, "GPUStartTime"); }
double commands_end(Commands *self, Selector) { return time_of(self, self->end, "GPUEndTime"); }

// Methods of MTLComputeCommandEncoder.

void encoder_pipeline(Encoder *self, Selector selector, Pipeline *pipeline) {
	const Lock lock;
	if (!self->open(selector) || !alive(pipeline, "MTLComputePipelineState", selector))
		return;
	self->commands->hold(pipeline);
	self->next.pipeline = pipeline;
}

bool valid_index(unsigned long index, const char *selector) {
	if (index > max_index)
		violation(std::string(selector) + " index " + std::to_string(index) + "; the last is " + std::to_string(max_index));
	return index <= max_index;
}

void encoder_buffer(Encoder *self, Selector selector, Buffer *buffer, unsigned long offset, unsigned long index) {
	const Lock lock;
	if (!self->open(selector) || !valid_index(index, selector))
		return;
	if (buffer == nullptr) {
		self->next.buffers.erase(static_cast<int>(index));
		return;
	}
	if (!alive(buffer, "MTLBuffer", selector))
		return;
	if (offset >= buffer->length || offset % least_alignment != 0) {
		violation(std::string(selector) + " offset " + std::to_string(offset) + " of " + std::to_string(buffer->length) + " bytes; want a multiple of " + std::to_string(least_alignment) + " within it");
		return;
	}
	self->commands->hold(buffer);
	Binding b;
	b.buffer = buffer;
	b.offset = offset;
	b.length = buffer->length - offset;
	self->next.buffers[static_cast<int>(index)] = b;
}

void encoder_bytes(Encoder *self, Selector selector, const unsigned char *bytes, unsigned long length, unsigned long index) {
	const Lock lock;
	if (!self->open(selector) || !valid_index(index, selector))
		return;
	if (bytes == nullptr || length == 0 || length > max_bytes) {
		violation(std::string(selector) + " " + std::to_string(length) + " bytes; want 1 to " + std::to_string(max_bytes));
		return;
	}
	Binding b;
	b.bytes.assign(bytes, bytes + length);
	b.length = length;
	self->next.buffers[static_cast<int>(index)] = b;
}

void encoder_threadgroup(Encoder *self, Selector selector, unsigned long length, unsigned long index) {
	const Lock lock;
	if (!self->open(selector) || !valid_index(index, selector))
		return;
	if (length % 16 != 0 || length > SOFTMETAL_MAX_THREADGROUP_MEMORY) {
		violation(std::string(selector) + " " + std::to_string(length) + " bytes; want a multiple of 16 up to " +
			std::to_string(SOFTMETAL_MAX_THREADGROUP_MEMORY));
		return;
	}
	Binding b;
	b.length = length;
	self->next.threadgroup[static_cast<int>(index)] = b;
}

// counts tells whether there are threads in a dimension, and no more than 32 bits
// count: groups of them, or 1.
bool counts(unsigned long groups, unsigned long threads) {
	return groups > 0 && threads > 0 && groups <= UINT32_MAX && threads <= UINT32_MAX / groups;
}

// dispatch adds a dispatch of threads in threadgroups of so many.
void dispatch(Encoder *self, const std::string &whose, const Size &grid, const Size &threads) {
	Dispatch &next = self->next;
	if (next.pipeline == nullptr) {
		violation(whose + "without a pipeline");
		return;
	}
	const bool some = counts(threads.width, threads.height) && counts(threads.all(), threads.depth);
	if (!some || threads.all() > next.pipeline->max_threads) {
		violation(whose + "threadgroups of " + text(threads) + "; the kernel takes " + std::to_string(next.pipeline->max_threads) + " threads");
		return;
	}
	unsigned long room = 0;
	for (const softmetal_parameter_info &p : next.pipeline->parameters) {
		const Binding *const b = next.bound(p);
		const std::string which = (p.kind == SOFTMETAL_BUFFER ? "buffer " : "threadgroup memory ") + std::to_string(p.index);
		if (b == nullptr) {
			violation(whose + which + " is not set");
			return;
		}
		if (b->offset % static_cast<unsigned long>(p.align) != 0) {
			violation(whose + which + " begins at byte " + std::to_string(b->offset) + "; what the kernel reads there is aligned to " + std::to_string(p.align));
			return;
		}
		room += p.kind == SOFTMETAL_THREADGROUP ? b->length : 0;
	}
	if (room > SOFTMETAL_MAX_THREADGROUP_MEMORY) {
		violation(whose + std::to_string(room) + " bytes of threadgroup memory; there are " + std::to_string(SOFTMETAL_MAX_THREADGROUP_MEMORY));
		return;
	}
	next.grid = grid;
	next.threads = threads;
	if (!self->concurrent)
		self->commands->turn++;
	next.turn = self->commands->turn;
	for (const Dispatch &before : self->commands->dispatches) {
		const int index = before.turn == next.turn ? next.conflict(before) : -1;
		if (index >= 0)
			violation(whose + "buffer " + std::to_string(index) + " is in use by a dispatch before, with no barrier between");
	}
	self->commands->dispatches.push_back(next);
}

void encoder_dispatch_groups(Encoder *self, Selector selector, Size groups, Size threads) {
	const Lock lock;
	if (!self->open(selector))
		return;
	const std::string whose = std::string(selector) + " ";
	if (!counts(groups.width, threads.width) || !counts(groups.height, threads.height) || !counts(groups.depth, threads.depth)) {
		violation(whose + text(groups) + " threadgroups of " + text(threads));
		return;
	}
	dispatch(self, whose, {groups.width * threads.width, groups.height * threads.height, groups.depth * threads.depth}, threads);
}

void encoder_dispatch_threads(Encoder *self, Selector selector, Size grid, Size threads) {
	const Lock lock;
	if (!self->open(selector))
		return;
	const std::string whose = std::string(selector) + " ";
	if (!counts(1, grid.width) || !counts(1, grid.height) || !counts(1, grid.depth)) {
		violation(whose + text(grid) + " threads");
		return;
	}
	dispatch(self, whose, grid, threads);
}

void encoder_barrier(Encoder *self, Selector selector, unsigned long scope) {
	const Lock lock;
	if (!self->open(selector))
		return;
	if (scope != 1) // MTLBarrierScopeBuffers
		violation(std::string(selector) + " scope " + std::to_string(scope) + " is not played");
	self->commands->turn++;
}

void encoder_sample(Encoder *self, Selector selector, Samples *samples, unsigned long index, unsigned long barrier) {
	const Lock lock;
	if (!self->open(selector) || !alive(samples, "MTLCounterSampleBuffer", selector))
		return;
	if (sampling != at_dispatches) {
		violation(std::string(selector) + ": this GPU does not sample between dispatches");
		return;
	}
	if ((barrier & 0xff) == 0)
		violation(std::string(selector) + " without a barrier is not played");
	self->commands->turn++;
	self->commands->stamp(samples, index, selector);
}

void encoder_end(Encoder *self, Selector selector) {
	const Lock lock;
	in_pool(selector);
	if (self->open(selector))
		self->end();
}

#define METHOD(class_name, selector, function) {class_name, selector, reinterpret_cast<void (*)()>(function)}
const Method methods[] = {
	METHOD("NSError", "code", error_code),
	METHOD("NSError", "localizedDescription", error_text),
	METHOD("MTLDevice", "name", device_name),
	METHOD("MTLDevice", "maxBufferLength", device_max_buffer),
	METHOD("MTLDevice", "recommendedMaxWorkingSetSize", device_working_set),
	METHOD("MTLDevice", "maxThreadgroupMemoryLength", device_threadgroup_memory),
	METHOD("MTLDevice", "maxThreadsPerThreadgroup", device_threads),
	METHOD("MTLDevice", "currentAllocatedSize", device_allocated),
	METHOD("MTLDevice", "supportsFamily:", device_supports),
	METHOD("MTLDevice", "newCommandQueue", device_queue),
	METHOD("MTLDevice", "counterSets", device_counter_sets),
	METHOD("MTLDevice", "supportsCounterSampling:", device_samples_at),
	METHOD("MTLDevice", "newCounterSampleBufferWithDescriptor:error:", device_samples),
	METHOD("NSArray", "count", array_count),
	METHOD("NSArray", "objectAtIndex:", array_at),
	METHOD("NSData", "bytes", data_bytes),
	METHOD("NSData", "length", data_length),
	METHOD("MTLCounterSet", "name", counter_set_name),
	METHOD("+MTLCounterSampleBufferDescriptor", "new", samples_descriptor_new),
	METHOD("MTLCounterSampleBufferDescriptor", "setCounterSet:", samples_descriptor_set),
	METHOD("MTLCounterSampleBufferDescriptor", "setSampleCount:", samples_descriptor_count),
	METHOD("MTLCounterSampleBufferDescriptor", "setStorageMode:", samples_descriptor_storage),
	METHOD("MTLCounterSampleBuffer", "resolveCounterRange:", samples_resolve),
	METHOD("+MTLComputePassDescriptor", "computePassDescriptor", pass_new),
	METHOD("MTLComputePassDescriptor", "setDispatchType:", pass_type),
	METHOD("MTLComputePassDescriptor", "sampleBufferAttachments", pass_ends),
	METHOD("MTLComputePassSampleBufferAttachmentDescriptorArray", "objectAtIndexedSubscript:", ends_at),
	METHOD("MTLComputePassSampleBufferAttachmentDescriptor", "setSampleBuffer:", ends_samples),
	METHOD("MTLComputePassSampleBufferAttachmentDescriptor", "setStartOfEncoderSampleIndex:", ends_start),
	METHOD("MTLComputePassSampleBufferAttachmentDescriptor", "setEndOfEncoderSampleIndex:", ends_end),
	METHOD("MTLDevice", "newBufferWithLength:options:", device_buffer),
	METHOD("MTLDevice", "newBufferWithBytesNoCopy:length:options:deallocator:", device_wrap),
	METHOD("MTLDevice", "newLibraryWithSource:options:error:", device_library),
	METHOD("MTLDevice", "newComputePipelineStateWithFunction:error:", device_pipeline),
	METHOD("+MTLCompileOptions", "new", options_new),
	METHOD("MTLCompileOptions", "setFastMathEnabled:", options_fast_math),
	METHOD("+MTLFunctionConstantValues", "new", constants_new),
	METHOD("MTLFunctionConstantValues", "setConstantValue:type:atIndex:", constants_set),
	METHOD("MTLLibrary", "newFunctionWithName:constantValues:error:", library_function),
	METHOD("MTLComputePipelineState", "maxTotalThreadsPerThreadgroup", pipeline_max_threads),
	METHOD("MTLComputePipelineState", "threadExecutionWidth", pipeline_width),
	METHOD("MTLBuffer", "contents", buffer_contents),
	METHOD("MTLBuffer", "length", buffer_length),
	METHOD("MTLCommandQueue", "commandBuffer", queue_commands),
	METHOD("MTLCommandBuffer", "computeCommandEncoder", commands_encoder),
	METHOD("MTLCommandBuffer", "computeCommandEncoderWithDispatchType:", commands_encoder_of_type),
	METHOD("MTLCommandBuffer", "computeCommandEncoderWithDescriptor:", commands_encoder_of_pass),
	METHOD("MTLCommandBuffer", "commit", commands_commit),
	METHOD("MTLCommandBuffer", "waitUntilCompleted", commands_wait),
	METHOD("MTLCommandBuffer", "status", commands_status),
	METHOD("MTLCommandBuffer", "error", commands_error),
	METHOD("MTLCommandBuffer", "GPUStartTime", commands_start),
	METHOD("MTLCommandBuffer", "GPUEndTime", commands_end),
	METHOD("MTLComputeCommandEncoder", "setComputePipelineState:", encoder_pipeline),
	METHOD("MTLComputeCommandEncoder", "setBuffer:offset:atIndex:", encoder_buffer),
	METHOD("MTLComputeCommandEncoder", "setBytes:length:atIndex:", encoder_bytes),
	METHOD("MTLComputeCommandEncoder", "setThreadgroupMemoryLength:atIndex:", encoder_threadgroup),
	METHOD("MTLComputeCommandEncoder", "dispatchThreadgroups:threadsPerThreadgroup:", encoder_dispatch_groups),
	METHOD("MTLComputeCommandEncoder", "dispatchThreads:threadsPerThreadgroup:", encoder_dispatch_threads),
	METHOD("MTLComputeCommandEncoder", "memoryBarrierWithScope:", encoder_barrier),
	METHOD("MTLComputeCommandEncoder", "sampleCountersInBuffer:atSampleIndex:withBarrier:", encoder_sample),
	METHOD("MTLComputeCommandEncoder", "endEncoding", encoder_end),
};
#undef METHOD

__attribute__((constructor)) void load() { add(methods, sizeof methods / sizeof *methods); }

} // namespace
} // namespace frameworks

using namespace frameworks;

#pragma GCC visibility push(default)
extern "C" {

Object *MTLCreateSystemDefaultDevice(void) {
	const Lock lock;
	return no_device ? nullptr : new Device;
}

// frameworks_no_device makes a machine without a GPU, or gives it back.
void frameworks_no_device(bool none) {
	const Lock lock;
	no_device = none;
}

// frameworks_family makes the device one of Apple's GPUs up to this family.
void frameworks_family(long newest) {
	const Lock lock;
	family = newest;
}

// frameworks_sampling says where counters are sampled: a value of MTLCounterSamplingPoint,
// or -1 for nowhere.
void frameworks_sampling(long point) {
	const Lock lock;
	sampling = point;
}

// getpagesize is the system's that is played.
int getpagesize(void) { return static_cast<int>(page); }

// frameworks_simd_width makes simdgroups of so many threads, of kernels that are made
// from now on; 0 is the usual.
void frameworks_simd_width(int width) {
	const Lock lock;
	simd_width = width == 0 ? SOFTMETAL_SIMD_WIDTH : width;
}

// frameworks_max_threads makes kernels that are made from now on take no more threads
// in a threadgroup; 0 is the usual.
void frameworks_max_threads(unsigned long threads) {
	const Lock lock;
	max_threads = threads == 0 ? static_cast<unsigned long>(SOFTMETAL_MAX_THREADS) : threads;
}

// frameworks_watchdog stops command buffers after so many accesses to memory; 0: none.
void frameworks_watchdog(uint64_t accesses) {
	const Lock lock;
	most_accesses = accesses;
}

// frameworks_max_buffer makes buffers of so many bytes the largest; 0 is the usual.
void frameworks_max_buffer(unsigned long bytes) {
	const Lock lock;
	max_buffer_length = bytes == 0 ? usual_buffer_length : bytes;
}

// frameworks_fail_allocations makes n allocations fail, after some that don't.
void frameworks_fail_allocations(int after, int n) {
	const Lock lock;
	allocation_fault = {after, n};
}

// frameworks_fail_commands makes n command buffers end with an error, after some
// that don't.
void frameworks_fail_commands(int after, int n, int code) {
	const Lock lock;
	command_fault = {after, n};
	command_code = code;
}
}
#pragma GCC visibility pop
