package kernels_test

import (
	"bytes"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"onebit/internal/require"
)

// Go's assembler lacks most vector instructions of arm64. The assembly files
// have them as
//
//	WORD $0x4e819402 // sdot v2.4s, v0.16b, v1.16b
//
// The generator of package neon in _asm writes the words from a table; the test decodes each word, and compares.

var wordLine = regexp.MustCompile(`(?m)^([ \t]*WORD[ \t]+\$)(0x[0-9a-fA-F]+|0)([ \t]*//[ \t]*)(.*?)[ \t]*$`)

const arm64Features = "-mattr=+dotprod,+i8mm,+fullfp16,+bf16"

func TestARM64Encodings(t *testing.T) {
	require.Unraced(t, "assembly is decoded")
	if _, err := exec.LookPath("llvm-mc"); err != nil {
		require.Skip(t, "llvm-objdump", err.Error())
	}
	files := append(assemblyFiles(t, ".", "_arm64.s"), assemblyFiles(t, "../models", "_arm64.s")...)
	for _, file := range files {
		t.Run(file, func(t *testing.T) {
			source, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			checkWords(t, string(source))
		})
	}
}

// assemblyFiles returns those below dir whose names end so.
func assemblyFiles(t *testing.T, dir, suffix string) []string {
	t.Helper()
	var files []string
	err := filepath.WalkDir(dir, func(path string, _ fs.DirEntry, err error) error {
		if strings.HasSuffix(path, suffix) {
			files = append(files, path)
		}
		return err
	})
	if err != nil || len(files) == 0 {
		t.Fatalf("%d files end in %s, error %v", len(files), suffix, err)
	}
	return files
}

// checkWords decodes every WORD of an assembly file.
func checkWords(t *testing.T, source string) {
	words := wordLine.FindAllStringSubmatch(source, -1)
	if n := strings.Count(source, "WORD"); n != len(words) {
		t.Fatalf("%d of %d WORDs have no comment that says what they are", n-len(words), n)
	}
	if len(words) == 0 {
		return
	}
	var in bytes.Buffer
	for _, w := range words {
		v, err := strconv.ParseUint(w[2], 0, 32)
		if err != nil {
			t.Fatalf("%s: %v", w[0], err)
		}
		fmt.Fprintf(&in, "%#x %#x %#x %#x\n", v&0xff, v>>8&0xff, v>>16&0xff, v>>24)
	}
	decoded, err := decodeARM64(in.Bytes())
	if err != nil {
		t.Fatal(err)
	}
	if len(decoded) != len(words) {
		t.Fatalf("%d WORDs, %d of them are instructions", len(words), len(decoded))
	}
	for i, w := range words {
		if got := decoded[i]; got != w[4] {
			t.Errorf("WORD $%s is %q, the comment says %q", w[2], got, w[4])
		}
	}
}

// decodeARM64 has llvm-mc decode bytes and returns an instruction a line, blanks made single. Bad
// instructions are errors.
func decodeARM64(in []byte) ([]string, error) {
	cmd := exec.Command("llvm-mc", "-disassemble", "-triple=aarch64", arm64Features)
	cmd.Stdin = bytes.NewReader(in)
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil || stderr.Len() > 0 {
		return nil, fmt.Errorf("llvm-mc: %v\n%s", err, stderr.Bytes())
	}
	var lines []string
	for line := range strings.Lines(string(out)) {
		line = strings.Join(strings.Fields(line), " ")
		if line != "" && !strings.HasPrefix(line, ".") {
			lines = append(lines, line)
		}
	}
	return lines, nil
}
