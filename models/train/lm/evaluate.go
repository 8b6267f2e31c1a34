package lm

import "math"

// nats is -ln of the probability that logits give a token.
func nats(logits []float32, token int32) float64 {
	most := logits[0]
	for _, z := range logits {
		most = max(most, z)
	}
	var sum float64
	for _, z := range logits {
		sum += math.Exp(float64(z - most))
	}
	return math.Log(sum) - float64(logits[token]-most)
}
