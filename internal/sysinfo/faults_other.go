//go:build !unix

package sysinfo

import "runtime"

func readFaults() Value[Faults] { return unknown[Faults]("not read on " + runtime.GOOS) }
