package cases

import "onebit/bench/results"

// A Listed is one case of a list, in the form of its JSON.
type Listed struct {
	Name        string            `json:"name"`
	Base        string            `json:"base"`
	Keys        map[string]string `json:"keys"`
	Study       bool              `json:"study,omitempty"`       // it makes samples of its own
	Unavailable string            `json:"unavailable,omitempty"` // why it can't run here
}

func newListed(name string) Listed {
	n := results.ParseName(name)
	c := Listed{Name: n.Full, Base: n.Base, Keys: make(map[string]string)}
	for _, k := range n.Keys {
		if k.Key != "" {
			c.Keys[k.Key] = k.Value
		}
	}
	return c
}

// List lists the cases of suites, with those that can't run here.
func List(suites []*Suite) (all []Listed) {
	for _, s := range suites {
		for _, c := range s.Cases {
			all = append(all, newListed(c.Name))
		}
		for _, st := range s.Studies {
			c := newListed(st.Name)
			c.Study = true
			all = append(all, c)
		}
		for _, u := range s.Unavailable {
			c := newListed(u.Case.Name)
			c.Unavailable = u.Err.Error()
			all = append(all, c)
		}
	}
	return all
}
