package counters

import (
	"encoding/binary"
	"errors"
	"fmt"
	"os"
	"strconv"
	"strings"
	"unsafe"

	"golang.org/x/sys/unix"
)

// linux is the kernel itself.
type linux struct{}

func (linux) threads() ([]int, error) {
	dir, err := os.ReadDir("/proc/self/task")
	if err != nil {
		return nil, err
	}
	var ids []int
	for _, e := range dir {
		if id, err := strconv.Atoi(e.Name()); err == nil {
			ids = append(ids, id)
		}
	}
	return ids, nil
}

func (linux) open(e perfEvent, thread int) (int, error) {
	attr := unix.PerfEventAttr{
		Type: e.kind, Config: e.config, Size: uint32(unsafe.Sizeof(unix.PerfEventAttr{})),
		Read_format: unix.PERF_FORMAT_TOTAL_TIME_ENABLED | unix.PERF_FORMAT_TOTAL_TIME_RUNNING,
		Bits:        unix.PerfBitInherit,
	}
	if e.kind != software {
		// A migration happens in the kernel, and all else here is the program's.
		attr.Bits |= unix.PerfBitExcludeKernel | unix.PerfBitExcludeHv
	}
	fd, err := unix.PerfEventOpen(&attr, thread, -1, -1, unix.PERF_FLAG_FD_CLOEXEC)
	return fd, explain(err)
}

// explain says what an error of perf_event_open means for a user.
func explain(err error) error {
	switch {
	case err == nil:
		return nil
	case errors.Is(err, unix.ESRCH):
		return errNoThread
	case errors.Is(err, unix.ENOENT), errors.Is(err, unix.EOPNOTSUPP), errors.Is(err, unix.EINVAL):
		return errors.New("the processor shows no such counter here (virtual machines often hide them)")
	case errors.Is(err, unix.EACCES), errors.Is(err, unix.EPERM):
		return fmt.Errorf("the system does not allow it (kernel.perf_event_paranoid is %s; 1, or the capability perfmon, would)", paranoid())
	case errors.Is(err, unix.ENOSYS):
		return errors.New("the kernel has no perf events")
	}
	return err
}

func paranoid() string {
	text, err := os.ReadFile("/proc/sys/kernel/perf_event_paranoid")
	if err != nil {
		return "unknown"
	}
	return strings.TrimSpace(string(text))
}

func (linux) read(fd int) (value, error) {
	var buf [24]byte
	n, err := unix.Read(fd, buf[:])
	if err != nil {
		return value{}, err
	}
	if n != len(buf) {
		return value{}, fmt.Errorf("the kernel gave %d bytes of %d", n, len(buf))
	}
	word := func(i int) uint64 { return binary.NativeEndian.Uint64(buf[8*i:]) }
	return value{float64(word(0)), word(1), word(2)}, nil
}

func (linux) close(fd int) error { return unix.Close(fd) }

var sources = []func() ([]source, []Missing){
	func() ([]source, []Missing) {
		p, missing := openPerf(linux{})
		return []source{p}, missing
	},
	openUsage,
	func() ([]source, []Missing) { return openEnergy("/sys/class/powercap") },
}
