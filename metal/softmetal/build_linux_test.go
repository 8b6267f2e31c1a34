package softmetal

import (
	"errors"
	"os/exec"
	"strings"
	"testing"
	"testing/fstest"
)

func TestBuildFails(t *testing.T) {
	needCompiler(t)
	sources := fstest.MapFS{"a.cpp": {Data: []byte("int unknown = missing;\n")}}
	if _, err := Build(sources, "none.so"); err == nil || !strings.Contains(err.Error(), "a.cpp:1:15: error") {
		t.Errorf("error %v for a source that is wrong", err)
	}
	t.Setenv("PATH", "")
	if _, err := Build(sources, "none.so"); !errors.Is(err, exec.ErrNotFound) || !strings.Contains(err.Error(), "softmetal: no C++ compiler: install g++") {
		t.Errorf("error %v without a compiler", err)
	}
}
