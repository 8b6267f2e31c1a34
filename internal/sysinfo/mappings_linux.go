package sysinfo

import (
	"encoding/binary"
	"fmt"
	"io"
	"os"
	"unsafe"
)

func readMappings() ([]Mapping, error) {
	f, err := os.Open("/proc/self/smaps")
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return parseSmaps(f)
}

func readResident() Value[Bytes] { return rollup("Rss") }

// resident counts the pages that Documentation/admin-guide/mm/pagemap.rst calls
// present: bit 63 of eight bytes a page.
func resident(b []byte) (total Bytes, err error) {
	if len(b) == 0 {
		return 0, nil
	}
	f, err := os.Open("/proc/self/pagemap")
	if err != nil {
		return 0, err
	}
	defer f.Close()
	page := os.Getpagesize()
	first := uintptr(unsafe.Pointer(&b[0])) / uintptr(page)
	left := int((uintptr(unsafe.Pointer(&b[len(b)-1]))/uintptr(page) - first) + 1)
	entries := make([]byte, 8*min(left, 8192))
	for at := int64(first) * 8; left > 0; {
		part := entries[:8*min(left, len(entries)/8)]
		if _, err := io.ReadFull(io.NewSectionReader(f, at, int64(len(part))), part); err != nil {
			return 0, fmt.Errorf("reading /proc/self/pagemap: %w", err)
		}
		for i := 0; i < len(part); i += 8 {
			if binary.NativeEndian.Uint64(part[i:])>>63 != 0 {
				total += Bytes(page)
			}
		}
		at += int64(len(part))
		left -= len(part) / 8
	}
	return total, nil
}
