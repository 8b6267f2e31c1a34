package names

import "onebit/bench/results"

// A Listed is one case of a list, in the form of its JSON.
type Listed struct {
	Name        string            `json:"name"`
	Base        string            `json:"base"`
	Keys        map[string]string `json:"keys"`
	Study       bool              `json:"study,omitempty"`       // it makes samples of its own
	Unavailable string            `json:"unavailable,omitempty"` // why it can't run here
}

// NewListed takes a name apart.
func NewListed(name string) Listed {
	n := results.ParseName(name)
	c := Listed{Name: n.Full, Base: n.Base, Keys: make(map[string]string)}
	for _, k := range n.Keys {
		if k.Key != "" {
			c.Keys[k.Key] = k.Value
		}
	}
	return c
}
