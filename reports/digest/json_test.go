package digest

import (
	"bytes"
	"encoding/json"
	"slices"
	"testing"

	"onebit/bench/results"
	"onebit/reports/doc"
	"onebit/reports/render"
	"onebit/reports/reportstest"
)

// writeJSON prints the records of a machine.
func writeJSON(b *bytes.Buffer, res *results.Set) error {
	var d doc.Document
	AddRecords(&d, []*Member{{Digest: Of(res)}})
	return reportstest.PrintDoc(b, &d, "json", render.Options{})
}

func TestJSON(t *testing.T) {
	res := reportstest.GoldenInput(t, "results.txt")
	res.Failures = append(res.Failures, results.Failure{Name: results.ParseName("MatVec/format=f16"), Reason: "row 3 is 1, want 2"})
	res.Warnings = append(res.Warnings, "a doubt\u202e")
	var b bytes.Buffer
	if err := writeJSON(&b, res); err != nil {
		t.Fatal(err)
	}
	if bytes.ContainsRune(b.Bytes(), '\u202e') {
		t.Error("a control character is there as it is")
	}
	var got JSON
	if err := json.Unmarshal(b.Bytes(), &got); err != nil {
		t.Fatal(err)
	}
	d := Of(res)
	if len(got.Cases) != len(d.Cases) || len(got.Cases) == 0 {
		t.Fatalf("%d cases, want %d", len(got.Cases), len(d.Cases))
	}
	for _, c := range d.Cases {
		i := slices.IndexFunc(got.Cases, func(j jsonCase) bool { return j.Name == c.Name.Full })
		if i < 0 {
			t.Fatalf("%s is missing", c.Name.Full)
		}
		for unit, s := range c.Stats {
			v := got.Cases[i].Values[unit]
			if v.Center != s.Center || v.Samples != len(s.Values) || v.Processes != s.Processes || v.NextRun != s.NextRun || (v.Lo != nil) != s.Bounded() || v.Lo != nil && (*v.Lo != s.Lo || *v.Hi != s.Hi) {
				t.Errorf("%s in %s: %+v, want %+v", c.Name.Full, unit, v, s)
			}
		}
		if v := got.Cases[i].Keys["variant"]; v != c.Name.Get("variant") {
			t.Errorf("%s: variant %q", c.Name.Full, v)
		}
	}
	if len(got.Floors) != len(d.Floors) || len(got.Floors) == 0 {
		t.Fatalf("floors %+v, want %+v", got.Floors, d.Floors)
	}
	for i, f := range d.Floors {
		floor := got.Floors[i]
		if floor.Class != f.Class || floor.Pairs != f.Pairs || (floor.Floor != nil) != f.Known() || floor.Floor != nil && *floor.Floor != f.Floor {
			t.Errorf("floor %+v, want %+v", floor, f)
		}
	}
	if cpu := got.Settings["cpu"]; cpu == "" || cpu != res.Setting("cpu") {
		t.Errorf("cpu %q", cpu)
	}
	if u := got.Units[results.NsPerOp]; u.Better != "lower" || u.Exact {
		t.Errorf("ns/op is %+v", u)
	}
	if n := len(got.Failures); n != len(res.Failures) || got.Failures[n-1].Reason != "row 3 is 1, want 2" || !slices.Contains(got.Warnings, "a doubt\u202e") {
		t.Errorf("failures %+v, warnings %q", got.Failures, got.Warnings)
	}
}

// Nothing is null that a script would iterate over.
func TestJSONOfNothing(t *testing.T) {
	var b bytes.Buffer
	if err := writeJSON(&b, &results.Set{}); err != nil {
		t.Fatal(err)
	}
	if bytes.Contains(b.Bytes(), []byte("null")) {
		t.Errorf("%s", b.Bytes())
	}
}
