package cases

import "onebit/bench/names"

// List lists the cases of suites, with those that can't run here.
func List(suites []*Suite) (all []names.Listed) {
	for _, s := range suites {
		for _, c := range s.Cases {
			all = append(all, names.NewListed(c.Name))
		}
		for _, st := range s.Studies {
			c := names.NewListed(st.Name)
			c.Study = true
			all = append(all, c)
		}
		for _, u := range s.Unavailable {
			c := names.NewListed(u.Name)
			c.Unavailable = u.Err.Error()
			all = append(all, c)
		}
	}
	return all
}
