package bench

import (
	"slices"
	"strings"
	"testing"
)

func TestFilter(t *testing.T) {
	l := newLab()
	suite := l.smallSuite()
	suite.Cases[3].Peak = suite.Cases[1].Name
	var names []string
	for _, c := range suite.Cases {
		names = append(names, c.Name)
	}
	names = append(names, suite.Studies[0].Name)
	const read, scalar, avx2, model, study = 0, 1, 2, 3, 4
	for _, tc := range []struct {
		expr string
		want []int
		err  string
	}{
		{"", []int{read, scalar, avx2, model, study}, ""},
		{"/format:q1_0_g128 /variant:(avx2 OR neon)", []int{read, avx2}, ""},
		{"/variant:avx2", []int{read, scalar, avx2, model, study}, ""},
		{".name:MatVec -/variant:scalar", []int{read, avx2}, ""},
		{".name:Model", []int{scalar, model}, ""},
		{".name:Op", []int{study}, ""},
		{"/variant:metal", nil, "matches none of the 5 cases"},
		{"/variant:(", nil, "filter"},
	} {
		got, err := suite.Filter(tc.expr)
		if tc.err != "" {
			if err == nil || !strings.Contains(err.Error(), tc.err) {
				t.Errorf("%q: error %v, want %q", tc.expr, err, tc.err)
			}
			continue
		}
		var want, have []string
		for _, i := range tc.want {
			want = append(want, names[i])
		}
		for _, c := range got.Cases {
			have = append(have, c.Name)
		}
		for _, st := range got.Studies {
			have = append(have, st.Name)
		}
		if err != nil || !slices.Equal(have, want) {
			t.Errorf("%q: %v %v, want %v", tc.expr, have, err, want)
		}
	}
}
