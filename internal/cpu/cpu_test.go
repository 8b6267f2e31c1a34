package cpu

import (
	"os"
	"runtime"
	"strings"
	"testing"
)

func TestParseIsTheInverseOfString(t *testing.T) {
	for _, s := range []Set{0, AVX2, AVX2 | FMA | AVX512VNNI, NEON | DotProd | I8MM, 1<<numFeatures - 1} {
		got, err := Parse(s.String())
		if err != nil || got != s {
			t.Errorf("Parse(%q) = %v, %v, want %v", s, got, err, s)
		}
	}
	if _, err := Parse("avx2,avx9"); err == nil || !strings.Contains(err.Error(), `"avx9"`) {
		t.Errorf("Parse of an unknown feature: %v, want an error that names it", err)
	}
}

func TestMissing(t *testing.T) {
	have := AVX2 | FMA
	if got := have.Missing(AVX2 | AVXVNNI); got != AVXVNNI {
		t.Errorf("Missing = %v, want %v", got, AVXVNNI)
	}
	if have.Has(AVXVNNI) || !have.Has(AVX2|FMA) {
		t.Error("Has is wrong")
	}
}

// TestDetectedAgreesWithLinux compares with the kernel's own list.
func TestDetectedAgreesWithLinux(t *testing.T) {
	info, err := os.ReadFile("/proc/cpuinfo")
	if err != nil || runtime.GOARCH != "amd64" || Detected() == 0 {
		t.Skip("needs Linux on amd64, and a build without purego")
	}
	var flags []string
	for line := range strings.Lines(string(info)) {
		if name, rest, ok := strings.Cut(line, ":"); ok && strings.TrimSpace(name) == "flags" {
			flags = strings.Fields(rest)
			break
		}
	}
	linux := map[string]Set{
		"avx2": AVX2, "fma": FMA, "f16c": F16C, "avx_vnni": AVXVNNI, "avx512f": AVX512F, "avx512bw": AVX512BW,
		"avx512dq": AVX512DQ, "avx512vl": AVX512VL, "avx512_vnni": AVX512VNNI,
		"avx512_bf16": AVX512BF16,
	}
	var want Set
	for _, f := range flags {
		want |= linux[f]
	}
	if Detected() != want {
		t.Errorf("Detected() = %v, /proc/cpuinfo says %v", Detected(), want)
	}
}
