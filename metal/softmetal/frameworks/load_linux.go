package frameworks

import (
	"embed"
	"fmt"
	"io/fs"
	"path/filepath"

	"onebit/metal/softmetal"

	"github.com/ebitengine/purego"
)

//go:embed played
var source embed.FS

// Load compiles the library, if this user's cache has none of this source, and
// opens it. The error wraps [exec.ErrNotFound] if there is no g++.
func Load() (*Library, error) {
	path, err := build()
	if err != nil {
		return nil, err
	}
	handle, err := purego.Dlopen(path, purego.RTLD_NOW|purego.RTLD_GLOBAL)
	if err != nil {
		return nil, fmt.Errorf("frameworks: %w", err)
	}
	l := &Library{path: path}
	purego.RegisterLibFunc(&l.violations, handle, "frameworks_violations")
	purego.RegisterLibFunc(&l.live, handle, "frameworks_live")
	purego.RegisterLibFunc(&l.noDevice, handle, "frameworks_no_device")
	purego.RegisterLibFunc(&l.family, handle, "frameworks_family")
	purego.RegisterLibFunc(&l.failAllocations, handle, "frameworks_fail_allocations")
	purego.RegisterLibFunc(&l.failCommands, handle, "frameworks_fail_commands")
	return l, nil
}

// build returns the library's file, linked to that of package softmetal.
func build() (string, error) {
	const name = "libframeworks.so"
	shaders, err := softmetal.Runtime()
	if err != nil {
		return "", err
	}
	files, err := fs.Sub(source, "played")
	if err != nil {
		return "", err
	}
	folder, err := softmetal.Build(files, name,
		"-Wconversion", "-fvisibility=hidden", "-I"+shaders, filepath.Join(shaders, "libsoftmetal.so"), "-Wl,-rpath,"+shaders)
	return filepath.Join(folder, name), err
}
