package sides

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"
)

// adopts says that children are found wherever they go.
const adopts = true

// endWithGate lets the system end a process when this one is killed.
func endWithGate(attr *unix.SysProcAttr) { attr.Pdeathsig = unix.SIGKILL }

// adoptOrphans makes processes whose parents have ended this one's children,
// whatever group or session they have moved to. end ends those that there were
// not before, and in turn those that are orphans then.
func adoptOrphans() (end func()) {
	// Without it they are init's, and only their group is ended.
	_ = unix.Prctl(unix.PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)
	before := children()
	return func() {
		for {
			orphans := slices.DeleteFunc(children(), func(pid int) bool { return slices.Contains(before, pid) })
			if len(orphans) == 0 {
				return
			}
			for _, pid := range orphans {
				_ = unix.Kill(pid, unix.SIGKILL) // it may have ended by itself
				err := error(unix.EINTR)
				for errors.Is(err, unix.EINTR) {
					_, err = unix.Wait4(pid, nil, 0, nil)
				}
				if err != nil {
					before = append(before, pid) // it is not this process's to end
				}
			}
		}
	}
}

// children are the processes that this one is the parent of.
func children() (pids []int) {
	self := strconv.Itoa(os.Getpid())
	all, _ := filepath.Glob("/proc/[0-9]*/stat") // the pattern is good
	for _, file := range all {
		text, err := os.ReadFile(file)
		if err != nil {
			continue // it has ended
		}
		// PID (NAME) STATE PARENT …, and names may have anything in them.
		rest := strings.Fields(string(text[bytes.LastIndexByte(text, ')')+1:]))
		if pid, err := strconv.Atoi(filepath.Base(filepath.Dir(file))); err == nil && len(rest) > 1 && rest[1] == self {
			pids = append(pids, pid)
		}
	}
	return pids
}
