package roofline

import (
	"fmt"

	"golang.org/x/sys/unix"
)

// UsableCPUs are the numbers of the CPUs that this process may use.
func UsableCPUs() (out []int, err error) {
	var set unix.CPUSet
	if err := unix.SchedGetaffinity(0, &set); err != nil {
		return nil, err
	}
	for i := range len(set) * 64 {
		if set.IsSet(i) {
			out = append(out, i)
		}
	}
	return out, nil
}

// bindTo keeps the calling thread on one CPU.
func bindTo(cpu int) error {
	var set unix.CPUSet
	set.Set(cpu)
	if err := unix.SchedSetaffinity(0, &set); err != nil {
		return fmt.Errorf("keeping a thread on CPU %d: %w", cpu, err)
	}
	return nil
}
