package cases

import (
	"context"
	"errors"
	"math"
	"os"
	"runtime"
	"runtime/metrics"
	"strings"
	"time"
	"unsafe"

	"onebit/bench/names"
	"onebit/bench/profile"
	"onebit/internal/clock"
	"onebit/internal/sysinfo"
	"onebit/kernels"
	"onebit/models"
	"onebit/models/engine/cpu"
)

// A memoryLog follows the process's memory from phase to phase.
type memoryLog struct {
	start   time.Time
	out     *profile.Memory
	model   *models.Model   // nil before it is open
	session *models.Session // nil before there is one
}

// phase does a part of the work and adds what memory it left behind. Where the
// system does not tell what is resident, that is said and no reason to stop.
func (l *memoryLog) phase(name string, work func() error) error {
	peak := sysinfo.ResetPeak()
	stop := poll(l.look)
	err := work()
	stop()
	l.look()
	phase := profile.Phase{Name: name, End: clock.Since(l.start)}
	now := sysinfo.ReadMemory()
	if peak == nil && now.Peak.OK() {
		phase.Peak = int64(now.Peak.V)
	}
	if err := l.attribute(&phase); err != nil {
		l.out.Why = err.Error()
	}
	l.out.Phases = append(l.out.Phases, phase)
	return err
}

// mostLooks is how many a chart shows.
const mostLooks = 2000

func (l *memoryLog) look() {
	now := sysinfo.ReadMemory()
	if now.Anon.OK() && now.File.OK() && len(l.out.Looks) < mostLooks {
		l.out.Looks = append(l.out.Looks, profile.Look{At: clock.Since(l.start), Anon: int64(now.Anon.V), File: int64(now.File.V)})
	}
}

// attribute tells the owners of the memory. What is outside the Go heap is
// looked up page by page. The rest is told by its mapping: files by their path;
// the heap lies around any of its objects; what else is anonymous is Go's own.
func (l *memoryLog) attribute(phase *profile.Phase) error {
	var packed, cache [][]byte
	activations := 0
	if l.model != nil {
		packed = l.model.HostMemory()
	}
	if l.session != nil {
		cache, activations = l.session.HostMemory(), l.session.BufferBytes()
	}
	parts := map[string]*profile.Part{}
	for _, owner := range profile.Owners {
		parts[owner] = &profile.Part{Owner: owner}
	}
	defer func() {
		for _, owner := range profile.Owners {
			if p := parts[owner]; p.Resident != 0 || p.Reserved != 0 {
				phase.Parts = append(phase.Parts, *p)
			}
		}
		if phase.RSS > 0 {
			phase.Reconcile()
		}
	}()
	var errs []error
	ours := int64(0)
	own := func(owner string, all [][]byte) {
		for _, b := range all {
			n, err := sysinfo.Resident(b)
			errs = append(errs, err)
			parts[owner].Reserved += int64(len(b))
			parts[owner].Resident += int64(n)
			ours += int64(n)
		}
	}
	own(profile.OwnerPacked, packed)
	own(profile.OwnerCache, cache)
	parts[profile.OwnerActivations].Reserved = int64(activations)
	stacks := int64(metric("/memory/classes/heap/stacks:bytes"))
	mappings, rss, err := steadyMappings()
	if err := errors.Join(append(errs, err)...); err != nil {
		parts[profile.OwnerHeap].Reserved = int64(metric("/memory/classes/heap/objects:bytes"))
		parts[profile.OwnerStacks].Reserved = stacks
		return err
	}
	// Those of the heap that are in use were written to.
	parts[profile.OwnerActivations].Resident, parts[profile.OwnerStacks].Resident = int64(activations), stacks
	sortMappings(mappings, parts)
	parts[profile.OwnerHeap].Resident -= int64(activations) + stacks
	parts[profile.OwnerRuntime].Resident -= ours
	phase.RSS = int64(rss)
	return nil
}

// steadyMappings looks until the mappings add up to what the system tells in one
// number right after, or many times, and returns the look that came nearest: to
// look takes memory, and the Go runtime gives memory back meanwhile.
func steadyMappings() (mappings []sysinfo.Mapping, rss sysinfo.Bytes, err error) {
	const looks, steady = 100, 32 << 10
	nearest := sysinfo.Bytes(math.MaxInt64)
	for range looks {
		all, err := sysinfo.ReadMappings()
		now := sysinfo.ReadResident()
		if err = errors.Join(err, now.Err); err != nil {
			return nil, 0, err
		}
		left := now.V
		for _, m := range all {
			left -= m.RSS
		}
		if left = max(left, -left); left < nearest {
			mappings, rss, nearest = all, now.V, left
		}
		if nearest <= steady {
			break
		}
	}
	return mappings, rss, nil
}

// sortMappings gives each mapping to an owner.
func sortMappings(mappings []sysinfo.Mapping, parts map[string]*profile.Part) {
	program, _ := os.Executable()
	heap := heapOf(mappings)
	for i, m := range mappings {
		owner := profile.OwnerRuntime
		switch {
		case heap[i]:
			owner = profile.OwnerHeap
		case m.File && m.Path != program && !strings.Contains(m.Path, ".so"):
			owner = profile.OwnerFile
			parts[owner].Reserved += int64(m.End - m.Start)
		case m.File, i > 0 && mappings[i-1].Path == program && mappings[i-1].End == m.Start: // its data that no file holds
			owner = profile.OwnerProgram
		case m.Path == "[stack]":
			owner = profile.OwnerStacks
		case strings.HasPrefix(m.Path, "[v"):
			owner = profile.OwnerProgram
		}
		parts[owner].Resident += int64(m.RSS)
		parts[owner].Shared += int64(m.Shared)
	}
}

// heapOf finds the mappings of the Go heap: that of an object, and all that lie
// next to it without a gap, for the heap grows at its ends.
func heapOf(mappings []sysinfo.Mapping) map[int]bool {
	object := new([64 << 10]byte)
	at := uintptr(unsafe.Pointer(object))
	heap := map[int]bool{}
	for i, m := range mappings {
		if m.Start > at || at >= m.End {
			continue
		}
		heap[i] = true
		for j := i + 1; j < len(mappings) && mappings[j].Start == mappings[j-1].End && mappings[j].Path == m.Path; j++ {
			heap[j] = true
		}
		for j := i - 1; j >= 0 && mappings[j].End == mappings[j+1].Start && mappings[j].Path == m.Path; j-- {
			heap[j] = true
		}
	}
	runtime.KeepAlive(object)
	return heap
}

func metric(name string) uint64 {
	s := []metrics.Sample{{Name: name}}
	metrics.Read(s)
	if s[0].Value.Kind() != metrics.KindUint64 {
		return 0
	}
	return s[0].Value.Uint64()
}

// opened does what a run of the model begins with, phase by phase: it is opened,
// packed, given a prompt, and asked for tokens.
func (p *Profiling) opened(ctx context.Context) (err error) {
	l := &memoryLog{start: clock.Now(), out: new(profile.Memory)}
	p.memory = l.out
	err = l.phase("open", func() error {
		p.model, err = models.Open(ctx, p.opt.File.Path, p.opt.Model)
		l.model = p.model
		return err
	})
	if err != nil {
		return err
	}
	if !onGPU(&p.opt.Model) && cpuOf(&p.opt.Model).Packing == cpu.PackBehind && mainPacks(p.model, &p.opt.Model) {
		err = l.phase("pack", p.model.Packed)
	} else {
		err = p.model.Packed()
	}
	if err != nil {
		return err
	}
	if err := p.newSession(); err != nil {
		return err
	}
	l.session = p.session
	phases := map[string]string{names.Prompt: "prompt", names.Decode: "decode"}
	for _, t := range p.tests() {
		err := l.phase(phases[t.Kind], func() error {
			if p.session.Position() < t.Depth {
				if err := fill(ctx, t, p.session, p.ids); err != nil {
					return err
				}
			}
			_, err := p.plain(ctx, t)
			return err
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// mainPacks reports whether a model is packed behind its back.
func mainPacks(m *models.Model, opt *models.Options) bool {
	t := mainLinear(m).Type
	if choose := cpuOf(opt).Kernels.Variant; choose != nil {
		if v, err := choose(t); err == nil && v != nil {
			return v.Layout != kernels.Native
		}
	}
	v, err := kernels.Best(t.Name)
	return err == nil && v.Layout != kernels.Native
}
