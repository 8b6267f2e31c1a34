package main

import (
	"bytes"
	"image/png"
	"math"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"onebit/cmd/internal/cli"
	"onebit/internal/require"
	"onebit/models/train/gradients"
)

// What is printed and drawn of results that are known.
func TestGradientTables(t *testing.T) {
	require.Unraced(t, "one thread computes it")
	var results []*gradients.Result
	for _, trial := range gradients.Grid(2) {
		r := &gradients.Result{Trial: trial, HeldOut: 2 + trial.Rate, FirstNorms: []float64{0.5}, Scales: []float64{0.04}}
		if trial.Seed == 2 {
			r.HeldOut += 0.5
		}
		if trial.Gradient == "inverse-scale" {
			r.FirstNorms[0] *= 25
		}
		if trial.Optimizer == "sgd" && trial.Rate == 1 {
			r.HeldOut = math.NaN()
		}
		for step := range 40 {
			r.Losses, r.Norms = append(r.Losses, 5-float64(step)/20), append(r.Norms, 1)
		}
		results = append(results, r)
	}
	groups := gradients.Groups(results)
	var b bytes.Buffer
	if err := printFirstNorms(&b, groups); err != nil {
		t.Fatal(err)
	}
	if err := printHeldOut(&b, groups, gradients.Settings()[0]); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{
		`(?m)^0 +0\.0400 +0\.500 +0\.500 +12\.500 +25\.0 +25\.0$`,
		`(?m)^adamw +0\.0003 +2\.250 \(2\.000 to 2\.500\) best +2\.250 `,
		`(?m)^ +0\.01 +2\.260 \(2\.010 to 2\.510\) +2\.260 `,
		`(?m)^ +1 +2 of 2 diverged +2 of 2 diverged +2 of 2 diverged$`,
	} {
		if !regexp.MustCompile(want).MatchString(b.String()) {
			t.Errorf("nothing matches %s:\n%s", want, &b)
		}
	}
	b.Reset()
	if err := cli.PrintJSON(&b, newGradientsDocument("a text", "b1.58", 40, results)); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{`"held_out": null`, `"held_out": 2.5`, `"gradient": "inverse-scale"`} {
		if !strings.Contains(b.String(), want) {
			t.Errorf("the document lacks %s:\n%s", want, &b)
		}
	}
	dir := t.TempDir()
	if err := drawGradients(dir, groups, "a text"); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"gradients-rates.png", "gradients-losses.png", "gradients-norms.png"} {
		f, err := os.Open(filepath.Join(dir, name))
		if err != nil {
			t.Fatal(err)
		}
		if _, err := png.DecodeConfig(f); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		f.Close()
	}
}
