package bench

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"onebit/bench/noise"
	"onebit/bench/results"
	"onebit/internal/sysinfo"
)

// A watch compares what the CPUs did while the samples of a group were taken
// with what this process did.
type watch struct {
	*run
	group  string
	start  time.Time
	before sysinfo.Value[sysinfo.CPUTime]
}

const (
	// takenShare is how much of one CPU other processes may take, and how much
	// the hypervisor, and leastTime how long they must have had it: the system
	// counts in hundredths of a second. On a virtual machine with nobody else
	// on it both came to 9% in single seconds.
	takenShare = 0.10
	leastTime  = 50 * time.Millisecond
)

func (run *run) watch(group string) watch {
	return watch{run, group, run.now(), run.readCPUTime()}
}

func (run *run) readCPUTime() sysinfo.Value[sysinfo.CPUTime] {
	if run.cpuTime != nil {
		return run.cpuTime()
	}
	return sysinfo.ReadCPUTime()
}

// doubts returns a warning if others had a part of the CPUs.
func (w watch) doubts() (doubts []string) {
	after, wall := w.readCPUTime(), w.now().Sub(w.start)
	if !w.before.OK() || !after.OK() || wall <= 0 {
		return nil
	}
	spent := after.V.Sub(w.before.V)
	for _, taken := range []struct {
		who  string
		time time.Duration
	}{
		{"other processes", spent.Busy - spent.Own},
		{"the hypervisor", spent.Stolen},
	} {
		if share := taken.time.Seconds() / wall.Seconds(); taken.time >= leastTime && share > takenShare {
			doubts = append(doubts, results.AboutGroup(w.group, fmt.Sprintf("%s took %s of CPU time in %s, %.0f%% of a CPU",
				taken.who, took(taken.time), took(wall), 100*share)))
		}
	}
	return doubts
}

// soloGain is how much faster than one thread several are at least, where each
// has what it reads in its core's own cache. The best of their samples counts:
// in a short one the threads may share a core for once. In nine groups of six
// runs on a quiet machine it was 1.07 and more, with a loop on one of the two
// CPUs 0.7 to 0.9.
const soloGain = 1.05

// soloDoubts returns a warning for each case that gained little from its
// threads.
func soloDoubts(group string, arms []*arm) (doubts []string) {
	for _, e := range arms {
		for _, solo := range arms {
			if e.Solo != solo.name || len(e.rates) == 0 || len(solo.rates) == 0 {
				continue
			}
			if gain := slices.Max(e.rates) / noise.Median(solo.rates); gain < soloGain {
				doubts = append(doubts, results.AboutGroup(group, fmt.Sprintf("%s is at best %.2g times as fast as %s: "+
					"its threads shared a core, or a CPU with something else", differing(e.name, solo.name), gain, differing(solo.name, e.name))))
			}
		}
	}
	return doubts
}

// differing is a case's base name with the keys in which another case differs:
// what the group's name does not say.
func differing(name, other string) string {
	n, o := results.ParseName(name), results.ParseName(other)
	var parts []string
	for _, k := range n.Keys {
		if o.Get(k.Key) != k.Value {
			parts = append(parts, k.Key+"="+k.Value)
		}
	}
	return n.Base + " with " + strings.Join(parts, " ")
}

func took(d time.Duration) string { return results.UnitOf(results.NsPerOp).Format(float64(d)) }
