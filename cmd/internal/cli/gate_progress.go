package cli

import (
	"fmt"
	"io"
	"sync"
	"time"

	"onebit/bench/gate"
)

// A GateSigns shows what a gate is doing: as a bar on a terminal, or else as a
// line every half minute, also while what it waits for tells nothing, as a build.
type GateSigns struct {
	bar   *BenchProgress // nil: not a terminal
	start time.Time

	mu    sync.Mutex
	doing string

	stop, stopped chan struct{}
	once          sync.Once
}

func NewGateSigns(w io.Writer, doing string) *GateSigns {
	s := &GateSigns{start: time.Now(), doing: doing, stop: make(chan struct{}), stopped: make(chan struct{})}
	if IsTerminal(w) {
		s.bar = NewBenchProgress(w)
		close(s.stopped)
		return s
	}
	go s.tick(w)
	return s
}

func (s *GateSigns) tick(w io.Writer) {
	defer close(s.stopped)
	ticker := time.NewTicker(SignInterval)
	defer ticker.Stop()
	for {
		select {
		case <-s.stop:
			return
		case <-ticker.C:
			s.mu.Lock()
			fmt.Fprintf(w, "after %v: %s\n", time.Since(s.start).Round(time.Second), s.doing)
			s.mu.Unlock()
		}
	}
}

// Do says what is done from now on, without telling how far it is.
func (s *GateSigns) Do(doing string) {
	if s.bar != nil {
		s.bar.Close()
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.doing = doing
}

func (s *GateSigns) Show(p gate.Progress) {
	if s.bar != nil {
		s.bar.Show(GateProgress(p))
		return
	}
	at := GateProgress(p)
	s.Do(fmt.Sprintf("%v left, %s, %s", at.Left.Round(time.Second), at.Group, at.Doing))
}

// Close also waits for the last line.
func (s *GateSigns) Close() {
	s.once.Do(func() {
		if s.bar != nil {
			s.bar.Close()
		}
		close(s.stop)
	})
	<-s.stopped
}
