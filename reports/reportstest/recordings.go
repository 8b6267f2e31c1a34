package reportstest

import (
	"bytes"
	"compress/gzip"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"onebit/bench/results"
)

// Recordings are runs of bench --short, one binary's all of them; see testdata/README.
func Recordings(t *testing.T, folder string) (runs []*results.Set) {
	t.Helper()
	files, err := filepath.Glob(Testdata(folder + "/run*.txt.gz"))
	if err != nil || len(files) < 3 {
		t.Fatalf("%d recordings: %v", len(files), err)
	}
	for _, file := range files {
		packed, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		z, err := gzip.NewReader(bytes.NewReader(packed))
		if err != nil {
			t.Fatal(err)
		}
		run, err := results.Read(z, file)
		if err != nil {
			t.Fatal(err)
		}
		runs = append(runs, run)
	}
	return runs
}

// Sliced are the recordings of samples in many slices: bench --short on a busy and on a calm machine, and bench on
// both. Of constants calm and default have chosen one, and calm-default none.
var Sliced = []string{"ratios", "calm", "default", "calm-default"}

// OfRecordings calls test with the runs of each folder.
func OfRecordings(t *testing.T, folders []string, test func(t *testing.T, runs []*results.Set)) {
	for _, folder := range folders {
		t.Run(folder, func(t *testing.T) {
			t.Parallel()
			test(t, Recordings(t, folder))
		})
	}
}

// Stretched is a sample of what takes longer by a factor.
func Stretched(s results.Sample, factor float64) results.Sample {
	s.Values, s.Slices = slices.Clone(s.Values), slices.Clone(s.Slices)
	for i, v := range s.Values {
		if v.Unit == results.NsPerOp {
			s.Values[i].Value *= factor
		}
	}
	for i := range s.Slices {
		s.Slices[i] *= factor
	}
	return s
}
