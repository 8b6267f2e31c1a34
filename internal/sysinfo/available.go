package sysinfo

import (
	"bufio"
	"fmt"
	"io/fs"
	"math"
	"path"
	"strconv"
	"strings"
)

// Available returns how much memory this process can take before the system
// runs short: what the machine has left, or the tightest of the process's control
// groups, with what the page cache would give back. On macOS it is all of the
// machine's, since only a C call tells more. It reads a few files on Linux.
func Available() Value[Bytes] { return available() }

// headroom returns what is left below the limits of the process's control groups,
// NoLimit if they have none. The page cache counts as left: the system takes that
// back first.
func headroom(root fs.FS, self string) Value[ByteLimit] {
	left := known(NoLimit)
	lowest := func(dir, group, limit, usage, inactive, active string) {
		v := groupHeadroom(root, path.Join(dir, "."+group), limit, usage, inactive, active)
		if v.Err != nil || left.Err == nil && v.V < left.V {
			left = v
		}
	}
	g := parseCgroup(self)
	for _, group := range parents(g.unified) {
		lowest("", group, "memory.max", "memory.current", "inactive_file", "active_file")
	}
	for _, group := range parents(g.v1["memory"]) {
		lowest("memory", group, "memory.limit_in_bytes", "memory.usage_in_bytes", "total_inactive_file", "total_active_file")
	}
	return left
}

// groupHeadroom is that of one group. A group without a limit, such as the root,
// has no file for it.
func groupHeadroom(root fs.FS, dir, limit, usage, inactive, active string) Value[ByteLimit] {
	text, err := fs.ReadFile(root, path.Join(dir, limit))
	if err != nil {
		return known(NoLimit)
	}
	most, err := memMax(string(text))
	if err != nil || most == NoLimit {
		return value(most, err)
	}
	if text, err = fs.ReadFile(root, path.Join(dir, usage)); err != nil {
		return Value[ByteLimit]{Err: err}
	}
	used, err := memMax(string(text))
	if err != nil {
		return Value[ByteLimit]{Err: err}
	}
	stat, err := fs.ReadFile(root, path.Join(dir, "memory.stat"))
	if err != nil {
		return Value[ByteLimit]{Err: err}
	}
	cached, err := statSum(string(stat), inactive, active)
	return value(max(0, most-max(0, used-cached)), err)
}

// statSum adds up fields of a memory.stat: lines "name 123".
func statSum(text string, names ...string) (sum ByteLimit, err error) {
	lines := bufio.NewScanner(strings.NewReader(text))
	for lines.Scan() {
		name, number, _ := strings.Cut(lines.Text(), " ")
		for _, want := range names {
			if name != want {
				continue
			}
			n, err := strconv.ParseInt(number, 10, 64)
			if err != nil || n < 0 || n > math.MaxInt64>>8 {
				return 0, fmt.Errorf("memory.stat: %s is %q, want a number of bytes", name, number)
			}
			sum += ByteLimit(n)
		}
	}
	return sum, lines.Err()
}
