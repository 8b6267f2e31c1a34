package main

import (
	"fmt"
	"io"
	"os"
	"strconv"
	"sync"
	"time"

	"github.com/schollz/progressbar/v3"
	"golang.org/x/term"

	"onebit/bench"
	"onebit/internal/clock"
	"onebit/internal/sysinfo"
)

// progressInterval is how often a bar is drawn.
const progressInterval = 100 * time.Millisecond

// signInterval is how often a run that nobody watches on a terminal says how far it is.
const signInterval = 30 * time.Second

// signs are lines of life for a log, where no bar can be drawn. They may be asked for
// from several goroutines.
type signs struct {
	w    io.Writer
	now  func() time.Time
	mu   sync.Mutex
	last time.Time // or the beginning
}

func newSigns(w io.Writer, now func() time.Time) *signs { return &signs{w: w, now: now, last: now()} }

// show writes a line if the one before is long ago.
func (s *signs) show(format string, args ...any) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if now := s.now(); now.Sub(s.last) >= signInterval {
		s.last = now
		fmt.Fprintf(s.w, format+"\n", args...)
	}
}

// newProgress returns a writer that counts bytes towards a total and shows
// them on w. Closing it removes the bar.
func newProgress(w io.Writer, what string, total int64) io.WriteCloser {
	if !isTerminal(w) {
		return &written{newSigns(w, clock.Now), what, total, 0}
	}
	return bar{progressbar.NewOptions64(total,
		progressbar.OptionSetWriter(w),
		progressbar.OptionSetDescription(what),
		progressbar.OptionShowBytes(true),
		progressbar.OptionThrottle(progressInterval),
		progressbar.OptionClearOnFinish(),
	)}
}

func isTerminal(w io.Writer) bool {
	f, ok := w.(*os.File)
	return ok && term.IsTerminal(int(f.Fd()))
}

// A bar draws what is written through it. What goes wrong in drawing is no
// reason to stop the work: the total is an estimate.
type bar struct{ *progressbar.ProgressBar }

func (b bar) Write(p []byte) (int, error) {
	b.Add(len(p))
	return len(p), nil
}

func (b bar) Close() error { return b.Finish() }

// A written is the bar of a log.
type written struct {
	signs       *signs
	what        string
	total, done int64
}

func (p *written) Write(b []byte) (int, error) {
	p.done += int64(len(b))
	p.signs.show("%s: %s of %s", p.what, sysinfo.Bytes(p.done), sysinfo.Bytes(p.total))
	return len(b), nil
}

func (p *written) Close() error { return nil }

// A benchProgress tells how far a run has come: when the runner calls, never
// during a sample.
type benchProgress struct {
	signs *signs                   // nil: a terminal
	bar   *progressbar.ProgressBar // nil: not a terminal
	last  time.Time
}

func newBenchProgress(w io.Writer) *benchProgress {
	if !isTerminal(w) {
		return &benchProgress{signs: newSigns(w, clock.Now)}
	}
	return &benchProgress{bar: progressbar.NewOptions(-1,
		progressbar.OptionSetWriter(w),
		progressbar.OptionSetElapsedTime(false),
		progressbar.OptionSetPredictTime(false),
		progressbar.OptionClearOnFinish(),
	)}
}

func (p *benchProgress) show(at bench.Progress) {
	if p.bar == nil {
		p.signs.show("%v left, %s, %s", at.Left.Round(time.Second), at.Group, at.Doing)
		return
	}
	if time.Since(p.last) < progressInterval {
		return
	}
	p.last = time.Now()
	p.bar.ChangeMax(at.Total)
	p.bar.Describe(fmt.Sprintf("%v left, %s, %s", at.Left.Round(time.Second), at.Group, at.Doing))
	p.bar.Set(min(at.Done, at.Total))
}

func (p *benchProgress) close() {
	if p.bar != nil {
		p.bar.Finish()
	}
}

// terminalWidth returns the columns that what is printed to w may have: those
// of COLUMNS, which who exports it means for files too, or of the terminal that
// w is; else 0, for as many as need be.
func terminalWidth(w io.Writer) int {
	if n, err := strconv.Atoi(os.Getenv("COLUMNS")); err == nil && n > 0 {
		return n
	}
	if f, ok := w.(*os.File); ok {
		if width, _, err := term.GetSize(int(f.Fd())); err == nil {
			return width
		}
	}
	return 0
}

// A counter tells how many of some pieces of work are done. It may be set from several
// goroutines.
type counter struct {
	signs *signs // nil: a terminal
	what  string
	total int
	bar   *progressbar.ProgressBar // nil: not a terminal
}

func newCounter(w io.Writer, what string, total int) counter {
	if !isTerminal(w) {
		return counter{signs: newSigns(w, clock.Now), what: what, total: total}
	}
	return counter{bar: progressbar.NewOptions(total,
		progressbar.OptionSetWriter(w),
		progressbar.OptionSetDescription(what),
		progressbar.OptionShowCount(),
		progressbar.OptionThrottle(progressInterval),
		progressbar.OptionClearOnFinish(),
	)}
}

func (c counter) set(done int) {
	if c.bar == nil {
		c.signs.show("%s: %d of %d", c.what, done, c.total)
		return
	}
	c.bar.Set(done)
}

func (c counter) close() {
	if c.bar != nil {
		c.bar.Finish()
	}
}
