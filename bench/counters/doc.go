// Package counters counts what the processor and the system do while a program
// works: cycles, instructions, misses, page faults, switches, energy. Nothing
// needs root. An event that can't be counted has a reason, which names the remedy.
//
// # Sources
//
//	perf_event_open(2), Linux    cycles, instructions, branch, cache and dTLB misses, stalled cycles, migrations
//	getrusage(2), Unix           page faults and context switches, of all threads, for everybody
//	powercap, Linux              energy of the processor's packages (Documentation/power/powercap)
//	proc_pid_rusage, macOS       cycles, instructions and energy of the process (libproc.h, rusage_info_v4)
//
// Hardware events are counted in user mode, for each thread of the process and
// those that they start. A processor with fewer counters than events takes
// turns; the kernel says for how long an event was counted of how long it should
// have been, and the count is scaled by that (perf_event_open(2),
// PERF_FORMAT_TOTAL_TIME_ENABLED). The least of these shares is in the unit
// "%counted", which is left out where everything was counted all the time.
//
// Energy of a package is that of all programs that ran on it meanwhile, and its
// counter steps about once in a millisecond.
package counters
