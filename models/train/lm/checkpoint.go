package lm

import (
	"bufio"
	"bytes"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"

	"onebit/formats"
	"onebit/formats/container"
	"onebit/formats/gguf"
	"onebit/internal/mmap"
	"onebit/kernels"
	"onebit/models/arch"
	"onebit/models/train"
)

const (
	keyState  = "onebit.train.state"
	keyDigest = "onebit.train.sha256"

	// stateVersion changes when an older checkpoint would go on to other weights.
	stateVersion = 1
)

// Save writes a checkpoint. Whatever happens meanwhile, path holds a whole one:
// the last, or this. Weights that are not finite are an error, and the last stays.
func (t *Trainer) Save(path string) error {
	for _, p := range t.Model.Params() {
		if i := slices.IndexFunc(p.W, func(x float32) bool { return x-x != 0 }); i >= 0 {
			return fmt.Errorf("tensor %s: weight %d is %v after step %d: this is not saved, and %s stays as it was", p.Name, i, p.W[i], t.state.Step, path)
		}
	}
	text, err := json.Marshal(t.state)
	if err != nil {
		return err
	}
	tensors := t.tensors()
	meta := []container.KV{
		{Key: arch.KeyArchitecture, Value: container.Of(t.Model.Table.Name)},
		{Key: "general.name", Value: container.Of(t.Recipe.Name)},
		{Key: keyState, Value: container.Of(string(text))},
		{Key: keyDigest, Value: container.Of(digest(text, slices.Values(tensors)))},
	}
	meta = append(append(meta, t.Model.Table.Metadata(t.Model.Config)...), t.vocabulary.metadata...)
	if err := replace(path, func(f *os.File) error {
		w := bufio.NewWriterSize(f, 1<<20)
		if err := writeTensors(w, meta, tensors); err != nil {
			return err
		}
		return w.Flush()
	}); err != nil {
		return fmt.Errorf("the checkpoint of step %d is not saved: %w", t.state.Step, err)
	}
	return nil
}

// tensors are the weights and what the optimizer keeps.
func (t *Trainer) tensors() (out []formats.Tensor) {
	for _, b := range t.buffers() {
		out = append(out, floatTensor(b.Name, b.Shape, b.Data))
	}
	return out
}

func (t *Trainer) buffers() (out []train.Buffer) {
	for _, p := range t.Model.Params() {
		out = append(out, train.Buffer{Name: p.Name, Shape: p.Shape, Data: p.W})
	}
	return append(out, t.optimizer.State()...)
}

// digest is of a state and tensors.
func digest(text []byte, tensors func(yield func(formats.Tensor) bool)) string {
	sum := sha256.New()
	sum.Write(text)
	for t := range tensors {
		sum.Write(t.Data)
	}
	return hex.EncodeToString(sum.Sum(nil))
}

// partial is what a file is called until it is whole.
const partial = ".partial"

// replace writes a file beside path, makes sure that it is on the disk, and gives
// it the name.
func replace(path string, write func(*os.File) error) (err error) {
	f, err := os.Create(path + partial)
	if err != nil {
		return err
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, f.Close(), os.Remove(path+partial))
		}
	}()
	if err := write(f); err != nil {
		return err
	}
	if err := f.Sync(); err != nil {
		return err
	}
	if err := f.Close(); err != nil {
		return err
	}
	if err := os.Rename(path+partial, path); err != nil {
		return err
	}
	return syncFolder(filepath.Dir(path))
}

// Resume goes on with the run of a checkpoint, on the text that it began with.
func Resume(path string, corpus *Corpus, tables Tables, pool *kernels.Pool) (*Trainer, error) {
	f, err := gguf.Open(path, gguf.Options{})
	if err != nil {
		return nil, err
	}
	defer f.Close()
	var t *Trainer
	err = mmap.Guard(func() error {
		t, err = resume(f, corpus, tables, pool)
		return err
	})
	return t, err
}

func resume(f *gguf.File, corpus *Corpus, tables Tables, pool *kernels.Pool) (*Trainer, error) {
	saved, err := readState(f)
	if err != nil {
		return nil, err
	}
	shape, err := prepare(saved.Recipe, tables)
	if err != nil {
		return nil, fault(f, keyState, "%v", err)
	}
	v, err := newVocabulary(f.Metadata(), shape.Table.Text)
	if err != nil {
		return nil, err
	}
	if v.Vocab() != saved.Recipe.Vocab {
		return nil, fault(f, keyState, "has a vocabulary of %d tokens, the file one of %d", saved.Recipe.Vocab, v.Vocab())
	}
	t, err := newTrainer(saved.Recipe, shape, corpus, v, pool)
	if err != nil {
		return nil, err
	}
	if t.state.Digest != saved.Digest {
		return nil, fmt.Errorf("%s: the run began with another text: %s. Give that one, or begin anew", f.Name(), saved.Text)
	}
	t.state = saved
	return t, t.read(f)
}

func fault(f *gguf.File, key, format string, args ...any) error {
	return &container.FormatError{File: f.Name(), Offset: -1, Key: key, Msg: fmt.Sprintf(format, args...)}
}

// readState checks that a file is a checkpoint, and whole.
func readState(f *gguf.File) (s state, err error) {
	if !f.Has(keyState) || !f.Has(keyDigest) {
		return s, fault(f, keyState, "is missing: this is a GGUF file, and no checkpoint of onebit train")
	}
	text, err := f.String(keyState)
	if err != nil {
		return s, err
	}
	want, err := f.String(keyDigest)
	if err != nil {
		return s, err
	}
	var failed error
	got := digest([]byte(text), func(yield func(formats.Tensor) bool) {
		for _, info := range f.Tensors() {
			tensor, err := f.Tensor(info.Name)
			if failed = err; err != nil || !yield(tensor) {
				return
			}
		}
	})
	if failed != nil {
		return s, failed
	}
	if got != want {
		return s, fault(f, keyDigest, "differs from that of the file's bytes: the checkpoint is damaged")
	}
	decoder := json.NewDecoder(bytes.NewReader([]byte(text)))
	decoder.DisallowUnknownFields()
	if err := decoder.Decode(&s); err != nil {
		return s, fault(f, keyState, "is not understood: %v", err)
	}
	if s.Version != stateVersion {
		return s, fault(f, keyState, "has version %d, and this onebit writes and reads %d", s.Version, stateVersion)
	}
	if s.Step < 0 || s.Step > s.Recipe.Steps {
		return s, fault(f, keyState, "has step %d of %d", s.Step, s.Recipe.Steps)
	}
	return s, nil
}

// read fills in what buffers has.
func (t *Trainer) read(f *gguf.File) error {
	buffers := t.buffers()
	if len(f.Tensors()) != len(buffers) {
		return fault(f, keyState, "describes %d tensors, and the file has %d", len(buffers), len(f.Tensors()))
	}
	for _, b := range buffers {
		tensor, err := f.Tensor(b.Name)
		if err != nil {
			return err
		}
		if tensor.Type != formats.F32 || !slices.Equal(tensor.Shape, b.Shape) {
			return f.Fault(b.Name, fmt.Errorf("is %s of shape %v, want f32 of %v", tensor.Type.Name, tensor.Shape, b.Shape))
		}
		for i := range b.Data {
			b.Data[i] = math.Float32frombits(binary.LittleEndian.Uint32(tensor.Data[4*i:]))
		}
	}
	return nil
}
