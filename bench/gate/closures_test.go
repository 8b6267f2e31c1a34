package gate

import (
	"maps"
	"testing"
)

// The same closures under the names that Go 1.26 and Go 1.27 give them are one.
func TestJoinClosures(t *testing.T) {
	old := map[string]float64{
		"example.com/p.Bench.OnceValue[go.shape.struct { example.com/q.X int }].func2.1": 1,
		"example.com/p.Other.OnceValue[go.shape.struct { example.com/q.X int }].func4.1": 2,
		"example.com/p.(*T).M-fm.(*T).M.func1":                                           3,
		"example.com/p.both.func1":                                                       4,
		"example.com/p.gone":                                                             5,
		"example.com/p.gone.func1":                                                       6,
	}
	now := map[string]float64{
		"sync.OnceValue[go.shape.struct { example.com/q.X int }].func1.1": 10,
		"example.com/p.(*T).M.func1":                                      20,
		"example.com/p.both.func1":                                        30,
		"example.com/p.both.func2":                                        40,
		"example.com/p.new":                                               50,
	}
	want := maps.Clone(now)
	joinClosures([2][]map[string]float64{{old}, {now}})
	if !maps.Equal(now, want) {
		t.Errorf("head's names change: %v", now)
	}
	for name, time := range map[string]float64{
		"sync.OnceValue[go.shape.struct { example.com/q.X int }].func1.1": 3,
		"example.com/p.(*T).M.func1":                                      3,
		"example.com/p.both.func1":                                        4,
		"example.com/p.gone":                                              5,
		"example.com/p.gone.func1":                                        6,
	} {
		if old[name] != time {
			t.Errorf("%s takes %v, want %v", name, old[name], time)
		}
	}
	if len(old) != 5 {
		t.Errorf("base has %v, want 5 functions", old)
	}
}
