package hotspot

import (
	"debug/elf"
	"debug/macho"
	"errors"
	"fmt"
	"runtime"
	"strings"
)

// A Function is a function of this program, and where it lies in memory.
type Function struct {
	Name       string
	Start, End uint64 // End is the first address behind it
}

// FunctionOf returns the function around an address; false for what Go does
// not know.
func FunctionOf(addr uint64) (Function, bool) {
	f := runtime.FuncForPC(uintptr(addr))
	if f == nil {
		return Function{}, false
	}
	start := uint64(f.Entry())
	in := func(addr uint64) bool {
		f := runtime.FuncForPC(uintptr(addr))
		return f != nil && uint64(f.Entry()) == start
	}
	step := uint64(64)
	for in(addr + step) {
		step *= 2
	}
	low, high := addr, addr+step // the last known in it, and the first known not to be
	for high-low > 1 {
		if middle := low + (high-low)/2; in(middle) {
			low = middle
		} else {
			high = middle
		}
	}
	return Function{outermost(start), start, high}, true
}

// outermost is the function that an address belongs to, where others may be
// inlined.
func outermost(addr uint64) string {
	frames := runtime.CallersFrames([]uintptr{uintptr(addr) + 1})
	for {
		if frame, more := frames.Next(); !more {
			return frame.Function
		}
	}
}

var errNoSymbols = errors.New("it is loaded at a random address and has no symbols: build it without -ldflags=-s")

// shift is by how much addresses in memory are larger than those in the
// program's file.
func shift(path string, f Function) (uint64, error) {
	name := strings.TrimSuffix(f.Name, ".abi0")
	is := func(symbol string) bool {
		return strings.TrimSuffix(strings.TrimPrefix(symbol, "_"), ".abi0") == name
	}
	if file, err := elf.Open(path); err == nil {
		defer file.Close()
		if file.Type == elf.ET_EXEC {
			return 0, nil
		}
		symbols, err := file.Symbols()
		if err != nil {
			return 0, errNoSymbols
		}
		for _, s := range symbols {
			if is(s.Name) && f.Start&0xfff == s.Value&0xfff {
				return f.Start - s.Value, nil
			}
		}
		return 0, errNoSymbols
	}
	if file, err := macho.Open(path); err == nil {
		defer file.Close()
		if file.Symtab == nil {
			return 0, errNoSymbols
		}
		for _, s := range file.Symtab.Syms {
			if is(s.Name) && f.Start&0xfff == s.Value&0xfff {
				return f.Start - s.Value, nil
			}
		}
		return 0, errNoSymbols
	}
	return 0, fmt.Errorf("%s is neither an ELF nor a Mach-O file", path)
}
