package site

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"onebit/bench/names"
	"onebit/bench/results"
	"onebit/reports/digest"
	"onebit/reports/render"
	"onebit/reports/reportstest"
	"onebit/reports/share"
)

// sharedText is the file that share makes of results.
func sharedText(t testing.TB, res *results.Set) string {
	t.Helper()
	shared, err := share.Condense(res)
	if err != nil {
		t.Fatal(err)
	}
	var b bytes.Buffer
	if err := share.Write(&b, shared); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

// realRuns are two runs of one machine, of kernels and of a model, as one.
func realRuns(t testing.TB) *results.Set {
	t.Helper()
	res, err := results.ReadFiles(t.Context(), reportstest.Testdata("results.txt"), reportstest.Testdata("models.txt"))
	if err != nil {
		t.Fatal(err)
	}
	return res
}

// machinesFrom makes results of other machines from those of a real one, as files: each of another CPU or another
// day, times of each variant longer or shorter, and reading with them.
func machinesFrom(t testing.TB, n, cpus int) []File {
	t.Helper()
	shared, err := share.Condense(realRuns(t))
	if err != nil {
		t.Fatal(err)
	}
	makers := []string{"AMD Ryzen 7 %d40U w/ Radeon", "Intel(R) Core(TM) i5-1%d35U", "Intel(R) Xeon(R) Platinum 8%d00C CPU @ 2.80GHz", "Apple M%d", "Cortex-A%d", "AMD EPYC 9%d54"}
	rng := rand.New(rand.NewPCG(1, 2))
	var files []File
	for i := range n {
		cpu := i % cpus
		res := &results.Set{Settings: slices.Clone(shared.Settings), Warnings: shared.Warnings}
		for k, s := range res.Settings {
			switch s.Key {
			case "cpu":
				res.Settings[k].Value = fmt.Sprintf(makers[cpu%len(makers)], 1+cpu/len(makers))
			case "cpus-usable":
				res.Settings[k].Value = fmt.Sprint(2 << (cpu % 4))
			case "started":
				res.Settings[k].Value = fmt.Sprintf("2026-10-%02d", 1+i%28)
			}
		}
		machine := 0.4 + 2*rng.Float64()
		slower := make(map[string]float64)
		for _, s := range shared.Samples {
			variant := s.Name.Get(names.Format) + s.Name.Get(names.Variant)
			if s.Name.Base == names.BaseRead || s.Name.Base == names.BaseDotPeak {
				slower[variant] = 1
			}
			if slower[variant] == 0 {
				slower[variant] = 1 + rng.Float64()
			}
			factor := machine * slower[variant]
			s.Values = slices.Clone(s.Values)
			for v, m := range s.Values {
				switch m.Unit {
				case results.NsPerOp, results.TimeLow, results.TimeHigh:
					s.Values[v].Value *= factor
				case results.ReadRate, results.OpRate, results.TokenRate:
					s.Values[v].Value /= factor
				case results.PctRoof, results.PctPeak:
					s.Values[v].Value /= slower[variant]
				}
			}
			res.Samples = append(res.Samples, s)
		}
		files = append(files, File{fmt.Sprintf("in/%04d.txt", i), res})
	}
	return files
}

// TestShareIsSmallAndKeeps holds that what is shared reads back, stays as it is when it is shared again, and has the
// intervals that the report of the whole has.
func TestShareIsSmallAndKeeps(t *testing.T) {
	whole := realRuns(t)
	text := sharedText(t, whole)
	if len(text) > 6<<10 {
		t.Errorf("%d bytes: a thousand of them are too many", len(text))
	}
	back := reportstest.Set(t, []byte(text))
	if again := sharedText(t, back); again != text {
		t.Errorf("shared again it is another file: %s", cmp.Diff(text, again))
	}
	all, few := digest.Of(whole), digest.Of(back)
	compared := 0
	for _, c := range few.Cases {
		i := slices.IndexFunc(all.Cases, func(o *digest.Case) bool { return o.Name.Full == c.Name.Full })
		if i < 0 {
			t.Errorf("%s is none of the run's", c.Name.Full)
			continue
		}
		want, got := all.Cases[i].Stats[results.NsPerOp], c.Stats[results.NsPerOp]
		if !want.Bounded() {
			continue
		}
		compared++
		for _, pair := range [][2]float64{{want.Center, got.Center}, {want.Lo, got.Lo}, {want.Hi, got.Hi}} {
			if r := pair[1] / pair[0]; pair[0] > 0 && (r < 0.9999 || r > 1.0001) {
				t.Errorf("%s: %g, want %g", c.Name.Full, pair[1], pair[0])
			}
		}
	}
	if compared < 5 {
		t.Errorf("%d intervals compared", compared)
	}
}

// TestShareIsImpersonal plants what tells who measured in every place that a header has.
func TestShareIsImpersonal(t *testing.T) {
	res := realRuns(t)
	res.Settings = append(res.Settings, results.Setting{Key: results.HostKey, Value: "mary-laptop"}, results.Setting{Key: "user", Value: "mary"})
	for i, s := range res.Settings {
		switch s.Key {
		case "command":
			res.Settings[i].Value = `onebit bench --host 'mary s laptop' -o /home/mary/out --output=mary/b --model ~mary/models/x.gguf --text C:\Users\mary\t.txt --filter '/format:i2_s /threads:2' --machine mary/m.txt`
		case "model":
			res.Settings[i].Value = "/home/mary/tiny.gguf"
		case "started":
			res.Settings[i].Value = "2026-11-22T02:32:21Z"
		}
	}
	res.Warnings = append(res.Warnings, "cannot open /home/mary/.cache: denied")
	text := sharedText(t, res)
	for line := range strings.Lines(text) {
		if strings.Contains(line, "mary") {
			t.Errorf("it tells who measured: %s", line)
		}
	}
	reportstest.Wants(t, text, "command: onebit bench --model x.gguf --text t.txt --filter '/format:i2_s /threads:2' --machine m.txt\n", "started: 2026-11-22\n", "# warning: cannot open .cache: denied\n", "model: tiny.gguf\n")
}

// TestSiteOfThousandFiles makes a site of a thousand files from a hundred CPUs: small, and each link leads to a file of it.
func TestSiteOfThousandFiles(t *testing.T) {
	files := machinesFrom(t, 1000, 100)
	d, out, err := Document(files, nil)
	if err != nil || len(out) > 0 {
		t.Fatal(err, out)
	}
	dir := t.TempDir()
	if err := render.Folder(t.Context(), dir, d, render.FolderOptions{}); err != nil {
		t.Fatal(err)
	}
	var bytes int64
	there := make(map[string]bool)
	if err := filepath.WalkDir(dir, func(path string, e os.DirEntry, err error) error {
		if err == nil && !e.IsDir() {
			info, err := e.Info()
			if err != nil {
				return err
			}
			bytes += info.Size()
			name, _ := filepath.Rel(dir, path)
			there[filepath.ToSlash(name)] = true
		}
		return err
	}); err != nil {
		t.Fatal(err)
	}
	if len(there) != 1001 || bytes > 5_000_000 {
		t.Errorf("%d files of %d bytes, want 1001 of less than 5 MB", len(there), bytes)
	}
	page, err := os.ReadFile(filepath.Join(dir, "index.html"))
	if err != nil {
		t.Fatal(err)
	}
	links := regexp.MustCompile(`<a href="(files/[^"]*)"`).FindAllSubmatch(page, -1)
	if len(links) < 1200 {
		t.Errorf("%d links to files", len(links))
	}
	for _, l := range links {
		if !there[string(l[1])] {
			t.Errorf("a link to %s, which is not there", l[1])
		}
	}
	reportstest.Wants(t, string(page), "By CPU", "By format", "By model", "best of 10 files", "tok/s per GB/s", "onebit bench")
}

// TestSiteRefuses plants what has no place on a site, and finds each named with its reason.
func TestSiteRefuses(t *testing.T) {
	files := machinesFrom(t, 3, 3)
	edited := func(edit func(*results.Set)) *results.Set {
		res := machinesFrom(t, 4, 4)[3].Results
		edit(res)
		return res
	}
	timesOf := func(base string, factor float64) func(*results.Set) {
		return func(res *results.Set) {
			for _, s := range res.Samples {
				if s.Name.Base == base {
					for i, v := range s.Values {
						if slices.Contains([]string{results.NsPerOp, results.TimeLow, results.TimeHigh}, v.Unit) {
							s.Values[i].Value *= factor
						}
					}
				}
			}
		}
	}
	without := func(base string) func(*results.Set) {
		return func(res *results.Set) {
			res.Samples = slices.DeleteFunc(res.Samples, func(s results.Sample) bool { return s.Name.Base == base })
		}
	}
	set := func(key, value string) func(*results.Set) {
		return func(res *results.Set) {
			for i, s := range res.Settings {
				if s.Key == key {
					res.Settings[i].Value = value
				}
			}
		}
	}
	planted := []struct {
		path string
		res  *results.Set
		why  string
	}{
		{"copy.txt", files[0].Results, "it holds the measurements of in/0000.txt"},
		{"products.txt", edited(timesOf(names.BaseMatVec, 0.01)), "and its machine"},
		{"tokens.txt", edited(timesOf(names.BaseModel, 0.001)), "and its machine"},
		{"unbounded.txt", edited(without(names.BaseRead)), "what the machine reads was not measured"},
		{"nameless.txt", edited(set("cpu", "")), "does not say which CPU"},
		{"empty.txt", &results.Set{}, "nothing to share"},
	}
	for _, p := range planted {
		files = append(files, File{p.path, p.res})
	}
	files = append(files, File{"played.txt", edited(func(res *results.Set) { set("emulator", "qemu")(res); set("emulated", "true")(res) })})
	d, out, err := Document(files, []LeftOut{{"broken.txt", "line 3: no benchmark"}})
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range planted {
		if !slices.ContainsFunc(out, func(l LeftOut) bool { return l.Path == p.path && strings.Contains(l.Why, p.why) }) {
			t.Errorf("%s is not left out since %s: %v", p.path, p.why, out)
		}
	}
	if len(out) != len(planted)+1 {
		t.Errorf("%d files left out, want %d: %v", len(out), len(planted)+1, out)
	}
	if len(d.Files) != 4 {
		t.Errorf("%d files taken, want 4", len(d.Files))
	}
	var page bytes.Buffer
	html, _ := render.Named("html")
	if err := html.Print(t.Context(), &page, d, render.Options{}); err != nil {
		t.Fatal(err)
	}
	reportstest.Wants(t, page.String(), "Emulated machines", "qemu", "Left out", "broken.txt", "products.txt", "<title>onebit · 3 CPUs</title>")
}
