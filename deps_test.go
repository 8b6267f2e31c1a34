package onebit

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os/exec"
	"path"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
)

// A layer is what the packages that match pkg may import of this module.
type layer struct {
	pkg     string
	imports []string
}

// layers says which of our packages each package may import. A package is
// governed by the first line whose pattern matches its directory; "x/*" stands
// for every package below x. Nothing else is allowed.
var layers = []layer{
	{"internal/threads", []string{"internal/clock", "internal/mmap"}},
	{"internal/*", nil},
	{"formats", []string{"internal/*"}},
	{"formats/container", []string{"internal/*", "formats"}},
	{"formats/*", []string{"internal/*", "formats", "formats/container"}},
	{"kernels/quantize", []string{"internal/*"}},
	{"kernels", []string{"internal/*", "formats", "kernels/quantize"}},
	{"kernels/internal/*", []string{"internal/*", "kernels"}},
	{"kernels/all", []string{"kernels/*"}},
	{"kernels/kerneltest", []string{"internal/*", "formats", "kernels", "kernels/all"}},
	{"kernels/*", []string{"internal/*", "formats", "kernels", "kernels/internal/*", "kernels/quantize"}},
	{"metal", []string{"metal/dl"}},
	{"metal/softmetal", []string{"metal/dl"}},
	{"metal/softmetal/frameworks", []string{"metal/dl", "metal/softmetal"}},
	{"metal/metaltest", []string{"internal/*", "metal/softmetal/frameworks"}},
	{"metal/shaders", []string{"formats"}},
	{"metal/*", nil},
	{"models/tokenizer", []string{"internal/*", "formats/*", "models/arch"}},
	{"models/arch", []string{"internal/*", "formats", "formats/container"}},
	{"models/hf", []string{"internal/*", "formats", "formats/*", "models/arch", "models/tokenizer"}},
	{"models/engine", []string{"formats", "models/arch"}},
	{"models/engine/enginetest", []string{"internal/*", "formats", "formats/*", "models", "models/*"}},
	{"models/engine/metal", []string{"internal/*", "formats", "kernels", "kernels/all", "metal", "metal/shaders", "models/arch", "models/engine"}},
	{"models/engine/*", []string{"internal/*", "formats", "kernels", "kernels/all", "kernels/vectors", "models/arch", "models/engine"}},
	{"models/train/lm", []string{"internal/*", "formats", "formats/*", "kernels", "kernels/dense", "kernels/vectors", "models/arch", "models/tokenizer", "models/train"}},
	{"models/train", []string{"internal/*", "formats", "kernels", "kernels/all", "kernels/dense", "kernels/vectors"}},
	{"models/forward", []string{"formats", "kernels", "models/arch", "models/engine"}},
	{"models/architectures", []string{"formats", "models/arch", "models/engine", "models/forward"}},
	{"models/source", []string{"internal/*", "formats", "formats/*", "models/arch", "models/architectures", "models/hf", "models/tokenizer"}},
	{"models", []string{"internal/*", "formats", "formats/*", "models/arch", "models/engine", "models/forward", "models/source", "models/tokenizer"}},
	{"models/*", []string{"internal/*", "formats", "formats/*", "kernels", "models", "models/*"}},
	{"bench/cases", []string{"internal/*", "formats", "formats/*", "kernels", "kernels/all", "metal", "models", "models/*", "bench", "bench/*"}},
	{"bench/results", []string{"internal/*"}},
	{"bench/noise", []string{"bench/results"}},
	{"bench", []string{"internal/*", "bench/results", "bench/noise"}},
	{"bench/foreign", []string{"internal/*", "bench/results", "bench/names"}},
	{"bench/gate", []string{"internal/*", "bench/results", "bench/noise"}},
	{"bench/gate/reach", nil},
	{"bench/gate/sides", []string{"bench/results", "bench/gate", "bench/gate/reach"}},
	{"bench/gate/suites", []string{"bench/results", "bench/names", "bench/gate", "bench/gate/sides"}},
	{"bench/gate/calibrate", []string{"internal/*", "bench/results", "bench/noise", "bench/gate", "bench/gate/sides"}},
	{"bench/profile", []string{"bench/results", "bench/noise", "bench/names", "bench/hotspot"}},
	{"bench/*", []string{"internal/*", "bench/results", "bench/noise"}},
	{"reports/figure", []string{"internal/*", "bench/results", "bench/noise"}},
	{"reports/doc", []string{"internal/term", "reports/figure"}},
	{"reports/render", []string{"internal/*", "reports/figure", "reports/doc"}},
	{"reports/words", []string{"bench/names", "bench/results", "reports/doc"}},
	{"reports/digest", []string{"internal/*", "bench/results", "bench/noise", "bench/names", "reports/words", "reports/figure", "reports/doc"}},
	{"reports/charts", []string{"internal/term", "bench/results", "bench/names", "reports/digest", "reports/words", "reports/figure", "reports/doc"}},
	{"reports", []string{"internal/*", "bench/results", "bench/names", "bench/gate", "reports/doc"}},
	{"reports/all", []string{"reports/*"}},
	{"reports/reportstest", []string{"internal/*", "bench/results", "bench/noise", "bench/names", "bench/history", "bench/profile", "bench/hotspot", "reports", "reports/render", "reports/words", "reports/figure", "reports/doc"}},
	{"reports/models", []string{"internal/*", "bench/results", "bench/noise", "bench/names", "reports", "reports/kernels", "reports/charts", "reports/digest", "reports/words", "reports/figure", "reports/doc"}},
	{"reports/profile", []string{"internal/*", "bench/results", "bench/noise", "bench/names", "bench/profile", "bench/hotspot", "reports", "reports/models", "reports/digest", "reports/words", "reports/figure", "reports/doc"}},
	{"reports/share", []string{"internal/*", "bench/results", "bench/names", "reports/digest", "reports/words"}},
	{"reports/site", []string{"internal/*", "bench/results", "bench/names", "reports", "reports/fleet", "reports/share", "reports/digest", "reports/words", "reports/doc"}},
	{"reports/*", []string{"internal/*", "bench/results", "bench/noise", "bench/names", "bench/foreign", "bench/gate", "bench/history", "reports", "reports/charts", "reports/digest", "reports/words", "reports/figure", "reports/doc"}},
	{"cmd/internal/scripts", []string{"internal/*"}},
	{"cmd/internal/cli", []string{"internal/*", "bench", "bench/gate", "models/train/lm"}},
	{"cmd/onebit-lab", []string{"cmd/internal/cli", "internal/*", "formats/*", "kernels", "models/*", "bench", "bench/*", "reports/figure", "reports/*"}},
	{"cmd/*", []string{"cmd/internal/*", "internal/*", "formats", "formats/*", "kernels", "kernels/all", "models", "models/*", "bench", "bench/*", "reports", "reports/*", "metal", "metal/softmetal/frameworks"}},
}

// modules says which packages may import each module that is not ours, in
// code that ships. An unlisted module is a new dependency: it belongs here,
// with the reason in the commit.
var modules = map[string][]string{
	"golang.org/x/sys":                  {"internal/*", "bench/*", "cmd/*"},
	"golang.org/x/sync":                 {"models/*", "bench/*"},
	"golang.org/x/term":                 {"cmd/*"},
	"golang.org/x/perf":                 {"bench/*", "reports/compare"},
	"github.com/aclements/go-moremath":  {"bench/history"}, // the distribution of the rank sum
	"github.com/montanaflynn/stats":     {"bench", "bench/noise", "models/perplexity"},
	"gonum.org/v1/gonum":                {"bench/*", "models/perplexity"}, // quantiles of Student's distribution
	"gonum.org/v1/plot":                 {"reports/*"},
	"golang.org/x/image":                {"reports/figure"}, // the types of plot's fonts
	"github.com/ebitengine/purego":      {"metal/dl"},       // C libraries without cgo
	"github.com/gofrs/flock":            {"cmd/*"},          // locks of folders on every system
	"github.com/spf13/cobra":            {"cmd/*"},
	"github.com/spf13/pflag":            {"cmd/*"}, // what cobra's flags are
	"github.com/schollz/progressbar/v3": {"cmd/*"},
	"github.com/rogpeppe/go-internal":   {"cmd/internal/scripts"}, // runs the programs' testscripts
	"github.com/google/pprof":           {"bench/gate", "bench/hotspot", "bench/profile"},
	"github.com/pelletier/go-toml":      {"bench/gate"}, // the file of thresholds
}

// testModules may be imported by any test and by nothing else.
var testModules = []string{
	"github.com/google/go-cmp",
	"github.com/rogpeppe/go-internal",
	"github.com/chromedp/chromedp",
	"github.com/chromedp/cdproto",
	"github.com/google/pprof", // profiles that a compiler reads
	"go.yaml.in/yaml/v3",      // what workflows are written in
	"github.com/x448/float16",
	"github.com/dlclark/regexp2", // what splitters are held to
}

// The two sides that only bench/cases and cmd may join, in tests as in code.
var (
	dataSide    = []string{"formats", "formats/*", "kernels", "kernels/*", "metal", "metal/*", "models", "models/*"}
	measureSide = []string{"bench", "bench/*", "reports", "reports/*"}
)

// An importLine is one import in one file of this module, whatever the
// file's build constraints.
type importLine struct {
	file, dir, path string // slash-separated, relative to the module's root
	test            bool
}

func (l importLine) String() string { return l.file + " imports " + l.path }

func importLines(t *testing.T) []importLine {
	t.Helper()
	var out []importLine
	eachGoFile(t, func(file string, f *ast.File) {
		for _, spec := range f.Imports {
			p, err := strconv.Unquote(spec.Path.Value)
			if err != nil {
				t.Fatal(err)
			}
			out = append(out, importLine{file, path.Dir(file), p, strings.HasSuffix(file, "_test.go")})
		}
	})
	if len(out) == 0 {
		t.Fatal("no imports found")
	}
	return out
}

// A goFile is one of this module's, tests too. Its name is slash-separated,
// relative to the module's root.
type goFile struct {
	name   string
	syntax *ast.File
}

// goFiles parses every Go file of this module, once.
var goFiles = sync.OnceValues(func() (files []goFile, err error) {
	err = filepath.WalkDir(".", func(file string, e fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if e.IsDir() {
			// The go command skips these too; kernels/_asm is a module of its own.
			if name := e.Name(); file != "." && (name == "testdata" || strings.HasPrefix(name, "_") || strings.HasPrefix(name, ".")) {
				return fs.SkipDir
			}
			return nil
		}
		if !strings.HasSuffix(file, ".go") {
			return nil
		}
		f, err := parser.ParseFile(token.NewFileSet(), file, nil, parser.SkipObjectResolution)
		files = append(files, goFile{filepath.ToSlash(file), f})
		return err
	})
	return files, err
})

func eachGoFile(t *testing.T, do func(file string, f *ast.File)) {
	t.Helper()
	files, err := goFiles()
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range files {
		do(f.name, f.syntax)
	}
}

func matches(dir string, patterns []string) bool {
	return slices.ContainsFunc(patterns, func(p string) bool {
		below, wild := strings.CutSuffix(p, "/*")
		return dir == p || wild && strings.HasPrefix(dir, below+"/")
	})
}

// ours returns the directory of an import of this module.
func ours(path string) (string, bool) { return strings.CutPrefix(path, "onebit/") }

func TestLayers(t *testing.T) {
	for _, l := range importLines(t) {
		dir, ok := ours(l.path)
		if !ok || l.test {
			continue
		}
		if allowed := allowedImports(t, l); !matches(dir, allowed) {
			t.Errorf("%v; %s may import only %q of this module", l, l.dir, allowed)
		}
	}
}

func allowedImports(t *testing.T, l importLine) []string {
	t.Helper()
	rule := layerOf(l.dir)
	if rule == nil {
		t.Errorf("%s: package %s has no layer", l.file, l.dir)
		return nil
	}
	return rule.imports
}

// layerOf returns the layer that governs a package, nil if there is none.
func layerOf(dir string) *layer {
	for i := range layers {
		if matches(dir, []string{layers[i].pkg}) {
			return &layers[i]
		}
	}
	return nil
}

// A permission lets packages that match a pattern, or those of a layer, import
// what another pattern matches.
type permission struct{ what, imports string }

// TestPermissionsAreUsed: what nobody imports, nobody may import; else the tables say less
// from year to year about how the packages hang together.
func TestPermissionsAreUsed(t *testing.T) {
	used := map[permission]bool{}
	use := func(what, dir string, patterns []string) {
		for _, p := range patterns {
			if matches(dir, []string{p}) {
				used[permission{what, p}] = true
			}
		}
	}
	for _, l := range importLines(t) {
		if dir, ok := ours(l.path); ok && !l.test {
			if rule := layerOf(l.dir); rule != nil {
				use(rule.pkg, dir, rule.imports)
			}
		}
		for module, packages := range modules {
			if !l.test && hasModule(l.path, []string{module}) {
				use(module, l.dir, packages)
			}
		}
		for _, module := range testModules {
			if l.test && hasModule(l.path, []string{module}) && !matches(l.dir, modules[module]) {
				used[permission{module, "tests"}] = true
			}
		}
	}
	for _, rule := range layers {
		for _, p := range rule.imports {
			if !used[permission{rule.pkg, p}] {
				t.Errorf("layers: %s may import %s, and does not", rule.pkg, p)
			}
		}
	}
	for module, packages := range modules {
		for _, p := range packages {
			if !used[permission{module, p}] {
				t.Errorf("modules: %s may import %s, and does not", p, module)
			}
		}
	}
	for _, module := range testModules {
		if !used[permission{module, "tests"}] {
			t.Errorf("testModules: no test needs %s", module)
		}
	}
}

// TestLayersGovern: each line governs a package.
func TestLayersGovern(t *testing.T) {
	governs := map[*layer]bool{}
	for _, l := range importLines(t) {
		governs[layerOf(l.dir)] = true
	}
	for i := range layers {
		if !governs[&layers[i]] {
			t.Errorf("layers: %s governs no package", layers[i].pkg)
		}
	}
}

// Tests may reach further than the code they test, but not across.
func TestSides(t *testing.T) {
	joins := []string{"bench/cases", "cmd/*"}
	for _, l := range importLines(t) {
		dir, ok := ours(l.path)
		if !ok || matches(l.dir, joins) {
			continue
		}
		if matches(l.dir, measureSide) && matches(dir, dataSide) || matches(l.dir, dataSide) && matches(dir, measureSide) {
			t.Errorf("%v; only %q may join the two sides", l, joins)
		}
	}
}

func TestModules(t *testing.T) {
	for _, l := range importLines(t) {
		if _, ok := ours(l.path); ok || !strings.Contains(strings.Split(l.path, "/")[0], ".") {
			continue // this module and the standard library
		}
		if l.test && hasModule(l.path, testModules) {
			continue
		}
		var allowed []string
		for module, packages := range modules {
			if hasModule(l.path, []string{module}) {
				allowed = packages
			}
		}
		if !matches(l.dir, allowed) {
			t.Errorf("%v; allowed in %q", l, allowed)
		}
	}
}

func hasModule(path string, modules []string) bool {
	return slices.ContainsFunc(modules, func(m string) bool {
		return path == m || strings.HasPrefix(path, m+"/")
	})
}

// A program without cgo is linked statically on Linux, and runs on any, of
// whatever C library: purego, which calls C on a Mac, would change that.
func TestStaticOnLinux(t *testing.T) {
	list := exec.Command("go", "list", "-deps", "./cmd/onebit")
	list.Env = append(list.Environ(), "GOOS=linux", "CGO_ENABLED=0")
	packages, err := list.Output()
	if err != nil {
		t.Fatal(err)
	}
	for p := range strings.Lines(string(packages)) {
		if p = strings.TrimSpace(p); hasModule(p, []string{"github.com/ebitengine/purego"}) || p == "runtime/cgo" {
			t.Errorf("cmd/onebit links %s", p)
		}
	}
}

// Internal packages are leaves: beside the standard library, and the leaves that layers
// grants, they import only golang.org/x/sys, so that anything may import them.
func TestInternalLeaves(t *testing.T) {
	for _, l := range importLines(t) {
		if l.test || !strings.HasPrefix(l.dir, "internal/") {
			continue
		}
		std := !strings.Contains(strings.Split(l.path, "/")[0], ".")
		if !std && !hasModule(l.path, []string{"golang.org/x/sys"}) {
			t.Errorf("%v; internal packages are leaves", l)
		}
	}
}

// A machine is described to tests and to nothing else: no variable says to those who
// use onebit what theirs is.
func TestMachinesAreDescribedToTests(t *testing.T) {
	eachGoFile(t, func(file string, f *ast.File) {
		ast.Inspect(f, func(n ast.Node) bool {
			call, ok := n.(*ast.SelectorExpr)
			if !ok || call.Sel.Name != "Describe" || strings.HasSuffix(file, "_test.go") {
				return true
			}
			if pkg, ok := call.X.(*ast.Ident); ok && pkg.Name == "sysinfo" {
				t.Errorf("%s calls sysinfo.Describe", file)
			}
			return true
		})
	})
}
