package cases

import (
	"strings"
	"sync"
	"time"

	"onebit/bench/names"
	"onebit/bench/results"
	"onebit/formats"
	devices "onebit/metal"
	"onebit/models/engine"
	"onebit/models/engine/metal"
)

// A gpu is the device that a suite's cases on Metal share.
type gpu struct {
	device *devices.Device
	err    error // why there is none
}

func openGPU() *gpu {
	d, err := devices.Open()
	return &gpu{d, err}
}

// emulator names what plays the device; "" if nothing does.
func (g *gpu) emulator() string {
	if g == nil || g.device == nil || !g.device.Emulated() {
		return ""
	}
	return g.device.Name()
}

// unusual is a filter that leaves out what an emulator would take hours for; ""
// on a GPU.
func (g *gpu) unusual() string {
	if g.emulator() == "" {
		return ""
	}
	return " -/variant:(" + strings.Join(metal.KernelNames(), " OR ") + ")"
}

// runs returns nil if the device runs a kernel, or why not.
func (g *gpu) runs(k metal.Kernel) error {
	if g.err != nil {
		return g.err
	}
	return k.Check(g.device)
}

// kernels returns those of a format that are measured unless others are asked for.
func (g *gpu) kernels(t *formats.Type) (out []metal.Kernel) {
	if g.emulator() != "" {
		return nil
	}
	for _, k := range metal.Kernels(t) {
		if g.runs(k) == nil {
			out = append(out, k)
		}
	}
	return out
}

// allocated is the bytes of the device's memory that buffers take.
func (g *gpu) allocated() int {
	if g == nil || g.device == nil {
		return 0
	}
	return g.device.Allocated()
}

func (g *gpu) close() error {
	if g == nil || g.device == nil {
		return nil
	}
	return g.device.Close()
}

// metalMissing is why this machine has no device for Metal; nil if it has one.
var metalMissing = sync.OnceValue(func() error {
	g := openGPU()
	if g.err != nil {
		return g.err
	}
	return g.close()
})

// A worker is a stream of a GPU.
type worker interface {
	engine.Stream
	engine.DeviceTimer
}

// A stint is how long a GPU worked in the operations of a sample, as a bench.Prober.
type stint struct {
	time       time.Duration
	operations int
}

// Probe returns the time of an operation; nothing where none works.
func (s *stint) Probe() []results.Metric {
	if s.time == 0 {
		return nil
	}
	return []results.Metric{{Unit: results.GPUTime, Value: float64(s.time) / float64(s.operations)}}
}

// Emulator names what plays the device of one of the suite's cases, whose times
// say nothing then; "" if all are this machine's.
func (s *Suite) Emulator() string {
	for _, l := range List([]*Suite{s}) {
		if l.Unavailable == "" && names.OnGPU(results.ParseName(l.Name)) {
			return s.home.gpuEmulator()
		}
	}
	return ""
}
