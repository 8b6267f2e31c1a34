// The runtime of Objective-C, as much of it as a program needs that calls Metal:
// classes with methods that are plain functions, messages, reference counts and
// autorelease pools. What Apple's does not check, or only in a debugger, is
// reported here.
#ifndef FRAMEWORKS_OBJC_H
#define FRAMEWORKS_OBJC_H

#include <mutex>
#include <string>

namespace frameworks {

// A selector is a name that sel_registerName has seen: equal names are one pointer.
using Selector = const char *;

// An Object is never freed, so that a message to it after its release is found.
struct Object {
	const char *const class_name; // "+Name" of a class itself
	long references = 1;

	explicit Object(const char *class_name);
	virtual ~Object() = default;
	// destroy lets go of what the object holds; it is called once.
	virtual void destroy() {}
	bool dead() const { return references == 0; }
};

// A Method is a function of the object, the selector and the message's arguments.
struct Method {
	const char *class_name, *selector;
	void (*function)();
};

// add makes methods known. They must outlive the program.
void add(const Method *methods, int count);

void retain(Object *object);
void release(Object *object); // may be null
// autorelease returns the object, which the thread's innermost pool releases.
Object *autorelease(Object *object);

// in_pool records if the thread has no pool: Apple's method may autorelease
// something of its own, though this one does not.
void in_pool(const std::string &whose);

// violation records what a program did wrong.
void violation(const std::string &what);
// alive tells whether an argument is a living object of the class, and records it if not.
bool alive(const Object *object, const char *class_name, const std::string &whose);

// Everything is done under one lock, which a thread may take again.
struct Lock {
	Lock();
	~Lock();
};

struct String : Object {
	const std::string text;
	explicit String(std::string text) : Object("NSString"), text(std::move(text)) {}
};

} // namespace frameworks

#endif
