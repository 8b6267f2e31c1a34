package clock

import (
	"syscall"
	"time"
	"unsafe"

	"golang.org/x/sys/windows"
)

var (
	kernel32  = windows.NewLazySystemDLL("kernel32.dll")
	counter   = kernel32.NewProc("QueryPerformanceCounter")
	frequency = kernel32.NewProc("QueryPerformanceFrequency")

	ticksPerSecond = query(frequency)
	firstTick      = query(counter)
	// The origin has no monotonic reading, so that Sub subtracts what is
	// added here and nothing else.
	origin = time.Now().Round(0)
)

// query calls one of the two functions, which cannot fail since Windows XP. Its
// own Call would allocate the result and the list of arguments.
func query(proc *windows.LazyProc) (n int64) {
	syscall.SyscallN(proc.Addr(), uintptr(unsafe.Pointer(&n)))
	return n
}

func now() time.Time {
	return origin.Add(duration(query(counter)-firstTick, ticksPerSecond))
}

func since(t time.Time) time.Duration { return now().Sub(t) }

// duration of so many ticks. Seconds are set apart, because a count of
// nanoseconds times the frequency overflows within minutes.
func duration(ticks, perSecond int64) time.Duration {
	seconds, rest := ticks/perSecond, ticks%perSecond
	return time.Duration(seconds)*time.Second + time.Duration(rest*int64(time.Second)/perSecond)
}
