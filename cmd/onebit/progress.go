package main

import (
	"fmt"
	"io"
	"os"
	"strconv"
	"time"

	"github.com/schollz/progressbar/v3"
	"golang.org/x/term"

	"onebit/bench"
)

// progressInterval is how often a bar is drawn.
const progressInterval = 100 * time.Millisecond

// newProgress returns a writer that counts bytes towards a total and shows
// them on w if that is a terminal. Closing it removes the bar.
func newProgress(w io.Writer, what string, total int64) io.WriteCloser {
	if !isTerminal(w) {
		return discard{}
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

type discard struct{}

func (discard) Write(p []byte) (int, error) { return len(p), nil }
func (discard) Close() error                { return nil }

// A benchProgress draws how far a run has come, on terminals only. It draws
// when the runner calls, never during a sample.
type benchProgress struct {
	bar  *progressbar.ProgressBar // nil: not a terminal
	last time.Time
}

func newBenchProgress(w io.Writer) *benchProgress {
	if !isTerminal(w) {
		return &benchProgress{}
	}
	return &benchProgress{bar: progressbar.NewOptions(-1,
		progressbar.OptionSetWriter(w),
		progressbar.OptionSetElapsedTime(false),
		progressbar.OptionSetPredictTime(false),
		progressbar.OptionClearOnFinish(),
	)}
}

func (p *benchProgress) show(at bench.Progress) {
	if p.bar == nil || time.Since(p.last) < progressInterval {
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

// A counter draws how many of some pieces of work are done, on terminals only. It
// may be set from several goroutines.
type counter struct{ bar *progressbar.ProgressBar }

func newCounter(w io.Writer, what string, total int) counter {
	if !isTerminal(w) {
		return counter{}
	}
	return counter{progressbar.NewOptions(total,
		progressbar.OptionSetWriter(w),
		progressbar.OptionSetDescription(what),
		progressbar.OptionShowCount(),
		progressbar.OptionThrottle(progressInterval),
		progressbar.OptionClearOnFinish(),
	)}
}

func (c counter) set(done int) {
	if c.bar != nil {
		c.bar.Set(done)
	}
}

func (c counter) close() {
	if c.bar != nil {
		c.bar.Finish()
	}
}
