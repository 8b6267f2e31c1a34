package sysinfo

import (
	"runtime"
	"strings"
	"testing"
	"unsafe"
)

func TestParseSmaps(t *testing.T) {
	const text = `00400000-004ac000 r-xp 00000000 fe:00 10003320     /tmp/a program
Size:                688 kB
Rss:                 684 kB
Shared_Clean:          8 kB
Shared_Dirty:          4 kB
THPeligible:           0
VmFlags: rd ex mr
11804d400000-118051000000 rw-p 00000000 00:00 0
Rss:               51600 kB
7ffc8a4ef000-7ffc8a510000 rw-p 00000000 00:00 0                          [stack]
Rss:                  16 kB
`
	got, err := parseSmaps(strings.NewReader(text))
	if err != nil || len(got) != 3 {
		t.Fatalf("%+v, %v", got, err)
	}
	want := Mapping{Start: 0x400000, End: 0x4ac000, Path: "/tmp/a program", File: true, RSS: 684 << 10, Shared: 12 << 10}
	if got[0] != want {
		t.Errorf("%+v, want %+v", got[0], want)
	}
	if got[1].File || got[1].Path != "" || got[1].RSS != 51600<<10 || got[2].Path != "[stack]" || got[2].File {
		t.Errorf("%+v", got[1:])
	}
	for _, bad := range []string{"Rss: 4 kB\n", "zebra r-xp 0 0 0\n", "10-20 r-xp 0 0 0\nRss: many kB\n", "20-10 r-xp 0 0 0\n", "10-20\n"} {
		if got, err := parseSmaps(strings.NewReader(bad)); err == nil || !strings.Contains(err.Error(), "smaps") {
			t.Errorf("%q is %+v, %v", bad, got, err)
		}
	}
}

func TestResident(t *testing.T) {
	b := make([]byte, 8<<20)
	for i := 0; i < len(b)/2; i += 512 {
		b[i] = 1
	}
	got, err := Resident(b)
	mappings, err2 := ReadMappings()
	if runtime.GOOS != "linux" {
		if err == nil || err2 == nil {
			t.Errorf("%s tells what is resident", runtime.GOOS)
		}
		return
	}
	if err != nil || err2 != nil || int(got) < len(b)/2 || int(got) > len(b)+8192 {
		t.Errorf("%v of %d bytes, half of them written: %v, %v", got, len(b), err, err2)
	}
	at := uintptr(unsafe.Pointer(&b[0]))
	for _, m := range mappings {
		if m.Start <= at && at < m.End {
			if m.File || m.RSS < Bytes(len(b)/2) {
				t.Errorf("the bytes lie in %+v", m)
			}
			return
		}
	}
	t.Error("no mapping holds the bytes")
}
