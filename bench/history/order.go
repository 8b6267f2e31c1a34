package history

import (
	"bufio"
	"bytes"
	"cmp"
	"context"
	"fmt"
	"io"
	"maps"
	"os/exec"
	"slices"
	"strconv"
	"strings"
	"time"

	"onebit/internal/count"
	"onebit/internal/term"
)

// order joins the points of one commit and sorts all of them.
func (c *collector) order(ctx context.Context) error {
	h := c.history
	joined := joinCommits(h.Points)
	known := make(map[string]Commit)
	if c.opt.Commits != nil {
		asked := slices.Compact(slices.Sorted(maps.Values(joined)))
		var err error
		if known, err = c.opt.Commits(ctx, asked); err != nil {
			return err
		}
		c.note(len(known) < len(asked), "%s not in the repository: placed by date", areOf(len(asked)-len(known), "commit"))
	}
	// Points that are one, by their first.
	first := make(map[string]int)
	same := make([]int, len(h.Points))
	for i, p := range h.Points {
		same[i] = i
		if p.Commit == "" {
			continue
		}
		full := joined[p.Commit]
		k, ok := known[full]
		if ok {
			full = k.Hash
		}
		at, seen := first[full]
		if !seen {
			at = i
			first[full] = i
		} else {
			h.Points[at].join(p)
			same[i] = at
		}
		h.Points[at].Commit = full
		if ok {
			h.Points[at].Time, h.Points[at].From, h.Points[at].Subject = k.Time, CommitTime, k.Subject
		}
	}
	order := sortPoints(h.Points, same, known)
	c.noteClocks(order)
	c.renumber(order, same)
	return nil
}

// join adds the files of a point of the same commit.
func (p *Point) join(q Point) {
	p.Files += q.Files
	p.GoVersion = cmp.Or(p.GoVersion, q.GoVersion)
	if q.From < p.From || q.From == p.From && q.Time.Before(p.Time) {
		p.Time, p.From = q.Time, q.From
	}
}

// joinCommits maps each commit to its longest form: one file may abbreviate what
// another has in full. What two commits begin with stays as it is.
func joinCommits(points []Point) map[string]string {
	longest := make(map[string]string)
	var all []string
	for _, p := range points {
		if hexDigits.MatchString(p.Commit) {
			all = append(all, p.Commit)
		} else if p.Commit != "" {
			longest[p.Commit] = p.Commit // with -dirty behind, it is another
		}
	}
	slices.Sort(all)
	all = slices.Compact(all)
	for i := len(all) - 1; i >= 0; i-- {
		longest[all[i]] = all[i]
		if i+1 == len(all) || !strings.HasPrefix(all[i+1], all[i]) {
			continue
		}
		full := longest[all[i+1]]
		// Sorted, whatever else begins so follows next.
		end := i + 1
		for end < len(all) && strings.HasPrefix(full, all[end]) {
			end++
		}
		if end == len(all) || !strings.HasPrefix(all[end], all[i]) {
			longest[all[i]] = full
		}
	}
	return longest
}

// sortPoints returns the numbers of the points that stand for themselves in
// their order: by time, and those that a repository knows as it has them.
func sortPoints(points []Point, same []int, known map[string]Commit) []int {
	place := make(map[string]int, len(known))
	for _, k := range known {
		place[k.Hash] = k.Place
	}
	var order []int
	for i := range points {
		if same[i] == i {
			order = append(order, i)
		}
	}
	slices.SortFunc(order, func(a, b int) int {
		return cmp.Or(points[a].Time.Compare(points[b].Time), strings.Compare(points[a].Commit, points[b].Commit),
			strings.Compare(points[a].File, points[b].File), cmp.Compare(a, b))
	})
	var slots, inRepository []int
	for slot, i := range order {
		if _, ok := place[points[i].Commit]; ok {
			slots, inRepository = append(slots, slot), append(inRepository, i)
		}
	}
	slices.SortFunc(inRepository, func(a, b int) int { return cmp.Compare(place[points[a].Commit], place[points[b].Commit]) })
	for n, slot := range slots {
		order[slot] = inRepository[n]
	}
	return order
}

// noteClocks says what the order rests on where that is not the commits' dates.
func (c *collector) noteClocks(order []int) {
	var by [FileTime + 1]int
	for _, i := range order {
		by[c.history.Points[i].From]++
	}
	all := count.Of(len(order), "point")
	switch {
	case by[FileTime] > 0:
		c.note(true, "order from file times: %d of %s have no date inside", by[FileTime], all)
	case by[NameTime] > 0:
		c.note(true, "order from the dates in file names: %d of %s have no date inside", by[NameTime], all)
	case by[RunTime] > 0:
		c.note(true, "order from when %d of %s were measured, for want of a commit's date (--repo orders by the repository)", by[RunTime], all)
	}
}

// renumber gives points their places in the order.
func (c *collector) renumber(order, same []int) {
	at := make([]int32, len(same))
	points := make([]Point, len(order))
	for place, i := range order {
		at[i], points[place] = int32(place), c.history.Points[i]
	}
	for _, seen := range c.seen {
		for i, o := range seen {
			seen[i].point = at[same[o.point]]
		}
	}
	c.history.Points = points
}

// A Commit is what a repository knows of one.
type Commit struct {
	Hash    string // in full
	Place   int    // among those that were asked for, ancestors first
	Time    time.Time
	Subject string
}

// A Repository is a folder with a git repository.
type Repository struct{ Dir string }

// Commits returns what the repository knows of commits, by the names that they
// were asked for, which may be abbreviated; those that it lacks are not in the
// map. Ancestors have lower places.
func (r Repository) Commits(ctx context.Context, commits []string) (map[string]Commit, error) {
	var asked []string
	for _, c := range commits {
		if hexDigits.MatchString(c) {
			asked = append(asked, c)
		}
	}
	full, err := r.resolve(ctx, asked)
	if err != nil {
		return nil, err
	}
	var ask strings.Builder
	for _, hash := range full {
		ask.WriteString(hash + "\n")
	}
	byHash := make(map[string]Commit)
	if len(full) > 0 {
		wanted := make(map[string]bool)
		for _, hash := range full {
			wanted[hash] = true
		}
		err := r.git(ctx, ask.String(), func(place int, line string) error {
			part := strings.SplitN(line, "\x00", 3)
			if len(part) != 3 || !wanted[part[0]] {
				return nil
			}
			seconds, err := strconv.ParseInt(part[1], 10, 64)
			byHash[part[0]] = Commit{part[0], place, time.Unix(seconds, 0).UTC(), term.Text(part[2])}
			return err
		}, "log", "--topo-order", "--reverse", "--no-show-signature", "--format=%H%x00%ct%x00%s", "--stdin")
		if err != nil {
			return nil, err
		}
	}
	out := make(map[string]Commit)
	for name, hash := range full {
		if c, ok := byHash[hash]; ok {
			out[name] = c
		}
	}
	return out, nil
}

// resolve returns the full hashes of commits that the repository has.
func (r Repository) resolve(ctx context.Context, commits []string) (map[string]string, error) {
	full := make(map[string]string)
	err := r.git(ctx, strings.Join(commits, "^{commit}\n")+"^{commit}\n", func(i int, line string) error {
		if hash, kind, _ := strings.Cut(line, " "); i < len(commits) && kind == "commit" {
			full[commits[i]] = hash
		}
		return nil
	}, "cat-file", "--batch-check=%(objectname) %(objecttype)")
	return full, err
}

// mostRanges is how many ranges of commits git is asked for: each takes it some
// milliseconds.
const mostRanges = 200

// Between counts the commits in the ranges of the changes, by the commits at their ends,
// as far as the repository has them.
func (h *History) Between(ctx context.Context, r Repository, found *Trends) (map[[2]string]int, error) {
	counts := make(map[[2]string]int)
	for _, c := range found.Changes {
		s := &h.Series[c.Series]
		before, after := h.Points[s.At[c.Before.To-1]], h.Points[s.At[c.After.From]]
		ends := [2]string{before.Commit, after.Commit}
		// A commit that the repository has has a subject.
		if _, done := counts[ends]; done || len(counts) == mostRanges || before.Subject == "" || after.Subject == "" {
			continue
		}
		n, err := r.Between(ctx, before.Commit, after.Commit)
		if err != nil {
			return nil, err
		}
		counts[ends] = n
	}
	return counts, nil
}

// Between returns how many commits lie after one commit up to another, the last
// included.
func (r Repository) Between(ctx context.Context, after, upTo string) (int, error) {
	n := 0
	if !hexDigits.MatchString(after) || !hexDigits.MatchString(upTo) {
		return 0, nil
	}
	err := r.git(ctx, "", func(_ int, line string) (err error) {
		n, err = strconv.Atoi(line)
		return err
	}, "rev-list", "--count", after+".."+upTo)
	return n, err
}

// git runs git with an input and hands the lines of its output to read, as they come,
// until that fails.
func (r Repository) git(ctx context.Context, input string, read func(number int, line string) error, args ...string) error {
	cmd := exec.CommandContext(ctx, "git", append([]string{"-C", r.Dir}, args...)...)
	cmd.Stdin = strings.NewReader(input)
	var complaint bytes.Buffer
	cmd.Stderr = &complaint
	out, err := cmd.StdoutPipe()
	if err != nil {
		return err
	}
	if err := cmd.Start(); err != nil {
		return fmt.Errorf("git %s: %w", args[0], err)
	}
	var unread error
	lines := bufio.NewScanner(out)
	lines.Buffer(nil, 1<<20)
	for i := 0; unread == nil && lines.Scan(); i++ {
		unread = read(i, lines.Text())
	}
	_, _ = io.Copy(io.Discard, out) // or git waits
	if err := cmd.Wait(); err != nil {
		if ctx.Err() != nil {
			return ctx.Err()
		}
		return fmt.Errorf("git %s in %s: %s", args[0], r.Dir, term.Text(cmp.Or(strings.TrimSpace(complaint.String()), err.Error())))
	}
	return cmp.Or(unread, lines.Err())
}
