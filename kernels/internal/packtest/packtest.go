// Package packtest compares the packers of a machine with those in Go.
package packtest

import (
	"bytes"
	"math/rand/v2"
	"testing"

	"onebit/internal/guard"
)

// Compare runs both on as many random bytes, everything between guard pages.
func Compare(t *testing.T, rng *rand.Rand, what string, bytesIn, bytesOut int, pack, inGo func(dst, src []byte)) {
	t.Helper()
	src := make([]byte, bytesIn)
	for i := range src {
		src[i] = byte(rng.Uint32())
	}
	got, want := guard.New(t, bytesOut).Bytes(), make([]byte, bytesOut)
	src = guard.CopyReadOnly(t, src)
	if err := guard.Catch(func() { pack(got, src) }); err != nil {
		t.Fatalf("%s: %v", what, err)
	}
	inGo(want, src)
	if !bytes.Equal(got, want) {
		t.Errorf("%s: not what the packer in Go gives", what)
	}
}
