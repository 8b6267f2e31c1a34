package cases

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"onebit/bench"
	"onebit/internal/ctxio"
	"onebit/internal/sysinfo"
	"onebit/models/arch"
	"onebit/models/gopher"
	"onebit/models/synth"
)

// NamedModel is a model in a file, by the file's name.
func NamedModel(path string) ModelFile {
	base := filepath.Base(path)
	return ModelFile{Name: strings.Join(strings.Fields(strings.TrimSuffix(base, filepath.Ext(base))), "_"), Path: path}
}

// TemporaryModel makes a preset's model, with random weights, or one that is inside the
// program, in a file that ends with this process. progress returns what is told how far the
// file is.
func TemporaryModel(ctx context.Context, preset string, seed uint64, progress func(name string, size int64) io.WriteCloser) (file ModelFile, closeFile func() error, err error) {
	write, size, err := presetWriter(preset, seed, progress)
	if err != nil {
		return file, nil, err
	}
	temp, err := os.CreateTemp("", "onebit-*.gguf")
	if err != nil {
		return file, nil, err
	}
	path, remove, err := withoutName(temp)
	if err == nil {
		err = write(ctxio.NewWriter(ctx, temp))
	}
	if err != nil {
		advice := " (TMPDIR names another directory)"
		if ctx.Err() != nil {
			advice = ""
		}
		var at *fs.PathError
		if errors.As(err, &at) && at.Path == temp.Name() {
			err = at.Err
		}
		return file, nil, errors.Join(fmt.Errorf("making %s, %s in %s: %w%s", preset, sysinfo.Bytes(size), os.TempDir(), err, advice), temp.Close(), remove())
	}
	file = ModelFile{Name: preset, Path: path, Synthetic: true}
	if gopher.Has(preset) {
		file.Synthetic, file.Text = false, gopher.Text
	}
	if path != temp.Name() {
		file.File = temp
	}
	return file, func() error { return errors.Join(temp.Close(), remove()) }, nil
}

// presetWriter returns what writes a preset's model, and how large that is.
func presetWriter(preset string, seed uint64, progress func(name string, size int64) io.WriteCloser) (write func(io.Writer) error, size int64, err error) {
	if gopher.Has(preset) {
		data := gopher.File(preset)
		return func(w io.Writer) error { _, err := w.Write(data); return err }, int64(len(data)), nil
	}
	p, err := arch.LookupPreset(preset)
	if err != nil {
		return nil, 0, err
	}
	size, err = synth.Bytes(p)
	return func(w io.Writer) error {
		bar := progress(p.Name, size)
		defer bar.Close()
		return synth.Write(io.MultiWriter(w, bar), p, seed)
	}, size, err
}

// A HandedFile is a model's file that a process hands to its child, for JSON.
type HandedFile struct {
	Name, Path string
	Synthetic  bool
	Text       string
	Descriptor uintptr // that Path names; 0 if it is a path like others
}

// Hand hands models to a child: files without a name are descriptors that it inherits.
func Hand(models []ModelFile) (handed []HandedFile, inherited []*os.File) {
	for _, m := range models {
		h := HandedFile{Name: m.Name, Path: m.Path, Synthetic: m.Synthetic, Text: m.Text}
		if m.File != nil {
			h.Descriptor = bench.FirstDescriptor + uintptr(len(inherited))
			h.Path = fmt.Sprintf("/dev/fd/%d", h.Descriptor)
			inherited = append(inherited, m.File)
		}
		handed = append(handed, h)
	}
	return handed, inherited
}

// Taken are the models that this process was handed.
func Taken(handed []HandedFile) (models []ModelFile) {
	for _, h := range handed {
		m := ModelFile{Name: h.Name, Path: h.Path, Synthetic: h.Synthetic, Text: h.Text}
		if h.Descriptor != 0 {
			m.File = os.NewFile(h.Descriptor, h.Path)
		}
		models = append(models, m)
	}
	return models
}
