package digest

import (
	"fmt"
	"slices"
	"strings"

	"onebit/internal/count"
	"onebit/reports/figure"
)

// Title names the report by machine, date and commit, as far as they are known.
func (d *Digest) Title() string {
	parts := []string{"onebit"}
	date, _, _ := strings.Cut(d.Results.Setting("started"), "T")
	commit := d.Results.Setting("commit")
	for _, v := range []string{d.Results.Setting("cpu"), date, commit[:min(len(commit), shortCommit)]} {
		if v != "" && !strings.HasPrefix(v, "unavai") && v != "unknown" {
			parts = append(parts, v)
		}
	}
	if len(parts) == 1 {
		return "onebit results"
	}
	return strings.Join(parts, " · ")
}

// shortCommit is how much of a commit a title has.
const shortCommit = 7

// Subtitle says of the machine what a title does not.
func (d *Digest) Subtitle(title string) string {
	var parts []string
	for _, key := range []string{"cpu", "cpus-usable", "l3", "mem-total", "goos", "goarch", "commit"} {
		// A value that could not be found out is its reason, which belongs to the list below.
		v := d.Results.Setting(key)
		said := slices.Contains(strings.Split(title, " · "), v[:min(len(v), shortCommit)]) || slices.Contains(strings.Split(title, " · "), v)
		if v != "" && v != "unknown" && !strings.HasPrefix(v, "unavailable") && !said {
			if named := subtitleNames[key]; named != "" {
				v = fmt.Sprintf(named, v)
			}
			parts = append(parts, v)
		}
	}
	return strings.Join(parts, " · ")
}

// subtitleNames say what a setting is where its value alone would not.
var subtitleNames = map[string]string{"cpus-usable": "%s CPUs", "l3": "%s L3", "mem-total": "%s memory"}

// Source says of a picture that stands alone where and when its results were taken, and their noise.
func (d *Digest) Source() []string {
	var parts []string
	add := func(format, key string) {
		// A value that could not be found out is its reason.
		if v := d.Results.Setting(key); v != "" && !strings.HasPrefix(v, "unavailable") {
			parts = append(parts, fmt.Sprintf(format, figure.Label(v)))
		}
	}
	add("%s", "cpu")
	add("%s CPUs", "cpus-usable")
	add("%s", "platform")
	add("measured %s", "started")
	add("commit %s", "commit")
	return []string{strings.Join(parts, " · "), d.NoiseLine()}
}

// RawText says where the samples are.
func (d *Digest) RawText() string {
	return fmt.Sprintf("%s of %s are in the results file, one line each, in the Go benchmark format: benchstat and every tool "+
		"like it reads them. The same charts are in the folder plots.", count.Of(len(d.Results.Samples), "sample"), count.Of(len(d.Cases), "case"))
}
