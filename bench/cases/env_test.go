package cases

import (
	"errors"
	"fmt"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"testing"

	"onebit/bench/results"
	"onebit/formats"
	"onebit/internal/cpu"
	"onebit/internal/sysinfo"
)

func TestColdBytes(t *testing.T) {
	const mib = 1 << 20
	for _, tc := range []struct {
		name                string
		llc, available, max int // MiB; 0: unknown, no limit
		layouts             int
		want                int    // MiB
		warning             string // its end; "": none
	}{
		{"a small cache", 4, 8000, 0, 3, 256, ""},
		{"a desktop", 32, 16000, 0, 4, 256, ""},
		{"a server", 384, 64000, 0, 4, 1536, ""},
		{"no known cache", 0, 64000, 0, 4, 384, ""},
		{"no known memory", 96, 0, 0, 4, 384, ""},
		{"little memory", 32, 1000, 0, 4, 125, "it holds a part of them (3.9 times its size), and cold figures are too fast"},
		{"a container", 32, 16000, 160, 4, 20, "it holds them all, and cold figures are warm ones"},
		{"little memory and a small cache", 4, 1000, 0, 4, 125, "they miss it, but a larger cache around it, such as a server's, holds them"},
	} {
		host := sysinfo.Host{
			L3: sysinfo.Value[sysinfo.Bytes]{V: sysinfo.Bytes(tc.llc * mib)}, MemAvailable: sysinfo.Value[sysinfo.Bytes]{V: sysinfo.Bytes(tc.available * mib)},
			MemLimit: sysinfo.Value[sysinfo.ByteLimit]{V: sysinfo.ByteLimit(tc.max * mib)}, Emulator: sysinfo.Value[string]{V: "none"},
		}
		if tc.llc == 0 {
			host.L3.Err, host.L2.Err = errors.New("unknown"), errors.New("unknown")
		}
		if tc.available == 0 {
			host.MemAvailable.Err = errors.New("unknown")
		}
		if tc.max == 0 {
			host.MemLimit.V = sysinfo.NoLimit
		}
		r := newEnv([]int{1}, host)
		r.setCold(host, tc.layouts)
		if r.coldBytes != tc.want*mib {
			t.Errorf("%s: rotates over %v, want %d MiB", tc.name, sysinfo.Bytes(r.coldBytes), tc.want)
		}
		doubts := strings.Join(r.allDoubts(), "\n")
		if !strings.HasSuffix(doubts, tc.warning) || (doubts == "") != (tc.warning == "") {
			t.Errorf("%s: warning %q, want one that ends in %q", tc.name, doubts, tc.warning)
		}
	}
}

// TestColdBytesAreSaid holds the header and the rotation to the same number.
func TestColdBytesAreSaid(t *testing.T) {
	s, err := Kernels(Options{Sources: Synthetic(lookup(t, "q1_0_g128"), []formats.Shape{{Rows: 1024, Cols: 8192}}, 1), Host: small(), Features: cpu.Detected()})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	rotated := s.home.(*env).coldBytes
	if want := (results.Setting{Key: "cold-bytes", Value: strconv.Itoa(rotated)}); !slices.Contains(s.Settings, want) || rotated < 64<<20 {
		t.Errorf("settings %v, want %v", s.Settings, want)
	}
	m := instance(t, s, "variant=unrolled/act=q8_128/rows=1024/cols=8192/threads=1/cache=cold").(*matvec)
	sum := 0
	for _, matrix := range m.matrices {
		sum += len(matrix.Data)
	}
	if sum < rotated || sum > rotated+2*len(m.matrices[0].Data) {
		t.Errorf("%d copies have %d bytes, want %d", len(m.matrices), sum, rotated)
	}
}

func TestCacheState(t *testing.T) {
	host := sysinfo.Host{L3: sysinfo.Value[sysinfo.Bytes]{V: 96 << 20}}
	for size, want := range map[int]string{80 << 20: "warm", 96 << 20: "", 300 << 20: "", 384 << 20: "cold", 1 << 30: "cold"} {
		if got := cacheState(size, host); got != want {
			t.Errorf("%d MiB: %q, want %q", size>>20, got, want)
		}
	}
}

// Threads beyond those that can run are said, since names have what was asked for.
func TestThreadDoubts(t *testing.T) {
	most := runtime.GOMAXPROCS(0)
	if got := threadDoubts([]int{1, most}); len(got) != 0 {
		t.Errorf("%q", got)
	}
	want := []string{fmt.Sprintf("threads=%d ran on %d, all that this process may run at once", most+6, most)}
	if got := threadDoubts([]int{1, most + 6}); !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
}
