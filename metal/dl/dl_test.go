package dl

import (
	"runtime"
	"strings"
	"testing"
	"unsafe"
)

// libc is a library that every such system has.
var libc = map[string]string{"linux": "libc.so.6", "darwin": "/usr/lib/libSystem.B.dylib"}[runtime.GOOS]

func TestCall(t *testing.T) {
	l, err := Open(libc)
	if libc == "" {
		if err == nil {
			t.Error("a library was opened on " + runtime.GOOS)
		}
		return
	}
	if err != nil {
		t.Fatal(err)
	}
	strlen, err := l.Symbol("strlen")
	if err != nil {
		t.Fatal(err)
	}
	var length func(string) uint64
	l.Bind(&length, strlen)
	if got := length("four"); got != 4 {
		t.Errorf("a bound function returns %d, want 4", got)
	}
	text := []byte("three\x00")
	if got := l.Call(strlen, uintptr(unsafe.Pointer(&text[0]))); got != 5 {
		t.Errorf("a called function returns %d, want 5", got)
	}
	runtime.KeepAlive(text)
}

func TestMissing(t *testing.T) {
	if _, err := Open("no/such/library"); err == nil {
		t.Error("a library that is not there was opened")
	}
	l, err := Open(libc)
	if err != nil {
		return // said by TestCall
	}
	var none func()
	if err := l.BindAll(map[string]any{"no_such_function": &none}); err == nil || !strings.Contains(err.Error(), "no_such_function") {
		t.Errorf("a function that is not there: %v", err)
	}
}
