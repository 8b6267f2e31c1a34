// Package sysinfo says what machine a result was measured on, and how much
// memory this process takes.
//
// A [Value] that cannot be found out holds the reason, never a guess.
//
// Where the facts come from:
//
//	CPU model      linux /proc/cpuinfo; darwin sysctl machdep.cpu.brand_string
//	caches         linux /sys/devices/system/cpu/cpu0/cache; darwin sysctl hw.*
//	cores          linux /sys/devices/system/cpu and node, of the CPUs of the process's affinity;
//	               darwin sysctl hw.perflevel0.physicalcpu; windows GetLogicalProcessorInformationEx
//	memory         linux /proc/meminfo; darwin sysctl hw.memsize
//	available      linux MemAvailable, and of the control groups of v2 and v1 limit - usage
//	               + memory.stat's file pages; darwin hw.memsize;
//	               windows GlobalMemoryStatusEx
//	limits         linux cgroup v2 cpu.max and memory.max, v1 cpu.cfs_* and
//	               memory.limit_in_bytes, of the process's group and its parents
//	governor, THP  linux /sys
//	hypervisor     linux: the x86 CPUID flag in /proc/cpuinfo, elsewhere
//	               /sys/hypervisor/type or the device tree; darwin sysctl kern.hv_vmm_present
//	emulation      linux: QEMU's user mode answers /proc/self/exe with the
//	               program, but /proc/thread-self/exe with itself; before that,
//	               a /proc/cpuinfo that belongs to another architecture gives it
//	               away; darwin sysctl sysctl.proc_translated (Rosetta 2)
//	this process   linux /proc/self/status; elsewhere getrusage
//
// ru_maxrss is not used on Linux: it inherits the parent's peak across exec.
package sysinfo
