package history

import (
	"strings"
	"testing"
)

// Models that have one name and different weights are no one series, and those of files
// that don't say which weights they are of keep their name.
func TestModelsApart(t *testing.T) {
	const other = "Model/model=tiny-b/variant=v"
	file := func(commit, models, value string) string {
		return "commit: " + commit + "\ncommit-date: 2026-02-0" + commit[6:] + "\n" + models + "BenchmarkModel/model=tiny/variant=v-2 1 " + value + " ns/op\nBenchmark" + other + " 1 7 ns/op\n"
	}
	files := map[string]string{
		"a.txt": file("aaaaaa1", "models: tiny=0011223344 tiny-b=99\n", "1"),
		"b.txt": file("bbbbbb2", "models: tiny=5566778899 tiny-b=99\n", "2"),
		"c.txt": file("cccccc3", "models: tiny=0011223344 tiny-b=99\n", "3"),
		"d.txt": file("dddddd4", "", "4"),
	}
	h := load(t, folder(t, files), onlyTime)
	want := ` Model/model=tiny-b/variant=v ns/op aaaaaa1=7/1 bbbbbb2=7/1 cccccc3=7/1 dddddd4=7/1
 Model/model=tiny/variant=v ns/op dddddd4=4/1
 Model/model=tiny@00112233/variant=v ns/op aaaaaa1=1/1 cccccc3=3/1
 Model/model=tiny@55667788/variant=v ns/op bbbbbb2=2/1
`
	if got := sketch(h); got != want {
		t.Errorf("series\n%swant\n%s", got, want)
	}
	const note = "tiny is the name of models with 2 different weights, each of which has series of its own"
	if notes := strings.Join(h.Notes, "\n"); !strings.Contains(notes, note) {
		t.Errorf("notes %s, want %s", notes, note)
	}
	delete(files, "b.txt") // now the name means one model
	want = ` Model/model=tiny-b/variant=v ns/op aaaaaa1=7/1 cccccc3=7/1 dddddd4=7/1
 Model/model=tiny/variant=v ns/op aaaaaa1=1/1 cccccc3=3/1 dddddd4=4/1
`
	if got := sketch(load(t, folder(t, files), onlyTime)); got != want {
		t.Errorf("series\n%swant\n%s", got, want)
	}
}
