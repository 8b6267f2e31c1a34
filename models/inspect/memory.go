package inspect

import (
	"cmp"
	"math"

	"onebit/models"
	"onebit/models/source"
)

// A Memory is what running a model takes, in bytes.
type Memory struct {
	Mapped    int64   `json:"weights_in_place"`
	Packed    int64   `json:"weights_packed"`
	State     int64   `json:"state"`
	Scratch   int64   `json:"scratch"`
	Context   int     `json:"context"`
	Available int64   `json:"available,omitempty"` // 0: not known
	Caches    []Cache `json:"caches"`
}

// A Cache is the memory of keys and values in a format.
type Cache struct {
	Format   string  `json:"format"`
	PerToken float64 `json:"bytes_per_token"`
	Bytes    int64   `json:"bytes"`   // of the context
	Total    int64   `json:"total"`   // with weights, state and scratch
	Largest  int     `json:"largest"` // context that fits in what is available; 0: none
}

// PlanMemory plans for a context of so many tokens, 0 for the usual one, with the weights as
// the default engine has them in the end, which the program imports. available is 0 where it
// is not known.
func PlanMemory(src source.Source, context int, available int64) (*Memory, error) {
	plan, err := models.NewPlan(src, models.Options{})
	if err != nil {
		return nil, err
	}
	usual, err := plan.Footprint(models.SessionOptions{Context: context})
	if err != nil {
		return nil, err
	}
	m := &Memory{
		Mapped: usual.Mapped, Packed: usual.Packed, State: usual.State, Scratch: usual.Scratch, Context: usual.Context,
		Available: available, Caches: []Cache{},
	}
	for _, fit := range plan.Fits(cmp.Or(m.Available, math.MaxInt64), 0) {
		f, err := plan.Footprint(models.SessionOptions{Context: context, Cache: fit.Format})
		if err != nil {
			return nil, err
		}
		m.Caches = append(m.Caches, Cache{fit.Format.Name, f.TokenBytes(), f.Cache, f.Total(), fit.Context})
	}
	return m, nil
}
