package metal

import (
	"errors"

	"onebit/models/engine"
)

// What other engines have and this one lacks. Weights of experts are refused when they
// are loaded, and so are windows when a stream is made: the operations say it to those
// who call them nevertheless.
var (
	errNoExperts = errors.New("engine metal has no experts yet; the engine cpu has")
	errNoWindows = errors.New("engine metal has no attention over a window yet; the engine cpu has")
	errNoClamp   = errors.New("engine metal clamps no gates yet; the engine cpu does")
)

func (s *stream) Clamp(string, engine.Buffer, float32, float32)               { s.fail(errNoClamp) }
func (s *stream) Route(string, engine.Buffer, engine.Buffer, engine.Routing)  { s.fail(errNoExperts) }
func (s *stream) Combine(string, engine.Buffer, engine.Buffer, engine.Buffer) { s.fail(errNoExperts) }
func (s *stream) MultiplyExperts(string, engine.Buffer, engine.Buffer, []engine.Product) {
	s.fail(errNoExperts)
}
