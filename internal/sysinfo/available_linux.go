package sysinfo

import "os"

func available() Value[Bytes] {
	const file = "/proc/meminfo"
	free := kib(file, read(file), "MemAvailable")
	// Without control groups there are no limits of theirs.
	if self := read("/proc/self/cgroup"); self.OK() && free.OK() {
		left := headroom(os.DirFS("/sys/fs/cgroup"), self.V)
		if left.Err != nil {
			return Value[Bytes]{Err: left.Err}
		}
		free.V = min(free.V, Bytes(left.V))
	}
	return free
}
