package main

import (
	"testing"

	"github.com/rogpeppe/go-internal/testscript"

	"onebit/cmd/internal/scripts"
	"onebit/internal/sysinfo"
)

// The scripts run the real main in a process of its own.
func TestMain(m *testing.M) {
	sysinfo.Describe()
	testscript.Main(m, map[string]func(){"onebit-lab": main})
}

func TestScripts(t *testing.T) { scripts.Run(t, nil, func(*testscript.Env) {}) }
