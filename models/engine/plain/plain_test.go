package plain_test

import (
	"testing"

	"onebit/formats"
	"onebit/models/engine/enginetest"
	"onebit/models/engine/plain"
)

func TestEngine(t *testing.T) {
	enginetest.Run(t, enginetest.Subject{Engine: plain.Options{}, Cache: formats.F32, Products: 1e-13, Attention: 1e-13, Floats: 1e-13})
}
