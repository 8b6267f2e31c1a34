package sysinfo

import (
	"bufio"
	"bytes"
	"fmt"
	"io"
	"strconv"
	"strings"
)

// A Mapping is a range of this process's addresses.
type Mapping struct {
	Start, End uintptr
	Path       string // of a file, or a name in brackets; "" for anonymous memory
	File       bool   // whether Path is a file's
	RSS        Bytes
	Shared     Bytes // of RSS, what other processes have mapped too
}

// ReadMappings lists the mappings in the order of addresses. It walks the page
// tables: some milliseconds. Only Linux tells; elsewhere it is an error that
// says so.
func ReadMappings() ([]Mapping, error) { return readMappings() }

// ReadResident returns the resident size of all mappings together, as exact as
// theirs: what ReadMemory tells lags by some pages.
func ReadResident() Value[Bytes] { return readResident() }

// Resident returns how much of b is resident; b need not be written by anyone.
// Only Linux tells.
func Resident(b []byte) (Bytes, error) { return resident(b) }

// parseSmaps reads /proc/self/smaps: of each mapping a line as in maps, and
// lines "Rss: 4 kB". It makes little garbage: what it is to find must not change
// because it looks.
func parseSmaps(r io.Reader) (all []Mapping, err error) {
	lines := bufio.NewScanner(r)
	for lines.Scan() {
		line := lines.Bytes()
		name, rest, _ := bytes.Cut(line, []byte(" "))
		if key, ok := bytes.CutSuffix(name, []byte(":")); ok {
			if len(all) == 0 {
				return nil, fmt.Errorf("/proc/self/smaps begins with %q", line)
			}
			if err := all[len(all)-1].set(key, rest); err != nil {
				return nil, err
			}
			continue
		}
		m, err := parseMapping(string(line))
		if err != nil {
			return nil, err
		}
		all = append(all, m)
	}
	if err := lines.Err(); err != nil {
		return nil, fmt.Errorf("/proc/self/smaps: %w", err)
	}
	return all, nil
}

// parseMapping reads "start-end flags offset device inode path".
func parseMapping(line string) (m Mapping, err error) {
	fields := strings.Fields(line)
	if len(fields) < 5 {
		return m, fmt.Errorf("/proc/self/smaps: %q is no mapping", line)
	}
	from, to, _ := strings.Cut(fields[0], "-")
	start, err1 := strconv.ParseUint(from, 16, 64)
	end, err2 := strconv.ParseUint(to, 16, 64)
	if err1 != nil || err2 != nil || end < start {
		return m, fmt.Errorf("/proc/self/smaps: %q is no mapping", line)
	}
	m = Mapping{Start: uintptr(start), End: uintptr(end), File: fields[4] != "0"}
	if len(fields) > 5 {
		m.Path = strings.Join(fields[5:], " ")
	}
	return m, nil
}

func (m *Mapping) set(key, value []byte) error {
	var to *Bytes
	switch string(key) {
	case "Rss":
		to = &m.RSS
	case "Shared_Clean", "Shared_Dirty":
		to = &m.Shared
	default:
		return nil
	}
	value = bytes.TrimSpace(value)
	kib, err := strconv.ParseInt(string(bytes.TrimSuffix(value, []byte(" kB"))), 10, 64)
	if err != nil || kib < 0 || kib > 1<<40 {
		return fmt.Errorf("/proc/self/smaps: %s is %q, want a number of kB", key, value)
	}
	*to += Bytes(kib << 10)
	return nil
}
