package cases

import (
	"context"
	"fmt"
	"math/bits"
	"slices"

	"onebit/bench"
	"onebit/bench/names"
)

// A ceiling is the case that only reads a group's weights: its bytes per
// second are what %roof of the group's products is a share of.
type ceiling struct {
	group  *group
	config // of a product that reads these bytes
	bytes  int
}

func (c ceiling) name() string {
	src := c.group.src
	return names.Read{
		Format: src.Format.Name, Rows: src.Rows, Cols: src.Cols, Bytes: c.bytes, Threads: c.threads, Cache: c.cache(),
	}.String()
}

func (c ceiling) benchCase() bench.Case {
	return bench.Case{
		Name: c.name(), Group: c.group.name(), Bytes: int64(c.bytes), Ceiling: true,
		Check: c.group.env.limits.check(c.threads), Solo: c.solo(),
		Setup: func(context.Context) (bench.Instance, error) { return c.setup() },
	}
}

// solo is the ceiling that one thread reads. Out of caches, that is: a core by
// itself may read all that memory gives.
func (c ceiling) solo() string {
	if c.cold || c.threads == 1 {
		return ""
	}
	c.threads = 1
	return c.name()
}

func (c ceiling) setup() (bench.Instance, error) {
	if err := c.group.acquire(); err != nil {
		return nil, err
	}
	_, matrices, err := c.group.matrices(c.variant, c.cold)
	if err != nil {
		c.group.release()
		return nil, err
	}
	data := make([][]byte, len(matrices))
	for i, m := range matrices {
		data[i] = m.Data
	}
	env := c.group.env
	r := newMoving(names.ReadAccess, env.pool(c.threads), data...)
	r.release = c.group.release
	at, known := readPlace{c.threads, c.cold, bits.Len(uint(c.bytes))}, false
	if r.design, known = env.readers[at]; !known {
		if err := r.chooseOnce(env.folder, fmt.Sprintf("read.%d.%v.%d", at.threads, at.cold, at.size)); err != nil {
			c.group.release()
			return nil, err
		}
		env.readers[at] = r.design
	}
	return r, nil
}

// chooseOnce finds the design, as the first process of a run did.
func (m *moving) chooseOnce(shared folder, place string) error {
	name, err := shared.once(place, func() ([]byte, error) {
		m.choose()
		return []byte(m.design.name), nil
	})
	if err != nil {
		return err
	}
	all := accesses[m.access].designs()
	i := slices.IndexFunc(all, func(d design) bool { return d.name == string(name) })
	if i < 0 {
		return fmt.Errorf("no kernel is called %q that can %s", name, m.access)
	}
	m.design = all[i]
	return nil
}

// A readPlace is what decides which design reads the fastest: how many threads, and from
// where, which of as many bytes, to a factor of two, is the same.
type readPlace struct {
	threads int
	cold    bool
	size    int
}
