package sysinfo

import (
	"errors"
	"math"
	"slices"
	"testing"
)

const intelCPUInfo = `processor	: 0
vendor_id	: GenuineIntel
model		: 207
model name	: INTEL(R) XEON(R) PLATINUM 8581C CPU @ 2.10GHz
flags		: fpu vme avx2 hypervisor

processor	: 1
vendor_id	: GenuineIntel
model name	: another
`

const graviton = `processor	: 0
BogoMIPS	: 243.75
Features	: fp asimd asimddp
CPU implementer	: 0x41
CPU architecture: 8
CPU part	: 0xd0c
`

const raspberry = graviton + `
Model		: Raspberry Pi 5 Model B Rev 1.0
`

func TestCPUModel(t *testing.T) {
	for _, test := range []struct{ name, cpuinfo, want string }{
		{"Intel", intelCPUInfo, "INTEL(R) XEON(R) PLATINUM 8581C CPU @ 2.10GHz"},
		{"Graviton", graviton, "implementer 0x41 part 0xd0c"},
		{"Raspberry Pi", raspberry, "Raspberry Pi 5 Model B Rev 1.0"},
		{"empty", "", "unavailable: /proc/cpuinfo names no model"},
	} {
		if got := cpuModel(test.cpuinfo).String(); got != test.want {
			t.Errorf("%s: %q, want %q", test.name, got, test.want)
		}
	}
}

func TestForeignCPU(t *testing.T) {
	for _, test := range []struct {
		cpuinfo, arch, want string
		foreign             bool
	}{
		{intelCPUInfo, "amd64", "", false},
		{intelCPUInfo, "arm64", "x86", true},
		{graviton, "arm64", "", false},
		{graviton, "amd64", "arm", true},
		{"", "arm64", "", false},
		{intelCPUInfo, "riscv64", "", false},
	} {
		got, foreign := foreignCPU(test.cpuinfo, test.arch)
		if foreign != test.foreign || foreign && got != test.want {
			t.Errorf("%.20q on %s: %q, %t, want %q, %t", test.cpuinfo, test.arch, got, foreign, test.want, test.foreign)
		}
	}
}

func TestKiBField(t *testing.T) {
	const status = "Name:\tonebit\nVmHWM:\t   12345 kB\nVmRSS:\t       0 kB\nThreads:\tmany\nRssFile:\t9223372036854775807 kB\n"
	for _, test := range []struct{ name, want string }{
		{"VmHWM", "12.06 MiB"},
		{"VmRSS", "0 B"},
		{"RssAnon", "unavailable: status has no RssAnon"},
		{"Threads", `unavailable: status: Threads is "many", want a number of kB`},
		{"RssFile", `unavailable: status: RssFile is "9223372036854775807 kB", want a number of kB`},
	} {
		if got := kibField("status", status, test.name).String(); got != test.want {
			t.Errorf("%s: %q, want %q", test.name, got, test.want)
		}
	}
	if got := kibField("status", status, "VmHWM").V; got != 12345*1024 {
		t.Errorf("VmHWM = %d, want %d", got, 12345*1024)
	}
}

func TestCacheSize(t *testing.T) {
	for text, want := range map[string]Bytes{"48K\n": 48 << 10, "491520K": 480 << 20, "2M": 2 << 20, "1G": 1 << 30, "512": 512} {
		if got, err := cacheSize(text); got != want || err != nil {
			t.Errorf("%q: %d, %v, want %d", text, got, err, want)
		}
	}
	for _, text := range []string{"", "K", "-1K", "0K", "1.5M", "9223372036854775807G", "huge"} {
		if got, err := cacheSize(text); err == nil {
			t.Errorf("%q: %d, want an error", text, got)
		}
	}
}

func TestCPUList(t *testing.T) {
	for text, want := range map[string]int{"0\n": 1, "0-1\n": 2, "0-3,8": 5, "0-3,8-11,20": 9} {
		if got, err := cpuCount(text); got != want || err != nil {
			t.Errorf("%q: %d, %v, want %d", text, got, err, want)
		}
	}
	for _, text := range []string{"", "a", "3-1", "0-", "-1", "0-99999999"} {
		if got, err := cpuList(text); err == nil {
			t.Errorf("%q: %d, want an error", text, got)
		}
	}
}

func TestSelected(t *testing.T) {
	if got, err := selected("always [madvise] never\n"); got != "madvise" || err != nil {
		t.Errorf("%q, %v, want madvise", got, err)
	}
	for _, text := range []string{"", "always", "[always"} {
		if got, err := selected(text); err == nil {
			t.Errorf("selected(%q) = %q, want an error", text, got)
		}
	}
}

func TestParseCgroup(t *testing.T) {
	v2 := parseCgroup("0::/user.slice/session-1.scope\n")
	if v2.unified != "/user.slice/session-1.scope" || len(v2.v1) != 0 {
		t.Errorf("v2: %+v", v2)
	}
	v1 := parseCgroup("12:memory:/docker/abc\n4:cpu,cpuacct:/docker/abc:odd\n1:name=systemd:/\nnonsense\n")
	if v1.unified != "" || v1.v1["memory"] != "/docker/abc" || v1.v1["cpu"] != "/docker/abc:odd" {
		t.Errorf("v1: %+v", v1)
	}
}

func TestParents(t *testing.T) {
	for _, test := range []struct {
		group string
		want  []string
	}{
		{"", nil},
		{"/", []string{"/"}},
		{"/a/b", []string{"/a/b", "/a", "/"}},
		{"/../x", []string{"/x", "/"}},
	} {
		if got := parents(test.group); !slices.Equal(got, test.want) {
			t.Errorf("parents(%q) = %q, want %q", test.group, got, test.want)
		}
	}
}

func TestCPUMax(t *testing.T) {
	for text, want := range map[string]CPULimit{"150000 100000\n": 1.5, "max 100000\n": noCPULimit, "50000 100000": 0.5} {
		if got, err := cpuMax(text); got != want || err != nil {
			t.Errorf("%q: %v, %v, want %v", text, got, err, want)
		}
	}
	if got, err := cpuQuota("-1\n", "100000\n"); got != noCPULimit || err != nil {
		t.Errorf("v1 without a quota: %v, %v", got, err)
	}
	for _, text := range []string{"", "max", "1", "0 100000", "100000 0", "x y"} {
		if got, err := cpuMax(text); err == nil {
			t.Errorf("%q: %v, want an error", text, got)
		}
	}
}

func TestMemMax(t *testing.T) {
	for text, want := range map[string]ByteLimit{
		"max\n":               NoLimit,
		"2147483648\n":        2 << 30,
		"0":                   0,
		"9223372036854771712": NoLimit, // v1 with pages of 4 KiB
		"9223372036854710272": NoLimit, // v1 with pages of 64 KiB
	} {
		if got, err := memMax(text); got != want || err != nil {
			t.Errorf("%q: %d, %v, want %d", text, got, err, want)
		}
	}
	for _, text := range []string{"", "-1", "lots"} {
		if got, err := memMax(text); err == nil {
			t.Errorf("%q: %d, want an error", text, got)
		}
	}
}

func TestSysctlNumber(t *testing.T) {
	for _, test := range []struct {
		raw  []byte
		want int64
	}{
		{[]byte{0, 0, 2, 0}, 128 << 10},
		{[]byte{0, 0, 0, 0, 4, 0, 0, 0}, 16 << 30},
	} {
		if got, err := sysctlNumber(test.raw); got != test.want || err != nil {
			t.Errorf("%v: %d, %v, want %d", test.raw, got, err, test.want)
		}
	}
	if _, err := sysctlNumber([]byte{1}); err == nil {
		t.Error("one byte: no error")
	}
}

func TestStrings(t *testing.T) {
	for got, want := range map[string]string{
		Bytes(1023).String():                          "1023 B",
		Bytes(48 << 10).String():                      "48 KiB",
		Bytes(480 << 20).String():                     "480 MiB",
		Bytes(5 << 50).String():                       "5120 TiB",
		NoLimit.String():                              "none",
		ByteLimit(3 << 30).String():                   "3 GiB",
		CPULimit(1.5).String():                        "1.5 CPUs",
		CPULimit(math.Inf(1)).String():                "none",
		known(7).String():                             "7",
		value(7, errors.New("no such file")).String(): "unavailable: no such file",
	} {
		if got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}
