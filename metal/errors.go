package metal

import (
	"errors"
	"fmt"
	"strconv"
	"strings"
)

// What can be wrong with a machine, or come over it, whatever the program does.
var (
	ErrNoDevice    = errors.New("there is no GPU that Metal can use")
	ErrOutOfMemory = errors.New("the GPU has no memory left")
	ErrTooLarge    = errors.New("is larger than this GPU's largest buffer")
	ErrTooMany     = errors.New("too many commands were begun and not committed")
	ErrDeviceLost  = errors.New("the GPU was removed, or taken from this program")
	ErrTimeout     = errors.New("the GPU took longer than the system lets it; cut the work into several commands")
)

// A CompileError is what Metal's compiler says about a shader.
type CompileError struct {
	Message string // of all errors and warnings
	Line    int    // that the first error is in, from 1; 0: the message names none
	Text    string // that line of the source
}

func (e *CompileError) Error() string {
	if e.Line == 0 {
		return "metal: the shader does not compile: " + e.Message
	}
	return fmt.Sprintf("metal: the shader does not compile: line %d, %q: %s", e.Line, strings.TrimSpace(e.Text), e.Message)
}

// newCompileError finds the line in a message, "program_source:3:7: error: …".
func newCompileError(message, source string) *CompileError {
	e := &CompileError{Message: message}
	for m := range strings.Lines(message) {
		place, _, ok := strings.Cut(m, ": error:")
		fields := strings.Split(place, ":")
		if !ok || len(fields) < 3 {
			continue
		}
		line, err := strconv.Atoi(fields[len(fields)-2])
		lines := strings.Split(source, "\n")
		if err == nil && line >= 1 && line <= len(lines) {
			e.Line, e.Text = line, lines[line-1]
			break
		}
	}
	return e
}

// A CommandError is why a GPU did not finish commands. It wraps
// [ErrOutOfMemory], [ErrDeviceLost] or [ErrTimeout] where it was that.
type CommandError struct {
	Code    int // MTLCommandBufferError
	Message string
}

func (e *CommandError) Error() string {
	text := fmt.Sprintf("metal: the GPU stopped with error %d, %s", e.Code, e.Message)
	if cause := e.Unwrap(); cause != nil {
		text += ": " + cause.Error()
	}
	return text
}

// Codes of errors: MTLCommandBufferError.
const (
	codeTimeout       = 2
	codeAccessRevoked = 4
	codeOutOfMemory   = 8
	codeDeviceRemoved = 11
)

// Unwrap returns nil if the error is none of the three.
func (e *CommandError) Unwrap() error {
	switch e.Code {
	case codeTimeout:
		return ErrTimeout
	case codeAccessRevoked, codeDeviceRemoved:
		return ErrDeviceLost
	case codeOutOfMemory:
		return ErrOutOfMemory
	}
	return nil
}
