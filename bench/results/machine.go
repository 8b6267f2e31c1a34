package results

import (
	"context"
	"fmt"
	"reflect"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"onebit/internal/term"
)

// Settings that reports of several machines read.
const (
	// HostKey is the label that the user gave the machine, since files get
	// published: no file has the host's own name unasked.
	HostKey = "host"
	// UnavailableKey lists the instruction sets that the machine lacks, separated
	// by spaces: variants begin with the name of theirs.
	UnavailableKey = "isa-unavailable"
)

// A Machine says where results were taken, as far as a header tells: files of
// equal Machines are runs of one machine. A field is "" where the header is
// silent. The versions of Go and of the operating system are none of it.
type Machine struct {
	Host     string // a label
	CPU      string
	CPUs     string // that the program may use
	Memory   string // in whole units: what an operating system keeps for itself varies
	Platform string // GOOS/GOARCH
	Features string // of the CPU, that kernels look for
	Emulator string // that ran the program; "" if none did
}

// A Facet is one of the things that tell machines apart.
type Facet struct{ Name, Value string }

// Facets lists what tells machines apart, the most telling first.
func (m Machine) Facets() []Facet {
	return []Facet{
		{"host", m.Host}, {"CPU", m.CPU}, {"CPUs", m.CPUs}, {"memory", m.Memory},
		{"platform", m.Platform}, {"CPU features", m.Features}, {"emulator", m.Emulator},
	}
}

// Known reports whether the header says anything of the machine.
func (m Machine) Known() bool { return m != Machine{} }

// PlayedGPU is the Emulator of results in which a GPU was played, on a real CPU.
const PlayedGPU = "softmetal"

// Emulated reports whether speeds say nothing of the machine.
func (m Machine) Emulated() bool { return m.Emulator != "" }

// Differences names what tells two machines apart: the facets that both
// headers have, and that are not the same.
func (m Machine) Differences(o Machine) []string {
	var names []string
	theirs := o.Facets()
	for i, f := range m.Facets() {
		if a, b := f.Value, theirs[i].Value; a != b && (a != "" && b != "" || f.Name == "emulator") {
			names = append(names, f.Name)
		}
	}
	return names
}

var wholeUnits = regexp.MustCompile(`^([0-9.]+) ([A-Za-z]+)$`)

// Machine returns where the results were taken.
func (r *Set) Machine() Machine {
	m := Machine{
		Host: r.known(HostKey), CPU: r.known("cpu"), CPUs: r.known("cpus-usable"), Memory: r.known("mem-total"),
		Platform: r.known("platform"), Features: r.known("cpu-features"),
	}
	if parts := wholeUnits.FindStringSubmatch(m.Memory); parts != nil {
		if size, err := strconv.ParseFloat(parts[1], 64); err == nil {
			m.Memory = fmt.Sprintf("%.0f %s", size, parts[2])
		}
	}
	if os, arch := r.known("goos"), r.known("goarch"); m.Platform == "" && os+arch != "" {
		m.Platform = os + "/" + arch // all that go test writes
	}
	if r.Setting("emulated") == "true" {
		m.Emulator = "an emulator"
		if name := r.known("emulator"); name != "" && name != "none" {
			m.Emulator = name
		}
	}
	return m
}

// known is a setting's value; "" for one that could not be found out, whose
// value is the reason.
func (r *Set) known(key string) string {
	v := r.Setting(key)
	if strings.HasPrefix(v, "unavailable") || v == "unknown" {
		return ""
	}
	return v
}

// A File is a results file.
type File struct {
	Path  string
	Label string // of its machine, in place of the header's own; "" for that
}

// A Fleet is what several machines measured.
type Fleet struct {
	Machines []*Set   // in the order in which their files were given; one at least
	Warnings []string // files that were left out
}

// ReadFleet reads results files and joins those of each machine, as ReadFiles
// does. A file that says less of its machine, as those of other programs do,
// is taken for the one machine that it may be of, with a warning. A file with the samples of an earlier one is left out, with a warning:
// samples that count twice make intervals too narrow. So is a file without
// measurements, unless none has any.
func ReadFleet(ctx context.Context, files ...File) (*Fleet, error) {
	read, err := readFiles(ctx, files)
	if err != nil {
		return nil, err
	}
	fleet := &Fleet{Warnings: tellFilesApart(read)}
	var machines []Machine
	runs := make(map[Machine][]readFile)
	for i, r := range read {
		r.label()
		if why := r.needless(read[:i]); why != "" {
			fleet.Warnings = append(fleet.Warnings, r.Path+why)
			continue
		}
		m := r.Machine()
		if runs[m] == nil {
			machines = append(machines, m)
		}
		runs[m] = append(runs[m], r)
	}
	for _, m := range machines {
		if whose, ok := m.within(machines); ok {
			for _, r := range runs[m] {
				fleet.Warnings = append(fleet.Warnings, fmt.Sprintf("%s says less of its machine than other files: it was taken for theirs, %s", r.Path, whose.CPU))
			}
			runs[whose] = append(runs[whose], runs[m]...)
			delete(runs, m)
		}
	}
	for _, m := range machines {
		if runs[m] != nil {
			fleet.Machines = append(fleet.Machines, join(runs[m]))
		}
	}
	if fleet.Machines == nil {
		fleet.Machines = []*Set{join(read)}
	}
	return fleet, nil
}

// within returns the machine that m may be, where its header is silent and
// only one of all that say more has the same CPU and nothing else.
func (m Machine) within(all []Machine) (whose Machine, ok bool) {
	for _, o := range all {
		if m.CPU == "" || o.CPU != m.CPU || o.Host != m.Host || o.said() <= m.said() || m.Differences(o) != nil {
			continue
		}
		if ok {
			return Machine{}, false
		}
		whose, ok = o, true
	}
	return whose, ok
}

// said counts what the header says of the machine.
func (m Machine) said() int {
	n := 0
	for _, f := range m.Facets() {
		if f.Value != "" {
			n++
		}
	}
	return n
}

// needless says why a file adds nothing to those before it; "" if it does.
func (r readFile) needless(before []readFile) string {
	if len(r.Samples)+len(r.Failures) == 0 {
		return " holds no measurements: it was left out"
	}
	for _, o := range before {
		if len(r.Samples) > 0 && reflect.DeepEqual(r.Samples, o.Samples) {
			return " holds the samples of " + o.Path + " again: they count once"
		}
	}
	return ""
}

// label gives the results the label of their file.
func (r readFile) label() {
	if r.Label == "" {
		return
	}
	host := Setting{HostKey, string(term.Clean([]byte(r.Label)))}
	if i := slices.IndexFunc(r.Settings, func(s Setting) bool { return s.Key == HostKey }); i >= 0 {
		r.Settings[i] = host
		return
	}
	r.Settings = append([]Setting{host}, r.Settings...)
}

// Lacks reports whether the header says that the machine can't run a variant.
func (r *Set) Lacks(variant string) bool {
	for isa := range strings.FieldsSeq(r.Setting(UnavailableKey)) {
		if variant == isa || strings.HasPrefix(variant, isa+"-") {
			return true
		}
	}
	return false
}
