package cli

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
	"onebit/bench/gate"
	"onebit/internal/clock"
	"onebit/internal/sysinfo"
)

// progressInterval is how often a bar is drawn.
const progressInterval = 100 * time.Millisecond

// SignInterval is how often a run that nobody watches on a terminal says how far it is.
const SignInterval = 30 * time.Second

// signs are lines of life for a log, where no bar can be drawn. They may be asked for
// from several goroutines.
type Signs struct {
	w    io.Writer
	now  func() time.Time
	mu   sync.Mutex
	last time.Time // or the beginning
}

func NewSigns(w io.Writer, now func() time.Time) *Signs { return &Signs{w: w, now: now, last: now()} }

// show writes a line if the one before is long ago.
func (s *Signs) Show(format string, args ...any) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if now := s.now(); now.Sub(s.last) >= SignInterval {
		s.last = now
		fmt.Fprintf(s.w, format+"\n", args...)
	}
}

// NewProgress returns a writer that counts bytes towards a total and shows
// them on w. Closing it removes the bar.
func NewProgress(w io.Writer, what string, total int64) io.WriteCloser {
	if !IsTerminal(w) {
		return &written{NewSigns(w, clock.Now), what, total, 0}
	}
	return bar{progressbar.NewOptions64(total,
		progressbar.OptionSetWriter(w),
		progressbar.OptionSetDescription(what),
		progressbar.OptionShowBytes(true),
		progressbar.OptionThrottle(progressInterval),
		progressbar.OptionClearOnFinish(),
	)}
}

func IsTerminal(w io.Writer) bool {
	f, ok := w.(*os.File)
	return ok && term.IsTerminal(int(f.Fd()))
}

// A bar draws what is written through it. A fault in drawing is no
// reason to stop the work: the total is an estimate.
type bar struct{ *progressbar.ProgressBar }

func (b bar) Write(p []byte) (int, error) {
	b.Add(len(p))
	return len(p), nil
}

func (b bar) Close() error { return b.Finish() }

// A written is the bar of a log.
type written struct {
	signs       *Signs
	what        string
	total, done int64
}

func (p *written) Write(b []byte) (int, error) {
	p.done += int64(len(b))
	p.signs.Show("%s: %s of %s", p.what, sysinfo.Bytes(p.done), sysinfo.Bytes(p.total))
	return len(b), nil
}

func (p *written) Close() error { return nil }

// A BenchProgress tells how far a run has come: when the runner calls, never
// during a sample.
type BenchProgress struct {
	signs *Signs                   // nil: a terminal
	bar   *progressbar.ProgressBar // nil: not a terminal
	last  time.Time
}

func NewBenchProgress(w io.Writer) *BenchProgress {
	if !IsTerminal(w) {
		return &BenchProgress{signs: NewSigns(w, clock.Now)}
	}
	return &BenchProgress{bar: progressbar.NewOptions(-1,
		progressbar.OptionSetWriter(w),
		progressbar.OptionSetElapsedTime(false),
		progressbar.OptionSetPredictTime(false),
		progressbar.OptionClearOnFinish(),
	)}
}

func (p *BenchProgress) Show(at bench.Progress) {
	if p.bar == nil {
		p.signs.Show("%v left, %s, %s", at.Left.Round(time.Second), at.Group, at.Doing)
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

func (p *BenchProgress) Close() {
	if p.bar != nil {
		p.bar.Finish()
	}
}

// TerminalWidth returns the columns that what is printed to w may have: those
// of COLUMNS, which hold for files too, or of the terminal that
// w is; else 0, for as many as need be.
func TerminalWidth(w io.Writer) int {
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
type Counter struct {
	signs *Signs // nil: a terminal
	what  string
	total int
	bar   *progressbar.ProgressBar // nil: not a terminal
}

func NewCounter(w io.Writer, what string, total int) Counter {
	if !IsTerminal(w) {
		return Counter{signs: NewSigns(w, clock.Now), what: what, total: total}
	}
	return Counter{bar: progressbar.NewOptions(total,
		progressbar.OptionSetWriter(w),
		progressbar.OptionSetDescription(what),
		progressbar.OptionShowCount(),
		progressbar.OptionThrottle(progressInterval),
		progressbar.OptionClearOnFinish(),
	)}
}

func (c Counter) Set(done int) {
	if c.bar == nil {
		c.signs.Show("%s: %d of %d", c.what, done, c.total)
		return
	}
	c.bar.Set(done)
}

func (c Counter) Close() {
	if c.bar != nil {
		c.bar.Finish()
	}
}

// GateProgress is a gate's progress as a share of its budget.
func GateProgress(p gate.Progress) bench.Progress {
	return bench.Progress{
		Group: fmt.Sprintf("round %d", p.Round+1), Doing: fmt.Sprintf("%s, %d of %d undecided", p.Doing, p.Undecided, p.All),
		Done: int(p.Elapsed.Seconds()), Total: int(p.Budget.Seconds()), Elapsed: p.Elapsed, Left: max(0, p.Budget-p.Elapsed),
	}
}
