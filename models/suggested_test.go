package models_test

import (
	"math"
	"strings"
	"testing"

	"onebit/formats/container"
	"onebit/models"
	"onebit/models/source"
)

// A file's keys are read as llama.cpp writes them, of any kind of number, and refused by
// name where they are none.
func TestSuggestedSampling(t *testing.T) {
	type kv = container.KV
	f32 := func(x float32) container.Value { return container.Of(x) }
	for name, tt := range map[string]struct {
		keys []kv
		want models.SamplerOptions
		ok   bool
	}{
		"nothing":    {nil, models.SamplerOptions{}, false},
		"greedy":     {[]kv{{Key: "temp", Value: f32(0)}}, models.SamplerOptions{}, false},
		"cuts alone": {[]kv{{Key: "top_k", Value: container.Of(int32(20))}}, models.SamplerOptions{TopK: 20}, false},
		"all": {[]kv{{Key: "temp", Value: f32(0.5)}, {Key: "top_k", Value: container.Of(int32(20))}, {Key: "top_p", Value: f32(0.75)}, {Key: "min_p", Value: f32(0.25)},
			{Key: "penalty_repeat", Value: f32(1.5)}, {Key: "penalty_last_n", Value: container.Of(int32(32))}, {Key: "sequence", Value: container.Of("kpmt")}},
			models.SamplerOptions{Temperature: 0.5, TopK: 20, TopP: 0.75, MinP: 0.25, RepetitionPenalty: 1.5, RepetitionWindow: 32}, true},
		"off by negatives": {[]kv{{Key: "temp", Value: container.Of(uint32(1))}, {Key: "top_k", Value: container.Of(int32(-1))}, {Key: "penalty_last_n", Value: container.Of(int32(-1))}},
			models.SamplerOptions{Temperature: 1, RepetitionWindow: math.MaxInt32}, true},
	} {
		x := newFixture(t, preset("tiny"))
		for _, k := range tt.keys {
			x.set("general.sampling."+k.Key, k.Value)
		}
		if got, ok, err := models.SuggestedSampling(source.FromGGUF(x.file(t))); err != nil || got != tt.want || ok != tt.ok {
			t.Errorf("%s: %+v, %t, %v; want %+v, %t", name, got, ok, err, tt.want, tt.ok)
		}
	}
	for want, v := range map[string]container.Value{
		`key "general.sampling.temp": is "\"warm\"", want a number`: container.Of("warm"),
		"what general.sampling.* suggests: temperature 1e+06":       f32(1e6),
		"want a number": f32(float32(math.NaN())),
	} {
		x := newFixture(t, preset("tiny"))
		x.set("general.sampling.temp", v)
		if _, _, err := models.SuggestedSampling(source.FromGGUF(x.file(t))); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("error %v, want %s", err, want)
		}
	}
}
