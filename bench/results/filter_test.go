package results

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestFilterTerms(t *testing.T) {
	for expr, want := range map[string][]string{
		"*":                 nil,
		"/format:q1_0_g128": {"/format:q1_0_g128"},
		" -/format:(f32 OR f16) AND (.name:MatVec OR /cache:warm)": {"/format:f32", "/format:f16", ".name:MatVec", "/cache:warm"},
		`"/format":"a b" /v:x-y`:                                   {`"/format":"a b"`, "/v:x-y"},
		`/v:/avx(2|512)[/x]\// x:(/a/ OR b)`:                       {`/v:/avx(2|512)[/x]\//`, "x:/a/", "x:b"},
		"-(-/a:b)":                                                 {"/a:b"},
		"/format : (x) y:OR-der":                                   {"/format:x", "y:OR-der"},
	} {
		var got []string
		terms, _ := filterTerms(expr)
		for _, term := range terms {
			got = append(got, term.text)
			if _, err := Matcher(term.text); err != nil {
				t.Errorf("%s: term %q: %v", expr, term.text, err)
			}
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%s:\n%s", expr, diff)
		}
	}
}

// Whatever benchproc takes for a filter ends, and has terms that it takes, too.
func FuzzFilterTerms(f *testing.F) {
	for _, expr := range []string{"*", "/a:b", `-"a b":(c OR /d[/]/) .name:x`, "a:b-c", "a:(-b)", "", "OR", "a:OR", "/:/", `a:/\//`} {
		f.Add(expr)
	}
	f.Fuzz(func(t *testing.T, expr string) {
		if _, err := Matcher(expr); err != nil {
			return
		}
		terms, _ := filterTerms(expr)
		for _, term := range terms {
			if _, err := Matcher(term.text); err != nil {
				t.Errorf("%q: term %q: %v", expr, term.text, err)
			}
		}
	})
}

// An AND has two sides, whatever benchproc makes of one that has not.
func TestParseFilterAnd(t *testing.T) {
	for expr, ok := range map[string]bool{
		"": true, "/a:b AND /c:d": true, "/a:b AND (/c:d OR -/e:f) AND /g:h": true, `/a:"b AND" /c:d`: true, "/a:(b OR c) /AND:x": true, "(/a:b AND /c:d) /e:f": true,
		"/a:b AND": false, "/a:b AND AND /c:d": false, "(/a:b AND) /c:d": false, "/a:b AND OR /c:d": false, "AND /a:b": false, "/a:b OR": false,
	} {
		if _, err := ParseFilter(expr); (err == nil) != ok {
			t.Errorf("%q: %v", expr, err)
		}
	}
}

func TestFilterNames(t *testing.T) {
	for expr, want := range map[string]bool{
		"": false, "/a:b": false, "/variant:x": true, "/a:b /variant:(x OR y)": true, "-/variant:x": false, "-/variant:(x OR y) /a:b": false, "-/a:b /variant:x": true,
	} {
		if got := FilterNames(expr, "/variant"); got != want {
			t.Errorf("%q: %v", expr, got)
		}
	}
}

func TestCheckFilter(t *testing.T) {
	var names []Name
	for _, s := range []string{
		"MatVec/format=q1_0_g128/variant=avx2/cache=warm",
		"MatVec/format=i2_s/variant=scalar/cache=cold",
		"Read/bytes=1048576/cache=cold",
	} {
		names = append(names, ParseName(s))
	}
	for expr, want := range map[string]string{
		"*":                                  "",
		"/format:q1_0_g128 -/variant:scalar": "",
		"/variant:/avx/":                     "",
		`.name:Read OR .fullname:/warm$/`:    "",
		"goos:linux":                         "",
		"/formatt:q1_0_g128":                 `unknown key /formatt (known: .fullname, .name, /format, /variant, /cache, /bytes, goos)`,
		"format:q1_0_g128":                   "unknown key format (known: ",
		"/format:q9":                         "no case has format q9; there are: q1_0_g128, i2_s",
		"/format:(i2_s OR q9)":               "no case has format q9; ",
		"-/variant:neon":                     "no case has variant neon; there are: avx2, scalar",
		"/variant:/512/":                     "no case has variant /512/; ",
		".name:Matvec":                       "no case has name Matvec; there are: MatVec, Read",
		".fullname:MatVec":                   "no case has the fullname MatVec",
		"/format:":                           "syntax error: ",
	} {
		err := CheckFilter(expr, names, "goos")
		switch {
		case want == "" && err != nil, want != "" && (err == nil || !strings.HasPrefix(err.Error(), want)):
			t.Errorf("%s: error %v, want %q", expr, err, want)
		}
	}
}
