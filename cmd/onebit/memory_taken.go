package main

import (
	"fmt"

	"onebit/internal/sysinfo"
	"onebit/models"
	"onebit/models/engine/cpu"
)

// A memoryDocument is what run and perplexity tell with --json of memory, in bytes:
// what was planned and, where the system tells, what the process took at most.
type memoryDocument struct {
	Context int          `json:"context"`
	Cache   string       `json:"cache"` // format of keys and values
	Planned planDocument `json:"planned"`
	// Of the process, with its tokenizer and garbage: at most, and at the end.
	Peak int64 `json:"peak_resident,omitempty"`
	Anon int64 `json:"anonymous,omitempty"`
	File int64 `json:"file,omitempty"` // pages of mapped files, of which the model's
}

// A planDocument is a models.Footprint.
type planDocument struct {
	Total   int64 `json:"total"`
	Mapped  int64 `json:"weights_in_place"`
	Packed  int64 `json:"weights_packed"`
	KV      int64 `json:"keys_and_values"`
	State   int64 `json:"state"`
	Scratch int64 `json:"scratch"`
}

// memoryOf returns what a session was planned to take, and the process took until
// now; nil of an engine that has memory of its own.
func (en *openModel) memoryOf(context int) *memoryDocument {
	if cpu.PoolOf(en.Engine()) == nil {
		return nil
	}
	f, err := en.Plan().Footprint(models.SessionOptions{Context: context, Cache: en.cache})
	if err != nil {
		return nil // there is no such session
	}
	now := sysinfo.ReadMemory()
	return &memoryDocument{
		Context: f.Context, Cache: f.Format.Name,
		Planned: planDocument{f.Total(), f.Mapped, f.Packed, f.Cache, f.State, f.Scratch},
		Peak:    int64(now.Peak.V), Anon: int64(now.Anon.V), File: int64(now.File.V),
	}
}

// String says it in a few words.
func (m *memoryDocument) String() string {
	planned := sysinfo.Bytes(m.Planned.Total).String() + " planned"
	if m.Peak == 0 {
		return planned
	}
	return fmt.Sprintf("%s at most, %s", sysinfo.Bytes(m.Peak), planned)
}

// note is a part of a summary; "" where nothing is known.
func (m *memoryDocument) note() string {
	if m == nil {
		return ""
	}
	return fmt.Sprintf("memory %v; ", m)
}
