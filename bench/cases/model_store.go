package cases

import (
	"context"
	"errors"
	"fmt"

	"onebit/bench"
	"onebit/bench/names"
	"onebit/bench/roofline"
	"onebit/internal/mmap"
	"onebit/internal/sysinfo"
	"onebit/models"
	enginecpu "onebit/models/engine/cpu"
)

// A store holds the open models that the groups of a suite share. Those of one
// file on the same threads stay open from group to group; opening another
// closes them, so that memory holds no more than what is compared.
type store struct {
	*env
	opt      *ModelsOptions
	subjects []*subject
	scope    scope
	opened   map[string]*opened // by opening
	read     *mmap.Anon         // what a ceiling reads
	dot      roofline.DotKernel // the fastest here
	phases   map[modelConfig]phaseReply
	majors   int64 // page faults that waited for a disk, before the run
}

// A scope is what lives at the same time.
type scope struct {
	subject *subject
	threads int
}

// opened is a model on the store.
type opened struct {
	*models.Model
	bytes    int // of a GPU's memory
	verified bool
}

func newStore(opt *ModelsOptions) *store {
	dot, _ := roofline.FastestDot()
	return &store{
		env: newEnv(opt.Threads, opt.Host), opt: opt, opened: map[string]*opened{}, phases: map[modelConfig]phaseReply{},
		dot: dot,
	}
}

// enter closes what is open outside the scope.
func (s *store) enter(to scope) error {
	if s.scope == to {
		return nil
	}
	s.scope = to
	return s.clear()
}

func (s *store) clear() error {
	var errs []error
	for c, m := range s.opened {
		errs = append(errs, m.Close())
		delete(s.opened, c)
	}
	if s.read != nil {
		errs = append(errs, s.read.Free())
		s.read = nil
	}
	return errors.Join(errs...)
}

// open returns the model as c opens it. It stays the store's.
func (s *store) open(ctx context.Context, c opening) (*opened, error) {
	if err := s.enter(c.scope()); err != nil {
		return nil, err
	}
	if m := s.opened[c.String()]; m != nil {
		return m, nil
	}
	before := s.gpu.allocated()
	m, err := models.Open(ctx, c.scope().subject.Path, c.options(s))
	if err != nil {
		return nil, err
	}
	s.opened[c.String()] = &opened{Model: m, bytes: s.gpu.allocated() - before}
	return s.opened[c.String()], nil
}

// readCase is the ceiling of a group of tg tests: it reads as many bytes as
// its largest configuration has weights.
func (s *store) readCase(group string, configs []modelConfig) bench.Case {
	sub, threads := configs[0].subject, configs[0].threads
	size := sub.maxBytes(configs)
	return bench.Case{
		Name:  names.Read{Model: sub.Name, Bytes: size, Threads: threads, Cache: cacheState(size, s.opt.Host)}.String(),
		Group: group, Bytes: int64(size), Ceiling: true, Check: s.limits.Check(threads),
		Setup: func(context.Context) (bench.Instance, error) {
			if err := s.enter(scope{sub, threads}); err != nil {
				return nil, err
			}
			if s.read == nil {
				var err error
				if s.read, err = roofline.NewBuffer(size, roofline.Huge); err != nil {
					return nil, err
				}
			}
			r := roofline.NewMoving(roofline.Read, s.pool(threads), s.read.Bytes())
			r.Choose()
			return r, nil
		},
	}
}

// cacheState is where bytes come from that are read again and again: "" where
// caches hold a part of them.
func cacheState(size int, host sysinfo.Host) string {
	switch bytes := sysinfo.Bytes(size); {
	case bytes >= cold(host):
		return names.Cold
	case bytes < lastLevelCache(host):
		return names.Warm
	}
	return ""
}

// watchFaults begins to count page faults. The files have been read by now.
func (s *store) watchFaults() {
	if f := sysinfo.ReadFaults(); f.OK() {
		s.majors = f.V.Major
	}
}

// manyFaults is how many page faults may wait for a disk before the results
// are in doubt.
const manyFaults = 100

// watchPages doubts weights that have been read in place from small pages. Two
// runs on one file differ by a fifth if its pages became huge in between.
func (s *store) watchPages(c modelConfig) {
	size := c.weightBytes()
	if c.packing != enginecpu.PackNever || !c.subject.inPlace || size < int(lastLevelCache(s.opt.Host)) {
		return
	}
	if huge := sysinfo.ReadHugeFiles(); huge.OK() && int(huge.V) < size/2 {
		s.warn(fmt.Sprintf("the page cache holds %s in small pages: its bytes in place are read more slowly than from huge ones, "+
			"which a copy has that was written 2 MiB at a time (dd bs=2M), where the file system has them", c.subject.Name))
	}
}

func (s *store) allDoubts() []string {
	if f := sysinfo.ReadFaults(); f.OK() && f.V.Major-s.majors > manyFaults {
		s.majors = f.V.Major
		s.warn("pages of the models were read from a disk during the run: memory is too small to hold them, or swaps")
	}
	return s.env.allDoubts()
}

func (s *store) close() error { return errors.Join(s.clear(), s.env.close()) }
