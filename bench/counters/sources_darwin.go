package counters

import (
	"encoding/binary"
	"fmt"
	"os"
	"unsafe"

	"golang.org/x/sys/unix"

	"onebit/bench/results"
)

var sources = []func() ([]source, []Missing){openUsage, openRusageInfo}

// rusageInfo is what macOS counts of a process.
type rusageInfo struct{}

// Of sys/syscall.h, sys/proc_info.h and libproc.h.
const (
	sysProcInfo     = 336
	callPIDRusage   = 9 // PROC_INFO_CALL_PIDRUSAGE
	rusageInfoV4    = 4
	rusageInfoBytes = 296 // sizeof(struct rusage_info_v4)

	// Offsets of the struct's fields.
	atInstructions = 248
	atCycles       = 256
	atEnergy       = 264 // ri_billed_energy, nanojoules
)

func openRusageInfo() ([]source, []Missing) {
	r := rusageInfo{}
	missing := []Missing{{[]string{results.CacheMisses, results.BranchMisses, results.TLBMisses, results.StalledBackend, results.Migrations},
		fmt.Errorf("macOS has no public interface to them")}}
	if _, err := r.read(); err != nil {
		return nil, append(missing, Missing{r.units(), err})
	}
	return []source{r}, missing
}

func (rusageInfo) units() []string {
	return []string{results.Cycles, results.Instructions, results.Energy}
}

func (rusageInfo) read() ([]value, error) {
	var info [rusageInfoBytes]byte
	_, _, errno := unix.Syscall6(sysProcInfo, callPIDRusage, uintptr(os.Getpid()), rusageInfoV4, 0, uintptr(unsafe.Pointer(&info)), 0)
	if errno != 0 {
		return nil, fmt.Errorf("proc_pid_rusage: %w", errno)
	}
	at := func(offset int) float64 { return float64(binary.NativeEndian.Uint64(info[offset:])) }
	return []value{{count: at(atCycles)}, {count: at(atInstructions)}, {count: at(atEnergy) / 1e9}}, nil
}

func (rusageInfo) close() error { return nil }
