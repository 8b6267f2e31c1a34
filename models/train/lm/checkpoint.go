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
	"io/fs"
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
// it the name. Another file of the temporary name, of a run that was killed or of another
// program, is removed and never written to: a link may lead anywhere.
func replace(path string, write func(*os.File) error) (err error) {
	if err := os.Remove(path + partial); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	f, err := os.OpenFile(path+partial, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o666)
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

// A Checkpoint is a run's that was saved: opened, found to be whole, and of sizes that
// are the file's and fit memory.
type Checkpoint struct {
	file       *gguf.File
	saved      state
	shape      Shape
	vocabulary *vocabulary
}

// OpenCheckpoint opens the file of a checkpoint. It allocates nothing of the sizes that the
// file states before these are found to be those of its tensors.
func OpenCheckpoint(path string) (*Checkpoint, error) {
	f, err := gguf.Open(path, gguf.Options{})
	if err != nil {
		return nil, err
	}
	c := &Checkpoint{file: f}
	if err := mmap.Guard(func() error { return c.open() }); err != nil {
		return nil, errors.Join(err, f.Close())
	}
	return c, nil
}

// Close ends the use of the file.
func (c *Checkpoint) Close() error { return c.file.Close() }

// Text names what the run is trained on, as [Corpus.Name] does.
func (c *Checkpoint) Text() string { return c.saved.Text }

func (c *Checkpoint) open() (err error) {
	f := c.file
	if c.saved, err = readState(f); err != nil {
		return err
	}
	if c.shape, err = prepare(c.saved.Recipe); err != nil {
		return fmt.Errorf("%s: %w", f.Name(), err)
	}
	if err := c.checkTensors(); err != nil {
		return err
	}
	if c.vocabulary, err = newVocabulary(f.Metadata(), c.shape.Table.Text); err != nil {
		return err
	}
	if v := c.vocabulary.Vocab(); v != c.saved.Recipe.Vocab {
		return fault(f, keyState, "has a vocabulary of %d tokens, the file one of %d", c.saved.Recipe.Vocab, v)
	}
	return nil
}

// checkTensors compares the file's tensors with those that a run of the recipe has. A
// digest shows that a file is undamaged, and not what made it.
func (c *Checkpoint) checkTensors() error {
	rule, err := train.LookupRule(c.saved.Recipe.Optimizer)
	if err != nil {
		return fault(c.file, keyState, "%v", err)
	}
	specs := c.shape.Table.Tensors(c.shape.Config)
	if want, got := len(specs)*(1+len(rule.Slots())), len(c.file.Tensors()); got != want {
		return fault(c.file, keyState, "describes %d tensors, and the file has %d", want, got)
	}
	for _, spec := range specs {
		names := []string{spec.Name}
		for _, slot := range rule.Slots() {
			names = append(names, train.SlotName(spec.Name, slot))
		}
		for _, name := range names {
			info, ok := c.file.Info(name)
			switch {
			case !ok:
				return c.file.Fault(name, errors.New("is missing from the checkpoint"))
			case info.Type != formats.F32 || !slices.Equal(info.Shape, spec.Shape):
				return c.file.Fault(name, fmt.Errorf("is %s of shape %v, want f32 of %v", info.TypeName, info.Shape, spec.Shape))
			}
		}
	}
	return nil
}

// Resume goes on with the run, on the text that it began with.
func (c *Checkpoint) Resume(corpus *Corpus, pool *kernels.Pool) (t *Trainer, err error) {
	if digest := corpus.Digest(); hex.EncodeToString(digest[:]) != c.saved.Digest {
		return nil, fmt.Errorf("%s: the run began with another text: %s. Give that one, or begin anew", c.file.Name(), c.saved.Text)
	}
	err = mmap.Guard(func() error {
		if t, err = newTrainer(c.saved.Recipe, c.shape, corpus, c.vocabulary, pool); err != nil {
			return err
		}
		t.state = c.saved
		return t.read(c.file)
	})
	return t, err
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

// read fills in what buffers has, of a file whose tensors are checked.
func (t *Trainer) read(f *gguf.File) error {
	for _, b := range t.buffers() {
		tensor, err := f.Tensor(b.Name)
		if err != nil {
			return err
		}
		for i := range b.Data {
			b.Data[i] = math.Float32frombits(binary.LittleEndian.Uint32(tensor.Data[4*i:]))
		}
	}
	return nil
}
