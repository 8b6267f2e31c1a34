package metal

import (
	"onebit/formats"
	"onebit/metal"
	"onebit/models/engine"
)

// partSpan is how many positions a threadgroup looks at, of a head and column that
// see more: a token of a long text has too few heads to keep a GPU busy. Parts
// begin at its multiples, whatever the batch, and one alone is the whole to the bit,
// so that a column's result depends on its own position only. What parts leave to be
// added up is a float32 for 512 multiply-adds: 128 MiB for the most that a command
// buffer has.
const partSpan = 256

func (s *stream) Attend(op string, dst, q, k, v engine.Buffer) {
	to, queries, keys, values := dst.(*buffer), q.(*buffer), k.(*buffer), v.(*buffer)
	state := s.states[s.block].(*kv)
	positions, most := 0, state.seen(s.position+s.n)
	for c := range s.n {
		positions += state.seen(s.position + c + 1)
	}
	w := work{
		bytes: state.bytes(min(s.position, most) + s.n), macs: 2 * positions * queries.width,
		moved: 4 * (2*queries.len() + keys.len() + values.len()),
	}
	s.do(op, w, func() {
		if !s.resize(to, s.n) {
			return
		}
		a := state.arguments(queries.width/state.Dim, s.position)
		s.append(state, keys, state.keys, state.keyScales, a)
		s.append(state, values, state.values, state.valueScales, a)
		s.runs(s.n, 2*most*queries.width, func(from, n int) { s.attend(state, to, queries, from, n) })
	}, result{op, to})
}

// append adds keys or values to a cache.
func (s *stream) append(state *kv, b *buffer, cache, scales *metal.Buffer, a attention) {
	if state.format == formats.Q8_0 {
		s.threads(state.append, plane(b.width/q8Len, s.n), line(32), at(b.buffer, 0), out(cache, 0), out(scales, 0), value(a))
		return
	}
	s.threads(state.append, plane(b.width, s.n), line(vectorThreads), at(b.buffer, 0), out(cache, 0), value(a))
}

// attend lets columns [from, from+n) look at what is before them.
func (s *stream) attend(state *kv, to, queries *buffer, from, n int) {
	heads := queries.width / state.Dim
	a, results := value(state.arguments(heads, s.position+from)), out(to.buffer, 4*from*to.width)
	args := []argument{
		at(queries.buffer, 4*from*queries.width), at(state.keys, 0), at(state.values, 0), results, a,
		at(state.keyScales, 0), at(state.valueScales, 0),
	}
	parts := (s.position + from + n + partSpan - 1) / partSpan
	if parts == 1 {
		s.groups(state.attend, plane(heads, n), line(attendThreads), args...)
		return
	}
	if !s.grow(&s.partials, 4*n*heads*parts*state.Dim) || !s.grow(&s.partialSums, 8*n*heads*parts) {
		return
	}
	args[3] = out(s.partials.buffer, 0)
	sums, cut := out(s.partialSums.buffer, 0), value([2]uint32{uint32(parts), partSpan})
	s.groups(state.attendParts, metal.Size{Width: uint(heads), Height: uint(n), Depth: uint(parts)}, line(attendThreads), append(args, sums, cut)...)
	s.threads(state.attendMerge, plane(state.Dim, n*heads), line(32), at(s.partials.buffer, 0), at(s.partialSums.buffer, 0), results, a, cut)
}
