package sysinfo

// Memory is what this process takes of the machine's memory.
type Memory struct {
	Peak Value[Bytes] // the largest resident size since the start or ResetPeak
	RSS  Value[Bytes] // resident size: Anon + File + shared memory
	Anon Value[Bytes] // the heap, stacks and anonymous mappings
	File Value[Bytes] // mapped files: weights read in place
}

// Faults counts page faults since the process started.
type Faults struct {
	Minor int64 // served from memory
	Major int64 // that waited for a disk
}

// ReadMemory looks at this process now.
func ReadMemory() Memory { return readMemory() }

// PeakOf returns the peak resident size of another process that still runs. Only Linux
// tells it.
func PeakOf(pid int) Value[Bytes] { return peakOf(pid) }

// ReadHugeFiles returns how much of the mapped files this process reaches by
// huge pages. It walks the page tables: some milliseconds.
func ReadHugeFiles() Value[Bytes] { return readHugeFiles() }

// ReadHugeAnon returns how much of the memory that is no file's lies on huge
// pages. It takes as long.
func ReadHugeAnon() Value[Bytes] { return readHugeAnon() }

// ReadFaults returns the page faults of this process so far.
func ReadFaults() Value[Faults] { return readFaults() }

// ResetPeak makes the present resident size the peak, so that a phase of the
// program can be measured by itself. Only Linux can do it; elsewhere it is an
// error that says so.
func ResetPeak() error { return resetPeak() }
