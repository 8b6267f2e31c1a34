// Package softamx executes the tile instructions of AMX on machines that have none: for
// tests of kernels, down to the bytes that the assembler was given.
//
// Unit is the model: eight tiles, and what each instruction does to them and to memory.
// Decode reads instructions. Run runs a program under ptrace(2): the CPU executes it but
// for the tile instructions, each of which traps, and is executed by the model of the
// thread that it is on. Memory is read and written as the program may, so that a tile
// that reaches into a guard page is an error.
//
// Source: Intel 64 and IA-32 Architectures Software Developer's Manual, volume 2 (the
// instructions) and volume 1, chapter "Programming with Intel AMX".
package softamx
