package reports

import (
	"bytes"
	"encoding/gob"
	"fmt"
	"io"
	"path/filepath"
	"slices"

	"onebit/bench/results"
	"onebit/internal/bounded"
	"onebit/reports/doc"
)

// A Sidecar holds what a report needs beside samples: a file in the folder of the results, which name it and the kind.
type Sidecar struct {
	Kind string
	Of   any // what the kind's Build reads back
}

// sidecarKey is the setting that names the sidecar of a results file.
const sidecarKey = "sidecar"

// mostSidecar is the most bytes that are read of one: a profile of hours has some megabytes.
const mostSidecar = 256 << 20

func (c Sidecar) name() string { return c.Kind + ".gob" }

// Settings are what the results say of it.
func (c Sidecar) Settings() []results.Setting {
	return []results.Setting{{Key: KindKey, Value: c.Kind}, {Key: sidecarKey, Value: c.name()}}
}

// In reports whether results are of its kind.
func (c Sidecar) In(res *results.Set) bool { return res.Setting(KindKey) == c.Kind }

// File is the sidecar, to be written beside the results.
func (c Sidecar) File() doc.File {
	return doc.File{Name: c.name(), Write: func(w io.Writer) error { return gob.NewEncoder(w).Encode(c.Of) }}
}

// ReadSidecar reads the sidecar of results into what their kind keeps there.
func (s *Source) ReadSidecar(into interface{ Check() error }) error {
	name := s.Machines[0].Setting(sidecarKey)
	if name != filepath.Base(name) || !filepath.IsLocal(name) {
		return fmt.Errorf("%s: %s: %q is no file of its folder", s.Paths[0], sidecarKey, name)
	}
	path := filepath.Join(filepath.Dir(s.Paths[0]), name)
	data, err := bounded.ReadFile(path, mostSidecar)
	if err != nil {
		return fmt.Errorf("%s: its sidecar, which belongs into the same folder: %w", s.Paths[0], err)
	}
	if err := gob.NewDecoder(bytes.NewReader(data)).Decode(into); err != nil {
		return fmt.Errorf("%s: not what onebit %s wrote: %w", path, s.Kind(), err)
	}
	if err := into.Check(); err != nil {
		return fmt.Errorf("%s: %w", path, err)
	}
	return nil
}

// WithWarnings are warnings of a sidecar, and what the results add to them.
func (s *Source) WithWarnings(all []string) []string {
	for _, text := range slices.Concat(s.Machines[0].Warnings, s.Warnings) {
		if !slices.Contains(all, text) {
			all = append(all, text)
		}
	}
	return all
}
