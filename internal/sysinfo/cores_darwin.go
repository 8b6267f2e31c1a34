package sysinfo

// readCores takes perflevel0, the performance cores, which Intel's Macs do not
// tell apart. macOS gives a process no CPUs of its own.
func readCores() Value[Cores] {
	cpus, physical := number[int]("hw.logicalcpu"), number[int]("hw.physicalcpu")
	if cpus.Err != nil || physical.Err != nil {
		return Value[Cores]{Err: either(cpus, physical).Err}
	}
	performance := either(number[int]("hw.perflevel0.physicalcpu"), physical)
	return known(Cores{CPUs: cpus.V, Physical: physical.V, Performance: performance.V})
}
