#include "translate.h"

#include <algorithm>
#include <cctype>
#include <stdexcept>
#include <vector>

#include "softmetal.h"

namespace softmetal {
namespace {

// A Token is a word, a sign, or what lies between: blanks, comments and
// directives.
struct Token {
	std::string text;
	int line;
	bool between;
};

using Tokens = std::vector<Token>;

[[noreturn]] void refuse(int line, const std::string &what) {
	throw std::runtime_error("line " + std::to_string(line) + ": " + what);
}

bool word_char(char c) { return std::isalnum(static_cast<unsigned char>(c)) || c == '_'; }

size_t end_of_quoted(const std::string &s, size_t at, int line) {
	const char quote = s[at++];
	while (at < s.size() && s[at] != quote) at += s[at] == '\\' ? 2 : 1;
	if (at >= s.size()) refuse(line, "a quotation mark without its second");
	return at + 1;
}

size_t end_of_directive(const std::string &s, size_t at) {
	while (at < s.size() && s[at] != '\n') at += s[at] == '\\' ? 2 : 1;
	return std::min(at, s.size());
}

// next_token returns the end of the token at a place, and whether it is between
// others.
size_t next_token(const std::string &s, size_t at, bool line_start, int line, bool &between) {
	between = true;
	if (std::isspace(static_cast<unsigned char>(s[at]))) return at + 1;
	if (s.compare(at, 2, "//") == 0) return std::min(s.find('\n', at), s.size());
	if (s.compare(at, 2, "/*") == 0) {
		const size_t end = s.find("*/", at + 2);
		if (end == std::string::npos) refuse(line, "a comment without its end");
		return end + 2;
	}
	if (s[at] == '#' && line_start) return end_of_directive(s, at);
	between = false;
	if (s[at] == '"' || s[at] == '\'') return end_of_quoted(s, at, line);
	if (word_char(s[at])) {
		while (at < s.size() && word_char(s[at])) at++;
		return at;
	}
	if (s.compare(at, 2, "[[") == 0 || s.compare(at, 2, "]]") == 0 || s.compare(at, 2, "::") == 0) return at + 2;
	return at + 1;
}

Tokens tokenize(const std::string &s) {
	Tokens tokens;
	int line = 1;
	bool line_start = true;
	for (size_t at = 0; at < s.size();) {
		bool between;
		const size_t end = next_token(s, at, line_start, line, between);
		tokens.push_back({s.substr(at, end - at), line, between});
		const auto breaks = std::count(s.begin() + long(at), s.begin() + long(end), '\n');
		line += int(breaks);
		line_start = breaks > 0 || (line_start && between);
		at = end;
	}
	return tokens;
}

// What a kernel can ask about its thread: positions of three numbers, and
// single numbers.
const char *const positions[] = {"thread_position_in_grid", "thread_position_in_threadgroup",
	"threadgroup_position_in_grid", "threads_per_threadgroup", "threads_per_grid", "threadgroups_per_grid"};
const char *const numbers[] = {"thread_index_in_threadgroup", "thread_index_in_simdgroup",
	"simdgroup_index_in_threadgroup", "simdgroups_per_threadgroup", "threads_per_simdgroup"};

template <size_t N> bool among(const char *const (&names)[N], const std::string &name) {
	return std::find(std::begin(names), std::end(names), name) != std::end(names);
}

// reserved: names that are the compiler's.
bool reserved(const std::string &word) {
	return word.compare(0, 2, "__") == 0 || (word[0] == '_' && word.size() > 1 && std::isupper(static_cast<unsigned char>(word[1])));
}

// words_of returns a directive's words, one blank between them.
std::string words_of(const std::string &directive) {
	std::string words;
	for (const char c : directive.substr(0, directive.find("//"))) {
		const bool blank = std::isspace(static_cast<unsigned char>(c));
		if (!blank) words += c;
		else if (!words.empty() && words.back() != ' ' && words != "#") words += ' ';
	}
	while (!words.empty() && words.back() == ' ') words.pop_back();
	return words;
}

// width_of returns how many components a position's type has, 0 if it is none.
int width_of(const std::string &type) {
	for (const char *const scalar : {"uint", "ushort"})
		for (const char *const behind : {"", "2", "3"})
			if (type == std::string(scalar) + behind) return *behind ? *behind - '0' : 1;
	return 0;
}

bool address_space(const std::string &word) {
	return word == "device" || word == "constant" || word == "threadgroup" || word == "thread";
}

// An Attribute is what stands in [[ ]]: a name and, if it has one, its number.
struct Attribute {
	std::string name, number;
	int line;
};

class Translator {
public:
	explicit Translator(const std::string &source) : in(tokenize(source)) {}

	Translation translate() {
		while (at < in.size()) step();
		return {"#include \"metal_stdlib\"\n#line 1 \"shader.metal\"\n" + out + tables(), contracts};
	}

private:
	Tokens in;
	size_t at = 0;
	std::string out;
	int braces = 0, parentheses = 0;
	bool contracts = true, functions = false; // a function has begun
	std::string max_threads = "0"; // of the kernel that comes next
	// What the tables are written from.
	std::string entries, kernels, constants;
	std::vector<std::string> constant_names;

	const Token &token() const {
		if (at >= in.size()) refuse(in.empty() ? 1 : in.back().line, "the source ends too early");
		return in[at];
	}

	void copy() {
		out += token().text;
		at++;
	}

	// drop writes a blank for each character, so that columns stay where they were.
	void drop() {
		for (const char c : token().text) out += c == '\n' ? '\n' : ' ';
		at++;
	}

	// skip copies blanks, comments and directives.
	void skip() {
		while (at < in.size() && token().between) copy();
	}

	// expect drops a token of that text.
	void expect(const std::string &text) {
		skip();
		if (token().text != text) refuse(token().line, "expected " + text);
		drop();
	}

	const std::string &neighbour(int direction) const {
		static const std::string none;
		for (long i = long(at) + direction; i >= 0 && i < long(in.size()); i += direction)
			if (!in[size_t(i)].between) return in[size_t(i)].text;
		return none;
	}

	void step() {
		const std::string &text = token().text;
		if (text[0] == '#') directive();
		if (token().between) return copy();
		if (reserved(text)) refuse(token().line, text + " is a compiler's name, not one of Metal's");
		functions |= text == "(" && braces == 0;
		if (text == "[[") return loose_attribute();
		if (text == "kernel" && braces == 0) return kernel();
		if (text == "static" && braces == 0 && neighbour(1) != "constant") return helper();
		if (text == "threadgroup" && parentheses == 0 && braces > 0 && declares_variable()) return shared();
		if (text == "constant" && parentheses == 0 && braces == 0) return program_constant();
		if (address_space(text)) return void(space());
		braces += text == "{" ? 1 : text == "}" ? -1 : 0;
		parentheses += text == "(" ? 1 : text == ")" ? -1 : 0;
		copy();
	}

	// directive notes the one that is for float operations, which is for all of them.
	void directive() {
		if (words_of(token().text) != "#pragma METAL fp contract(off)") return;
		if (functions && contracts) refuse(token().line, "fp contract(off) stands behind the first function");
		contracts = false;
	}

	// space drops an address space; constant is const. It returns whether it was.
	bool space() {
		const bool constant = token().text == "constant" && neighbour(-1) != "const" && neighbour(1) != "const";
		if (constant) {
			out += "const   ";
			at++;
		} else {
			drop();
		}
		return constant;
	}

	Attribute attribute() {
		expect("[[");
		skip();
		Attribute a{token().text, "", token().line};
		drop();
		skip();
		if (token().text == "(") {
			drop();
			skip();
			a.number = token().text;
			drop();
			expect(")");
		}
		expect("]]");
		return a;
	}

	void loose_attribute() {
		const Attribute a = attribute();
		if (a.name == "max_total_threads_per_threadgroup")
			max_threads = a.number;
		else
			refuse(a.line, "attribute " + a.name + " is not understood here");
	}

	// declares_variable: of threadgroup memory, not a pointer into it.
	bool declares_variable() const {
		for (size_t i = at; i < in.size(); i++) {
			const std::string &t = in[i].text;
			if (t == "*" || t == "&" || t == ")") return false;
			if (t == ";" || t == "=" || t == "," || t == "[") return true;
		}
		return false;
	}

	// shared turns
	//	threadgroup float tile[32];
	// into a reference to the same memory for all threads.
	void shared() {
		const int line = token().line;
		at++;
		std::vector<std::string> type;
		std::string dimensions;
		skip();
		for (; token().text != ";"; at++) {
			const Token &t = token();
			if (t.text == "=" || t.text == ",") refuse(line, "a variable of threadgroup memory has a declaration of its own, and no initial value");
			if (t.text == "[") dimensions += "[";
			else if (!dimensions.empty()) dimensions += t.text;
			else if (!t.between) type.push_back(t.text);
		}
		if (type.size() < 2) refuse(line, "a variable of threadgroup memory without a type or a name");
		const std::string name = type.back(), alias = "softmetal_type_of_" + name;
		type.pop_back();
		out += "typedef " + joined(type) + " " + alias + dimensions + "; " + alias + " &" + name +
			" = metal::softmetal_shared<" + alias + ">(\"" + name + "\", " + std::to_string(line) + ")";
	}

	static std::string joined(const std::vector<std::string> &words) {
		std::string s;
		for (const std::string &w : words) s += (s.empty() ? "" : " ") + w;
		return s;
	}

	// program_constant is a table, or a function constant:
	//	constant uint bits [[function_constant(0)]];
	void program_constant() {
		const int line = token().line;
		std::vector<std::string> words;
		bool function_constant = false;
		for (size_t i = at + 1; i < in.size() && in[i].text != ";"; i++) {
			function_constant |= in[i].text == "function_constant";
			if (!in[i].between) words.push_back(in[i].text);
			if (std::count(constant_names.begin(), constant_names.end(), in[i].text))
				refuse(line, "a constant made from function constant " + in[i].text + " is not supported");
		}
		if (!function_constant) return void(space());
		if (words.size() != 8 || words[2] != "[[" || words[4] != "(")
			refuse(line, "a function constant is written: constant TYPE NAME [[function_constant(NUMBER)]];");
		const std::string &type = words[0], &name = words[1], &index = words[5];
		while (token().text != ";") {
			if (token().text.find('\n') != std::string::npos) out += "\n";
			at++;
		}
		out += "static " + type + " " + name;
		constant_names.push_back(name);
		constants += "\t{\"" + name + "\", \"" + type + "\", " + index + ", &" + name + ", sizeof " + name + "},\n";
	}

	// helper makes a function part of those that call it: what is instrumented is loads and
	// stores, and no vector that a function takes or returns is one.
	void helper() {
		out += "INLINE"; // as long
		at++;
	}

	void kernel() {
		const int line = token().line;
		if (neighbour(-1) == ">") refuse(line, "a template of a kernel is not supported: use function constants");
		out += "static";
		at++;
		skip();
		while (token().text == "[[") {
			loose_attribute();
			skip();
		}
		if (token().text != "void") refuse(token().line, "expected void");
		copy();
		skip();
		const std::string name = token().text;
		copy();
		skip();
		if (token().text != "(") refuse(token().line, "expected (");
		copy();
		std::string arguments, parameters;
		int count = 0;
		of_kernel = {};
		skip();
		while (token().text != ")") parameter(name, arguments, parameters, count);
		copy();
		const std::string table = count ? "softmetal_parameters_" + name : "nullptr";
		if (count) entries += "static const softmetal::Parameter " + table + "[] = {\n" + parameters + "};\n";
		entries += "SOFTMETAL_UNCHECKED static void softmetal_run_" + name +
			"([[maybe_unused]] const softmetal::Thread &thread) {\n\t" + name + "(" + arguments + ");\n}\n";
		kernels += "\t{\"" + name + "\", softmetal_run_" + name + ", " + table + ", " + std::to_string(count) + ", " + max_threads + "},\n";
		max_threads = "0";
	}

	// What was seen of a kernel's parameters.
	struct Seen {
		std::string position; // the first
		int width = 0;        // its
		std::vector<std::string> indices; // of buffers and of threadgroup memory
	} of_kernel;

	// parameter translates one and the comma behind it, if there is one.
	void parameter(const std::string &kernel, std::string &arguments, std::string &parameters, int &count) {
		std::vector<std::string> words;
		int depth = 0;
		skip();
		const int line = token().line;
		bool constant = false;
		for (;;) {
			const std::string &t = token().text;
			if (t == "[[" || (depth == 0 && (t == "," || t == ")"))) break;
			depth += t == "<" || t == "(" ? 1 : t == ">" || t == ")" ? -1 : 0;
			if (address_space(t)) {
				constant |= t == "constant";
				if (space()) words.push_back("const");
				continue;
			}
			if (!token().between) words.push_back(t);
			copy();
		}
		if (token().text != "[[" || words.size() < 2)
			refuse(line, "kernel " + kernel + ": a parameter without an attribute such as [[buffer(0)]]");
		const Attribute a = attribute();
		const std::string name = words.back();
		words.pop_back();
		argument(kernel, a, words, name, constant, arguments, parameters, count);
		skip();
		if (token().text == ")") return;
		if (token().text != ",") refuse(token().line, "kernel " + kernel + ": expected a comma behind parameter " + name);
		copy();
	}

	// argument writes how the entry function gets a parameter's value.
	void argument(const std::string &kernel, const Attribute &a, std::vector<std::string> type, const std::string &name, bool constant,
		std::string &arguments, std::string &parameters, int &count) {
		if (!arguments.empty()) arguments += ", ";
		if (among(positions, a.name)) {
			check_position(kernel, a.line, joined(type), name);
			arguments += "metal::softmetal_position<" + joined(type) + ">::of(thread." + a.name + ")";
			return;
		}
		if (among(numbers, a.name)) {
			if (width_of(joined(type)) != 1) refuse(a.line, "kernel " + kernel + ": parameter " + name + " is a " + joined(type) + "; want uint or ushort");
			arguments += "(" + joined(type) + ")thread." + a.name;
			return;
		}
		if (a.name != "buffer" && a.name != "threadgroup")
			refuse(a.line, "kernel " + kernel + ": attribute " + a.name + " of parameter " + name + " is not understood");
		check_index(kernel, a);
		const bool reference = type.back() == "&";
		if (!reference && type.back() != "*")
			refuse(a.line, "kernel " + kernel + ": parameter " + name + " is neither a pointer nor a reference");
		type.pop_back();
		const std::string element = joined(type);
		const bool written = std::find(type.begin(), type.end(), "const") == type.end();
		arguments += std::string(reference ? "*" : "") + "(" + element + " *)thread.arguments[" + std::to_string(count++) + "]";
		parameters += "\t{\"" + name + "\", " + (a.name == "buffer" ? "0" : "1") + ", " + a.number + ", sizeof(" + element + "), alignof(" + element + "), " +
			(constant ? "true, " : "false, ") + (written ? "true" : "false") + "},\n";
	}

	// check_position: Metal wants all positions and sizes of a kernel of one width.
	void check_position(const std::string &kernel, int line, const std::string &type, const std::string &name) {
		const int width = width_of(type);
		if (width == 0) refuse(line, "kernel " + kernel + ": parameter " + name + " is a " + type + "; want uint or ushort, of 1 to 3 components");
		if (of_kernel.width == 0) {
			of_kernel.width = width;
			of_kernel.position = name;
		}
		if (width != of_kernel.width)
			refuse(line, "kernel " + kernel + ": parameter " + name + " has " + std::to_string(width) + " components, and " + of_kernel.position + " " +
				std::to_string(of_kernel.width) + ": Metal wants as many of all");
	}

	void check_index(const std::string &kernel, const Attribute &a) {
		const std::string index = a.name + "(" + a.number + ")";
		if (a.number.empty() || std::stoul(a.number) >= SOFTMETAL_MAX_BUFFERS) refuse(a.line, "kernel " + kernel + ": " + index + ": the last index is " + std::to_string(SOFTMETAL_MAX_BUFFERS - 1));
		if (std::count(of_kernel.indices.begin(), of_kernel.indices.end(), index)) refuse(a.line, "kernel " + kernel + ": two parameters are " + index);
		of_kernel.indices.push_back(index);
	}

	std::string tables() const {
		const std::string behind = "\n#line 1 \"softmetal's tables\"\n";
		const std::string table = kernels.empty() ? "" : "static const softmetal::Kernel softmetal_kernels[] = {\n" + kernels + "};\n";
		const std::string values = constants.empty() ? "" : "static const softmetal::Constant softmetal_constants[] = {\n" + constants + "};\n";
		return behind + entries + table + values +
			"extern \"C\" const softmetal::Shader softmetal_shader;\nconst softmetal::Shader softmetal_shader = {" +
			(kernels.empty() ? "nullptr, 0, " : "softmetal_kernels, sizeof softmetal_kernels / sizeof *softmetal_kernels, ") +
			(constants.empty() ? "nullptr, 0, " : "softmetal_constants, sizeof softmetal_constants / sizeof *softmetal_constants, ") +
			"&softmetal_runtime};\n";
	}
};

} // namespace

Translation translate(const std::string &source) { return Translator(source).translate(); }

} // namespace softmetal
