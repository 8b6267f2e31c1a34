//go:build unix

package bounded

import (
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"golang.org/x/sys/unix"
)

// What is no regular file is refused at once: nobody writes to the pipe here.
func TestOpenRefuses(t *testing.T) {
	dir := t.TempDir()
	pipe, link, loop := filepath.Join(dir, "pipe"), filepath.Join(dir, "link"), filepath.Join(dir, "loop")
	if err := errors.Join(unix.Mkfifo(pipe, 0o600), os.Symlink(pipe, link), os.Symlink("loop", loop)); err != nil {
		t.Fatal(err)
	}
	for path, want := range map[string]string{
		dir: "is a directory, want a regular file", os.DevNull: "is a device, want a regular file",
		pipe: "is a pipe, want a regular file", link: "is a pipe, want a regular file",
		loop: "too many", filepath.Join(dir, "none"): "no such file",
	} {
		f, err := Open(path)
		at, ok := errors.AsType[*fs.PathError](err)
		if f != nil || !ok || at.Path != path || !strings.Contains(err.Error(), want) {
			t.Errorf("Open(%s) = %v, %v; want %q", path, f, err, want)
		}
		if _, err := ReadFile(path, 10); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("ReadFile(%s): %v; want %q", path, err, want)
		}
	}
}

// What the kernel writes as it is read, such as /proc/kmsg, may be waited for without
// end, though its mode is that of a regular file.
func TestOpenRefusesWhatWaits(t *testing.T) {
	const mounts = "/proc/self/mountinfo" // that anyone may read, and wait for
	if _, err := os.Stat(mounts); err != nil {
		t.Skip("no such file here: ", err)
	}
	link := filepath.Join(t.TempDir(), "results.txt")
	if err := os.Symlink(mounts, link); err != nil {
		t.Fatal(err)
	}
	f, err := Open(link)
	if f != nil || err == nil || !strings.Contains(err.Error(), link) || !strings.Contains(err.Error(), "want a regular file") {
		t.Errorf("Open = %v, %v", f, err)
	}
}

// A pipe that took a regular file's place since it was looked at is opened
// without waiting.
func TestOpenDoesNotWait(t *testing.T) {
	pipe := filepath.Join(t.TempDir(), "pipe")
	if err := unix.Mkfifo(pipe, 0o600); err != nil {
		t.Fatal(err)
	}
	f, err := os.OpenFile(pipe, os.O_RDONLY|withoutWaiting, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if err := mustBeRegular(pipe, f.Stat); err == nil {
		t.Error("a pipe passes for a regular file")
	}
}

// A file that has lost its name is opened by its descriptor.
func TestOpenDescriptor(t *testing.T) {
	path := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(path, []byte("text"), 0o600); err != nil {
		t.Fatal(err)
	}
	held, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer held.Close()
	if err := os.Remove(path); err != nil {
		t.Fatal(err)
	}
	f, err := Open("/dev/fd/" + strconv.Itoa(int(held.Fd())))
	if err != nil {
		t.Skip("the system does not open files by descriptor: ", err)
	}
	defer f.Close()
	if text, err := io.ReadAll(f); err != nil || string(text) != "text" {
		t.Errorf("read %q, %v", text, err)
	}
}
