package lm

import (
	"errors"
	"fmt"
	"go/build"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"onebit/internal/require"
)

// write makes the files of a Go installation.
func write(t *testing.T, files map[string]string) string {
	t.Helper()
	root := t.TempDir()
	for name, text := range files {
		path := filepath.Join(root, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o777); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	return root
}

const sourceOfCut = `// Copyright.

// Package cut cuts.
//
//	example
package cut

// Max is most.
const Max = 3

// These are names.
var (
	a = 1
	// B is b.
	B = 2
)

// A Knife is sharp.
type Knife struct {
	// Length in metres.
	Length float64
	name   string // not a comment before it
}

// Cut cuts s.
//
// It does so once.
func (k *Knife) Cut(s string) (before, after string) {
	// inside
	return s, ""
}

func bare() {}
`

const documentOfCut = `package cut // import "cut"

Package cut cuts.

	example

const Max = 3
    Max is most.

var a = 1
    These are names.

var B = 2
    B is b.

type Knife struct {
    A Knife is sharp.

    Length float64
        Length in metres.

func (k *Knife) Cut(s string) (before, after string)
    Cut cuts s.

    It does so once.
`

func TestGoDocumentation(t *testing.T) {
	files := map[string]string{
		"VERSION":                  "go1.99\ntime 2026\n",
		"src/cut/cut.go":           sourceOfCut,
		"src/cut/cut_test.go":      "package cut\n\n// A test.\nfunc TestCut() {}\n",
		"src/cut/testdata/bad.go":  "not Go",
		"src/cut/notes.txt":        "no Go",
		"src/cut/_old/old.go":      "not Go",
		"src/again/again.go":       "package again\n\n// Cut cuts s.\n//\n// It does so once.\nfunc Cut() {}\n",
		"src/many/none/nothing.go": "package none\n",
	}
	for i := range 40 {
		name := string(rune('a'+i%26)) + strings.Repeat("x", i/26)
		files["src/many/"+name+"/p.go"] = "// Package p is number " + name + ".\npackage p\n"
	}
	c, err := GoDocumentation(write(t, files))
	if err != nil {
		t.Fatal(err)
	}
	if c.Name != "the documentation of go1.99" {
		t.Errorf("name %q", c.Name)
	}
	all := slices.Concat(c.Train, c.HeldOut)
	if len(all) != 42 || len(c.HeldOut) == 0 {
		t.Errorf("%d documents, %d of them held out", len(all), len(c.HeldOut))
	}
	for _, d := range c.HeldOut {
		if !heldOut(d.Name) {
			t.Errorf("%s is held out", d.Name)
		}
	}
	got := map[string]string{}
	for _, d := range all {
		got[d.Name] = d.Text
	}
	// again comes first, so that its comment is not in cut's document.
	if want := "func Cut()\n    Cut cuts s.\n\n    It does so once.\n"; got["again"] != want {
		t.Errorf("again:\n%s\nwant\n%s", got["again"], want)
	}
	want := strings.Replace(documentOfCut, "\nfunc (k *Knife) Cut(s string) (before, after string)\n    Cut cuts s.\n\n    It does so once.\n", "", 1)
	if got["cut"] != want {
		t.Errorf("cut:\n%s\nwant\n%s", got["cut"], want)
	}
}

func TestCorpusErrors(t *testing.T) {
	if _, err := GoDocumentation(""); !errors.Is(err, errNoGo) {
		t.Errorf("without a path: %v", err)
	}
	if _, err := GoDocumentation(t.TempDir()); !errors.Is(err, errNoGo) {
		t.Errorf("of an empty folder: %v", err)
	}
	root := write(t, map[string]string{"src/p/p.go": "package 1"})
	if _, err := GoDocumentation(root); err == nil || !strings.Contains(err.Error(), "p.go does not parse") {
		t.Errorf("of broken source: %v", err)
	}
	root = write(t, map[string]string{"src/p/p.go": "// Package p is.\npackage p\n", "short.txt": "one piece"})
	if _, err := GoDocumentation(root); err == nil || !strings.Contains(err.Error(), "the text is too small: of its 1 documents") {
		t.Errorf("of one package: %v", err)
	}
	if _, err := ReadFile(filepath.Join(root, "short.txt")); err == nil || !strings.Contains(err.Error(), "the text is too small") {
		t.Errorf("of a short file: %v", err)
	}
	if _, err := ReadFile(filepath.Join(root, "none.txt")); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("of a missing file: %v", err)
	}
}

// A file is cut at the ends of paragraphs, and nothing is lost.
func TestReadFile(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	var b strings.Builder
	for b.Len() < 60*pieceBytes {
		b.WriteString(strings.Repeat("word ", 1+rng.IntN(200)) + "\n\n")
	}
	path := filepath.Join(t.TempDir(), "text")
	if err := os.WriteFile(path, []byte(b.String()), 0o666); err != nil {
		t.Fatal(err)
	}
	c, err := ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if n := Bytes(c.Train) + Bytes(c.HeldOut); n != b.Len() {
		t.Errorf("%d bytes of %d", n, b.Len())
	}
	for _, d := range slices.Concat(c.Train, c.HeldOut) {
		if !strings.HasSuffix(d.Text, "\n\n") || len(d.Text) > pieceBytes+1002 {
			t.Errorf("%s has %d bytes and ends with %q", d.Name, len(d.Text), d.Text[len(d.Text)-4:])
		}
	}
	other, err := ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if c.Digest() != other.Digest() {
		t.Error("the same text has two digests")
	}
	other.Train, other.HeldOut = append(other.Train, other.HeldOut...), nil
	if c.Digest() == other.Digest() {
		t.Error("another division has the same digest")
	}
}

// A text of a few pieces has one held out, whatever its name draws, and the same one
// always.
func TestSomethingIsHeldOut(t *testing.T) {
	text := strings.Repeat(strings.Repeat("word ", 200)+"\n\n", 317) // 317 KB
	for i := range 12 {
		path := filepath.Join(t.TempDir(), fmt.Sprint("text", i))
		if err := os.WriteFile(path, []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
		c, err := ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		if len(c.HeldOut) == 0 || len(c.Train) < len(c.HeldOut) || Bytes(c.Train)+Bytes(c.HeldOut) != len(text) {
			t.Errorf("%s: %d pieces to train on and %d held out", path, len(c.Train), len(c.HeldOut))
		}
	}
}

// Go's own documentation is text enough, and little of it is held out.
func TestThisGo(t *testing.T) {
	if !require.All() {
		t.Skip("reads all of GOROOT: only with ONEBIT_ALL=1")
	}
	c, err := GoDocumentation(build.Default.GOROOT)
	if err != nil {
		t.Fatal(err)
	}
	train, held := Bytes(c.Train), Bytes(c.HeldOut)
	if train < 4<<20 || held < train/50 || held > train/5 {
		t.Errorf("%d bytes to train on and %d held out", train, held)
	}
}

// Every window of an epoch comes once, and each from its number alone.
func TestStream(t *testing.T) {
	tokens := make([]int32, 1003)
	for i := range tokens {
		tokens[i] = int32(i)
	}
	s, err := newStream(tokens, 100, 7)
	if err != nil {
		t.Fatal(err)
	}
	n := s.windows()
	var first []int32
	var starts []int32
	for i := range 3 * n {
		w := s.window(i)
		if len(w) != 101 || w[100]-w[0] != 100 {
			t.Fatalf("window %d goes from %d to %d", i, w[0], w[len(w)-1])
		}
		starts = append(starts, w[0])
		if i < n {
			first = append(first, w[0])
		}
	}
	slices.Sort(first)
	for i := 1; i < n; i++ {
		if first[i]-first[i-1] != 100 {
			t.Errorf("windows of an epoch begin at %v", first)
			break
		}
	}
	if slices.Equal(starts[:n], starts[n:2*n]) {
		t.Error("two epochs are the same")
	}
	again, _ := newStream(tokens, 100, 7)
	for _, i := range []int{2*n + 1, 0, n - 1} {
		if got := again.window(i)[0]; got != starts[i] {
			t.Errorf("window %d begins at %d, then at %d", i, starts[i], got)
		}
	}
	if _, err := newStream(tokens[:300], 100, 7); err == nil || !strings.Contains(err.Error(), "300 tokens to train on") {
		t.Errorf("a short text: %v", err)
	}
}

// Probabilities of all tokens add up to 1 after any two tokens, seen or not.
func TestTrigramIsDistribution(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	tokens := make([]int32, 3000)
	for i := range tokens {
		tokens[i] = int32(rng.ExpFloat64() * 4)
	}
	const vocab = 64
	m := NewTrigram(tokens, vocab)
	for _, uv := range [][2]int32{{0, 0}, {1, 2}, {9, 30}, {63, 63}, {63, 0}} {
		sum := 0.0
		for w := range int32(vocab) {
			p := m.Probability(uv[0], uv[1], w)
			if p <= 0 {
				t.Fatalf("p(%d|%v) = %v", w, uv, p)
			}
			sum += p
		}
		if math.Abs(sum-1) > 1e-12 {
			t.Errorf("after %v probabilities add up to %v", uv, sum)
		}
	}
}

// By hand: of a b a b a b a, four tokens known. The trigrams are aba (3 times) and
// bab (2), both orders below count one token before: ba after a…, so that all
// discounts are those of small texts, half of the count.
//
//	p1(a) = (1 - ½ + (½·2)·¼)/2 = ⅜
//	p2(a|b) = (1 - ½ + ½·⅜)/1 = 11/16
//	p3(a|ab) = (3 - 1.5 + 1.5·11/16)/3 = 27/32
func TestTrigramByHand(t *testing.T) {
	m := NewTrigram([]int32{0, 1, 0, 1, 0, 1, 0}, 4)
	if p := m.Probability(0, 1, 0); math.Abs(p-27.0/32) > 1e-15 {
		t.Errorf("p(a|ab) = %v, want 27/32", p)
	}
	if p := m.Probability(3, 3, 0); math.Abs(p-3.0/8) > 1e-15 {
		t.Errorf("p(a|unseen) = %v, want 3/8", p)
	}
	if nats := m.Nats([]int32{0, 1, 0}); math.Abs(nats+math.Log(m.Probability(0, 0, 1))+math.Log(27.0/32)) > 1e-12 {
		t.Errorf("nats %v", nats)
	}
}
