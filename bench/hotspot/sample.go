package hotspot

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"runtime"
	"runtime/pprof"

	"github.com/google/pprof/profile"
)

// Samples are how often the program was found at each address.
type Samples map[uint64]int

// Total is how many samples there are.
func (s Samples) Total() int {
	sum := 0
	for _, n := range s {
		sum += n
	}
	return sum
}

// Sample performs work, which does not leave the calling thread, and looks some
// thousand times a second at where it is: by perf events, or, where the system
// has none, a hundred times a second by the profiler of the Go runtime. how says
// which.
func Sample(work func() error) (s Samples, how string, err error) {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	events, how, err := openEvents()
	if err != nil {
		s, err := sampleByRuntime(work)
		return s, "the Go runtime's profiler, 100 Hz", err
	}
	defer events.close()
	if err := events.start(); err != nil {
		return nil, how, err
	}
	err = work()
	found, failed := events.stop()
	return found, how, errors.Join(err, failed)
}

func sampleByRuntime(work func() error) (Samples, error) {
	var b bytes.Buffer
	if err := pprof.StartCPUProfile(&b); err != nil {
		return nil, err
	}
	err := work()
	pprof.StopCPUProfile()
	if err != nil {
		return nil, err
	}
	return samplesOf(&b)
}

// samplesOf counts by the innermost address.
func samplesOf(in io.Reader) (Samples, error) {
	p, err := profile.Parse(in)
	if err != nil {
		return nil, fmt.Errorf("reading the CPU profile: %w", err)
	}
	s := Samples{}
	for _, x := range p.Sample {
		if len(x.Location) > 0 {
			s[x.Location[0].Address] += int(x.Value[0])
		}
	}
	return s, nil
}
