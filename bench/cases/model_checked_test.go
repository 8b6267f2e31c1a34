package cases

import (
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// TestCheckedBlocks tests the choice of blocks: by size, first and last, of every kind.
func TestCheckedBlocks(t *testing.T) {
	many := make([]blockCost, 64) // each fourth of another kind, as in qwen35
	for i := range many {
		many[i] = blockCost{"delta net", 100}
		if i%4 == 3 {
			many[i].kind = "attention"
		}
	}
	odd := slices.Clone(many)
	odd[5].kind = "of its own"
	for _, c := range []struct {
		blocks []blockCost
		most   int
		want   []int
	}{
		{many[:3], 300, []int{0, 1, 2}},
		{many[:3], 299, []int{0, 2}},
		{many, 1600, []int{0, 4, 8, 12, 16, 21, 25, 29, 33, 37, 42, 46, 50, 54, 58, 63}},
		{many, 700, []int{0, 10, 21, 31, 42, 52, 63}},
		{odd, 700, []int{0, 5, 10, 21, 31, 42, 52, 63}},
		{many[:63], 50, []int{0, 3, 62}},
	} {
		if diff := cmp.Diff(c.want, checkedBlocks(c.blocks, c.most)); diff != "" {
			t.Errorf("of %d blocks with room for %d: %s", len(c.blocks), c.most, diff)
		}
	}
}

// TestCheckedInPart verifies models as large ones are, and breaks what they are
// compared with. The report says which blocks those were.
func TestCheckedInPart(t *testing.T) {
	for _, preset := range []string{"tiny", "tiny-qwen35"} {
		s := modelsSuite(t, ModelsOptions{Prompt: 4, Threads: []int{1}}, preset)
		store := s.home.(*store)
		sub := store.subjects[0]
		if part := sub.checkedInPart(); part != "" || len(sub.checked) != sub.blocks {
			t.Errorf("%s is small, but verified in blocks %v: %q", preset, sub.checked, part)
		}
		c := best(sub.configs(1), sub.configs(1)[0].packing, sub.acts[0])
		verify := func() error { return verifiedAnew(t, store, c) }
		if err := verify(); err != nil {
			t.Fatal(err)
		}
		whole := sub.generic[c.act()]
		last := sub.blocks - 1
		sub.checked = []int{last}
		if err := verify(); err == nil {
			t.Errorf("%s: one block has the logits of all", preset)
		}
		delete(sub.generic, c.act())
		if err := verify(); err != nil {
			t.Errorf("%s in block %d: %v", preset, last, err)
		}
		part := sub.generic[c.act()]
		if slices.Equal(part.step, whole.step) {
			t.Errorf("%s: the pure Go variant has the logits of all blocks", preset)
		}
		part.step[7] = math.Nextafter32(part.step[7], 0)
		if err := verify(); err == nil || !strings.Contains(err.Error(), "after one more token, logit 7 is") {
			t.Errorf("%s in block %d: a wrong bit of a logit: %v", preset, last, err)
		}
		if said := sub.checkedInPart(); !strings.HasPrefix(said, preset+" is verified in part") {
			t.Errorf("the report says %q", said)
		}
	}
}
