package kernels

import (
	"onebit/formats"
	"strings"
	"testing"
)

// A program that imports no family has the reference alone. It is told what to
// import, and does not run at a hundredth of the speed.
func TestNoFamily(t *testing.T) {
	defer func(all map[*formats.Type]Format) { known = all }(known)
	known = nil
	if v, err := Best("i2_s"); err == nil || !strings.Contains(err.Error(), "import onebit/kernels/all") {
		t.Errorf("%v, error %v", v, err)
	}
	if v, err := Lookup("i2_s", "avx2", "no such scheme"); err == nil || !strings.Contains(err.Error(), "import onebit/kernels/all") {
		t.Errorf("%v, error %v", v, err)
	}
}
