package sysinfo

import (
	"strings"
	"testing"
	"testing/fstest"
)

func TestHeadroom(t *testing.T) {
	file := func(text string) *fstest.MapFile { return &fstest.MapFile{Data: []byte(text + "\n")} }
	v2 := fstest.MapFS{
		"cgroup.controllers":              file("memory"),
		"a/memory.max":                    file("1000000"),
		"a/memory.current":                file("900000"),
		"a/memory.stat":                   file("anon 500000\ninactive_file 250000\nactive_file 100000"),
		"a/b/memory.max":                  file("max"),
		"full/memory.max":                 file("1000"),
		"full/memory.current":             file("4000"),
		"full/memory.stat":                file("anon 4000"),
		"cached/memory.max":               file("1000"),
		"cached/memory.current":           file("900"),
		"cached/memory.stat":              file("inactive_file 5000"),
		"bad/memory.max":                  file("1000"),
		"bad/memory.current":              file("900"),
		"bad/memory.stat":                 file("inactive_file -1"),
		"blind/memory.max":                file("1000"),
		"memory/v1/memory.stat":           file("inactive_file 7\ntotal_inactive_file 100\ntotal_active_file 20"),
		"memory/v1/memory.limit_in_bytes": file("5000"),
		"memory/v1/memory.usage_in_bytes": file("3000"),
		"memory/memory.limit_in_bytes":    file("9223372036854771712"),
	}
	for _, c := range []struct {
		self string
		want ByteLimit
		err  string
	}{
		{"0::/a/b", 450000, ""},
		{"0::/a", 450000, ""},
		{"0::/", NoLimit, ""},
		{"0::/elsewhere", NoLimit, ""},
		{"0::/full", 0, ""},
		{"0::/cached", 1000, ""},
		{"0::/bad", 0, "inactive_file"},
		{"0::/blind", 0, "memory.current"},
		{"4:memory:/v1", 2120, ""},
		{"4:memory:/", NoLimit, ""},
		{"", NoLimit, ""},
	} {
		got := headroom(v2, c.self)
		if c.err != "" {
			if got.Err == nil || !strings.Contains(got.Err.Error(), c.err) {
				t.Errorf("%q: %v, want an error about %s", c.self, got, c.err)
			}
		} else if got.Err != nil || got.V != c.want {
			t.Errorf("%q: %v, want %v", c.self, got, c.want)
		}
	}
}

func TestAvailable(t *testing.T) {
	got, total := Available(), Probe().MemTotal
	if !got.OK() { // where it is not read, no size is refused
		t.Fatal(got)
	}
	if got.V <= 0 || total.OK() && got.V > total.V {
		t.Errorf("%v are available of %v", got, total)
	}
}
