//go:build !linux

package sysinfo

import "errors"

var errNoMappings = errors.New("only Linux tells what is resident, in /proc/self/smaps")

func readMappings() ([]Mapping, error) { return nil, errNoMappings }

func resident([]byte) (Bytes, error) { return 0, errNoMappings }

func readResident() Value[Bytes] { return Value[Bytes]{Err: errNoMappings} }
