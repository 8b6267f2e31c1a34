package enginetest

import (
	"context"
	"errors"
	"strings"
	"testing"

	"onebit/models/engine"
)

// errors are those that an engine must return: each names the file and the
// tensor.
func (s Subject) errors(t *testing.T) {
	t.Run("missing tensor", func(t *testing.T) {
		_, err := s.load(t, tensorFile(t), engine.Request{Tensor: "nothing", Use: engine.Matrix})
		named(t, err, "nothing")
	})
	t.Run("gain in one bit", func(t *testing.T) {
		_, err := s.load(t, tensorFile(t), engine.Request{Tensor: "one bit", Use: engine.Gain})
		if err == nil {
			t.Skip("the engine takes gains in any format")
		}
		named(t, err, "one bit")
	})
	t.Run("weight that is not finite", s.badWeight)
	t.Run("done context", func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		e, err := s.Engine.Open(tensorFile(t))
		if err != nil {
			t.Fatal(err)
		}
		defer e.Close()
		if _, err := e.Load(ctx, requests); !errors.Is(err, context.Canceled) {
			t.Errorf("error %v, want %v", err, context.Canceled)
		}
	})
}

// badWeight must show when the weights are loaded or checked, or when the
// result of a product with them is read.
func (s Subject) badWeight(t *testing.T) {
	src := tensorFile(t, func(name string, data []byte) {
		if name == "one bit" {
			nan(data)
		}
	})
	e, err := s.Engine.Open(src)
	if err != nil {
		t.Fatal(err)
	}
	defer e.Close()
	weights, err := e.Load(t.Context(), []engine.Request{{Tensor: "one bit", Use: engine.Matrix}})
	if err == nil {
		var stream engine.Stream
		if stream, err = e.NewStream(engine.StreamOptions{Context: positions, Batch: 1}); err != nil {
			t.Fatal(err)
		}
		defer stream.Close()
		x, y := stream.Buffer(hidden), stream.Buffer(inner)
		stream.Begin(1)
		stream.Write(x, random(hidden, 1, 1))
		stream.Multiply("op", x, []engine.Product{{Weight: weights[0], Dst: y}})
		_, err = stream.Read(y)
	}
	named(t, err, "one bit")
}

// load opens an engine for one weight.
func (s Subject) load(t *testing.T, src engine.Source, r engine.Request) (engine.Weight, error) {
	t.Helper()
	e, err := s.Engine.Open(src)
	if err != nil {
		t.Fatal(err)
	}
	defer e.Close()
	weights, err := e.Load(t.Context(), []engine.Request{r})
	if err != nil {
		return nil, err
	}
	return weights[0], nil
}

func named(t *testing.T, err error, tensor string) {
	t.Helper()
	if err == nil || !strings.Contains(err.Error(), "test.gguf") || !strings.Contains(err.Error(), tensor) {
		t.Errorf("error %v, want one that names test.gguf and %q", err, tensor)
	}
}
