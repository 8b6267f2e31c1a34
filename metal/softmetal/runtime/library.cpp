#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <dlfcn.h>
#include <fcntl.h>
#include <link.h>
#include <memory>
#include <mutex>
#include <spawn.h>
#include <stdexcept>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "run.h"
#include "softmetal.h"
#include "translate.h"

using softmetal::Constant;
using softmetal::Kernel;
using softmetal::Shader;

struct softmetal_library {
	void *handle = nullptr;
	const Shader *shader = nullptr;
	softmetal::Range file;
	std::mutex running; // function constants are variables of the file
};

struct softmetal_function {
	softmetal_library *library;
	const Kernel *kernel;
	std::vector<std::vector<char>> values; // of the library's constants
	softmetal::Device device;
};

namespace {

std::runtime_error system_error(const std::string &what) {
	return std::runtime_error("softmetal: " + what + ": " + strerror(errno));
}

// folder returns where this library lies, and the headers beside it.
std::string folder() {
	Dl_info info;
	if (!dladdr(reinterpret_cast<void *>(&softmetal_compile), &info) || !info.dli_fname)
		throw std::runtime_error("softmetal: the library doesn't know its folder");
	const std::string file = info.dli_fname;
	return file.substr(0, file.rfind('/'));
}

// hash is FNV-1a, 64 bits.
std::string hash(const std::string &s) {
	uint64_t h = 0xcbf29ce484222325;
	for (const char c : s) h = (h ^ static_cast<unsigned char>(c)) * 0x100000001b3;
	char hex[17];
	snprintf(hex, sizeof hex, "%016llx", static_cast<unsigned long long>(h));
	return hex;
}

std::string contents(const std::string &file) {
	std::string s;
	FILE *f = fopen(file.c_str(), "r");
	if (!f) return s;
	char part[4096];
	for (size_t n; (n = fread(part, 1, sizeof part, f)) > 0;) s.append(part, n);
	fclose(f);
	return s;
}

void write_file(const std::string &file, const std::string &s) {
	FILE *f = fopen(file.c_str(), "w");
	if (!f) throw system_error(file);
	const bool written = fwrite(s.data(), 1, s.size(), f) == s.size();
	if (fclose(f) != 0 || !written) throw system_error(file);
}

// run_command runs a command with its messages in a file, and returns whether
// it succeeded.
bool run_command(const std::vector<std::string> &command, const std::string &messages) {
	std::vector<char *> argv;
	for (const std::string &word : command) argv.push_back(const_cast<char *>(word.c_str()));
	argv.push_back(nullptr);
	posix_spawn_file_actions_t actions;
	posix_spawn_file_actions_init(&actions);
	posix_spawn_file_actions_addopen(&actions, 1, messages.c_str(), O_WRONLY | O_CREAT | O_TRUNC, 0600);
	posix_spawn_file_actions_adddup2(&actions, 1, 2);
	pid_t child;
	const int failed = posix_spawnp(&child, argv[0], &actions, nullptr, argv.data(), environ);
	posix_spawn_file_actions_destroy(&actions);
	if (failed) throw std::runtime_error("softmetal: " + command[0] + ": " + strerror(failed) + "; install it");
	int status;
	while (waitpid(child, &status, 0) < 0)
		if (errno != EINTR) throw system_error(command[0]);
	return WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

// A Workspace is a folder for as long as it lives.
struct Workspace {
	std::string path;
	explicit Workspace(const std::string &beside) : path(beside + "/work-XXXXXX") {
		if (!mkdtemp(&path[0])) throw system_error(path);
	}
	~Workspace() {
		for (const char *name : {"shader.cpp", "shader.so", "messages"}) unlink((path + "/" + name).c_str());
		rmdir(path.c_str());
	}
	Workspace(const Workspace &) = delete;
	Workspace &operator=(const Workspace &) = delete;
};

// can_contract: whether this CPU computes a product and a sum at once.
bool can_contract() {
#if defined __x86_64__
	return __builtin_cpu_supports("fma");
#else
	return true;
#endif
}

// floats returns how float operations are compiled.
std::vector<std::string> floats(bool fast_math, bool contracts) {
	std::vector<std::string> flags;
	if (fast_math) flags = {"-ffast-math"};
	if (!(fast_math || contracts) || !can_contract()) {
		flags.push_back("-ffp-contract=off");
		return flags;
	}
	flags.push_back("-ffp-contract=fast");
#if defined __x86_64__
	flags.push_back("-mfma");
#endif
	return flags;
}

// build compiles a translated source, and returns the file. Accesses are
// instrumented as for the race detector, whose functions metal_stdlib has.
// Metal is C++14.
std::string build(const std::string &cpp, const std::vector<std::string> &floats) {
	std::string how;
	for (const std::string &flag : floats) how += flag;
	const std::string here = folder(), file = here + "/shader-" + hash(cpp + how) + ".so";
	if (access(file.c_str(), R_OK) == 0) return file;
	const Workspace work(here);
	const std::string source = work.path + "/shader.cpp", object = work.path + "/shader.so", messages = work.path + "/messages";
	write_file(source, cpp);
	std::vector<std::string> command = {"g++", "-std=c++14", "-Wpedantic", "-O2", "-fPIC", "-shared", "-nostartfiles", "-fno-exceptions", "-fno-rtti", "-fsigned-char",
		"-fno-tree-vectorize", "-fno-math-errno", "-Wall", "-Wextra", "-Werror", "-Wno-unused-function", "-Wno-unused-variable", "-Wno-unused-const-variable", "-Wno-unused-parameter", "-Wno-unknown-pragmas",
		"-fsanitize=thread", "-fno-sanitize-recover=all", "-nodefaultlibs", "-I" + here, source, "-o", object, "-lm", "-lgcc"};
	command.insert(command.end(), floats.begin(), floats.end());
	if (!run_command(command, messages)) throw std::runtime_error("softmetal: the compiler refuses the source:\n" + contents(messages));
	if (rename(object.c_str(), file.c_str()) != 0) throw system_error(file);
	return file;
}

// find_range looks for the loaded file that a shader is part of.
int find_range(dl_phdr_info *info, size_t, void *data) {
	auto *range = static_cast<softmetal::Range *>(data);
	const char *low = nullptr, *high = nullptr;
	for (int i = 0; i < info->dlpi_phnum; i++) {
		const ElfW(Phdr) &segment = info->dlpi_phdr[i];
		if (segment.p_type != PT_LOAD) continue;
		const char *begin = reinterpret_cast<const char *>(info->dlpi_addr + segment.p_vaddr), *end = begin + segment.p_memsz;
		if (!low || begin < low) low = begin;
		if (end > high) high = end;
	}
	if (!low || range->begin < low || range->begin >= high) return 0;
	range->begin = low;
	range->end = high;
	return 1;
}

softmetal_library *load(const std::string &file) {
	auto library = std::make_unique<softmetal_library>();
	library->handle = dlopen(file.c_str(), RTLD_NOW | RTLD_LOCAL);
	if (!library->handle) throw std::runtime_error(std::string("softmetal: ") + dlerror());
	library->shader = static_cast<const Shader *>(dlsym(library->handle, "softmetal_shader"));
	if (!library->shader) throw std::runtime_error("softmetal: " + file + " is no shader; remove it");
	*library->shader->runtime = softmetal::runtime();
	library->file.begin = reinterpret_cast<const char *>(library->shader);
	if (!dl_iterate_phdr(find_range, &library->file)) throw std::runtime_error("softmetal: " + file + " isn't loaded");
	return library.release();
}

const Kernel *find_kernel(const softmetal_library *library, const std::string &name) {
	for (int i = 0; i < library->shader->kernel_count; i++)
		if (library->shader->kernels[i].name == name) return &library->shader->kernels[i];
	return nullptr;
}

// find_constant returns the index of the library's constant of that name or
// number, or -1.
int find_constant(const Shader *shader, const softmetal_constant &wanted) {
	for (int i = 0; i < shader->constant_count; i++) {
		const Constant &c = shader->constants[i];
		if (wanted.name ? !strcmp(c.name, wanted.name) : c.index == wanted.index) return i;
	}
	return -1;
}

softmetal_function *make_function(softmetal_library *library, const char *kernel, const softmetal_constant *constants, int count) {
	auto f = std::make_unique<softmetal_function>();
	f->library = library;
	f->kernel = find_kernel(library, kernel);
	if (!f->kernel) throw std::runtime_error(std::string("softmetal: the source has no kernel ") + kernel);
	const Shader *shader = library->shader;
	f->values.resize(size_t(shader->constant_count));
	for (int i = 0; i < count; i++) {
		const softmetal_constant &c = constants[i];
		const int at = find_constant(shader, c);
		if (at < 0) throw std::runtime_error("softmetal: the source has no function constant " + (c.name ? std::string(c.name) : std::to_string(c.index)));
		const Constant &has = shader->constants[at];
		if (strcmp(has.type, c.type)) throw std::runtime_error(std::string("softmetal: function constant ") + has.name + " is " + has.type + ", not " + c.type);
		const char *value = static_cast<const char *>(c.value);
		f->values[size_t(at)].assign(value, value + has.size);
	}
	for (int i = 0; i < shader->constant_count; i++)
		if (f->values[size_t(i)].empty()) throw std::runtime_error(std::string("softmetal: function constant ") + shader->constants[i].name + " has no value");
	return f.release();
}

void dispatch(softmetal_function *f, const uint32_t grid[3], const uint32_t group[3], const softmetal_arg *args, int count, uint64_t *budget) {
	const std::string title = std::string("kernel ") + f->kernel->name;
	uint64_t threads = 1;
	for (int i = 0; i < 3; i++) {
		if (grid[i] == 0 || group[i] == 0) throw std::runtime_error("softmetal: " + title + ": a grid or threadgroup of size 0");
		threads *= group[i];
		if (threads > uint64_t(softmetal_max_threads(f)))
			throw std::runtime_error("softmetal: " + title + ": more than " + std::to_string(softmetal_max_threads(f)) + " threads in a threadgroup");
	}
	const std::lock_guard<std::mutex> lock(f->library->running);
	for (size_t i = 0; i < f->values.size(); i++) memcpy(f->library->shader->constants[i].value, f->values[i].data(), f->values[i].size());
	try {
		softmetal::run(*f->kernel, f->library->file, f->device, {{grid[0], grid[1], grid[2]}}, {{group[0], group[1], group[2]}}, args, count, budget);
	} catch (const std::runtime_error &e) {
		throw std::runtime_error(std::string("softmetal: ") + e.what());
	}
}

// or_error runs what may throw, and makes the exception an error.
template <typename Do> auto or_error(char **error, Do what) -> decltype(what()) {
	try {
		return what();
	} catch (const std::exception &e) {
		*error = strdup(e.what());
		return {};
	}
}

constexpr uint64_t apart = 65536; // bytes, a multiple of every page size

uint64_t mapped(uint64_t length) { return (length + apart - 1) / apart * apart + 2 * apart; }

} // namespace

softmetal_library *softmetal_compile(const char *source, int32_t fast_math, char **error) {
	return or_error(error, [&] {
		softmetal::Translation translated;
		try {
			translated = softmetal::translate(source);
		} catch (const std::runtime_error &e) {
			throw std::runtime_error(std::string("softmetal: ") + e.what());
		}
		return load(build(translated.cpp, floats(fast_math, translated.contracts)));
	});
}

void softmetal_close(softmetal_library *library) {
	dlclose(library->handle);
	delete library;
}

const char *softmetal_kernel(const softmetal_library *library, int32_t i) {
	return i >= 0 && i < library->shader->kernel_count ? library->shader->kernels[i].name : nullptr;
}

softmetal_function *softmetal_function_new(softmetal_library *library, const char *kernel, const softmetal_constant *constants,
	int32_t count, char **error) {
	return or_error(error, [&] { return make_function(library, kernel, constants, count); });
}

void softmetal_function_free(softmetal_function *function) { delete function; }

void softmetal_before_apple7(softmetal_function *function) { function->device.exchanges = false; }

void softmetal_simd_width(softmetal_function *function, int32_t width) { function->device.width = unsigned(width); }

int32_t softmetal_max_threads(const softmetal_function *function) {
	const unsigned own = function->kernel->max_threads;
	return own ? int32_t(own) : SOFTMETAL_MAX_THREADS;
}

int32_t softmetal_parameter(const softmetal_function *function, int32_t i, softmetal_parameter_info *parameter) {
	if (i < 0 || i >= function->kernel->count) return 0;
	const softmetal::Parameter &p = function->kernel->parameters[i];
	*parameter = {p.kind, p.index, int32_t(p.align), p.constant, p.written};
	return 1;
}

int32_t softmetal_dispatch(softmetal_function *function, const uint32_t grid[3], const uint32_t threadgroup[3], const softmetal_arg *args,
	int32_t count, uint64_t *budget, char **error) {
	return or_error(error, [&] {
		dispatch(function, grid, threadgroup, args, count, budget);
		return 1;
	});
}

void *softmetal_alloc(uint64_t length) {
	char *m = static_cast<char *>(mmap(nullptr, mapped(length), PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
	if (m == MAP_FAILED) return nullptr;
	if (mprotect(m + apart, mapped(length) - 2 * apart, PROT_READ | PROT_WRITE) == 0) return m + apart;
	munmap(m, mapped(length));
	return nullptr;
}

void softmetal_release(void *memory, uint64_t length) {
	if (memory) munmap(static_cast<char *>(memory) - apart, mapped(length));
}

void softmetal_free(char *error) { free(error); }
