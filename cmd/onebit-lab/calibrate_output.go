package main

import (
	"fmt"
	"io"

	"onebit/bench/gate"
	"onebit/bench/gate/calibrate"
	"onebit/cmd/internal/cli"
)

// printPlayed prints how often gates were right and wrong, and then how often
// other methods were.
func printPlayed(w io.Writer, played []playedNoise) error {
	for i, p := range played {
		if i > 0 {
			fmt.Fprintln(w)
		}
		fmt.Fprintf(w, "%s; in brackets 95%% intervals\n\n", p.Noise)
		t := cli.NewTable(w, "slowdown", "any false claim", "exit 0", "exit 1", "exit 2", "exit 3", "found", "called SAME", "others SAME", "rounds", "seconds", "at most")
		for _, r := range p.Rates {
			t.Row(sizeText(r.Size), r.Alarm, r.Exit[0].Percent(), r.Exit[1].Percent(), r.Exit[2].Percent(), r.Exit[3].Percent(),
				found(r.Slowed[gate.Slower]), found(r.Slowed[gate.Same]), r.Others[gate.Same].Percent(),
				fmt.Sprintf("%.1f", r.Rounds), fmt.Sprintf("%.1f", r.Seconds), fmt.Sprintf("%.1f", r.Most))
		}
		if err := t.Flush(); err != nil {
			return err
		}
		for i, rival := range p.Rates[0].Rivals {
			fmt.Fprintf(w, "\n%s\n\n", rival.Name)
			t := cli.NewTable(w, "slowdown", "any false alarm", "found")
			for _, r := range p.Rates {
				t.Row(sizeText(r.Size), r.Rivals[i].False, found(r.Rivals[i].Found))
			}
			if err := t.Flush(); err != nil {
				return err
			}
		}
	}
	return nil
}

func sizeText(size float64) string { return fmt.Sprintf("%g%%", 100*size) }

// found leaves a share of nothing empty.
func found(s calibrate.Share) string {
	if s.Of == 0 {
		return "–"
	}
	return s.String()
}
