package frameworks

import (
	"embed"
	"fmt"
	"io/fs"
	"path/filepath"

	"onebit/metal/dl"
	"onebit/metal/softmetal"
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
	l := new(Library)
	if l.Libraries, err = dl.Open(path); err != nil {
		return nil, fmt.Errorf("frameworks: %w", err)
	}
	if err := l.BindAll(map[string]any{
		"frameworks_violations":       &l.violations,
		"frameworks_live":             &l.live,
		"frameworks_no_device":        &l.noDevice,
		"frameworks_family":           &l.family,
		"frameworks_sampling":         &l.sampling,
		"frameworks_max_buffer":       &l.maxBuffer,
		"frameworks_simd_width":       &l.simdWidth,
		"frameworks_max_threads":      &l.maxThreads,
		"frameworks_watchdog":         &l.watchdog,
		"frameworks_fail_allocations": &l.failAllocations,
		"frameworks_fail_commands":    &l.failCommands,
	}); err != nil {
		return nil, fmt.Errorf("frameworks: %w", err)
	}
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
