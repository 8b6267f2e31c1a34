package models_test

import (
	"errors"
	"slices"
	"testing"

	"onebit/internal/require"
	"onebit/models"
	"onebit/models/engine"
	"onebit/models/engine/cpu"
	"onebit/models/engine/plain"
)

// A member is a text of a group and the same text alone.
type member struct {
	together, alone *models.Session
	next            int // token that it takes in
	left            int // passes until it ends
}

func join(t *testing.T, m *models.Model, prompt, passes int) *member {
	t.Helper()
	opt := models.SessionOptions{Batch: 5}
	x := &member{together: session(t, m, opt), alone: session(t, m, opt), next: prompt, left: passes}
	if prompt > 0 { // else the group takes in its first token
		ids := text(prompt, m.Config.Vocab)
		must(x.together.Prefill(t.Context(), ids))
		must(x.alone.Prefill(t.Context(), ids))
	}
	return x
}

// Texts of different lengths, which join and end on the way, get in a group to the
// bit what they get alone: on several engines and threads, of every architecture.
func TestGroupEqualsAlone(t *testing.T) {
	require.Procs(t, 3)
	for _, p := range smallPresets() {
		for _, w := range require.Draw(t, 3, []way{
			{name: "threads=1", opt: models.Options{Engine: cpu.Options{Threads: 1}}},
			{name: "threads=3", opt: models.Options{Engine: cpu.Options{Threads: 3}}},
			{name: "plain", opt: models.Options{Engine: plain.Options{}}},
		}) {
			if w.name == "plain" && p.Config.Vocab > 1000 {
				continue // which takes it long
			}
			t.Run(p.Name+"/"+w.name, func(t *testing.T) { testGroup(t, newFixture(t, p).open(t, w.opt)) })
		}
	}
}

func testGroup(t *testing.T, m *models.Model) {
	g, err := m.NewGroup()
	if err != nil {
		t.Fatal(err)
	}
	defer g.Close()
	members := []*member{join(t, m, 9, 8), join(t, m, 0, 3), join(t, m, 1, 5)}
	for pass := range 8 {
		if pass == 2 {
			members = append(members, join(t, m, 4, 2), join(t, m, 17, 6))
		}
		decodeTogether(t, g, members)
		members = slices.DeleteFunc(members, func(x *member) bool { return x.left == 0 })
	}
	if len(members) != 0 {
		t.Errorf("%d texts are left", len(members))
	}
}

// decodeTogether takes each member a token further and compares.
func decodeTogether(t *testing.T, g *models.Group, members []*member) {
	t.Helper()
	var texts []*models.Session
	var ids []int
	for _, x := range members {
		texts, ids = append(texts, x.together), append(ids, x.next)
	}
	logits := must(g.Decode(texts, ids))
	if len(logits) != len(members) {
		t.Fatalf("logits of %d texts, want %d", len(logits), len(members))
	}
	for i, x := range members {
		want := must(x.alone.Decode(x.next))
		if j := differ(logits[i], want); j >= 0 {
			t.Errorf("text %d of %d at %d: logit %d is %v, alone %v", i, len(members), x.alone.Position(), j, logits[i][j], want[j])
		}
		if x.together.Position() != x.alone.Position() {
			t.Errorf("text %d holds %d tokens, alone %d", i, x.together.Position(), x.alone.Position())
		}
		x.next = (x.next*7 + 3) % len(want)
		x.left--
	}
}

// A text without room ends no other: none takes in its token, and the others go on.
func TestGroupRefuses(t *testing.T) {
	p := preset("tiny")
	m := newFixture(t, p).open(t, models.Options{Engine: cpu.Options{Threads: 1}})
	other := newFixture(t, p).open(t, models.Options{Engine: cpu.Options{Threads: 1}})
	g := must(m.NewGroup())
	defer g.Close()
	a, b := session(t, m, models.SessionOptions{}), session(t, m, models.SessionOptions{Context: 1})
	must(g.Decode([]*models.Session{a, b}, []int{1, 2}))
	if _, err := g.Decode([]*models.Session{a, b}, []int{3, 4}); !errors.Is(err, models.ErrContextFull) || a.Position() != 1 || b.Position() != 1 {
		t.Errorf("error %v, positions %d and %d", err, a.Position(), b.Position())
	}
	if _, err := g.Decode([]*models.Session{a}, []int{p.Config.Vocab}); err == nil {
		t.Error("a token outside the vocabulary is taken in")
	}
	alone := session(t, m, models.SessionOptions{})
	want := must(alone.Prefill(t.Context(), []int{1, 3}))
	if got := must(g.Decode([]*models.Session{a}, []int{3})); differ(got[0], want) >= 0 {
		t.Error("after a refusal, a text differs")
	}
	for name, texts := range map[string][]*models.Session{
		"twice the same": {a, a}, "of another model": {session(t, other, models.SessionOptions{})}, "none": nil,
	} {
		func() {
			defer func() {
				if recover() == nil {
					t.Errorf("texts %s: no panic", name)
				}
			}()
			g.Decode(texts, make([]int, len(texts)))
		}()
	}
}

// solitary is an engine whose streams lend no columns.
type solitary struct{ engine.Engine }

func (s solitary) NewStream(opt engine.StreamOptions) (engine.Stream, error) {
	stream, err := s.Engine.NewStream(opt)
	return struct{ engine.Stream }{stream}, err
}

type solitaryOptions struct{ plain.Options }

func (o solitaryOptions) Open(src engine.Source) (engine.Engine, error) {
	e, err := o.Options.Open(src)
	return solitary{e}, err
}

func TestGroupNeedsALender(t *testing.T) {
	m := newFixture(t, preset("tiny")).open(t, models.Options{Engine: solitaryOptions{}})
	if _, err := m.NewGroup(); !errors.Is(err, engine.ErrOneText) {
		t.Errorf("error %v, want one that wraps %v", err, engine.ErrOneText)
	}
}
