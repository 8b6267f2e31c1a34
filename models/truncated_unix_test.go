//go:build unix

package models_test

import (
	"errors"
	"os"
	"strings"
	"testing"

	"onebit/formats"
	"onebit/formats/gguf"
	"onebit/internal/mmap"
	"onebit/internal/require"
	"onebit/internal/sysinfo"
	"onebit/models"
	"onebit/models/engine/cpu"
	"onebit/models/lockstep"
	"onebit/models/source"
)

// What returns an error returns one that names the file, should that be cut
// short while it is mapped, whichever thread finds out first.
func TestTruncatedWhileMapped(t *testing.T) {
	if sysinfo.Probe().Emulated() {
		t.Skip("an emulator does not say where a fault was")
	}
	x := newFixture(t, preset("tiny-bitnet"))
	reference := must(lockstep.Reference(nil))
	ids := text(40, 512)
	for name, use := range map[string]func(m *models.Model, s *models.Session) error{
		"Prefill": func(_ *models.Model, s *models.Session) error { _, err := s.Prefill(t.Context(), ids); return err },
		"Decode":  func(_ *models.Model, s *models.Session) error { _, err := s.Decode(7); return err },
		"Start":   func(_ *models.Model, s *models.Session) error { return s.Start(ids) },
		"Check":   func(m *models.Model, _ *models.Session) error { return m.Check() },
		"Logits": func(_ *models.Model, s *models.Session) error {
			for _, err := range s.Logits(ids) {
				return err
			}
			return nil
		},
		"lockstep": func(m *models.Model, _ *models.Session) error {
			_, err := lockstep.Run(t.Context(), m, m, ids, lockstep.Options{})
			return err
		},
	} {
		require.Procs(t, 3)
		for _, threads := range []int{1, 3} {
			path := x.path(t)
			opt := models.Options{Engine: cpu.Options{Packing: cpu.PackNever, Threads: threads}}
			if name == "lockstep" {
				opt = reference
			}
			m, err := models.Open(t.Context(), path, opt)
			if err != nil {
				t.Fatal(err)
			}
			s := session(t, m, models.SessionOptions{})
			mustCut(t, path)
			if name == "Check" && !checksLater(m) {
				continue // the kernels at hand had it all looked at on opening
			}
			err = use(m, s)
			if fault, ok := errors.AsType[*mmap.FaultError](err); !ok || fault.Path != path || !strings.HasPrefix(err.Error(), path+": ") {
				t.Errorf("%s, %d threads: %v, want an error that names the file", name, threads, err)
			}
			if s.Position() != 0 {
				t.Errorf("%s: the session has %d tokens after its first failed", name, s.Position())
			}
			if err := m.Close(); err != nil {
				t.Error(err)
			}
		}
	}
}

// checksLater reports whether any weights of a model in place have yet to be
// looked at.
func checksLater(m *models.Model) bool {
	for _, b := range m.Blocks() {
		for _, l := range b.Linears() {
			if l.Variant().ShowsBadWeights() {
				return true
			}
		}
	}
	return m.Head.Variant().ShowsBadWeights()
}

// mustCut leaves a page of a file.
func mustCut(t *testing.T, path string) {
	t.Helper()
	if err := os.Truncate(path, int64(os.Getpagesize())); err != nil {
		t.Fatal(err)
	}
}

// The same while a model is loaded: packed by all threads, packed behind,
// its head converted, its tokenizer made.
func TestTruncatedWhileLoading(t *testing.T) {
	if sysinfo.Probe().Emulated() {
		t.Skip("an emulator does not say where a fault was")
	}
	require.Procs(t, 3)
	x := newFixture(t, preset("tiny"))
	for name, load := range map[string]func(src source.Source) error{
		"packed": func(src source.Source) error {
			_, err := models.Load(t.Context(), src, models.Options{Engine: cpu.Options{Threads: 3}})
			return err
		},
		"pack behind": func(src source.Source) error {
			m, err := models.Load(t.Context(), src, models.Options{Engine: cpu.Options{Packing: cpu.PackBehind}})
			if err == nil {
				err = m.Packed()
			}
			return err
		},
		"head": func(src source.Source) error {
			_, err := models.Load(t.Context(), src, models.Options{Engine: cpu.Options{Packing: cpu.PackNever}, Head: formats.Q8_0})
			return err
		},
		"tokenizer": func(src source.Source) error { _, err := src.Tokenizer(); return err },
	} {
		path := x.path(t)
		src, err := source.Open(path, gguf.Options{})
		if err != nil {
			t.Fatal(err)
		}
		mustCut(t, path)
		if err := load(src); !errors.Is(err, mmap.ErrGone) || !strings.HasPrefix(err.Error(), path+": ") {
			t.Errorf("%s: %v, want an error that names the file", name, err)
		}
		if err := src.Close(); err != nil {
			t.Error(err)
		}
	}
}
