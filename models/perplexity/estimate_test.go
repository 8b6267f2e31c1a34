package perplexity_test

import (
	"math"
	"math/rand/v2"
	"testing"

	"onebit/models/perplexity"
)

// Of the reference's five likeliest (9 8 7 6 5) the model has 9, 7 and 5 among
// its own; of equal logits the lower id comes first.
func TestTop5(t *testing.T) {
	reference := []float32{0, 0, 0, 0, 0, 1, 2, 3, 4, 5}
	model := []float32{4, 4, 4, 0, 0, 5, 0, 6, 0, 7}
	var e perplexity.Estimate
	if err := e.Add(model, reference, 0); err != nil {
		t.Fatal(err)
	}
	near(t, "top 5", e.Top5.Value(), 3.0/5)
	near(t, "same top", e.SameTop.Value(), 1)
	if err := e.Add(model, []float32{4, 4, 4, 4, 4, 4, 4, 4, 4, 4}, 0); err != nil { // 0 1 2 3 4
		t.Fatal(err)
	}
	near(t, "top 5", e.Top5.Value(), (3.0/5+2.0/5)/2) // 0 and 1; 2 is the model's sixth
}

// The standard error of the difference of perplexities is that of the mean of
// ppl·NLL - ppl(ref)·NLL(ref), its first-order change, token by token.
func TestPPLDiffError(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	var e perplexity.Estimate
	var nlls, references []float64
	for range 50 {
		z, y := make([]float32, 8), make([]float32, 8)
		for i := range z {
			y[i] = float32(rng.NormFloat64())
			z[i] = y[i] + float32(rng.NormFloat64())/4
		}
		if err := e.Add(z, y, 3); err != nil {
			t.Fatal(err)
		}
		nlls, references = append(nlls, nll(z, 3)), append(references, nll(y, 3))
	}
	q, _ := e.PPL()
	p, _ := e.ReferencePPL()
	var sum, squares float64
	for i := range nlls {
		x := q*nlls[i] - p*references[i]
		sum += x
		squares += x * x
	}
	n := float64(len(nlls))
	diff, stdErr := e.PPLDiff()
	near(t, "difference of PPL", diff, q-p)
	near(t, "its standard error", stdErr, math.Sqrt((squares/n-sum/n*sum/n)/(n-1)))
}

func nll(z []float32, token int) float64 {
	var sum float64
	for _, x := range z {
		sum += math.Exp(float64(x))
	}
	return math.Log(sum) - float64(z[token])
}

// A token that the reference rules out has no share in the divergence.
func TestImpossibleToken(t *testing.T) {
	inf := float32(math.Inf(-1))
	var e perplexity.Estimate
	if err := e.Add([]float32{0, 0, 0}, []float32{0, 0, inf}, 0); err != nil {
		t.Fatal(err)
	}
	near(t, "KLD", e.KLD.Value(), math.Log(1.5))
	if err := e.Add([]float32{0, 0, 0}, []float32{0, 0, inf}, 2); err == nil {
		t.Error("a token that the reference rules out was scored")
	}
}
