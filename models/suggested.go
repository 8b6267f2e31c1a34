package models

import (
	"fmt"
	"math"

	"onebit/formats/container"
	"onebit/internal/term"
	"onebit/models/arch"
	"onebit/models/source"
)

// SuggestedSampling returns how a file's metadata says that its tokens are drawn, with no
// seed. ok is false where it suggests nothing, or the likeliest token. Other samplers'
// keys, such as Mirostat's, are left alone.
func SuggestedSampling(src source.Source) (opt SamplerOptions, ok bool, err error) {
	meta, _ := src.Metadata() // that a tokenizer is missing says nothing about sampling
	for _, kv := range meta {
		var to *float64
		var count *int
		switch kv.Key {
		case arch.KeySamplingTemperature:
			to = &opt.Temperature
		case arch.KeySamplingTopP:
			to = &opt.TopP
		case arch.KeySamplingMinP:
			to = &opt.MinP
		case arch.KeySamplingPenalty:
			to = &opt.RepetitionPenalty
		case arch.KeySamplingTopK:
			count = &opt.TopK
		case arch.KeySamplingWindow:
			count = &opt.RepetitionWindow
		default:
			continue
		}
		x, err := number(kv.Value)
		switch {
		case err != nil || math.IsNaN(x):
			return opt, false, &container.FormatError{File: src.Name(), Offset: -1, Key: kv.Key, Msg: "is " + term.QuoteAlways(kv.Value.String()) + ", want a number"}
		case to != nil:
			*to = max(0, x)
		case kv.Key == arch.KeySamplingWindow && x < 0:
			*count = math.MaxInt32
		default:
			*count = int(min(max(0, x), math.MaxInt32))
		}
	}
	if _, err := NewSampler(opt); err != nil {
		return opt, false, fmt.Errorf("%s: what general.sampling.* suggests: %w", src.Name(), err)
	}
	return opt, opt.Temperature > 0, nil
}

// number is a value of any kind of number.
func number(v container.Value) (float64, error) {
	if n, err := v.Int(); err == nil {
		return float64(n), nil
	}
	return v.Float()
}
