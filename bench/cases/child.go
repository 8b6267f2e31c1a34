package cases

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"runtime/debug"
	"time"

	"onebit/bench"
	"onebit/internal/sysinfo"
)

// A memoryRequest asks a child process, which does nothing else, what memory something
// takes: one of these.
type memoryRequest struct {
	Product *peakRequest  `json:",omitempty"`
	Model   *phaseRequest `json:",omitempty"`
}

// ask runs this program once more, with a verb that calls MeasureMemory.
func (req memoryRequest) ask(ctx context.Context, verb string, files []*os.File, reply any) error {
	var out bytes.Buffer
	if err := (bench.Child{Name: "onebit", Args: []string{verb}, Files: files}).Run(ctx, req, &out); err != nil {
		return fmt.Errorf("child process: %w", err)
	}
	if err := json.Unmarshal(out.Bytes(), reply); err != nil {
		return fmt.Errorf("child process answered %q: %w", out.Bytes(), err)
	}
	return nil
}

// MeasureMemory is the child process's side: it reads a request from in and writes
// the reply to out. A program that offers it passes the verb that leads here as
// MemoryVerb of Options and ModelsOptions.
func MeasureMemory(ctx context.Context, in io.Reader, out io.Writer) error {
	var req memoryRequest
	if err := json.NewDecoder(in).Decode(&req); err != nil {
		return fmt.Errorf("measuring memory: the request is not for people: %w", err)
	}
	reply, err := req.measure(ctx)
	if err != nil {
		return fmt.Errorf("measuring memory: %w", err)
	}
	return json.NewEncoder(out).Encode(reply)
}

func (req memoryRequest) measure(ctx context.Context) (reply any, err error) {
	switch {
	case req.Product != nil:
		return req.Product.measure()
	case req.Model != nil:
		return req.Model.measure(ctx)
	}
	return nil, errors.New("of nothing")
}

// A phaseMemory is the most bytes that were resident in a phase, and what they
// consisted of: anonymous memory and mapped files. Anon and File were looked at
// together, so they add up to Peak, less what came and went between two looks.
type phaseMemory struct{ Peak, Anon, File int64 }

// pollInterval is how often the parts of the resident memory are looked at,
// for whose peaks the system keeps no record.
const pollInterval = 2 * time.Millisecond

// measurePhase returns the peak during run, and its parts at the look that
// found the most. What phases before left behind is given back first.
func measurePhase(run func() error) (phase phaseMemory, err error) {
	debug.FreeOSMemory()
	if err := sysinfo.ResetPeak(); err != nil {
		return phase, err
	}
	look := func() sysinfo.Memory {
		now := sysinfo.ReadMemory()
		if anon, file := int64(now.Anon.V), int64(now.File.V); anon+file > phase.Anon+phase.File {
			phase.Anon, phase.File = anon, file
		}
		return now
	}
	stop := poll(func() { look() })
	err = run()
	stop()
	end := look()
	// The kernel's counts lag by some pages: parts are never more than the whole.
	phase.Peak = max(int64(end.Peak.V), phase.Anon+phase.File)
	return phase, errors.Join(err, end.Peak.Err, end.Anon.Err, end.File.Err)
}

// poll calls look every few milliseconds until stop.
func poll(look func()) (stop func()) {
	done, polled := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(polled)
		tick := time.NewTicker(pollInterval)
		defer tick.Stop()
		for {
			select {
			case <-done:
				return
			case <-tick.C:
				look()
			}
		}
	}()
	return func() {
		close(done)
		<-polled
	}
}
