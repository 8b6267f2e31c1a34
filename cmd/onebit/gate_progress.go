package main

import (
	"fmt"
	"io"
	"sync"
	"time"

	"onebit/bench/gate"
	"onebit/cmd/internal/cli"
)

// A gateSigns shows what a gate is doing: as a bar on a terminal, or else as a
// line every half minute, also while what it waits for tells nothing, as a build.
type gateSigns struct {
	bar   *cli.BenchProgress // nil: not a terminal
	start time.Time

	mu    sync.Mutex
	doing string

	stop, stopped chan struct{}
	once          sync.Once
}

func newGateSigns(w io.Writer, doing string) *gateSigns {
	s := &gateSigns{start: time.Now(), doing: doing, stop: make(chan struct{}), stopped: make(chan struct{})}
	if cli.IsTerminal(w) {
		s.bar = cli.NewBenchProgress(w)
		close(s.stopped)
		return s
	}
	go s.tick(w)
	return s
}

func (s *gateSigns) tick(w io.Writer) {
	defer close(s.stopped)
	ticker := time.NewTicker(cli.SignInterval)
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

// do says what is done from now on, of which no bar can tell how far it is.
func (s *gateSigns) do(doing string) {
	if s.bar != nil {
		s.bar.Close()
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.doing = doing
}

func (s *gateSigns) show(p gate.Progress) {
	if s.bar != nil {
		s.bar.Show(cli.GateProgress(p))
		return
	}
	at := cli.GateProgress(p)
	s.do(fmt.Sprintf("%v left, %s, %s", at.Left.Round(time.Second), at.Group, at.Doing))
}

// close also waits for the last line.
func (s *gateSigns) close() {
	s.once.Do(func() {
		if s.bar != nil {
			s.bar.Close()
		}
		close(s.stop)
	})
	<-s.stopped
}
