package sysinfo

import (
	"errors"
	"fmt"
	"os"
	"runtime"
	"strconv"
	"strings"
)

// described names the variable by which tests describe a machine.
const described = "ONEBIT_TEST_MACHINE"

// Describe has [Probe] return the machine that the variable ONEBIT_TEST_MACHINE
// describes, if it is set. It is for tests alone, which shall come out alike
// wherever they run: a package that looks at the machine calls it in an init
// function of its tests, before anything has asked for [Threads]. Processes that
// tests start from their own binary inherit the variable.
//
// A description is what differs from the machine there is, joined by commas:
//
//	l1d=32K, l2=1M, l3=none    sizes of caches; none: not known, as on a CPU without
//	mem=64M                    memory that there is, and that is available
//	cpus=64                    CPUs, a core each, and GOMAXPROCS
//	cpus=64,nodes=2            in so many NUMA nodes
//	nothing                    what a system tells of which onebit reads nothing
//
// CPU features are GODEBUG's, of which golang.org/x/sys/cpu reads cpu.all=off
// (nothing but Go) and cpu.all=off,cpu.avx=on,cpu.avx2=on,cpu.fma=on (AVX2).
func Describe() {
	text := os.Getenv(described)
	if text == "" {
		return
	}
	h, err := describe(thisHost(), text)
	if err != nil {
		panic(fmt.Sprintf("%s=%s: %v", described, text, err))
	}
	runtime.GOMAXPROCS(h.UsableCPUs)
	host = func() Host { return h }
}

// host is what Probe asks.
var host = thisHost

const notTold = "this machine is described so"

// describe applies a description to a machine.
func describe(h Host, text string) (Host, error) {
	for part := range strings.SplitSeq(text, ",") {
		key, to, _ := strings.Cut(part, "=")
		var err error
		switch key {
		case "l1d":
			h.L1d, err = describedSize(to)
		case "l2":
			h.L2, err = describedSize(to)
		case "l3":
			h.L3, err = describedSize(to)
		case "mem":
			h.MemTotal, err = describedSize(to)
			h.MemAvailable = h.MemTotal
		case "cpus":
			h, err = h.withCPUs(to)
		case "nodes":
			h.Cores.V.Nodes, err = describedNodes(h.UsableCPUs, to)
		case "nothing":
			nothing := untold(notTold)
			nothing.UsableCPUs, nothing.Arch, nothing.Go = h.UsableCPUs, h.Arch, h.Go
			h = nothing
		default:
			err = errors.New("unknown")
		}
		if err != nil {
			return h, fmt.Errorf("%s: %w", part, err)
		}
	}
	return h, nil
}

func describedSize(size string) (Value[Bytes], error) {
	if size == "none" {
		return unknown[Bytes](notTold), nil
	}
	bytes, err := cacheSize(size)
	return known(bytes), err
}

func (h Host) withCPUs(number string) (Host, error) {
	n, err := strconv.Atoi(number)
	if err != nil || n < 1 || n > manyCPUs {
		return h, fmt.Errorf("%q is no number of CPUs", number)
	}
	h.UsableCPUs, h.OnlineCPUs, h.CPULimit = n, known(n), known(noCPULimit)
	h.Cores = known(Cores{CPUs: n, Physical: n, Performance: n})
	return h, nil
}

// describedNodes shares out CPUs: with two nodes, the first half and the second.
func describedNodes(cpus int, number string) ([][]int, error) {
	n, err := strconv.Atoi(number)
	if err != nil || n < 1 || n > cpus {
		return nil, fmt.Errorf("%q is no number of nodes of %d CPUs", number, cpus)
	}
	nodes := make([][]int, n)
	for cpu := range cpus {
		node := cpu * n / cpus
		nodes[node] = append(nodes[node], cpu)
	}
	return nodes, nil
}
