//go:build !linux && !darwin && !windows

package sysinfo

func available() Value[Bytes] { return unknown[Bytes](notRead) }
