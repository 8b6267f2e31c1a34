package sides

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"runtime"
	"time"
	"unsafe"

	"golang.org/x/sys/unix"

	"onebit/bench/gate"
)

// perfEvents counts by the processor, if its counters are there. They know no
// functions: all counts are of one without a name.
func perfEvents() (*meter, error) {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	fd, err := openEvent(unix.PERF_TYPE_HARDWARE, unix.PERF_COUNT_HW_INSTRUCTIONS)
	if err != nil {
		return nil, errors.New("the processor shows no counter of instructions here, or the system keeps it (kernel.perf_event_paranoid)")
	}
	unix.Close(fd)
	return &meter{gate.InstructionMeter{Name: "perf events", Slower: 2, Enough: 200 * time.Millisecond}, underEvents}, nil
}

// openEvent opens a counter of the processes that this thread starts, in user
// mode, from when they begin their programs.
func openEvent(kind uint32, config uint64) (fd int, err error) {
	return unix.PerfEventOpen(&unix.PerfEventAttr{
		Type: kind, Config: config, Size: uint32(unsafe.Sizeof(unix.PerfEventAttr{})),
		Read_format: unix.PERF_FORMAT_TOTAL_TIME_ENABLED | unix.PERF_FORMAT_TOTAL_TIME_RUNNING,
		Bits:        unix.PerfBitDisabled | unix.PerfBitInherit | unix.PerfBitEnableOnExec | unix.PerfBitExcludeKernel | unix.PerfBitExcludeHv,
	}, 0, -1, -1, unix.PERF_FLAG_FD_CLOEXEC)
}

func underEvents(ctx context.Context, t tester, b testBinary, match string, n int) (map[string]float64, error) {
	return countEvent(unix.PERF_TYPE_HARDWARE, unix.PERF_COUNT_HW_INSTRUCTIONS, func() error { return t.counts(ctx, b, match, n) })
}

// countEvent counts an event in the processes that run starts.
func countEvent(kind uint32, config uint64, run func() error) (counted map[string]float64, err error) {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	fd, err := openEvent(kind, config)
	if err != nil {
		return nil, fmt.Errorf("counting instructions: %w", err)
	}
	defer func() { err = errors.Join(err, unix.Close(fd)) }()
	if err := run(); err != nil {
		return nil, err
	}
	var read [24]byte
	if n, err := unix.Read(fd, read[:]); err != nil || n != len(read) {
		return nil, fmt.Errorf("reading the counter of instructions: %d bytes, %w", n, err)
	}
	word := func(i int) uint64 { return binary.NativeEndian.Uint64(read[8*i:]) }
	if enabled, running := word(1), word(2); running < enabled {
		return nil, errors.New("others had the processor's counter for a part of the time")
	}
	return map[string]float64{"": float64(word(0))}, nil
}
