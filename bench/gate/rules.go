package gate

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/pelletier/go-toml/v2"
	"github.com/pelletier/go-toml/v2/unstable"

	"onebit/bench/results"
	"onebit/internal/bounded"
)

// RulesFile is the name of the file of rules in a module's root.
const RulesFile = "onebit-gate.toml"

// Rules are what a module says about its own gate: which changes matter, and
// which benchmarks are not judged.
type Rules struct {
	File      string                 `toml:"-"` // for messages
	Threshold *Percentage            `toml:"threshold"`
	Units     map[string]*Percentage `toml:"units"`
	Rules     []Rule                 `toml:"rule"`
	LeaveOut  []Rule                 `toml:"leave-out"`
}

// A Rule is about the benchmarks whose package and name match, and about one
// unit of theirs or all. As a Rule of LeaveOut it has a reason and no
// threshold, and is about sub-benchmarks too.
type Rule struct {
	Package   *regexp.Regexp `toml:"package"`   // nil: any
	Benchmark *regexp.Regexp `toml:"benchmark"` // nil: any
	Unit      string         `toml:"unit"`      // "": those without a threshold in Units
	Threshold *Percentage    `toml:"threshold"`
	Reason    string         `toml:"reason"`

	line int
}

// A Percentage is a share in hundredths: 3 is 3%.
type Percentage float64

// ParsePercentage reads a threshold: 3, 3% or 2.5%, and no less than 0.
func ParsePercentage(text string) (Percentage, error) {
	v, err := strconv.ParseFloat(strings.TrimSpace(strings.TrimSuffix(text, "%")), 64)
	if p := Percentage(v); err == nil && p.valid() {
		return p, nil
	}
	return 0, fmt.Errorf("%q is no percentage from 0 to 1000, such as 3%%", text)
}

func (p Percentage) valid() bool { return p >= 0 && p <= 1000 }

// UnmarshalText reads a percentage in quotes.
func (p *Percentage) UnmarshalText(text []byte) (err error) {
	*p, err = ParsePercentage(string(text))
	return err
}

// Fraction is the share in ones: 3% is 0.03.
func (p Percentage) Fraction() float64 { return float64(p) / 100 }

func (p Percentage) String() string { return strconv.FormatFloat(float64(p), 'g', -1, 64) + "%" }

func matches(re *regexp.Regexp, s string) bool { return re == nil || re.MatchString(s) }

// A LeftOut is a benchmark that is not judged, and why.
type LeftOut struct {
	Benchmark
	Reason string `json:"reason"`
}

// mostRules is more than any file of rules needs.
const mostRules = 1 << 20

// ReadRules reads a file of rules. Its errors name the file and the line.
func ReadRules(path string) (*Rules, error) {
	data, err := bounded.ReadFile(path, mostRules)
	if err != nil {
		return nil, fmt.Errorf("rules of the gate: %w", err)
	}
	return ParseRules(data, path)
}

// ReadRulesIfAny is ReadRules; where there is no file, there are no rules.
func ReadRulesIfAny(path string) (*Rules, error) {
	r, err := ReadRules(path)
	if errors.Is(err, fs.ErrNotExist) {
		return &Rules{File: path}, nil
	}
	return r, err
}

// ParseRules is ReadRules of a text; file is for messages.
func ParseRules(text []byte, file string) (*Rules, error) {
	r := &Rules{File: file}
	if err := toml.NewDecoder(bytes.NewReader(text)).DisallowUnknownFields().Decode(r); err != nil {
		return nil, located(file, err)
	}
	return r, r.check(linesOf(text))
}

// located names the line of an error, and the key that nobody knows.
func located(file string, err error) error {
	var unknown *toml.StrictMissingError
	if errors.As(err, &unknown) {
		line, _ := unknown.Errors[0].Position()
		return fmt.Errorf("%s:%d: unknown key %q", file, line, strings.Join(unknown.Errors[0].Key(), "."))
	}
	var at *toml.DecodeError
	if errors.As(err, &at) {
		line, _ := at.Position()
		return fmt.Errorf("%s:%d: %s", file, line, strings.TrimPrefix(at.Error(), "toml: "))
	}
	return fmt.Errorf("%s: %w", file, err)
}

// linesOf are the lines of a TOML text's keys and tables, by their path:
// "threshold", "units.ns/op", "rule[0]".
func linesOf(text []byte) map[string]int {
	lines, count := map[string]int{}, map[string]int{}
	var in unstable.Parser
	in.Reset(text)
	table := ""
	for in.NextExpression() {
		e := in.Expression()
		var path []string
		line := 0
		for key := e.Key(); key.Next(); {
			path = append(path, string(key.Node().Data))
			line = in.Shape(key.Node().Raw).Start.Line
		}
		name := strings.Join(path, ".")
		switch e.Kind {
		case unstable.ArrayTable:
			count[name]++
			name = fmt.Sprintf("%s[%d]", name, count[name]-1)
			table = name + "."
		case unstable.Table:
			table = name + "."
		case unstable.KeyValue:
			name = table + name
		}
		lines[name] = line
	}
	return lines
}

// lineOf is the line of a path, or of the key that an inline value belongs to.
func lineOf(lines map[string]int, path string) int {
	for lines[path] == 0 && path != "" {
		path = path[:max(0, strings.LastIndexAny(path, ".["))]
	}
	return lines[path]
}

// check finds what TOML allows and a gate does not.
func (r *Rules) check(lines map[string]int) error {
	at := func(path, format string, args ...any) error {
		return fmt.Errorf("%s:%d: %s", r.File, lineOf(lines, path), fmt.Sprintf(format, args...))
	}
	if r.Threshold != nil && (!r.Threshold.valid() || *r.Threshold == 0) {
		return at("threshold", "threshold %v: give a percentage above 0, up to 1000%%", *r.Threshold)
	}
	for unit, p := range r.Units {
		if !p.valid() {
			return at("units."+unit, "%v is no percentage from 0 to 1000", *p)
		}
	}
	for _, list := range []struct {
		key   string
		rules []Rule
	}{{"rule", r.Rules}, {"leave-out", r.LeaveOut}} {
		for i := range list.rules {
			x, path := &list.rules[i], fmt.Sprintf("%s[%d]", list.key, i)
			x.line = lineOf(lines, path)
			if key, why := x.wrong(list.key == "leave-out"); why != "" {
				return at(path+key, "%s", why)
			}
		}
	}
	return nil
}

// wrong is what is wrong with a rule, and the key that it is about; "" if nothing is.
func (x Rule) wrong(leavesOut bool) (key, why string) {
	const empty = "an empty pattern matches everything: leave the key away"
	anything := x.Package == nil && x.Benchmark == nil
	switch {
	case x.Package != nil && x.Package.String() == "":
		return ".package", empty
	case x.Benchmark != nil && x.Benchmark.String() == "":
		return ".benchmark", empty
	case leavesOut && strings.TrimSpace(x.Reason) == "":
		return "", "what is left out needs a reason"
	case leavesOut && anything:
		return "", "name the package or the benchmark to leave out"
	case leavesOut && (x.Threshold != nil || x.Unit != ""):
		return "", "a benchmark is left out as a whole: no unit and no threshold"
	case leavesOut:
		return "", ""
	case x.Threshold == nil:
		return "", "this rule has no threshold"
	case !x.Threshold.valid():
		return ".threshold", fmt.Sprintf("%v is no percentage from 0 to 1000", *x.Threshold)
	case anything:
		return "", "this rule names no package and no benchmark (thresholds of all are in [units])"
	}
	return "", ""
}

// ThresholdOf is the threshold of a unit of a benchmark, as a fraction, if a
// rule gives it: the first that names the unit, or else Units, or else the
// first that names no unit, which is not about allocations.
func (r *Rules) ThresholdOf(b Benchmark, unit string) (threshold float64, ok bool) {
	if threshold, ok := r.Named(b, unit); ok {
		return threshold, true
	}
	if x := r.first(b, ""); x != nil && unit != results.Allocs {
		return x.Threshold.Fraction(), true
	}
	return 0, false
}

// Named is the threshold that a rule which names the unit gives a benchmark.
func (r *Rules) Named(b Benchmark, unit string) (threshold float64, ok bool) {
	if x := r.first(b, unit); x != nil {
		return x.Threshold.Fraction(), true
	}
	p, ok := r.Units[unit]
	if !ok {
		return 0, false
	}
	return p.Fraction(), true
}

// Names reports whether a rule names the unit.
func (r *Rules) Names(unit string) bool {
	_, ok := r.Units[unit]
	return ok || slices.ContainsFunc(r.Rules, func(x Rule) bool { return x.Unit == unit })
}

func (r *Rules) first(b Benchmark, unit string) *Rule {
	i := slices.IndexFunc(r.Rules, func(x Rule) bool { return x.Unit == unit && x.matches(b) })
	if i < 0 {
		return nil
	}
	return &r.Rules[i]
}

func (x Rule) matches(b Benchmark) bool {
	return matches(x.Package, b.Package) && matches(x.Benchmark, b.Name)
}

// Excluded reports whether a benchmark is left out, or one that it is a part
// of, and why.
func (r *Rules) Excluded(b Benchmark) (reason string, ok bool) {
	for _, x := range r.LeaveOut {
		if x.excludes(b) {
			return x.Reason, true
		}
	}
	return "", false
}

func (x Rule) excludes(b Benchmark) bool {
	for i, c := range b.Name + "/" {
		if c == '/' && x.matches(Benchmark{b.Package, b.Name[:i]}) {
			return true
		}
	}
	return false
}

// Select parts the benchmarks that are judged from those that are left out.
func (r *Rules) Select(all []Benchmark) (judged []Benchmark, left []LeftOut) {
	for _, b := range all {
		if reason, ok := r.Excluded(b); ok {
			left = append(left, LeftOut{b, reason})
		} else {
			judged = append(judged, b)
		}
	}
	return judged, left
}

// SelectBoth is Select of the benchmarks that both sides have, and takes from those that one
// of them lacks what is left out.
func (r *Rules) SelectBoth(both []Benchmark, differ []Difference) (judged []Benchmark, left []LeftOut, missing []Difference) {
	judged, left = r.Select(both)
	for _, d := range differ {
		if reason, ok := r.Excluded(d.Benchmark); ok {
			left = append(left, LeftOut{d.Benchmark, reason})
		} else {
			missing = append(missing, d)
		}
	}
	return judged, left, missing
}

// Unused describes the rules that nothing matches of what a gate found: they
// may be out of date.
func (r *Rules) Unused(report *Report) (warnings []string) {
	warn := func(x Rule) {
		warnings = append(warnings, fmt.Sprintf("%s:%d: no benchmark matches this: it may be out of date: %v", r.File, x.line, x))
	}
	for _, x := range r.Rules {
		if !slices.ContainsFunc(report.Findings, func(f Finding) bool {
			return x.matches(f.Benchmark) && (x.Unit == "" || x.Unit == f.Unit)
		}) {
			warn(x)
		}
	}
	for _, x := range r.LeaveOut {
		if !slices.ContainsFunc(report.LeftOut, func(l LeftOut) bool { return x.excludes(l.Benchmark) }) {
			warn(x)
		}
	}
	return warnings
}

// Changes lists the rules that r has and base has not, and the other way
// round: what a change to the rules lets pass is to be seen beside the verdict.
func (r *Rules) Changes(base *Rules) (changes []string) {
	old, now := base.lines(), r.lines()
	for _, line := range now {
		if !slices.Contains(old, line) {
			changes = append(changes, "head adds: "+line)
		}
	}
	for _, line := range old {
		if !slices.Contains(now, line) {
			changes = append(changes, "head drops: "+line)
		}
	}
	return changes
}

// ChangesSince lists the changes to base's rules, if the file is a part of head's module.
// Both are roots of modules.
func (r *Rules) ChangesSince(base, head string) ([]string, error) {
	path, err := filepath.Abs(r.File)
	if err != nil {
		return nil, err
	}
	inside, err := filepath.Rel(head, path)
	if err != nil || !filepath.IsLocal(inside) {
		return nil, nil
	}
	old, err := ReadRulesIfAny(filepath.Join(base, inside))
	if err != nil {
		// Base is as it is; head's rules are all new then.
		return append([]string{"the rules of base cannot be read: " + err.Error()}, r.Changes(&Rules{})...), nil
	}
	return r.Changes(old), nil
}

// lines has each rule in a line.
func (r *Rules) lines() (out []string) {
	if r.Threshold != nil {
		out = append(out, fmt.Sprintf("threshold %v", *r.Threshold))
	}
	for unit, p := range r.Units {
		out = append(out, fmt.Sprintf("threshold %v for %s", *p, unit))
	}
	slices.Sort(out)
	for _, x := range append(slices.Clone(r.Rules), r.LeaveOut...) {
		out = append(out, x.String())
	}
	return out
}

func (x Rule) String() string {
	var about []string
	if x.Package != nil {
		about = append(about, "package "+x.Package.String())
	}
	if x.Benchmark != nil {
		about = append(about, "benchmark "+x.Benchmark.String())
	}
	if x.Unit != "" {
		about = append(about, "unit "+x.Unit)
	}
	what := "leave out"
	if x.Threshold != nil {
		what = fmt.Sprintf("threshold %v for", *x.Threshold)
	}
	text := what + " " + strings.Join(about, ", ")
	if x.Reason != "" {
		text += " (" + x.Reason + ")"
	}
	return text
}
