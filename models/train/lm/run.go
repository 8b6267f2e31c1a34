package lm

import (
	"context"
	"fmt"
	"os"
)

// A Watch is told how a run goes.
type Watch interface {
	Step(loss float64) // after each step, the mean of its windows
	Mark(Point)        // after each point of the learning curve
}

// Files of a run in its folder.
const (
	CheckpointName = "checkpoint.gguf"
	ModelName      = "model.gguf"
)

// An InterruptedError is a run that was cancelled, and whose steps are saved.
type InterruptedError struct {
	Step, Steps int
	Path        string // of the checkpoint
	Err         error
}

func (e *InterruptedError) Error() string {
	return fmt.Sprintf("step %d of %d is in %s: %v", e.Step, e.Steps, e.Path, e.Err)
}

func (e *InterruptedError) Unwrap() error { return e.Err }

// Run makes the steps that are left. Every so many of them, and after the last, it adds a
// point to the learning curve and saves the checkpoint at path. A run that is cancelled is
// saved too: the error is an *InterruptedError.
func (t *Trainer) Run(ctx context.Context, path string, every int, watch Watch) error {
	sum, steps := 0.0, 0
	for !t.Done() {
		if err := ctx.Err(); err != nil {
			return t.interrupted(path, err)
		}
		loss, err := t.Advance()
		if err != nil {
			return stopped(path, err)
		}
		watch.Step(loss)
		sum, steps = sum+loss, steps+1
		if t.Step()%every != 0 && !t.Done() {
			continue
		}
		point, err := t.Mark(ctx, sum/float64(steps))
		if err != nil {
			return t.interrupted(path, err)
		}
		watch.Mark(point)
		sum, steps = 0, 0
		if err := t.Save(path); err != nil {
			return err
		}
	}
	return nil
}

func (t *Trainer) interrupted(path string, cause error) error {
	if err := t.Save(path); err != nil {
		return err
	}
	return &InterruptedError{t.Step(), t.Recipe.Steps, path, cause}
}

// stopped says what is left of a run that cannot go on.
func stopped(path string, err error) error {
	if _, missing := os.Stat(path); missing != nil {
		return fmt.Errorf("%w (no checkpoint had been written)", err)
	}
	return fmt.Errorf("%w (%s is from before that)", err, path)
}
