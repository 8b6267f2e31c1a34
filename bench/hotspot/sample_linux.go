package hotspot

import (
	"encoding/binary"
	"errors"
	"fmt"
	"os"
	"sync/atomic"
	"unsafe"

	"golang.org/x/sys/unix"
)

// Numbers of perf_event_open(2).
const (
	samplesPerSecond = 4000
	// ringPages is what an unprivileged user may lock (perf_event_mlock_kb),
	// without the page before them: 512 KiB hold 8 s of samples.
	ringPages     = 128
	dataHead      = 1024 // in the first page
	sampleBytes   = 16
	recordsSample = 9 // PERF_RECORD_SAMPLE
	precise       = unix.PerfBitPreciseIPBit1
)

// events samples the thread that opened it into a ring of memory.
type events struct {
	fd   int
	ring []byte
}

// openEvents samples by cycles, at the very instruction where the processor can;
// or by time, where it has no counters.
func openEvents() (*events, string, error) {
	var failed error
	for _, e := range []struct {
		kind uint32
		what uint64
		bits uint64
		name string
	}{
		{unix.PERF_TYPE_HARDWARE, unix.PERF_COUNT_HW_CPU_CYCLES, precise, "perf event cycles, precise"},
		{unix.PERF_TYPE_HARDWARE, unix.PERF_COUNT_HW_CPU_CYCLES, 0, "perf event cycles"},
		{unix.PERF_TYPE_SOFTWARE, unix.PERF_COUNT_SW_CPU_CLOCK, 0, "perf event cpu-clock"},
	} {
		attr := unix.PerfEventAttr{
			Type: e.kind, Config: e.what, Size: uint32(unsafe.Sizeof(unix.PerfEventAttr{})),
			Sample: samplesPerSecond, Sample_type: unix.PERF_SAMPLE_IP,
			Bits: e.bits | unix.PerfBitFreq | unix.PerfBitDisabled | unix.PerfBitExcludeKernel | unix.PerfBitExcludeHv,
		}
		fd, err := unix.PerfEventOpen(&attr, 0, -1, -1, unix.PERF_FLAG_FD_CLOEXEC)
		if err != nil {
			failed = err
			continue
		}
		page := os.Getpagesize()
		ring, err := unix.Mmap(fd, 0, page*(1+ringPages), unix.PROT_READ|unix.PROT_WRITE, unix.MAP_SHARED)
		if err != nil {
			return nil, "", errors.Join(fmt.Errorf("memory for samples: %w", err), unix.Close(fd))
		}
		return &events{fd, ring}, fmt.Sprintf("%s, %d Hz", e.name, samplesPerSecond), nil
	}
	return nil, "", failed
}

func (e *events) start() error { return unix.IoctlSetInt(e.fd, unix.PERF_EVENT_IOC_ENABLE, 0) }

func (e *events) stop() (Samples, error) {
	if err := unix.IoctlSetInt(e.fd, unix.PERF_EVENT_IOC_DISABLE, 0); err != nil {
		return nil, err
	}
	head := atomic.LoadUint64((*uint64)(unsafe.Pointer(&e.ring[dataHead])))
	data := e.ring[os.Getpagesize():]
	return parseRecords(data[:min(head, uint64(len(data)))]), nil
}

// parseRecords reads samples whose only field is the address. A kernel that finds
// the ring full writes no more.
func parseRecords(data []byte) Samples {
	s := Samples{}
	for len(data) >= 8 {
		size := int(binary.NativeEndian.Uint16(data[6:]))
		if size < 8 || size > len(data) {
			break
		}
		if binary.NativeEndian.Uint32(data) == recordsSample && size >= sampleBytes {
			s[binary.NativeEndian.Uint64(data[8:])]++
		}
		data = data[size:]
	}
	return s
}

func (e *events) close() error { return errors.Join(unix.Munmap(e.ring), unix.Close(e.fd)) }
