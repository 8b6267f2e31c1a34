// Package hotspot says which instructions of this program the time goes to.
//
//	Sample       finds the program at work some thousand times a second: at which instruction
//	FunctionOf   the function around an address
//	Disassemble  its instructions, by objdump or llvm-objdump
//	HotLoop      the innermost loop with most of the samples
//	Count        steps through a child process and counts every instruction that it executes
//	Analyze      what llvm-mca says bounds a loop
//
// All of it needs no rights beyond those of a user, and no debugging information.
// A source that a machine lacks is an error that says so.
package hotspot
