package cpu_test

import (
	"errors"
	"strings"
	"testing"

	"onebit/kernels"
	"onebit/models/engine/cpu"
)

// A choice that no machine can follow is told from one that this machine can't.
func TestCheckChoice(t *testing.T) {
	for _, tt := range []struct {
		name string
		act  kernels.Scheme
		want string // "": it may be
	}{
		{"", "", ""},
		{"", kernels.Q8Row, ""},
		{"scalar", "", ""},
		{cpu.Reference, kernels.Q8Row, ""},
		{"quantum", "", `unknown variant "quantum" (known: `},
	} {
		err := cpu.CheckChoice(tt.name, tt.act)
		if tt.want == "" {
			if err != nil {
				t.Errorf("%s in %s: %v", tt.name, tt.act, err)
			}
			continue
		}
		if _, wrong := errors.AsType[*cpu.ChoiceError](err); !wrong || !strings.HasPrefix(err.Error(), tt.want) {
			t.Errorf("%s in %s: %v, want %s", tt.name, tt.act, err, tt.want)
		}
	}
}

// A variant together with a scheme is refused if no format has both.
func TestCheckChoiceOfSchemes(t *testing.T) {
	type pair struct {
		name string
		act  kernels.Scheme
	}
	has := map[pair]bool{}
	for _, v := range kernels.Variants() {
		has[pair{v.Name, v.Scheme}] = true
	}
	for _, v := range kernels.Variants() {
		for _, act := range kernels.Schemes() {
			err := cpu.CheckChoice(v.Name, act)
			if may := has[pair{v.Name, act}] || v.Name == cpu.Reference; may != (err == nil) {
				t.Errorf("%s in %s: %v", v.Name, act, err)
			}
		}
	}
}
