package results

import (
	"errors"
	"slices"
	"strconv"
	"strings"
	"unicode"

	"golang.org/x/perf/benchfmt"
)

// A Name is a benchmark's name taken apart: Base, then keys in the order in
// which they stand. Base and Keys rebuild Full.
type Name struct {
	Full  string    // without "Benchmark" and without -GOMAXPROCS
	Base  string    // MatVec
	Keys  []Setting // format=q1_0_g128; a part without "=" has an empty Key
	Procs int       // the suffix -GOMAXPROCS; 0 where there is none
}

// ParseName takes apart a name without the prefix "Benchmark".
func ParseName(s string) Name {
	base, parts := benchfmt.Name(s).Parts()
	n := Name{Full: s, Base: string(base)}
	for _, p := range parts {
		part := string(p)
		if digits, ok := strings.CutPrefix(part, "-"); ok {
			n.Full = strings.TrimSuffix(s, part)
			// Digits too many for an int stay 0 and out of Full: no machine
			// has them.
			n.Procs, _ = strconv.Atoi(digits)
			continue
		}
		key, value, ok := strings.Cut(part[1:], "=")
		if !ok {
			key, value = "", part[1:]
		}
		n.Keys = append(n.Keys, Setting{key, value})
	}
	return n
}

// written is the name as it stands in a file.
func (n Name) written() string {
	if n.Procs == 0 {
		return n.Full
	}
	return n.Full + "-" + strconv.Itoa(n.Procs)
}

// Get returns the value of a key, "" if the name has none.
func (n Name) Get(key string) string {
	for _, k := range n.Keys {
		if k.Key == key {
			return k.Value
		}
	}
	return ""
}

// Without returns Full with some keys left out: the name that cases share
// which differ only in those keys.
func (n Name) Without(keys ...string) string {
	var b strings.Builder
	b.WriteString(n.Base)
	for _, k := range n.Keys {
		if k.Key == "" {
			b.WriteString("/" + k.Value)
		} else if !slices.Contains(keys, k.Key) {
			b.WriteString("/" + k.Key + "=" + k.Value)
		}
	}
	return b.String()
}

// with returns the name with another value of a key that it has.
func (n Name) with(key, value string) Name {
	n.Keys = slices.Clone(n.Keys)
	for i, k := range n.Keys {
		if k.Key == key {
			n.Keys[i].Value = value
		}
	}
	n.Full = n.Without()
	return n
}

// Arms of A/A pairs carry this base name and key; see the package comment.
const (
	PairBase = "AA"
	ArmKey   = "arm"
)

// IsArm reports whether the name is that of an arm of an A/A pair, and no case.
func (n Name) IsArm() bool { return n.Base == PairBase && n.Get(ArmKey) != "" }

// DoubleName names the double of a case, arm b of a pair whose arm a is the
// case itself.
func DoubleName(name string) string { return PairBase + "/" + name + "/" + ArmKey + "=b" }

// CheckName rejects what the results file could not hold as a name.
func CheckName(name string) error {
	switch {
	case name == "":
		return errors.New("it has no name")
	case strings.ContainsFunc(name, func(r rune) bool { return unicode.IsSpace(r) || unicode.IsControl(r) }):
		return errors.New("the name contains white space")
	case ParseName(name).Full != name:
		return errors.New("a name that ends in -digits reads as GOMAXPROCS")
	}
	return nil
}
