//go:build !purego

package kernels_test

import (
	"errors"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"onebit/internal/cpu"
	"onebit/internal/guard"
	"onebit/internal/require"
	"onebit/internal/softamx"
	"onebit/kernels"
	"onebit/kernels/kerneltest"
)

// underModel is set where tile instructions are executed by the model.
const underModel = "ONEBIT_TEST_SOFTAMX"

// TestAMXConformance holds the variants for AMX to the suite where no CPU has it: in a
// process of its own, whose tile instructions the model executes, byte for byte those
// that a Xeon would.
func TestAMXConformance(t *testing.T) {
	require.Unraced(t, "instructions are executed one by one")
	if os.Getenv(underModel) != "" {
		for _, v := range kernels.Variants() {
			if v.ISA == kernels.AMX {
				t.Run(v.String(), func(t *testing.T) {
					kerneltest.Suite(t, v)
					t.Run("tiles", func(t *testing.T) { amxTiles(t, v) })
				})
			}
		}
		return
	}
	result, log, err := byModel(t)
	if err != nil || result.ExitCode != 0 {
		t.Fatalf("exit code %d, error %v\n%s", result.ExitCode, err, log)
	}
	for _, op := range []softamx.Op{softamx.LDTILECFG, softamx.TILEZERO, softamx.TILELOADD, softamx.TDPBSSD, softamx.TILESTORED, softamx.TILERELEASE} {
		if result.Executed[op] == 0 {
			t.Errorf("no %s was executed", op)
		}
	}
	t.Log(result.Executed)
}

// TestAMXGuards expects a tile that is loaded from behind the activations to be found.
func TestAMXGuards(t *testing.T) {
	if os.Getenv(underModel) != "" {
		const rows, cols, n = 64, 256, 16
		v, err := kernels.Lookup("tq2_0", "amx-int8", kernels.Q8Row)
		if err != nil {
			t.Fatal(err)
		}
		rng := rand.New(rand.NewPCG(7, 8))
		m, err := v.Pack(kerneltest.Tensor(t, v.Format, rows, cols, rng), nil)
		if err != nil {
			t.Fatal(err)
		}
		a := kernels.Activations{Alloc: func(bytes int) []byte { return guard.New(t, bytes).Bytes() }}
		a.Prepare(v, normal(rng, n*cols), n, cols)
		a.Stride++
		v.Rows(make([]float32, n*rows), m, &a, 0, rows)
		t.Fatal("it read what is not there")
	}
	result, log, err := byModel(t)
	if err == nil || !strings.Contains(err.Error(), "tileloadd: 16 rows of 64 bytes") || !strings.Contains(err.Error(), "bad address") {
		t.Errorf("exit code %d, error %v\n%s", result.ExitCode, err, log)
	}
}

// byModel runs the test once more, in a process whose tile instructions the model
// executes.
func byModel(t *testing.T) (result *softamx.Result, log []byte, err error) {
	t.Helper()
	if cpu.Detected().Has(kernels.AMX.Requires) {
		require.Skip(t, "softamx", "this CPU executes tile instructions, and TestConformance the variants")
	}
	if missing := cpu.Detected().Missing(kernels.AVX512VNNI.Requires); missing != 0 {
		require.Skip(t, missing.String(), "all but the tile instructions runs on this CPU")
	}
	args := []string{"-test.run=^" + t.Name() + "$", "-test.v"}
	if testing.Short() {
		args = append(args, "-test.short")
	}
	cmd := exec.Command(os.Args[0], args...)
	cmd.Env = append(os.Environ(), underModel+"=1")
	file, err := os.Create(filepath.Join(t.TempDir(), "log"))
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	cmd.Stdout, cmd.Stderr = file, file
	result, err = softamx.Run(cmd)
	if errors.Is(err, fs.ErrPermission) {
		require.Skip(t, "ptrace", err.Error()) // containers forbid it
	}
	if result == nil {
		t.Fatal(err)
	}
	if log, e := os.ReadFile(file.Name()); e == nil {
		return result, log, err
	}
	return result, nil, err
}

// amxTiles takes strips of 64 rows, filled or not, with tiles of 16 columns, filled or
// not, of which the last begins within the one before, and more columns than are
// multiplied together.
func amxTiles(t *testing.T, v *kernels.Variant) {
	rng := rand.New(rand.NewPCG(5, 6))
	for _, shape := range require.Draw(t, 4, [][3]int{
		{1, 256, 8}, {4, 768, 16}, {15, 512, 17}, {16, 256, 31}, {17, 256, 33}, {48, 256, 9}, {64, 512, 47}, {80, 256, 20}, {132, 256, 64}, {68, 256, 65}, {63, 256, 130},
	}) {
		rows, cols, n := shape[0], shape[1], shape[2]
		if _, err := v.Format.Bytes(rows, cols); err == nil {
			tensor := kerneltest.Tensor(t, v.Format, rows, cols, rng)
			kerneltest.Check(t, v, tensor, normal(rng, n*cols), n, fmt.Sprintf("%d×%d, %d columns", rows, cols, n))
		}
	}
}
