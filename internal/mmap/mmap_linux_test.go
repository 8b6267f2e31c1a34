package mmap

import (
	"bufio"
	"fmt"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"
	"unsafe"

	"golang.org/x/sys/unix"

	"onebit/internal/sysinfo"
)

// smaps returns the sum of a field of /proc/self/smaps, in bytes, over the
// mappings that overlap data.
func smaps(t *testing.T, data []byte, field string) int {
	t.Helper()
	f, err := os.Open("/proc/self/smaps")
	if err != nil {
		t.Skip(err)
	}
	defer f.Close()
	lo := uint64(uintptr(unsafe.Pointer(&data[0])))
	hi := lo + uint64(len(data))
	var sum, found int
	var inside bool
	lines := bufio.NewScanner(f)
	for lines.Scan() {
		var from, to uint64
		if n, _ := fmt.Sscanf(lines.Text(), "%x-%x ", &from, &to); n == 2 {
			inside = from < hi && lo < to
			continue
		}
		name, rest, _ := strings.Cut(lines.Text(), ":")
		if inside && name == field {
			kib, err := strconv.Atoi(strings.TrimSuffix(strings.TrimSpace(rest), " kB"))
			if err != nil {
				t.Fatal(err)
			}
			sum += kib << 10
			found++
		}
	}
	if found == 0 {
		t.Skipf("/proc/self/smaps does not show %s of the mapping (emulated?)", field)
	}
	return sum
}

// needHugePages skips a test where the system takes no advice on huge pages.
func needHugePages(t *testing.T) {
	t.Helper()
	mode, err := os.ReadFile("/sys/kernel/mm/transparent_hugepage/enabled")
	if err != nil {
		t.Skip("no transparent huge pages: ", err)
	}
	if strings.Contains(string(mode), "[never]") {
		t.Skip("transparent huge pages are off")
	}
	needAdvice(t)
}

// needAdvice skips a test under QEMU's user mode, which swallows advice on
// memory. It fakes /proc/self/exe, but not the thread's.
func needAdvice(t *testing.T) {
	t.Helper()
	if exe, err := os.Readlink("/proc/thread-self/exe"); err == nil && strings.Contains(exe, "qemu-") {
		t.Skip("emulated by ", exe)
	}
}

func TestMapAdvisesHugePages(t *testing.T) {
	needHugePages(t)
	for _, test := range []struct {
		size int
		want bool
	}{{HugePage, true}, {HugePage - 1, false}} {
		f, err := mapPath(writeFile(t, pattern(test.size)))
		if err != nil {
			t.Fatal(err)
		}
		defer f.Close()
		if got := advisedHuge(t, f.Path()); got != test.want {
			t.Errorf("a file of %d bytes is advised to use huge pages: %v, want %v", test.size, got, test.want)
		}
	}
}

// advisedHuge says whether /proc/self/smaps has the flag hg for the file's mapping.
func advisedHuge(t *testing.T, path string) bool {
	t.Helper()
	all, err := os.ReadFile("/proc/self/smaps")
	if err != nil {
		t.Skip(err)
	}
	_, mapping, _ := strings.Cut(string(all), path+"\n")
	_, flags, ok := strings.Cut(mapping, "VmFlags:")
	if !ok {
		t.Fatal("/proc/self/smaps does not show the mapping of ", path)
	}
	flags, _, _ = strings.Cut(flags, "\n")
	return slices.Contains(strings.Fields(flags), "hg")
}

func TestAllocUsesHugePages(t *testing.T) {
	needHugePages(t)
	const n = 4*HugePage + 4096
	a, err := Alloc(n)
	if err != nil {
		t.Fatal(err)
	}
	defer a.Free()
	b := a.Bytes()
	if addr := uintptr(unsafe.Pointer(&b[0])); addr%HugePage != 0 {
		t.Errorf("at %#x, not on a 2 MiB boundary", addr)
	}
	for i := 0; i < n; i += 4096 {
		b[i] = 1
	}
	if eligible := smaps(t, b[:n-4096], "THPeligible"); eligible == 0 {
		t.Error("the memory is not eligible for huge pages: the advice did not take")
	}
	if huge := smaps(t, b, "AnonHugePages"); huge == 0 {
		t.Skip("eligible, but the kernel had no free huge page")
	} else if huge > n {
		t.Errorf("%d bytes in huge pages, more than the %d asked for", huge, n)
	}
}

func TestReleaseShrinksTheResidentSize(t *testing.T) {
	page := os.Getpagesize()
	f, err := mapPath(writeFile(t, pattern(64*page)))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	var sum int
	for _, v := range f.Data() {
		sum += int(v)
	}
	if sum == 0 {
		t.Fatal("the file reads as zero")
	}
	before := smaps(t, f.Data(), "Rss")
	if before != 64*page {
		t.Skipf("%d bytes resident after reading %d: the system counts otherwise", before, 64*page)
	}
	// The first and the last page are only partly in the range.
	if err := f.Release(1, 63*page); err != nil {
		t.Fatal(err)
	}
	if after := smaps(t, f.Data(), "Rss"); after != 2*page {
		t.Errorf("%d bytes resident after Release, want two pages, %d", after, 2*page)
	}
}

func TestSmallPagesAreNotHuge(t *testing.T) {
	needAdvice(t)
	const n = 4 * HugePage
	a, err := Alloc(n)
	if err != nil {
		t.Fatal(err)
	}
	defer a.Free()
	a.SmallPages(2 * HugePage)
	b := a.Bytes()
	for i := 0; i < n; i += HugePage {
		b[i] = 1
	}
	page := os.Getpagesize()
	// Two pages, and two that are huge if the kernel had any.
	if rss := smaps(t, b[:2*HugePage], "Rss"); rss != 2*page {
		t.Errorf("%d bytes resident after two were written, want two pages, %d", rss, 2*page)
	}
	if eligible := smaps(t, b[:2*HugePage], "THPeligible"); eligible != 0 {
		t.Error("the memory is eligible for huge pages")
	}
}

// Shrink gives back what is behind a place, of huge pages whole ones, and leaves
// what is before it.
func TestShrink(t *testing.T) {
	needAdvice(t)
	page := os.Getpagesize()
	for _, test := range []struct{ n, to, stays int }{
		{8 * page, 3*page + 1, 4 * page},
		{8 * page, 8*page - 1, 8 * page},
		{8 * page, 0, 0},
		{3*HugePage + page, HugePage + 1, 2 * HugePage},
		{3*HugePage + page, 3*HugePage + 1, 3*HugePage + page},
	} {
		a, err := Alloc(test.n)
		if err != nil {
			t.Fatal(err)
		}
		b := a.Bytes()
		const stride = 509 // some of every page
		for i := 0; i < len(b); i += stride {
			b[i] = byte(i%251 + 1)
		}
		if err := a.Shrink(test.to); err != nil {
			t.Fatal(err)
		}
		if rss, err := sysinfo.Resident(b); err != nil || int(rss) != test.stays {
			t.Errorf("%d bytes shrunk to %d: %d are resident, want %d", test.n, test.to, rss, test.stays)
		}
		for i := 0; i < len(b); i += stride {
			if want := byte(i%251 + 1); i < test.stays && b[i] != want || i >= test.stays && b[i] != 0 {
				t.Fatalf("%d bytes shrunk to %d: byte %d is %d", test.n, test.to, i, b[i])
			}
		}
		if err := a.Free(); err != nil {
			t.Fatal(err)
		}
	}
}

func TestPopulateMapsThePages(t *testing.T) {
	needAdvice(t)
	page := os.Getpagesize()
	// More than the kernel maps around a page that is read.
	const pages = 1024
	f, err := mapPath(writeFile(t, pattern(pages*page)))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if unix.Madvise(f.Data()[:page], unix.MADV_POPULATE_READ) != nil {
		t.Skip("the kernel does not populate mappings")
	}
	f.Populate(page+1, pages/2*page)
	if rss := smaps(t, f.Data(), "Rss"); rss < pages/2*page {
		t.Errorf("%d bytes resident after %d were populated", rss, pages/2*page)
	}
}

func TestTouchProvidesThePages(t *testing.T) {
	needAdvice(t)
	page := os.Getpagesize()
	const pages = 64
	memory, err := unix.Mmap(-1, 0, pages*page, unix.PROT_READ|unix.PROT_WRITE, unix.MAP_PRIVATE|unix.MAP_ANON)
	if err != nil {
		t.Fatal(err)
	}
	defer unix.Munmap(memory)
	if unix.Madvise(memory[:page], unix.MADV_POPULATE_WRITE) != nil {
		t.Skip("the kernel does not populate mappings")
	}
	resident := func() (n int) {
		var in [pages]byte
		if _, _, errno := unix.Syscall(unix.SYS_MINCORE, uintptr(unsafe.Pointer(&memory[0])), uintptr(len(memory)), uintptr(unsafe.Pointer(&in))); errno != 0 {
			t.Skip(errno)
		}
		for _, b := range in {
			n += int(b & 1)
		}
		return n
	}
	for _, few := range [][]byte{nil, memory[page+1 : page+2], memory[2*page-1 : 2*page]} {
		Touch(few)
	}
	if n := resident(); n != 1 {
		t.Errorf("%d pages resident after parts of one were touched, want that one alone", n)
	}
	Touch(memory[page+1 : pages/2*page])
	if n := resident(); n != pages/2-1 {
		t.Errorf("%d pages resident after %d were touched", n, pages/2-2)
	}
}
