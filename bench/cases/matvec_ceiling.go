package cases

import (
	"context"
	"errors"
	"fmt"
	"math/bits"

	"onebit/bench"
	"onebit/bench/names"
	"onebit/bench/roofline"
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
		Check: c.group.env.limits.Check(c.threads), Solo: c.solo(),
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
	r := roofline.NewMoving(roofline.Read, env.pool(c.threads), data...)
	r.Release = c.group.release
	if err := env.chooseReader(r, readPlace{c.threads, c.cold, bits.Len(uint(c.bytes))}); err != nil {
		return nil, errors.Join(err, r.Close())
	}
	return r, nil
}

// chooseReader finds what reads the fastest, as the first process of a run did.
func (r *env) chooseReader(m *roofline.Moving, at readPlace) error {
	if r.readers[at] == "" {
		found, err := r.folder.once(fmt.Sprintf("read.%d.%v.%d", at.threads, at.cold, at.size), func() ([]byte, error) { return []byte(m.Choose()), nil })
		if err != nil {
			return err
		}
		r.readers[at] = string(found)
	}
	return m.Use(r.readers[at])
}

// A readPlace is what decides which design reads the fastest: how many threads, and from
// where, which of as many bytes, to a factor of two, is the same.
type readPlace struct {
	threads int
	cold    bool
	size    int
}
