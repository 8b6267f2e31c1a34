package main

import (
	"io"
	"os"
	"time"

	"github.com/schollz/progressbar/v3"
	"golang.org/x/term"
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

// terminalWidth returns the columns of the terminal that w is, or 0.
func terminalWidth(w io.Writer) int {
	if f, ok := w.(*os.File); ok {
		if width, _, err := term.GetSize(int(f.Fd())); err == nil {
			return width
		}
	}
	return 0
}
