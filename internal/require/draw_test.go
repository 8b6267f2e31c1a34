package require

import (
	"slices"
	"testing"
)

func (r *recorder) Logf(f string, args ...any) {}

func TestDraw(t *testing.T) {
	items := make([]int, 20)
	for i := range items {
		items[i] = i
	}
	t.Setenv(all, "")
	seen := map[int]bool{}
	for _, s := range []string{"1", "2", "3", "4", "5", "6", "7", "8", "9", "10", "11", "12", "13", "14", "15", "16", "17", "18", "19", "20"} {
		t.Setenv(seed, s)
		drawn := Draw(&recorder{}, 8, items)
		if len(drawn) != 3 || !slices.IsSorted(drawn) {
			t.Fatalf("seed %s: drew %v of 20 items, want three in their order", s, drawn)
		}
		if again := Draw(&recorder{}, 8, items); !slices.Equal(drawn, again) {
			t.Errorf("seed %s: drew %v, then %v", s, drawn, again)
		}
		for _, i := range drawn {
			seen[i] = true
		}
	}
	if len(seen) < 15 {
		t.Errorf("20 seeds drew %d different items of 20", len(seen))
	}
	if one := Draw(&recorder{}, 8, items[:2]); len(one) != 1 {
		t.Errorf("drew %v of two items, want one", one)
	}
	t.Setenv(all, "1")
	if got := Draw(&recorder{}, 8, items); len(got) != len(items) {
		t.Errorf("drew %v under ONEBIT_ALL", got)
	}
}
