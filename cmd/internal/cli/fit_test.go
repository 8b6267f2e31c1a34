package cli

import (
	"slices"
	"strings"
	"testing"
)

func TestFitted(t *testing.T) {
	rows := [][]string{{"NAME", "HERE", "WHAT"}, {"avx512", "no: it lacks much", "sixteen at a time"}, {"scalar", "yes", "one"}}
	for _, c := range []struct {
		width   int
		want    string
		dropped []string
	}{
		{0, "NAME HERE WHAT|avx512 no: it lacks much sixteen at a time|scalar yes one", nil},
		{44, "NAME HERE WHAT|avx512 no: it lacks much sixteen at a time|scalar yes one", nil},
		{43, "NAME HERE|avx512 no: it lacks much|scalar yes", []string{"WHAT"}},
		{25, "NAME HERE|avx512 no: it lacks much|scalar yes", []string{"WHAT"}},
		{24, "NAME HERE|avx512 no: it lacks| much|scalar yes", []string{"WHAT"}},
	} {
		fit, dropped := fitted(rows, c.width, "ELSEWHERE", "WHAT")
		var lines []string
		for _, row := range fit {
			lines = append(lines, strings.Join(row, " "))
		}
		if got := strings.Join(lines, "|"); got != c.want || !slices.Equal(dropped, c.dropped) {
			t.Errorf("width %d: %s without %q, want %s without %q", c.width, got, dropped, c.want, c.dropped)
		}
	}
}

func TestWrapped(t *testing.T) {
	for _, c := range []struct {
		text  string
		width int
		want  string
	}{
		{"MatVec/a=1/b=2", 0, "MatVec/a=1/b=2"},
		{"MatVec/a=1/b=2", 14, "MatVec/a=1/b=2"},
		{"MatVec/a=1/b=2", 13, "MatVec/a=1|/b=2"},
		{"MatVec/a=1/b=2", 8, "MatVec|/a=1|/b=2"},
		{"MatVec/a=1 (not here)", 12, "MatVec/a=1|(not|here)"},
		{"longer-than-that/a=1", 8, "longer-than-that|/a=1"},
		{"größer/größer", 6, "größer|/größer"},
	} {
		if got := strings.Join(Wrapped(c.text, c.width, "/ "), "|"); got != c.want {
			t.Errorf("%q at %d: %q, want %q", c.text, c.width, got, c.want)
		}
	}
}
