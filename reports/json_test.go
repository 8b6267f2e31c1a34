package reports

import (
	"bytes"
	"encoding/json"
	"slices"
	"testing"

	"onebit/bench/results"
)

func TestJSON(t *testing.T) {
	res := goldenInput(t, "results.txt")
	res.Failures = append(res.Failures, results.Failure{Name: results.ParseName("MatVec/format=f16"), Reason: "row 3 is 1, want 2"})
	res.Warnings = append(res.Warnings, "a doubt\u202e")
	var b bytes.Buffer
	if err := WriteJSON(&b, res); err != nil {
		t.Fatal(err)
	}
	if bytes.ContainsRune(b.Bytes(), '\u202e') {
		t.Error("a control character is there as it is")
	}
	var doc jsonResults
	if err := json.Unmarshal(b.Bytes(), &doc); err != nil {
		t.Fatal(err)
	}
	d := newDigest(res)
	if len(doc.Cases) != len(d.cases) || len(doc.Cases) == 0 {
		t.Fatalf("%d cases, want %d", len(doc.Cases), len(d.cases))
	}
	for _, c := range d.cases {
		i := slices.IndexFunc(doc.Cases, func(j jsonCase) bool { return j.Name == c.name.Full })
		if i < 0 {
			t.Fatalf("%s is missing", c.name.Full)
		}
		for unit, s := range c.stats {
			v := doc.Cases[i].Values[unit]
			if v.Center != s.Center || v.Samples != len(s.values) || v.Processes != s.Processes || v.NextRun != s.NextRun || (v.Lo != nil) != s.bounded() || v.Lo != nil && (*v.Lo != s.Lo || *v.Hi != s.Hi) {
				t.Errorf("%s in %s: %+v, want %+v", c.name.Full, unit, v, s)
			}
		}
		if got := doc.Cases[i].Keys["variant"]; got != c.name.Get("variant") {
			t.Errorf("%s: variant %q", c.name.Full, got)
		}
	}
	if len(doc.Floors) != len(d.floors) || len(doc.Floors) == 0 {
		t.Fatalf("floors %+v, want %+v", doc.Floors, d.floors)
	}
	for i, f := range d.floors {
		got := doc.Floors[i]
		if got.Class != f.Class || got.Pairs != f.Pairs || (got.Floor != nil) != f.Known() || got.Floor != nil && *got.Floor != f.Floor {
			t.Errorf("floor %+v, want %+v", got, f)
		}
	}
	if got := doc.Settings["cpu"]; got == "" || got != res.Setting("cpu") {
		t.Errorf("cpu %q", got)
	}
	if u := doc.Units[results.NsPerOp]; u.Better != "lower" || u.Exact {
		t.Errorf("ns/op is %+v", u)
	}
	if n := len(doc.Failures); n != len(res.Failures) || doc.Failures[n-1].Reason != "row 3 is 1, want 2" || !slices.Contains(doc.Warnings, "a doubt\u202e") {
		t.Errorf("failures %+v, warnings %q", doc.Failures, doc.Warnings)
	}
}

// Nothing is null that a script would iterate over.
func TestJSONOfNothing(t *testing.T) {
	var b bytes.Buffer
	if err := WriteJSON(&b, &results.Set{}); err != nil {
		t.Fatal(err)
	}
	if bytes.Contains(b.Bytes(), []byte("null")) {
		t.Errorf("%s", b.Bytes())
	}
}
