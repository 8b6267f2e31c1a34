#include "objc.h"

#include <cstdint>
#include <cstring>
#include <map>
#include <set>
#include <vector>

namespace frameworks {
namespace {

struct World {
	std::recursive_mutex mutex;
	std::set<std::string> selectors;
	std::map<std::string, Object *> classes;
	std::map<std::pair<std::string, std::string>, void (*)()> methods;
	std::set<const Object *> objects; // all there ever were
	std::vector<std::string> violations;
	std::string answer; // what the last C function returned
};

World &world() {
	static World *const w = new World; // lives longer than the threads that use it
	return *w;
}

thread_local std::vector<std::vector<Object *>> pools;

std::string name(const Object *object, const char *selector) {
	const char *const class_name = object->class_name;
	const bool is_class = class_name[0] == '+';
	return std::string(is_class ? "+[" : "-[") + (class_name + is_class) + " " + selector + "]";
}

uintptr_t nothing() { return 0; }

// method finds what a message calls.
extern "C" __attribute__((visibility("hidden"), used)) void (*frameworks_method(Object *object, Selector selector))() {
	const Lock lock;
	void (*const none)() = reinterpret_cast<void (*)()>(nothing);
	if (world().objects.count(object) == 0) {
		violation(std::string(selector) + ": sent to what is no object");
		return none;
	}
	if (object->dead()) {
		violation(name(object, selector) + ": used after it was released");
		return none;
	}
	for (const char *const class_name : {object->class_name, "NSObject"}) {
		const auto found = world().methods.find({class_name, selector});
		if (found != world().methods.end())
			return found->second;
	}
	violation(name(object, selector) + ": unrecognized selector");
	return none;
}

Object *object_retain(Object *self, Selector) {
	retain(self);
	return self;
}

void object_release(Object *self, Selector) { release(self); }

Object *object_autorelease(Object *self, Selector) { return autorelease(self); }

Object *string_make(Object *, Selector, const char *text) {
	const Lock lock;
	return autorelease(new String(text));
}

const char *string_text(String *self, Selector) { return self->text.c_str(); }

const unsigned long utf8 = 4; // NSUTF8StringEncoding

unsigned long string_length(String *self, Selector, unsigned long encoding) {
	if (encoding != utf8)
		violation("-[NSString lengthOfBytesUsingEncoding:]: an encoding other than UTF-8 is not played");
	return self->text.size();
}

const Method methods[] = {
	{"NSObject", "retain", reinterpret_cast<void (*)()>(object_retain)},
	{"NSObject", "release", reinterpret_cast<void (*)()>(object_release)},
	{"NSObject", "autorelease", reinterpret_cast<void (*)()>(object_autorelease)},
	{"+NSString", "stringWithUTF8String:", reinterpret_cast<void (*)()>(string_make)},
	{"NSString", "UTF8String", reinterpret_cast<void (*)()>(string_text)},
	{"NSString", "lengthOfBytesUsingEncoding:", reinterpret_cast<void (*)()>(string_length)},
};

__attribute__((constructor)) void load() { add(methods, sizeof methods / sizeof *methods); }

} // namespace

Lock::Lock() { world().mutex.lock(); }
Lock::~Lock() { world().mutex.unlock(); }

Object::Object(const char *class_name) : class_name(class_name) {
	const Lock lock;
	world().objects.insert(this);
}

void add(const Method *methods, int count) {
	const Lock lock;
	for (int i = 0; i < count; i++) {
		const Method &m = methods[i];
		world().methods[{m.class_name, m.selector}] = m.function;
		if (m.class_name[0] == '+' && world().classes.count(m.class_name) == 0)
			world().classes[m.class_name] = new Object(m.class_name);
	}
}

void retain(Object *object) {
	const Lock lock;
	object->references++;
}

void release(Object *object) {
	if (object == nullptr)
		return;
	const Lock lock;
	if (object->dead()) {
		violation(name(object, "release") + ": released once too often");
		return;
	}
	if (--object->references == 0)
		object->destroy();
}

Object *autorelease(Object *object) {
	if (pools.empty())
		violation(name(object, "autorelease") + ": without a pool, it leaks");
	else
		pools.back().push_back(object);
	return object;
}

void in_pool(const std::string &whose) {
	if (pools.empty())
		violation(whose + ": called without a pool, what it autoreleases leaks");
}

void violation(const std::string &what) {
	const Lock lock;
	world().violations.push_back(what);
}

bool alive(const Object *object, const char *class_name, const std::string &whose) {
	const Lock lock;
	if (object == nullptr || world().objects.count(object) == 0)
		violation(whose + ": no object; want " + class_name);
	else if (strcmp(object->class_name, class_name) != 0)
		violation(whose + ": " + object->class_name + "; want " + class_name);
	else if (object->dead())
		violation(whose + ": " + class_name + " was released");
	else
		return true;
	return false;
}

} // namespace frameworks

using namespace frameworks;

#pragma GCC visibility push(default)
extern "C" {

Selector sel_registerName(const char *name) {
	const Lock lock;
	return world().selectors.insert(name).first->c_str();
}

Object *objc_getClass(const char *name) {
	const Lock lock;
	const auto found = world().classes.find(std::string("+") + name);
	return found == world().classes.end() ? nullptr : found->second;
}

void *objc_autoreleasePoolPush(void) {
	pools.emplace_back();
	return reinterpret_cast<void *>(pools.size());
}

void objc_autoreleasePoolPop(void *pool) {
	if (pool != reinterpret_cast<void *>(pools.size()) || pools.empty()) {
		violation("objc_autoreleasePoolPop: not this thread's innermost pool");
		return;
	}
	const std::vector<Object *> objects = std::move(pools.back());
	pools.pop_back();
	for (Object *const object : objects)
		release(object);
}

// frameworks_violations returns what the program did wrong since the last call,
// a line each, until the next call of one of these two.
const char *frameworks_violations(void) {
	const Lock lock;
	std::string &answer = world().answer;
	answer.clear();
	for (const std::string &v : world().violations)
		answer += v + "\n";
	world().violations.clear();
	return answer.c_str();
}

// frameworks_live returns the objects that are not released, a line each.
const char *frameworks_live(void) {
	const Lock lock;
	std::string &answer = world().answer;
	answer.clear();
	for (const Object *const object : world().objects)
		if (!object->dead() && object->class_name[0] != '+')
			answer += std::string(object->class_name) + ", references: " + std::to_string(object->references) + "\n";
	return answer.c_str();
}
}
#pragma GCC visibility pop

// objc_msgSend looks the method up and jumps to it, with the registers and the
// stack of its caller: whatever the arguments are, the method gets them. A
// message to nil returns 0. objc_msgSend_stret is for results that lie in
// memory, whose address comes before the object.
#if defined __x86_64__
asm(R"(
.macro send name object selector
.globl \name
.type \name, @function
\name:
	endbr64
	test \object, \object
	jz 1f
	push %rbp
	mov %rsp, %rbp
	sub $192, %rsp
	mov %rdi, (%rsp)
	mov %rsi, 8(%rsp)
	mov %rdx, 16(%rsp)
	mov %rcx, 24(%rsp)
	mov %r8, 32(%rsp)
	mov %r9, 40(%rsp)
	mov %rax, 48(%rsp)
	movups %xmm0, 64(%rsp)
	movups %xmm1, 80(%rsp)
	movups %xmm2, 96(%rsp)
	movups %xmm3, 112(%rsp)
	movups %xmm4, 128(%rsp)
	movups %xmm5, 144(%rsp)
	movups %xmm6, 160(%rsp)
	movups %xmm7, 176(%rsp)
	mov \object, %rdi
	mov \selector, %rsi
	call frameworks_method
	mov %rax, %r11
	mov (%rsp), %rdi
	mov 8(%rsp), %rsi
	mov 16(%rsp), %rdx
	mov 24(%rsp), %rcx
	mov 32(%rsp), %r8
	mov 40(%rsp), %r9
	mov 48(%rsp), %rax
	movups 64(%rsp), %xmm0
	movups 80(%rsp), %xmm1
	movups 96(%rsp), %xmm2
	movups 112(%rsp), %xmm3
	movups 128(%rsp), %xmm4
	movups 144(%rsp), %xmm5
	movups 160(%rsp), %xmm6
	movups 176(%rsp), %xmm7
	leave
	jmp *%r11
1:	xor %eax, %eax
	xor %edx, %edx
	pxor %xmm0, %xmm0
	pxor %xmm1, %xmm1
	ret
.size \name, . - \name
.endm
	send objc_msgSend %rdi %rsi
	send objc_msgSend_stret %rsi %rdx
)");
#elif defined __aarch64__
asm(R"(
.globl objc_msgSend
.type objc_msgSend, %function
objc_msgSend:
	cbz x0, 1f
	stp x29, x30, [sp, #-16]!
	mov x29, sp
	sub sp, sp, #208
	stp x0, x1, [sp]
	stp x2, x3, [sp, #16]
	stp x4, x5, [sp, #32]
	stp x6, x7, [sp, #48]
	str x8, [sp, #64]
	stp q0, q1, [sp, #80]
	stp q2, q3, [sp, #112]
	stp q4, q5, [sp, #144]
	stp q6, q7, [sp, #176]
	bl frameworks_method
	mov x16, x0
	ldp x0, x1, [sp]
	ldp x2, x3, [sp, #16]
	ldp x4, x5, [sp, #32]
	ldp x6, x7, [sp, #48]
	ldr x8, [sp, #64]
	ldp q0, q1, [sp, #80]
	ldp q2, q3, [sp, #112]
	ldp q4, q5, [sp, #144]
	ldp q6, q7, [sp, #176]
	mov sp, x29
	ldp x29, x30, [sp], #16
	br x16
1:	mov x0, #0
	mov x1, #0
	movi d0, #0
	movi d1, #0
	ret
.size objc_msgSend, . - objc_msgSend
)");
#else
#error "objc_msgSend is written for amd64 and arm64"
#endif
