package charts

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"

	"onebit/bench/names"
	"onebit/bench/results"
	"onebit/internal/term"
	"onebit/reports/digest"
	"onebit/reports/figure"
	"onebit/reports/words"
)

const aboutThreads = "Up is faster. On the dashed line every thread counts in full; the efficiency is the part of it that is reached."

// ThreadsChart is the chart of speed-ups in one kind of report; figures has those of its tasks.
func ThreadsChart[R any](figures func(R) []*figure.Figure) Chart[R] {
	return Chart[R]{Order: 15, Name: "threads", Heading: "Speed-up by threads", About: aboutThreads, Figures: figures}
}

// sweepLeast is from how many numbers of threads on there is a curve to draw.
const sweepLeast = 3

// Threads has a figure for each format, of its largest matrix, or for each test of a model.
func Threads(d *digest.Digest, models bool) []*figure.Figure {
	var figures []*figure.Figure
	for _, family := range d.Families() {
		if (family.Base == names.BaseModel) != models {
			continue
		}
		tasks := slices.DeleteFunc(slices.Clone(family.Tasks), func(t *digest.Task) bool { return len(sweeps(t)) == 0 })
		if !models && len(tasks) > 1 {
			tasks = tasks[len(tasks)-1:]
		}
		for _, t := range tasks {
			figures = append(figures, threadsFigure(d, t))
		}
	}
	return figures
}

// A sweep is what a task took with several numbers of threads, all else equal.
type sweep struct {
	variant, cache string
	points         [][2]float64 // threads and nanoseconds, fewest threads first
}

// speedUp is how many times as fast as with the fewest threads a point is.
func (s *sweep) speedUp(i int) float64 { return s.points[0][1] / s.points[i][1] }

// efficiency is the speed-up's part of what the threads would be worth in full.
func (s *sweep) efficiency(i int) float64 { return s.speedUp(i) * s.points[0][0] / s.points[i][0] }

// sweeps are those of a task that are long enough.
func sweeps(t *digest.Task) []*sweep {
	var all []*sweep
	for _, c := range t.Cases {
		ns, ok := c.Center(results.NsPerOp)
		threads, err := strconv.ParseUint(c.Panel.Threads, 10, 16)
		if !ok || ns <= 0 || err != nil || threads == 0 {
			continue
		}
		i := slices.IndexFunc(all, func(s *sweep) bool { return s.variant == c.Variant && s.cache == c.Panel.Cache })
		if i < 0 {
			all = append(all, &sweep{variant: c.Variant, cache: c.Panel.Cache})
			i = len(all) - 1
		}
		all[i].points = append(all[i].points, [2]float64{float64(threads), ns})
	}
	for _, s := range all {
		slices.SortFunc(s.points, func(a, b [2]float64) int { return cmp.Compare(a[0], b[0]) })
	}
	return slices.DeleteFunc(all, func(s *sweep) bool { return len(s.points) < sweepLeast })
}

// threadsFigure has a panel for each state of the caches.
func threadsFigure(d *digest.Digest, t *digest.Task) *figure.Figure {
	all := sweeps(t)
	var threads []float64
	ups := []float64{0}
	var caches, who []string
	for _, s := range all {
		for i, p := range s.points {
			threads, ups = append(threads, p[0]), append(ups, s.speedUp(i))
		}
		caches, who = append(caches, s.cache), append(who, s.variant)
	}
	x, y := figure.NewAxis(threads, false, 6, figure.BareNumber), figure.NewAxis(ups, false, 6, figure.BareNumber).FromZero()
	slices.SortFunc(caches, words.Compare)
	var drawn []*figure.Panel
	for _, cache := range slices.Compact(caches) {
		p := digest.Panel{Cache: cache}.Plot("").XY(x, y, "threads")
		p.Add(figure.Polyline{Points: fullSpeed(all, slices.Max(ups)), Color: figure.Color(figure.Muted), Width: 0.8, Dashes: figure.Dashed})
		for _, s := range all {
			var line [][2]float64
			for i, q := range s.points {
				line = append(line, [2]float64{q[0], s.speedUp(i)})
			}
			if s.cache == cache {
				p.Line(d.Marks[s.variant], line)
			}
		}
		drawn = append(drawn, p)
	}
	slices.SortFunc(who, words.Compare)
	return &figure.Figure{
		Name: term.FileName("threads", t.Base, t.Title), Heading: figure.Label(t.Title + ": speed-up by threads"), Reading: threadsReading(all),
		Upward: []string{"times as fast"}, Panels: [][]*figure.Panel{drawn}, Height: 260, Legend: figure.Names(slices.Compact(who), d.Marks),
	}
}

// fullSpeed is the line on which every thread counts in full, as far as the speed-ups
// go. It has many points: on a logarithmic axis it is no straight line.
func fullSpeed(all []*sweep, highest float64) (line [][2]float64) {
	fewest, most := all[0].points[0][0], 0.0
	for _, s := range all {
		fewest, most = min(fewest, s.points[0][0]), max(most, s.points[len(s.points)-1][0])
	}
	const steps = 64
	end := min(most/fewest, max(highest, 1))
	for i := range steps + 1 {
		times := 1 + (end-1)*float64(i)/steps
		line = append(line, [2]float64{fewest * times, times})
	}
	return line
}

// threadsReading says of the variant that ends fastest what its threads were worth.
func threadsReading(all []*sweep) string {
	last := func(s *sweep) [2]float64 { return s.points[len(s.points)-1] }
	best := slices.MinFunc(all, func(a, b *sweep) int { return cmp.Compare(last(a)[1], last(b)[1]) })
	fastest := 0
	for i, p := range best.points {
		if p[1] < best.points[fastest][1] {
			fastest = i
		}
	}
	text := best.variant
	if best.cache != "" {
		text += " with " + digest.Panel{Cache: best.cache}.String()
	}
	for i, p := range best.points[1:] {
		text += fmt.Sprintf("%s %.4g threads are %.2f times as fast as %.4g (%s efficiency)", map[bool]string{true: ":", false: ","}[i == 0], p[0], best.speedUp(i+1), best.points[0][0], words.Percent(best.efficiency(i+1)))
	}
	return fmt.Sprintf("%s. Fastest with %.4g.", text, best.points[fastest][0])
}
