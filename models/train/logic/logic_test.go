package logic

import (
	"crypto/sha256"
	"encoding/binary"
	"math"
	"math/rand/v2"
	"testing"

	"onebit/formats"
	"onebit/models/train"
)

func TestGates(t *testing.T) {
	tables := map[string][]uint{ // by inputs 0, 1, 2, …, the first input being the lowest bit
		"NOT":        {1, 0},
		"AND":        {0, 0, 0, 1},
		"OR":         {0, 1, 1, 1},
		"XOR":        {0, 1, 1, 0},
		"Maj":        {0, 0, 0, 1, 0, 1, 1, 1},
		"Ch":         {0, 0, 0, 1, 1, 0, 1, 1},
		"full adder": {0, 1, 1, 2, 1, 2, 2, 3},
		"XOR of 3":   {0, 1, 1, 0, 1, 0, 0, 1},
	}
	for _, g := range Gates {
		want := tables[g.Name]
		if len(want) != 1<<g.Inputs {
			t.Fatalf("%s has %d inputs", g.Name, g.Inputs)
		}
		for in, out := range want {
			if got := g.Eval(uint(in)); got != out {
				t.Errorf("%s of %b is %b, want %b", g.Name, in, got, out)
			}
		}
	}
}

// Each bit of a word is the parity of its sources.
func TestWords(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 1))
	for _, w := range Words {
		for range 100 {
			x := r.Uint32()
			if got := w.Through(Parity.Eval, x); got != w.Eval(x) {
				t.Errorf("%s of %08x is %08x, want %08x", w.Name, x, got, w.Eval(x))
			}
		}
	}
}

func TestTraceIsSHA256(t *testing.T) {
	message := []byte("forty-two bytes, or a few more than that.")
	var block [64]byte
	copy(block[:], message)
	block[len(message)] = 0x80
	binary.BigEndian.PutUint64(block[56:], uint64(8*len(message)))
	trace := Trace(block[:])
	var sum [32]byte
	for i, word := range trace[rounds] {
		binary.BigEndian.PutUint32(sum[4*i:], word+initial[i])
	}
	if want := sha256.Sum256(message); sum != want {
		t.Errorf("%x, want %x", sum, want)
	}
}

// The wires of a bit carry the bits of the words that SHA-256 would take.
func TestWiring(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 1))
	var s State
	for i := range s {
		s[i] = r.Uint32()
	}
	for word := range 8 {
		x := s[word]
		words := []uint32{
			x, rotr(x, 2), rotr(x, 13), rotr(x, 22), rotr(x, 6), rotr(x, 11), rotr(x, 25), rotr(x, 7), rotr(x, 18), x >> 3, rotr(x, 17), rotr(x, 19), x >> 10,
			s[0], s[1], s[2], s[3], s[4], s[5], s[6], s[7], x << 1, x << 2, x << 3, x << 4,
		}
		for i := range 32 {
			for k, from := range wiring(32*word + i) {
				got := uint(0)
				if from >= 0 {
					got = s.At(from)
				}
				if want := uint(words[k]>>(31-i)) & 1; got != want {
					t.Fatalf("wire %d of bit %d of word %d carries %d, want %d", k, i, word, got, want)
				}
			}
		}
	}
}

// The ceiling: given a state, every bit of a' and e' is as often 0 as 1 over the words
// of the message, and the six others don't depend on it.
func TestCeiling(t *testing.T) {
	if Ceiling != 0.875 {
		t.Errorf("ceiling %v", Ceiling)
	}
	r := rand.New(rand.NewPCG(1, 1))
	block := randomBlock(r)
	trace := Trace(block[:])
	const n = 10_000
	for _, round := range []int{0, 7, 15} {
		state := trace[round]
		var ones [Bits]int
		for range n {
			next := state.next(round, r.Uint32())
			for i := range ones {
				ones[i] += int(next.At(i))
			}
		}
		known := state.Copy()
		for i, n1 := range ones {
			if word := i / 32; word == 0 || word == 4 {
				// 5 deviations of a fair coin's
				if math.Abs(float64(n1)-n/2) > 5*math.Sqrt(n)/2 {
					t.Errorf("round %d: bit %d is 1 in %d of %d", round, i, n1, n)
				}
			} else if want := int(known.At(i)) * n; n1 != want {
				t.Errorf("round %d: bit %d is 1 in %d of %d, want %d", round, i, n1, n, want)
			}
		}
	}
	a := Measure(PredictCopy, r, 50)
	for t0, share := range a.Rounds {
		if math.Abs(share-Ceiling) > 0.03 {
			t.Errorf("copies are right about %v of the bits of round %d", share, t0)
		}
	}
	if math.Abs(a.Mean()-Ceiling) > 0.003 || a.Words[1] != 1 {
		t.Errorf("copies are right about %v of all bits, and %v of b", a.Mean(), a.Words[1])
	}
}

func TestLearn(t *testing.T) {
	for _, form := range []*train.Form{train.NanoLogic, train.B158, train.Float} {
		for _, name := range []string{"XOR", "full adder"} {
			g, err := LookupGate(name)
			if err != nil {
				t.Fatal(err)
			}
			learned := 0
			for seed := range uint64(3) {
				l, err := Learner{Form: form, Hidden: 16, Rate: 0.02, Steps: 1000}.Learn(g, seed)
				if err != nil {
					t.Fatal(err)
				}
				if !l.Learned() {
					continue
				}
				learned++
				for in := range uint(1) << g.Inputs {
					if l.Eval(in) != g.Eval(in) {
						t.Errorf("%s of %s: %b gives %b", form.Name, name, in, l.Eval(in))
					}
				}
			}
			if learned == 0 {
				t.Errorf("%s: no seed of 3 learns %s", form.Name, name)
			}
		}
	}
}

// What a centred matrix cannot hold: with one input there is no digit but 0, and with
// two there are none of the same sign.
func TestCentredNeurons(t *testing.T) {
	for _, name := range []string{"NOT", "AND", "OR", "Maj"} {
		g, err := LookupGate(name)
		if err != nil {
			t.Fatal(err)
		}
		for form, want := range map[*train.Form]bool{train.NanoLogic: false, train.B158: true, train.Float: true} {
			l, err := Learner{Form: form, Rate: 0.02, Steps: 500}.Learn(g, 1)
			if err != nil {
				t.Fatal(err)
			}
			if l.Learned() != want {
				t.Errorf("one neuron of form %s learned %s: %t", form.Name, name, l.Learned())
			}
		}
	}
}

// A learned cell, wired, is the word.
func TestLearnedWord(t *testing.T) {
	var cell *Lesson
	for seed := uint64(0); cell == nil || !cell.Learned(); seed++ {
		if seed == 10 {
			t.Fatal("ten seeds don't learn a parity")
		}
		var err error
		if cell, err = (Learner{Form: train.B158, Hidden: 16, Rate: 0.02, Steps: 1000}).Learn(Parity, seed); err != nil {
			t.Fatal(err)
		}
	}
	for _, w := range Words {
		if x := uint32(0x9b05688c); w.Through(cell.Eval, x) != w.Eval(x) {
			t.Errorf("%s of %08x is wrong", w.Name, x)
		}
	}
}

// The gradients of every parameter, along a direction, are the slope of the loss.
func TestSparseGradients(t *testing.T) {
	b := train.NewBuilder(nil, 1)
	s, err := NewSparse(b, 4, 2, train.Options{})
	if err != nil {
		t.Fatal(err)
	}
	s.gate.W[0] = 0.5
	r := rand.New(rand.NewPCG(1, 1))
	batch := NewBatch(r, 2, rounds)
	// A network of floats: the loss is smooth, and no weights' digits flip.
	loss := func() float64 {
		var sum float64
		for i, z := range s.Forward(batch.States) {
			sum += math.Sin(float64(z) + float64(i))
		}
		return sum
	}
	loss()
	grad := make([]float32, 2*Bits)
	for i, z := range s.Forward(batch.States) {
		grad[i] = float32(math.Cos(float64(z) + float64(i)))
	}
	train.ZeroGrad(s.Params())
	s.backward(grad)
	for _, p := range s.Params() {
		at := append([]float32(nil), p.W...)
		direction := make([]float64, len(at))
		var want, size float64
		for i := range direction {
			direction[i] = r.NormFloat64()
			size += float64(p.Grad[i]) * float64(p.Grad[i])
			want += direction[i] * float64(p.Grad[i])
		}
		const h = 1e-3
		along := func(by float64) float64 {
			for i, w := range at {
				p.W[i] = w + float32(by*direction[i])
			}
			return loss()
		}
		got := (along(h) - along(-h)) / (2 * h)
		copy(p.W, at)
		if size == 0 || math.Abs(got-want) > 0.02*math.Sqrt(size) {
			t.Errorf("%s: the slope is %v, the gradient says %v (norm %v)", p.Name, got, want, math.Sqrt(size))
		}
	}
}

func TestSparseTrains(t *testing.T) {
	b := train.NewBuilder(nil, 1)
	s, err := NewSparse(b, 8, 1, train.Options{Form: train.NanoLogic})
	if err != nil {
		t.Fatal(err)
	}
	o := train.NewOptimizer(nil, train.AdamW{Beta1: 0.9, Beta2: 0.999, Eps: 1e-8}, s.Params())
	r := rand.New(rand.NewPCG(1, 1))
	var first, last float64
	for step := 1; step <= 30; step++ {
		loss, err := s.Train(o, b, step, 1e-2, NewBatch(r, 2, 16))
		if err != nil {
			t.Fatal(err)
		}
		if step == 1 {
			first = loss
		}
		last = loss
	}
	if !(last < first-0.05) {
		t.Errorf("the loss went from %v to %v", first, last)
	}
	if a := Measure(s.Predict, r, 1); a.Mean() < 0.45 || a.Mean() > Ceiling+0.01 {
		t.Errorf("accuracy %v", a.Mean())
	}
	if _, err := NewSparse(b, 10, 1, train.Options{Form: train.OneBit}); err == nil {
		t.Error("250 inputs fill no blocks of 128")
	}
}

func TestPack(t *testing.T) {
	for _, typ := range PackedFormats {
		f, err := Pack(typ, 1_000_000)
		if err != nil {
			t.Error(err)
			continue
		}
		bits, err := typ.BitsPerWeight(f.Weights/memoryCols, memoryCols)
		if err != nil || f.BitsPerWeight() != bits || f.Weights < 1_000_000 {
			t.Errorf("%s: %v bits for each of %d weights, want %v (%v)", typ.Name, f.BitsPerWeight(), f.Weights, bits, err)
		}
		if got, want := f.Reduction(), 16/bits; math.Abs(got-want) > 1e-12 {
			t.Errorf("%s: %v times smaller, want %v", typ.Name, got, want)
		}
	}
	if f, err := Pack(formats.TQ1_0, 1); err != nil || f.Bytes != 540 {
		t.Errorf("a row of 2560 in tq1_0 is %d bytes (%v), want 540", f.Bytes, err)
	}
}
