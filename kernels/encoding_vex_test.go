package kernels_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"onebit/internal/require"
)

// Instructions in the VEX encoding that Go's assembler lacks are bytes:
//
//	BYTE $0xc4; BYTE $0xe2; … // VPDPBUSD Y12, Y11, Y6
var (
	byteLine    = regexp.MustCompile(`(?m)^[ \t]*BYTE[^/\n]*(?://[ \t]*(.*?)[ \t]*)?$`)
	byteLiteral = regexp.MustCompile(`BYTE[ \t]+\$0x([0-9a-f]{2})`)
	// objdump's "0:	c4 e2 7d 50 d1 	{vex} vpdpbusd %ymm1,%ymm0,%ymm2"
	decodedLine = regexp.MustCompile(`(?m)^ *[0-9a-f]+:\t[0-9a-f ]+\t(?:\{vex\} )?([a-z0-9]+) *(.*?) *$`)
)

// TestVEXEncodings compares what GNU objdump makes of every BYTE line with the
// instruction in its comment. Go's own disassembler gets these wrong.
func TestVEXEncodings(t *testing.T) {
	require.Unraced(t, "assembly is decoded")
	if _, err := exec.LookPath("objdump"); err != nil {
		require.Skip(t, "objdump", err.Error())
	}
	for _, file := range assemblyFiles(t, ".", "_amd64.s") {
		t.Run(file, func(t *testing.T) {
			source, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			checkBytes(t, string(source))
		})
	}
}

func checkBytes(t *testing.T, source string) {
	lines := byteLine.FindAllStringSubmatch(source, -1)
	if len(lines) == 0 {
		return
	}
	var code []byte
	for _, line := range lines {
		literals := byteLiteral.FindAllStringSubmatch(line[0], -1)
		if len(literals) == 0 {
			t.Fatalf("%s\nis not understood", line[0])
		}
		if first := literals[0][1]; first != "c4" && first != "c5" {
			t.Errorf("%s\nis not in the VEX encoding", line[0])
		}
		for _, b := range literals {
			v, err := strconv.ParseUint(b[1], 16, 8)
			if err != nil {
				t.Fatal(err)
			}
			code = append(code, byte(v))
		}
	}
	if n := strings.Count(source, "BYTE"); n != len(code) {
		t.Fatalf("%d of %d BYTEs are not understood", n-len(code), n)
	}
	decoded := disassemble(t, code)
	if len(decoded) != len(lines) {
		t.Fatalf("%d lines of BYTE are %d instructions", len(lines), len(decoded))
	}
	for i, line := range lines {
		if decoded[i] != line[1] {
			t.Errorf("%s\nis %q", line[0], decoded[i])
		}
	}
}

// disassemble returns instructions as Go writes them: the destination last.
func disassemble(t *testing.T, code []byte) []string {
	t.Helper()
	file := filepath.Join(t.TempDir(), "code")
	if err := os.WriteFile(file, code, 0o644); err != nil {
		t.Fatal(err)
	}
	out, err := exec.Command("objdump", "-D", "-b", "binary", "-m", "i386:x86-64", file).Output()
	if err != nil {
		t.Fatal(err)
	}
	var decoded []string
	for _, m := range decodedLine.FindAllStringSubmatch(string(out), -1) {
		operands := strings.NewReplacer("%ymm", "Y", ",", ", ").Replace(m[2])
		decoded = append(decoded, strings.TrimSpace(strings.ToUpper(m[1])+" "+operands))
	}
	return decoded
}
