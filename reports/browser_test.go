package reports_test

import (
	"bytes"
	"context"
	"flag"
	"fmt"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/cdproto/log"
	"github.com/chromedp/cdproto/network"
	"github.com/chromedp/cdproto/runtime"
	"github.com/chromedp/chromedp"

	"onebit/bench/results"
	"onebit/internal/require"
	"onebit/reports/render"
	"onebit/reports/reportstest"
	"onebit/reports/words"
)

var screenshots = flag.String("screenshots", "", "write screenshots of the report into this directory")

// findChromium returns the path of a browser, or skips.
func findChromium(t *testing.T) string {
	t.Helper()
	for _, name := range []string{"chromium", "chromium-browser", "google-chrome", "google-chrome-stable", "headless-shell"} {
		if path, err := exec.LookPath(name); err == nil {
			return path
		}
	}
	require.Skip(t, "chromium", "no chromium, google-chrome or headless-shell in PATH")
	return ""
}

// A browser is a tab that notes what a self-contained, faultless page never does.
type browser struct {
	ctx context.Context
	mu  sync.Mutex
	bad []string // console errors, exceptions, requests to anything but the page itself
}

func openBrowser(t *testing.T) *browser {
	t.Helper()
	options := append(slices.Clone(chromedp.DefaultExecAllocatorOptions[:]),
		chromedp.ExecPath(findChromium(t)),
		chromedp.UserDataDir(t.TempDir()),
		chromedp.Flag("disable-background-networking", true),
		chromedp.Flag("disable-component-update", true),
		chromedp.Flag("disable-sync", true),
		chromedp.Flag("disable-quic", true),
		chromedp.Flag("no-first-run", true),
		chromedp.DisableGPU,
		chromedp.WSURLReadTimeout(time.Minute), // a busy machine starts a browser slowly
	)
	if os.Geteuid() == 0 {
		options = append(options, chromedp.NoSandbox)
	}
	allocator, cancel := chromedp.NewExecAllocator(context.Background(), options...)
	t.Cleanup(cancel)
	ctx, cancel := chromedp.NewContext(allocator)
	t.Cleanup(cancel)
	if err := chromedp.Do(ctx); err != nil { // starts the browser
		t.Fatal(err)
	}
	ctx, cancel = context.WithTimeout(ctx, 5*time.Minute)
	t.Cleanup(cancel)
	b := &browser{ctx: ctx}
	if err := chromedp.Listen(ctx, b.note); err != nil {
		t.Fatal(err)
	}
	call(t, b, network.Enable, network.EnableParams{})
	call(t, b, log.Enable, cdp.Empty{})
	call(t, b, runtime.Enable, cdp.Empty{})
	return b
}

func (b *browser) note(event any) {
	b.mu.Lock()
	defer b.mu.Unlock()
	switch e := event.(type) {
	case *runtime.EventConsoleAPICalled:
		if e.Type == runtime.ConsoleAPICalledTypeError || e.Type == runtime.ConsoleAPICalledTypeWarning || e.Type == runtime.ConsoleAPICalledTypeAssert {
			b.bad = append(b.bad, fmt.Sprintf("console %s: %v", e.Type, e.Args))
		}
	case *runtime.EventExceptionThrown:
		b.bad = append(b.bad, "exception: "+e.ExceptionDetails.Text)
	case *log.EventEntryAdded:
		b.bad = append(b.bad, fmt.Sprintf("log %s: %s", e.Entry.Level, e.Entry.Text))
	case *network.EventRequestWillBeSent:
		if !strings.HasPrefix(e.Request.URL, "file://") && !strings.HasPrefix(e.Request.URL, "data:") {
			b.bad = append(b.bad, "request: "+e.Request.URL)
		}
	}
}

func (b *browser) run(t *testing.T, steps ...chromedp.Action[chromedp.Void]) {
	t.Helper()
	if err := chromedp.Do(b.ctx, steps...); err != nil {
		t.Fatal(err)
	}
}

func call[P, R any](t *testing.T, b *browser, command cdp.Command[P, R], params P) {
	t.Helper()
	if _, err := chromedp.Call(b.ctx, command, params); err != nil {
		t.Fatal(err)
	}
}

// eval evaluates a JavaScript expression.
func eval[T any](t *testing.T, b *browser, expression string) T {
	t.Helper()
	v, err := chromedp.Run(b.ctx, chromedp.Evaluate[T](expression))
	if err != nil {
		t.Fatal(err)
	}
	return v
}

// load opens the page in a window of the given width, under a colour scheme.
func (b *browser) load(t *testing.T, page string, width int64, scheme string) {
	t.Helper()
	call(t, b, emulation.SetDeviceMetricsOverride, emulation.SetDeviceMetricsOverrideParams{
		Width: width, Height: 900, DeviceScaleFactor: 1, Mobile: width < 500,
	})
	call(t, b, emulation.SetEmulatedMedia, emulation.SetEmulatedMediaParams{
		Features: []*emulation.MediaFeature{{Name: "prefers-color-scheme", Value: scheme}},
	})
	b.run(t, chromedp.Navigate((&url.URL{Scheme: "file", Path: filepath.ToSlash(page)}).String()),
		chromedp.WaitReady(chromedp.CSS("main")))
}

func (b *browser) check(t *testing.T) {
	t.Helper()
	b.mu.Lock()
	defer b.mu.Unlock()
	for _, bad := range b.bad {
		t.Error(bad)
	}
}

func TestReportInBrowser(t *testing.T) {
	if testing.Short() {
		t.Skip("a browser takes seconds")
	}
	if *screenshots == "" {
		require.Turns(t, "TestReportInBrowser", "TestFleetInBrowser")
	}
	b := openBrowser(t)
	m := reportstest.NewRun(1)
	m.Formats = m.Formats[:2] // with as many shapes that the matrix is folded
	if *screenshots != "" {
		m = reportstest.NewRun(1)
	}
	var text bytes.Buffer
	if err := reportstest.Print(t.Context(), &text, "html", reportstest.Set(t, slices.Concat(m.Results(), reportstest.SmallModels().Results()))); err != nil {
		t.Fatal(err)
	}
	page := filepath.Join(t.TempDir(), "index.html")
	if err := os.WriteFile(page, text.Bytes(), 0o666); err != nil {
		t.Fatal(err)
	}

	b.load(t, page, 1280, "light")
	t.Run("references", func(t *testing.T) { testReferences(t, b) })
	t.Run("keyboard", func(t *testing.T) { testKeyboard(t, b) })
	t.Run("filter", func(t *testing.T) { testFilter(t, b) })
	t.Run("sort", func(t *testing.T) { testSorting(t, b) })
	t.Run("numbers", func(t *testing.T) { testSortKeys(t, b) })
	t.Run("schemes", func(t *testing.T) { testSchemes(t, b, page) })
	for _, width := range require.Draw(t, 2, []int64{320, 375, 1280}) {
		t.Run(fmt.Sprint("width ", width), func(t *testing.T) {
			b.load(t, page, width, "light")
			b.run(t, chromedp.Evaluate[chromedp.Void](`document.querySelectorAll("details").forEach((d) => { d.open = true })`))
			if wide := eval[int64](t, b, "document.documentElement.scrollWidth"); wide > width {
				t.Errorf("the page is %d pixels wide in a window of %d", wide, width)
			}
		})
	}
	t.Run("plots", func(t *testing.T) {
		dir := t.TempDir()
		if err := reportstest.Write(t.Context(), dir, render.FolderOptions{}, reportstest.Set(t, reportstest.Small().Results())); err != nil {
			t.Fatal(err)
		}
		b.load(t, filepath.Join(dir, "index.html"), 1280, "light")
		testPlotLinks(t, b, dir)
	})
	b.check(t)
	if *screenshots != "" {
		takeScreenshots(t, b, page)
	}
}

// cases is the table of all cases of kernels, and casesFilter the field above it.
const (
	cases       = `[aria-label="cases-MatVec, table"] table`
	casesFilter = `.filter:has(+ [aria-label="cases-MatVec, table"])`
)

// column returns what the page sorts by in a column of cases, as far as its rows are shown.
func column(t *testing.T, b *browser, index int) []string {
	return eval[[]string](t, b, fmt.Sprintf(`[...document.querySelector(%q).tBodies[0].rows].filter((r) => !r.hidden)
		.map((r) => String(sortKey(r.cells[%d].textContent.trim())))`, cases, index))
}

func ariaSort(t *testing.T, b *browser) []string {
	return eval[[]string](t, b, fmt.Sprintf(`[...document.querySelector(%q).tHead.rows[0].cells].map((c) => c.getAttribute("aria-sort") ?? "")`, cases))
}

func headers(t *testing.T, b *browser) []string {
	return eval[[]string](t, b, fmt.Sprintf(`[...document.querySelector(%q).tHead.rows[0].cells].map((c) => c.textContent.trim())`, cases))
}

func clickHeader(t *testing.T, b *browser, index int) {
	b.run(t, chromedp.Evaluate[chromedp.Void](fmt.Sprintf(`document.querySelector(%q).tHead.rows[0].cells[%d].querySelector("button").click()`, cases, index)))
}

func testSorting(t *testing.T, b *browser) {
	names := headers(t, b)
	for _, name := range []string{"ns/op", "nmse", "rows", "variant"} {
		at := slices.Index(names, name)
		if at < 0 {
			t.Fatalf("no column %q in %q", name, names)
		}
		before := column(t, b, at)
		for _, want := range []string{"ascending", "descending"} {
			clickHeader(t, b, at)
			got := column(t, b, at)
			if !slices.IsSortedFunc(got, func(x, y string) int {
				if want == "descending" {
					x, y = y, x
				}
				return compareCells(x, y)
			}) {
				t.Errorf("%s %s: not in order: %q", name, want, got[:8])
			}
			for i, sorted := range ariaSort(t, b) {
				if (i == at && sorted != want) || (i != at && sorted != "") {
					t.Errorf("%s %s: column %s has aria-sort %q", name, want, names[i], sorted)
				}
			}
			slices.Sort(got)
			slices.Sort(before)
			if !slices.Equal(got, before) {
				t.Errorf("%s %s: sorting changed the rows", name, want)
			}
		}
	}
}

// testSortKeys checks that the page reads a number in its unit, in whatever form a unit has, and takes no name for one.
func testSortKeys(t *testing.T, b *browser) {
	key := func(text string) string { return eval[string](t, b, fmt.Sprintf("String(sortKey(%q))", text)) }
	for text, want := range map[string]string{
		"8": "8", "-3": "-3", "6.1e-05": "0.000061", "0 B": "0", "1.50 KiB": "1536", "2.00 MiB": "2097152", "84.8 % ±11 %": "84.8",
		"2.50 s": "2.5", "2.54 ms† ±8 %": "0.00254", "141 G/s ×÷2.1": "141000000000", "413 MB/s": "413000000", "12.0/s ±?": "12", "500 ms†‡": "0.5",
		"3.00 Misses": "3", "": "", "2048×2048": "2048×2048", "128x64": "128x64", "1.2.3": "1.2.3", "q8_row": "q8_row", "2026-11-25": "2026-11-25",
	} {
		if got := key(text); got != want {
			t.Errorf("%q is read as %s, want %s", text, got, want)
		}
	}
	for _, unit := range append(slices.Clone(results.Units), results.UnitOf("misses")) {
		last := 0.0
		for _, v := range []float64{2, 3e3, 4e6, 5e9, 6e12} {
			got, err := strconv.ParseFloat(key(unit.Format(v)), 64)
			if err != nil || got < 1000*last {
				t.Errorf("%s: %q is read as %g after %g: %v", unit.Name, unit.Format(v), got, last, err)
			}
			last = got
		}
	}
}

func compareCells(x, y string) int {
	a, errA := strconv.ParseFloat(x, 64)
	c, errC := strconv.ParseFloat(y, 64)
	if errA == nil && errC == nil {
		switch {
		case a < c:
			return -1
		case a > c:
			return 1
		}
		return 0
	}
	return words.Compare(x, y)
}

func testFilter(t *testing.T, b *browser) {
	at := slices.Index(headers(t, b), "variant")
	all := column(t, b, at)
	other := eval[int](t, b, `[...document.querySelector("table.sortable").tBodies[0].rows].filter((r) => !r.hidden).length`)
	b.run(t, chromedp.SendKeys(chromedp.CSS(casesFilter+" input"), "AVX2 q8_row"))
	filtered := column(t, b, at)
	if len(filtered) == 0 || len(filtered) >= len(all) {
		t.Fatalf("%d of %d rows are left", len(filtered), len(all))
	}
	for _, v := range filtered {
		if v != "avx2" {
			t.Errorf("%q is shown in spite of the filter", v)
		}
	}
	want := fmt.Sprintf("%d of %d rows", len(filtered), len(all))
	if got := eval[string](t, b, fmt.Sprintf(`document.querySelector(%q).textContent`, casesFilter+" output")); got != want {
		t.Errorf("the filter says %q, want %q", got, want)
	}
	if now := eval[int](t, b, `[...document.querySelector("table.sortable").tBodies[0].rows].filter((r) => !r.hidden).length`); now != other {
		t.Errorf("the filter of one table changed another: %d rows, before %d", now, other)
	}
	b.run(t, chromedp.Evaluate[chromedp.Void](fmt.Sprintf(`(() => { const i = document.querySelector(%q); i.value = ""; i.dispatchEvent(new Event("input")) })()`, casesFilter+" input")))
	if now := column(t, b, at); len(now) != len(all) {
		t.Errorf("%d rows after the filter was emptied, want %d", len(now), len(all))
	}
}

// testKeyboard sorts without a mouse.
func testKeyboard(t *testing.T, b *browser) {
	b.run(t, chromedp.Focus(chromedp.CSS(cases+" th button")), chromedp.KeyEvent("\r"))
	if got := ariaSort(t, b)[0]; got != "ascending" {
		t.Errorf("Enter on the first header: aria-sort is %q", got)
	}
	b.run(t, chromedp.Evaluate[chromedp.Void]("document.activeElement.blur()"), chromedp.KeyEvent("\t"))
	if got := eval[string](t, b, "document.activeElement.tagName"); got != "BUTTON" && got != "A" && got != "DIV" && got != "INPUT" {
		t.Errorf("Tab leads to %s", got)
	}
}

func testSchemes(t *testing.T, b *browser, page string) {
	background := make(map[string]string)
	for _, scheme := range []string{"light", "dark"} {
		b.load(t, page, 1280, scheme)
		background[scheme] = eval[string](t, b, "getComputedStyle(document.body).backgroundColor")
		for _, what := range []string{"body", ".muted", "table.sortable th button", ".verdict", ".next", "figure svg text", ".number", ".sheet small"} {
			ratio := eval[float64](t, b, fmt.Sprintf(contrastScript, what))
			if ratio < 4.5 {
				t.Errorf("%s: the contrast of %s is %.2f, less than 4.5", scheme, what, ratio)
			}
		}
	}
	if background["light"] == background["dark"] {
		t.Errorf("both schemes have the background %s", background["light"])
	}
}

// contrastScript computes the contrast of an element's text with the page's background, by the
// formula of WCAG 2.1, section 1.4.3.
const contrastScript = `(() => {
	const luminance = (color) => {
		const [r, g, b] = color.match(/[\d.]+/g).map((v) => v / 255).map((v) => v <= 0.03928 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4);
		return 0.2126 * r + 0.7152 * g + 0.0722 * b;
	};
	const element = document.querySelector(%q), style = getComputedStyle(element);
	const text = luminance(element instanceof SVGElement ? style.fill : style.color);
	const paper = luminance(getComputedStyle(document.body).backgroundColor);
	return (Math.max(text, paper) + 0.05) / (Math.min(text, paper) + 0.05);
})()`

// testPlotLinks checks that each figure leads to its file.
func testPlotLinks(t *testing.T, b *browser, dir string) {
	links := eval[[]string](t, b, `[...document.querySelectorAll("figcaption a")].map((a) => a.getAttribute("href"))`)
	figures := eval[int](t, b, `document.querySelectorAll("figure").length`)
	if len(links) != figures || figures == 0 {
		t.Errorf("%d figures have %d links", figures, len(links))
	}
	for _, link := range links {
		if _, err := os.Stat(filepath.Join(dir, filepath.FromSlash(link))); err != nil {
			t.Error(err)
		}
	}
}

// testReferences checks that ids are unique and that everything which refers to one finds it.
func testReferences(t *testing.T, b *browser) {
	for _, lost := range eval[[]string](t, b, `(() => {
		const lost = [], seen = new Set();
		for (const e of document.querySelectorAll("[id]")) { if (seen.has(e.id)) lost.push("twice: " + e.id); seen.add(e.id); }
		for (const a of document.querySelectorAll('a[href^="#"]')) if (!seen.has(a.hash.slice(1))) lost.push("link to " + a.hash);
		for (const e of document.querySelectorAll("[aria-labelledby]"))
			for (const id of e.getAttribute("aria-labelledby").split(" ")) if (!seen.has(id)) lost.push("label " + id);
		for (const svg of document.querySelectorAll("svg[role=img]"))
			if (!svg.getAttribute("aria-label") || !svg.closest("figure")?.querySelector("figcaption").textContent) lost.push("untitled drawing");
		return lost;
	})()`) {
		t.Error(lost)
	}
}

func takeScreenshots(t *testing.T, b *browser, page string) {
	for _, shot := range []struct {
		name, scheme string
		width        int64
	}{{"desktop-light", "light", 1280}, {"desktop-dark", "dark", 1280}, {"phone-light", "light", 375}, {"phone-dark", "dark", 375}} {
		b.load(t, page, shot.width, shot.scheme)
		image, err := chromedp.Run(b.ctx, chromedp.FullScreenshot(100))
		if err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(*screenshots, shot.name+".png"), image, 0o666); err != nil {
			t.Fatal(err)
		}
	}
}
