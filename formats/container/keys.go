package container

import "iter"

// Keys is a file's metadata.
type Keys struct {
	file  string
	pairs []KV
	index map[string]int
}

// NewKeys makes the metadata of a file of that name, no key of which comes
// twice.
func NewKeys(file string, pairs []KV) Keys {
	k := Keys{file: file, pairs: pairs, index: make(map[string]int, len(pairs))}
	for i, kv := range pairs {
		k.index[kv.Key] = i
	}
	return k
}

// Metadata returns all keys with their values, in the file's order.
func (k *Keys) Metadata() []KV { return k.pairs }

// Value returns the value of a key.
func (k *Keys) Value(key string) (Value, bool) {
	i, ok := k.index[key]
	if !ok {
		return Value{}, false
	}
	return k.pairs[i].Value, true
}

// Has reports whether the file has the key.
func (k *Keys) Has(key string) bool {
	_, ok := k.index[key]
	return ok
}

// Uint returns the value of a key as Value.Uint does. Like the methods after
// it, it fails with a *FormatError that names the key, and wraps ErrMissing if
// the file lacks it.
func (k *Keys) Uint(key string) (uint64, error) { return get(k, key, Value.Uint) }

// Int is Uint for Value.Int.
func (k *Keys) Int(key string) (int64, error) { return get(k, key, Value.Int) }

// Float is Uint for Value.Float.
func (k *Keys) Float(key string) (float64, error) { return get(k, key, Value.Float) }

// Bool is Uint for Value.Bool.
func (k *Keys) Bool(key string) (bool, error) { return get(k, key, Value.Bool) }

// String is Uint for Value.Text.
func (k *Keys) String(key string) (string, error) { return get(k, key, Value.Text) }

// Ints is Uint for Value.Ints.
func (k *Keys) Ints(key string) ([]int64, error) { return get(k, key, Value.Ints) }

// Floats is Uint for Value.Floats.
func (k *Keys) Floats(key string) ([]float64, error) { return get(k, key, Value.Floats) }

// Bools is Uint for Value.Bools.
func (k *Keys) Bools(key string) ([]bool, error) { return get(k, key, Value.Bools) }

// Strings is Uint for Value.Strings.
func (k *Keys) Strings(key string) ([]string, error) { return get(k, key, Value.Strings) }

// Texts is Uint for Value.Texts.
func (k *Keys) Texts(key string) (iter.Seq[string], error) { return get(k, key, Value.Texts) }

func get[T any](k *Keys, key string, read func(Value) (T, error)) (T, error) {
	v, ok := k.Value(key)
	err := ErrMissing
	var x T
	if ok {
		x, err = read(v)
	}
	if err != nil {
		return x, &FormatError{File: k.file, Offset: -1, Key: key, Msg: err.Error(), Err: err}
	}
	return x, nil
}
