//go:build !linux

package softmetal

import "testing"

func TestUnavailable(t *testing.T) {
	const want = "softmetal: shaders run on Linux only"
	if _, err := Compile("", nil); err == nil || err.Error() != want {
		t.Errorf("error %v, want %s", err, want)
	}
}
