package lm

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"onebit/formats/gguf"
	"onebit/internal/require"
	"onebit/internal/sysinfo"
	"onebit/kernels"
	"onebit/models/arch"
	"onebit/models/train"
)

// smallRecipe trains in milliseconds.
func smallRecipe() Recipe {
	return Recipe{
		Name: "gopher-small", Architecture: "bitnet-b1.58",
		Layers: 1, Hidden: 128, FFN: 128, Heads: 2, KVHeads: 1, HeadDim: 64, RopeBase: 1e4, Eps: 1e-5,
		Form: "b1.58", Embedding: "q8_0", Vocab: 300, Splitter: "qwen2",
		Context: 32, Batch: 2, Pass: 1, Steps: 40, Rate: 3e-3, LastRate: 0.1, Warmup: 4, Optimizer: "adamw", Decay: 0.1, Clip: 1, Seed: 1,
	}
}

// smallCorpus is sentences of a few words.
func smallCorpus() *Corpus {
	rng := rand.New(rand.NewPCG(1, 2))
	words := strings.Fields("the reader writer returns reports whether an error if it is nil of package io bytes")
	c := &Corpus{Name: "a test's text"}
	for i := range 60 {
		var b strings.Builder
		for range 60 {
			b.WriteString(words[int(rng.ExpFloat64()*3)%len(words)] + " ")
		}
		c.add(Document{fmt.Sprint("document ", i), b.String() + "\n"})
	}
	return c
}

func newPool(t testing.TB, threads int) *kernels.Pool {
	require.Procs(t, threads)
	pool := kernels.NewPool(threads)
	t.Cleanup(pool.Close)
	return pool
}

func begin(t testing.TB, r Recipe, threads int) *Trainer {
	t.Helper()
	trainer, err := New(r, smallCorpus(), newPool(t, threads))
	if err != nil {
		t.Fatal(err)
	}
	return trainer
}

// resume goes on from a checkpoint.
func resume(path string, corpus *Corpus, pool *kernels.Pool) (*Trainer, error) {
	c, err := OpenCheckpoint(path)
	if err != nil {
		return nil, err
	}
	defer c.Close()
	return c.Resume(corpus, pool)
}

func advance(t testing.TB, trainer *Trainer, steps int) (losses []float64) {
	t.Helper()
	for range steps {
		loss, err := trainer.Advance()
		if err != nil {
			t.Fatal(err)
		}
		losses = append(losses, loss)
	}
	return losses
}

func weights(trainer *Trainer) (all [][]float32) {
	for _, b := range trainer.buffers() {
		all = append(all, slices.Clone(b.Data))
	}
	return all
}

// A run that stops and goes on, with other threads, has the same bits as one that
// doesn't: weights, what the optimizer keeps, losses, the file.
func TestResume(t *testing.T) {
	for _, architecture := range []string{"bitnet-b1.58", "qwen3"} {
		r := smallRecipe()
		r.Architecture = architecture
		if architecture == "qwen3" {
			r.Form, r.Embedding, r.Pass = "1bit", "1bit", 2
		}
		whole := begin(t, r, 1)
		losses := advance(t, whole, 12)

		path := filepath.Join(t.TempDir(), "checkpoint")
		first := begin(t, r, 2)
		got := advance(t, first, 7)
		if _, err := first.Mark(context.Background(), 1); err != nil {
			t.Fatal(err)
		}
		if err := first.Save(path); err != nil {
			t.Fatal(err)
		}
		second, err := resume(path, smallCorpus(), newPool(t, 3))
		if err != nil {
			t.Fatal(err)
		}
		if second.Step() != 7 || len(second.Points()) != 1 || second.Points()[0] != first.Points()[0] {
			t.Errorf("step %d with points %v", second.Step(), second.Points())
		}
		got = append(got, advance(t, second, 5)...)
		if !slices.Equal(got, losses) {
			t.Errorf("%s: losses %v, want %v", architecture, got, losses)
		}
		for i, w := range weights(whole) {
			if !slices.Equal(w, weights(second)[i]) {
				t.Errorf("%s: %s differs", architecture, whole.buffers()[i].Name)
			}
		}
		var a, b bytes.Buffer
		if err := errors.Join(whole.Export(&a), second.Export(&b)); err != nil {
			t.Fatal(err)
		}
		if !bytes.Equal(a.Bytes(), b.Bytes()) {
			t.Errorf("%s: the exported files differ", architecture)
		}
	}
}

// A run that goes on to another end is the same until then, and not after.
func TestSetSteps(t *testing.T) {
	one, other := begin(t, smallRecipe(), 1), begin(t, smallRecipe(), 1)
	if !slices.Equal(advance(t, one, 5), advance(t, other, 5)) {
		t.Fatal("two runs differ")
	}
	if err := other.SetSteps(8); err != nil {
		t.Fatal(err)
	}
	first, second := advance(t, one, 3), advance(t, other, 3)
	if !other.Done() || one.Done() || first[0] != second[0] || first[2] == second[2] {
		t.Errorf("losses %v and %v", first, second)
	}
	if err := other.SetSteps(7); err == nil || !strings.Contains(err.Error(), "the run has made 8 steps") {
		t.Errorf("error %v", err)
	}
}

// A run learns: it comes to know the words, and more than a guess does.
func TestTrainerLearns(t *testing.T) {
	trainer := begin(t, smallRecipe(), 2)
	before, err := trainer.HeldOut(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	advance(t, trainer, 40)
	after, err := trainer.HeldOut(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	if after.Tokens != len(trainer.held)-1 || after.Bytes != float64(Bytes(smallCorpus().HeldOut)) {
		t.Errorf("%d tokens of %v bytes are scored", after.Tokens, after.Bytes)
	}
	if after.Perplexity() > before.Perplexity()/4 {
		t.Errorf("perplexity %v, before training %v", after.Perplexity(), before.Perplexity())
	}
	if trigram := trainer.Trigram(); trigram.Tokens != after.Tokens || !(trigram.BitsPerByte() > 0) {
		t.Errorf("trigram: %+v", trigram)
	}
	// A file's predictions are those of the run.
	var b bytes.Buffer
	if err := trainer.Export(&b); err != nil {
		t.Fatal(err)
	}
	f, err := gguf.Parse(b.Bytes(), "model.gguf", gguf.Options{})
	if err != nil {
		t.Fatal(err)
	}
	window := trainer.held[:trainer.Recipe.Context]
	want := meanNats(trainer.Model.Logits(window), window, trainer.Recipe.Vocab)
	got := meanNats(engineLogits(t, f, window), window, trainer.Recipe.Vocab)
	if math.Abs(got-want) > 1e-3 {
		t.Errorf("perplexity %v in training, %v on the engine", math.Exp(want), math.Exp(got))
	}
}

// Every token but the first is predicted once.
func TestViews(t *testing.T) {
	for _, n := range []int{32, 33, 48, 49, 64, 100, 1000} {
		seen := make([]int, n)
		for _, v := range views(n, 32) {
			if v.first < 1 || v.start+32 > n || v.start > 0 && v.first < 16 {
				t.Errorf("of %d: %+v", n, v)
			}
			for i := v.first; i < 32; i++ {
				seen[v.start+i]++
			}
		}
		for i, times := range seen {
			if times != min(i, 1) {
				t.Errorf("of %d: token %d is predicted %d times", n, i, times)
			}
		}
	}
}

// Numbers that are not finite stop a run before they reach the weights, and never a
// checkpoint.
func TestNotFinite(t *testing.T) {
	require.Unplayed(t, "training is the same code on every machine")
	trainer := begin(t, smallRecipe(), 2)
	advance(t, trainer, 3)
	path := filepath.Join(t.TempDir(), "checkpoint")
	if err := trainer.Save(path); err != nil {
		t.Fatal(err)
	}
	saved, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	trainer.Model.blocks[0].norms["ffn_norm"].Gain.W[5] = float32(math.NaN())
	_, err = trainer.Advance()
	var stopped *train.NotFiniteError
	if !errors.As(err, &stopped) || stopped.Step != 4 || stopped.Tensor != "blk.0.ffn_norm.weight" || stopped.Index != 5 {
		t.Errorf("error %v", err)
	}
	if err := trainer.Save(path); err == nil || !strings.Contains(err.Error(), "tensor blk.0.ffn_norm.weight: weight 5 is NaN after step 3") {
		t.Errorf("error %v", err)
	}
	if now, err := os.ReadFile(path); err != nil || !bytes.Equal(now, saved) {
		t.Error("the checkpoint has changed")
	}
}

// A run whose loss falls has not diverged, however far above a guess it began; one that
// stays there or rises has, but not before its warm-up is over.
func TestFallingIsNotDiverged(t *testing.T) {
	r := smallRecipe()
	guess := math.Log(float64(r.Vocab))
	for _, tt := range []struct {
		name   string
		warmup int
		loss   func(step int) float64
		want   int // step that ends the run; 0: none
	}{
		{"falling from far above", 60, func(step int) float64 { return guess + 6 - 0.02*float64(step) }, 0},
		{"flat in the warm-up", 280, func(step int) float64 { return guess + 3 }, 0},
		{"flat behind it", 60, func(step int) float64 { return guess + 3 }, 160},
		{"rising", 0, func(step int) float64 { return guess + 0.02*float64(step) }, 100},
		{"a little above a guess", 0, func(step int) float64 { return guess + 0.9 }, 0},
	} {
		r.Warmup = tt.warmup
		trainer := &Trainer{Recipe: r}
		ended := 0
		for step := 1; step <= 300 && ended == 0; step++ {
			if trainer.diverged(step, tt.loss(step)) != nil {
				ended = step
			}
		}
		if ended != tt.want {
			t.Errorf("%s: ended at step %d, want %d", tt.name, ended, tt.want)
		}
	}
}

func TestDiverged(t *testing.T) {
	require.Unplayed(t, "training is the same code on every machine")
	r := smallRecipe()
	r.Rate, r.Clip, r.Decay, r.Steps, r.Optimizer, r.Context = 50, 0, 0, 200, "lion", 8
	trainer := begin(t, r, 2)
	for range r.Steps {
		if _, err := trainer.Advance(); err != nil {
			var diverged *DivergedError
			var stopped *train.NotFiniteError
			if !errors.As(err, &diverged) && !errors.As(err, &stopped) {
				t.Errorf("error %v", err)
			}
			return
		}
	}
	t.Error("a learning rate of 50 was fine")
}

// What is no checkpoint, is damaged or is of another text is refused by name, and
// nothing panics.
func TestCheckpointErrors(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "checkpoint")
	trainer := begin(t, smallRecipe(), 1)
	advance(t, trainer, 1)
	if err := trainer.Save(path); err != nil {
		t.Fatal(err)
	}
	good, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	var exported bytes.Buffer
	if err := trainer.Export(&exported); err != nil {
		t.Fatal(err)
	}
	damaged := func(at int) []byte {
		b := slices.Clone(good)
		b[at] ^= 1
		return b
	}
	replaced := func(old, with string) []byte { return bytes.Replace(good, []byte(old), []byte(with), 1) }
	other := smallCorpus()
	other.Train[3].Text += "more"
	for _, tt := range []struct {
		name   string
		data   []byte
		corpus *Corpus
		want   string
	}{
		{"another text", good, other, "the run began with another text: a test's text"},
		{"a model", exported.Bytes(), nil, "no checkpoint of onebit train"},
		{"a text file", []byte("step 3"), nil, ""},
		{"cut short", good[:len(good)/2], nil, ""},
		{"a bit of a tensor", damaged(len(good) - 5000), nil, "the checkpoint is damaged"},
		{"a bit of the state", replaced(`"Step":1,`, `"Step":2,`), nil, "the checkpoint is damaged"},
		{"another width", forged(t, trainer, func(r *Recipe) { r.Hidden = 256 }), nil, "want f32 of [300 256]"},
		{"more blocks", forged(t, trainer, func(r *Recipe) { r.Layers = 2 }), nil, "describes 72 tensors, and the file has 39"},
		{"blocks beyond memory", forged(t, trainer, func(r *Recipe) { r.Layers = 1 << 20 }), nil, "a run of these sizes takes"},
		{"a width beyond memory", forged(t, trainer, func(r *Recipe) { r.Hidden = 1 << 20 }), nil, "a run of these sizes takes"},
		{"a window beyond memory", forged(t, trainer, func(r *Recipe) { r.Context = 1 << 29 }), nil, "a run of these sizes takes"},
		{"another optimizer", forged(t, trainer, func(r *Recipe) { r.Optimizer = "adam" }), nil, "unknown optimizer"},
	} {
		bad := filepath.Join(dir, "bad")
		if err := os.WriteFile(bad, tt.data, 0o666); err != nil {
			t.Fatal(err)
		}
		corpus := tt.corpus
		if corpus == nil {
			corpus = smallCorpus()
		}
		_, err := resume(bad, corpus, newPool(t, 1))
		if err == nil || !strings.Contains(err.Error(), tt.want) || !strings.Contains(err.Error(), bad) {
			t.Errorf("%s: error %v, want %s and the path", tt.name, err, tt.want)
		}
	}
	if _, err := resume(filepath.Join(dir, "none"), smallCorpus(), nil); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("no file: %v", err)
	}
	// A file that cannot be written leaves the last checkpoint.
	if err := os.MkdirAll(filepath.Join(path+partial, "in the way"), 0o777); err != nil {
		t.Fatal(err)
	}
	if err := trainer.Save(path); err == nil || !strings.Contains(err.Error(), "the checkpoint of step 1 is not saved") {
		t.Errorf("error %v", err)
	}
	if now, err := os.ReadFile(path); err != nil || !bytes.Equal(now, good) {
		t.Error("the checkpoint has changed")
	}
}

// forged is a checkpoint whose recipe is another than that of its tensors, and whose
// digest is right.
func forged(t *testing.T, trainer *Trainer, change func(*Recipe)) []byte {
	t.Helper()
	other := *trainer
	change(&other.state.Recipe)
	path := filepath.Join(t.TempDir(), "forged")
	if err := other.Save(path); err != nil {
		t.Fatal(err)
	}
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return data
}

// What lies where a checkpoint is made is replaced, and a link there not followed.
func TestPartialIsNoLink(t *testing.T) {
	dir := t.TempDir()
	path, elsewhere := filepath.Join(dir, "checkpoint"), filepath.Join(dir, "elsewhere")
	if err := os.WriteFile(elsewhere, []byte("precious"), 0o666); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(elsewhere, path+partial); err != nil {
		t.Skip("this system makes no links: ", err)
	}
	if err := begin(t, smallRecipe(), 1).Save(path); err != nil {
		t.Fatal(err)
	}
	if text, err := os.ReadFile(elsewhere); err != nil || string(text) != "precious" {
		t.Errorf("a file elsewhere holds %d bytes now, %v", len(text), err)
	}
	if info, err := os.Lstat(path); err != nil || !info.Mode().IsRegular() {
		t.Errorf("the checkpoint is %v, %v", info.Mode(), err)
	}
}

func TestReplaceKeepsTheLast(t *testing.T) {
	path := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(path, []byte("old"), 0o666); err != nil {
		t.Fatal(err)
	}
	full := errors.New("no space left on device")
	err := replace(path, func(f *os.File) error {
		f.WriteString("half of the n")
		return full
	})
	if !errors.Is(err, full) {
		t.Errorf("error %v", err)
	}
	if text, _ := os.ReadFile(path); string(text) != "old" {
		t.Errorf("the file holds %q", text)
	}
	if _, err := os.Stat(path + partial); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("the partial file: %v", err)
	}
}

// killed names the path that a child process saves checkpoints at, until it is
// killed.
const killed = "ONEBIT_TEST_CHECKPOINT"

func TestMain(m *testing.M) {
	if path := os.Getenv(killed); path != "" {
		trainForever(path)
	}
	os.Exit(m.Run())
}

func trainForever(path string) {
	pool := kernels.NewPool(1)
	trainer, err := New(smallRecipe(), smallCorpus(), pool)
	for err == nil {
		if err = trainer.Save(path); err == nil && !trainer.Done() {
			_, err = trainer.Advance()
		}
	}
	fmt.Fprintln(os.Stderr, err)
	os.Exit(1)
}

// A process that is killed at any moment leaves a whole checkpoint, which goes on to
// the same bits.
func TestKilled(t *testing.T) {
	if sysinfo.Probe().Emulated() {
		t.Skip("the system starts no binary of another CPU")
	}
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	whole := begin(t, smallRecipe(), 1)
	losses := advance(t, whole, smallRecipe().Steps)
	for i := range 6 {
		path := filepath.Join(t.TempDir(), "checkpoint")
		child := exec.Command(exe)
		child.Env = append(os.Environ(), killed+"="+path)
		if err := child.Start(); err != nil {
			t.Fatal(err)
		}
		for deadline := time.Now().Add(30 * time.Second); ; time.Sleep(time.Millisecond) {
			if _, err := os.Stat(path); err == nil || time.Now().After(deadline) {
				break
			}
		}
		time.Sleep(time.Duration(7*i) * time.Millisecond)
		if err := child.Process.Kill(); err != nil {
			t.Fatal(err)
		}
		child.Wait()
		trainer, err := resume(path, smallCorpus(), newPool(t, 1))
		if err != nil {
			t.Fatal(err)
		}
		n := min(3, smallRecipe().Steps-trainer.Step())
		if got := advance(t, trainer, n); !slices.Equal(got, losses[trainer.Step()-n:trainer.Step()]) {
			t.Errorf("from step %d the losses are %v, want %v", trainer.Step()-n, got, losses[trainer.Step()-n:trainer.Step()])
		}
	}
}

func TestRecipeErrors(t *testing.T) {
	for _, tt := range []struct {
		change func(*Recipe)
		want   string
	}{
		{func(r *Recipe) { r.Pass = 3 }, "a batch of 2 windows cannot be made of passes of 3"},
		{func(r *Recipe) { r.Steps = 0 }, "0 steps with a warm-up of 4 make no run"},
		{func(r *Recipe) { r.Rate = math.NaN() }, "a learning rate of NaN"},
		{func(r *Recipe) { r.Clip = -1 }, "gradients up to -1 make no run"},
		{func(r *Recipe) { r.Context = math.MaxInt32 }, "are too many"},
		{func(r *Recipe) { r.Architecture = "gpt2" }, "gpt2"},
		{func(r *Recipe) { r.Form = "int4" }, "unknown form of weights"},
		{func(r *Recipe) { r.Embedding = "int4" }, "unknown form of weights"},
		{func(r *Recipe) { r.Optimizer = "adam" }, "unknown optimizer"},
		{func(r *Recipe) { r.Hidden = 96 }, "96"},
		{func(r *Recipe) { r.Vocab = 100 }, "a vocabulary of 100 tokens"},
		{func(r *Recipe) { r.Vocab = 5000 }, "a test's text: the text is too small for 5000 tokens"},
		{func(r *Recipe) { r.Context = 4000 }, "the text is too small"},
	} {
		r := smallRecipe()
		tt.change(&r)
		if _, err := New(r, smallCorpus(), nil); err == nil || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("error %v, want %s", err, tt.want)
		}
	}
	if _, err := LookupRecipe("huge"); err == nil || !strings.Contains(err.Error(), "(known: ternary, 1bit, float)") {
		t.Errorf("error %v", err)
	}
}

// The default models are small enough for the binary.
func TestRecipesAreSmall(t *testing.T) {
	for _, r := range Recipes() {
		table, err := arch.Lookup(r.Architecture)
		if err != nil {
			t.Fatal(err)
		}
		s, err := r.shape(table)
		if err != nil {
			t.Fatal(err)
		}
		if err := r.Check(); err != nil {
			t.Errorf("%s: %v", r.Name, err)
		}
		var weights, bytes int
		for _, spec := range table.Tensors(s.Config) {
			rows, cols := spec.Dims()
			weights += rows * cols
			if form := s.formOf(spec.Role); form != nil && form.Type != nil {
				spec.Type = form.Type
			}
			n, err := spec.Bytes()
			if err != nil {
				t.Fatal(err)
			}
			bytes += n
		}
		if weights < 2e6 || weights > 6e6 {
			t.Errorf("%s has %d weights", r.Name, weights)
		}
		if r.Base != "float" && bytes > 1.9e6 {
			t.Errorf("%s has %d bytes", r.Name, bytes)
		}
	}
}
