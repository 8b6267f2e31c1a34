// Package share condenses results to what others may see of them, and checks what others send.
package share

import (
	"cmp"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"path"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"onebit/bench/names"
	"onebit/bench/results"
	"onebit/internal/count"
	"onebit/reports/digest"
	"onebit/reports/words"
)

// sharedKeys are the settings that results keep when others get to see them: what the machine and the program are.
// Whatever is not here stays at home, a label of the host among it.
var sharedKeys = []string{
	"goos", "goarch", "cpu", "gpu", "cpus-online", "cpus-usable", "cores", "cpu-limit", "l1d", "l2", "l3", "mem-total", "mem-limit",
	"governor", "huge-pages", "hypervisor", "emulator", "emulated", "platform", "go-version", "cpu-features", results.UnavailableKey,
	"gomaxprocs", "classes", "started", "commit", "command", results.ModelsKey, "model", "seed", names.LlamaBench,
}

// sharedUnits are the values that shared results keep, and the order in which they stand.
var sharedUnits = []string{
	results.NsPerOp, results.TimeLow, results.TimeHigh, results.TokenRate, results.ReadRate, results.OpRate, results.PctRoof, results.PctPeak,
	results.PackedBytes, results.PeakRSS, results.NMSE, results.KLD, results.KLDLow, results.KLDHigh, results.Top1, results.Perplexity, results.RefPpl,
}

// Limits of shared results: a site of a thousand files is to be small.
const (
	mostSharedDoubts = 8
	sharedDigits     = 5
	mostSharedBytes  = 64 << 10
)

// Condense condenses results to what a choice needs: of each format and each model the fastest variant of each
// activation scheme, with all threads and, where that was measured, a cold cache; what the machine can do at most;
// errors; and doubts. A case is one line, with its median and the ends of its interval. Shared results that are
// condensed again stay as they are.
func Condense(res *results.Set) (*results.Set, error) {
	d := digest.Of(res)
	out := &results.Set{}
	for _, key := range sharedKeys {
		if v := res.Setting(key); v != "" {
			v = impersonal(key, v)
			out.Settings = append(out.Settings, results.Setting{Key: key, Value: v})
		}
	}
	kept := sharedCases(d)
	if len(kept) == 0 {
		return nil, errors.New("no product and no model was timed: there is nothing to share")
	}
	slices.SortFunc(kept, func(a, b *digest.Case) int { return words.Compare(a.Name.Full, b.Name.Full) })
	for _, c := range slices.Concat(sharedCeilings(d), kept) {
		out.Samples = append(out.Samples, shared(c))
	}
	for _, f := range res.Failures {
		out.Failures = append(out.Failures, results.Failure{Name: f.Name, Reason: "wrong, not timed"})
	}
	for _, text := range sharedDoubts(d) {
		out.Warnings = append(out.Warnings, withoutPaths(text))
	}
	if n := len(out.Warnings) - mostSharedDoubts; n > 0 {
		out.Warnings = append(out.Warnings[:mostSharedDoubts-1], fmt.Sprintf("%s more", count.Of(n+1, "warning")))
	}
	return out, nil
}

// sharedDoubts are the warnings, those alike as one. Lines that stand for all samples of a case give no doubts of their own.
func sharedDoubts(d *digest.Digest) []string {
	if slices.ContainsFunc(d.Cases, func(c *digest.Case) bool { _, known := c.Center(results.TimeHigh); return known }) {
		return d.Results.Warnings
	}
	var texts []string
	for _, doubt := range d.Doubts() {
		if !slices.Contains(texts, doubt.Text) {
			texts = append(texts, doubt.Text)
		}
	}
	return texts
}

// sharedCases are the fastest of each scheme in each task, and the errors of the models that are among them.
func sharedCases(d *digest.Digest) []*digest.Case {
	var kept []*digest.Case
	for _, t := range d.Tasks {
		if t.Base != names.BaseMatVec && t.Base != names.BaseModel {
			continue
		}
		schemes := make(map[string]bool)
		s, ok := d.Rank(t, digest.Fullest([]*digest.Task{t}))
		if !ok {
			continue
		}
		for _, c := range s.Ranked {
			if scheme := c.Name.Get(names.Act); !schemes[scheme] {
				schemes[scheme] = true
				kept = append(kept, c)
			}
		}
	}
	for _, c := range d.ByBase[names.BaseLogits] {
		if slices.ContainsFunc(kept, func(k *digest.Case) bool {
			return !slices.ContainsFunc([]string{names.Model, names.Variant, names.Act}, func(key string) bool { return k.Name.Get(key) != c.Name.Get(key) })
		}) {
			kept = append(kept, c)
		}
	}
	return kept
}

// sharedCeilings are the most that the machine read and multiplied, and read of each model's bytes.
func sharedCeilings(d *digest.Digest) []*digest.Case {
	var kept []*digest.Case
	for _, ceiling := range []struct{ base, unit string }{{names.BaseRead, results.ReadRate}, {names.BaseDotPeak, results.OpRate}} {
		ofModel := make(map[string][]*digest.Case) // "" for what is no model's
		for _, c := range d.ByBase[ceiling.base] {
			if _, measured := c.Center(ceiling.unit); measured {
				ofModel[c.Name.Get(names.Model)] = append(ofModel[c.Name.Get(names.Model)], c)
			}
		}
		for _, all := range ofModel {
			rate := func(a, b *digest.Case) int {
				return cmp.Compare(a.Stats[ceiling.unit].Center, b.Stats[ceiling.unit].Center)
			}
			kept = append(kept, slices.MaxFunc(digest.In(digest.Fullest([]*digest.Task{{Cases: all}}), all), rate))
		}
	}
	slices.SortFunc(kept, func(a, b *digest.Case) int { return words.Compare(a.Name.Full, b.Name.Full) })
	return kept
}

// shared is a case in one line.
func shared(c *digest.Case) results.Sample {
	s := results.Sample{Name: c.Name, Iters: 1}
	time, timed := c.Stats[results.NsPerOp]
	known := timed && time.Bounded()
	for _, unit := range sharedUnits {
		v, ok := c.Center(unit)
		switch {
		case unit == results.TimeLow && known:
			v, ok = time.Lo, true
		case unit == results.TimeHigh && known:
			v, ok = time.Hi, true
		}
		if ok {
			s.Values = append(s.Values, results.Metric{Unit: unit, Value: rounded(unit, v)})
		}
	}
	return s
}

// rounded is a value to the digits that are shared; bytes that are counted are whole.
func rounded(unit string, v float64) float64 {
	if unit == results.PackedBytes || unit == results.PeakRSS {
		return v
	}
	short, _ := strconv.ParseFloat(strconv.FormatFloat(v, 'g', sharedDigits, 64), 64)
	return short
}

// impersonal is a setting without what tells who measured, where on a disk, and at which time of a day.
func impersonal(key, value string) string {
	switch key {
	case "started":
		day, _, _ := strings.Cut(value, "T")
		return day
	case "command":
		return withoutPaths(personalFlags.ReplaceAllString(value, ""))
	case "model":
		return path.Base(strings.ReplaceAll(value, `\`, "/"))
	}
	if strings.HasPrefix(value, "unavailable") {
		return ""
	}
	return withoutPaths(value)
}

var (
	// personalFlags are flags with a value that names a machine or a folder.
	personalFlags = regexp.MustCompile(` (?:--host|--output|-o)[ =](?:'[^']*'|[^' ]+)`)
	// aPath is a path from the root, the home or the folder above on, or one to a file with an extension that models and
	// texts have. A filter, which begins with a slash too, has a colon.
	aPath = regexp.MustCompile(`(^|[ '"=])((?:[A-Za-z]:|~|\.{1,2})?[/\\][^ '":]*|[^ '"=:(]*[/\\][^ '":]*\.(?:gguf|cellm|safetensors|json|txt))([ '",;]|: |$)`)
)

// withoutPaths leaves of each path its last element.
func withoutPaths(text string) string {
	return aPath.ReplaceAllStringFunc(text, func(found string) string {
		m := aPath.FindStringSubmatch(found)
		return m[1] + path.Base(strings.ReplaceAll(m[2], `\`, "/")) + m[3]
	})
}

// Write writes shared results, with what is known of the units that they have and no others.
func Write(w io.Writer, res *results.Set) error {
	out := results.NewWriter(w)
	if err := out.Settings(res.Settings); err != nil {
		return err
	}
	for _, unit := range sharedUnits {
		has := func(s results.Sample) bool { _, ok := s.Value(unit); return ok }
		if !slices.ContainsFunc(res.Samples, has) {
			continue
		}
		if u := results.UnitOf(unit); u.Better != 0 {
			if err := out.Unit(unit, u.Better, u.Exact); err != nil {
				return err
			}
		}
	}
	for _, text := range res.Warnings {
		if err := out.Warning(results.OneLine(text)); err != nil {
			return err
		}
	}
	for _, f := range res.Failures {
		if err := out.Failure(f); err != nil {
			return err
		}
	}
	for _, s := range res.Samples {
		if err := out.Sample(s); err != nil {
			return err
		}
	}
	return nil
}

// Name is the name of a file of shared results: its CPU, its platform, and a digest of what was measured, by which
// the same results have the same name.
func Name(res *results.Set) string {
	m := res.Machine()
	slug := func(s string) string {
		return strings.Trim(notInNames.ReplaceAllString(strings.ToLower(s), "-"), "-")
	}
	cpu := slug(cmp.Or(m.CPU, "unknown"))
	return fmt.Sprintf("%s-%s-%s.txt", strings.Trim(cpu[:min(len(cpu), 40)], "-"), slug(m.Platform), measuredDigest(res))
}

var notInNames = regexp.MustCompile(`[^a-z0-9]+`)

// measuredDigest tells whether two files hold the same measurements.
func measuredDigest(res *results.Set) string {
	hash := sha256.New()
	for _, s := range res.Samples {
		fmt.Fprintln(hash, s.Name.Full, s.Values)
	}
	return fmt.Sprintf("%x", hash.Sum(nil))[:8]
}

// ceilingSlack is by what factor a result may exceed its machine's ceiling: the ceiling was measured with an error, too.
const ceilingSlack = 1.1

// Check reports why results can't stand beside others': they say of no machine, of nothing that bounds them, or
// are better than their own machine can be.
func Check(res *results.Set) error {
	if res.Machine().CPU == "" {
		return errors.New("it does not say which CPU this is")
	}
	d := digest.Of(res)
	if _, measured := d.Reading(); !measured {
		return errors.New("what the machine reads was not measured (Read): nothing tells what it can do at most")
	}
	for _, c := range d.Cases {
		bytes, most := readsFrom(d, c)
		slowest := cmp.Or(c.Stats[results.TimeHigh].Center, c.Stats[results.NsPerOp].Center)
		if rate := bytes / slowest * 1e9; most > 0 && slowest > 0 && rate > ceilingSlack*most {
			format := results.UnitOf(results.ReadRate).Format
			return fmt.Errorf("%s reads %s of weights, and its machine %s at most", c.Name.Full, format(rate), format(most))
		}
	}
	return nil
}

// readsFrom is how many bytes of weights a case has to read, and at what rate its machine reads them: of a product
// with a cold cache, and of decoding one text. The rate is 0 of what nothing bounds.
func readsFrom(d *digest.Digest, c *digest.Case) (bytes, most float64) {
	test, _ := names.TestOf(c.Name)
	switch {
	case c.Name.Base == names.BaseMatVec && c.Panel.Cache == names.Cold:
		bytes, _ = c.Center(results.PackedBytes)
		most, _ = d.Reading()
	case c.Name.Base == names.BaseModel && test.Kind == names.Decode && c.Name.Get(names.Texts)+c.Name.Get(names.Drafts)+c.Name.Get(names.Text) == "":
		for _, read := range d.ByBase[names.BaseRead] {
			if read.Name.Get(names.Model) == c.Name.Get(names.Model) && read.Panel.Threads == c.Panel.Threads {
				ofOne, _ := strconv.ParseFloat(read.Name.Get(names.Bytes), 64)
				bytes = ofOne * float64(test.Tokens)
				most, _ = read.Center(results.ReadRate)
			}
		}
	}
	return bytes, most
}
