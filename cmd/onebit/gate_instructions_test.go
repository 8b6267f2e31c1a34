package main

import (
	"bytes"
	"strings"
	"testing"
	"time"

	"onebit/bench/gate"
	"onebit/bench/gate/sides"
)

// Where nothing counts instructions, the flag is warned about, and a rule on them is
// an error: what it judges is no pass.
func TestNothingCounts(t *testing.T) {
	t.Setenv("PATH", t.TempDir())
	if by, err := new(sides.Tests).InstructionMeter(); err == nil {
		t.Skipf("%s count here", by.Name)
	}
	rules, err := gate.ParseRules([]byte("[units]\n\"instructions/op\" = \"1%\"\n"), "rules.toml")
	if err != nil {
		t.Fatal(err)
	}
	cmd := newGate()
	var said bytes.Buffer
	cmd.SetErr(&said)
	f := gateFlags{instructions: true}
	if _, err := f.counting(cmd, rules, &sides.Tests{}); err == nil || !strings.Contains(err.Error(), "rules.toml judges instructions/op: instructions cannot be counted: ") {
		t.Errorf("of a rule: %v", err)
	}
	counting, err := f.counting(cmd, &gate.Rules{}, &sides.Tests{})
	if counting != nil || err != nil || !strings.Contains(said.String(), "valgrind is not installed (") {
		t.Errorf("of the flag: %v, %v, %q", counting, err, said.String())
	}
	if counting.reserve(time.Minute, 3) != 0 || counting.count(t.Context(), rules, nil, nil) != nil {
		t.Error("time is kept for what is not counted")
	}
}
