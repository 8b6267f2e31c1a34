// Package roofline measures what the machine can do at most: how many bytes a
// second it reads, writes and copies, how many multiply-adds of int8, float32
// and bfloat16 it computes, and how long a load takes. Reading and int8 are the
// two lines of a roofline plot (Williams, Waterman and Patterson 2009), and the
// divisor of a kernel's share of the machine.
//
// A ceiling is the highest rate that any of several designs reached, because a
// ceiling that a kernel can pass is none:
//
//	design      reads                                         best where
//	avx512      in order, 8 registers at once                 in the caches
//	…-prefetch  the same, PREFETCHT0 8 KiB ahead              shared caches
//	…-streams   4 parts at once, PREFETCHT0 2 KiB ahead       DRAM
//
// and the same for AVX2 and NEON; the pure Go design runs everywhere. Each
// returns the sum of all 64-bit words that it read, so that a design which
// skips any is found out. Nothing past the buffer is read; what is prefetched
// past it cannot fault.
//
// Writing and copying have designs that store through the caches, around them
// (…-around), and as the processor thinks best (rep).
//
// [Moving] reads, writes or copies, and [Peak] multiplies, with all threads of a [Pool]
// and the design that is the fastest there. [Walking] is what latency is measured
// along, and [ClockRate] the clock's frequency. Each can be a case of package bench.
//
// What a thread reaches by itself are [Limits]: a sample far beyond them was not
// measured. A [RoundTrip] tells in what state the machine is: how far threads are from
// each other.
//
// Memory for all this comes from [NewBuffer]: memory that was never written to would
// be read at the speed of a cache, for it is one page of zeroes.
package roofline
