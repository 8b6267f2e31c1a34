package softmetal

import (
	"crypto/sha256"
	"embed"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"sync"
)

//go:embed runtime
var runtimeFiles embed.FS

// Runtime compiles the runtime if it isn't yet, and returns the folder that has
// softmetal.h and libsoftmetal.so.
var Runtime = sync.OnceValues(func() (string, error) {
	sources, err := fs.Sub(runtimeFiles, "runtime")
	if err != nil {
		return "", err
	}
	return Build(sources, "libsoftmetal.so")
})

// Build compiles C++ files, with warnings as errors, to a shared library of that
// name, and returns its folder, which has the sources too. It does so once for the
// same sources and flags: the folder is in the user's cache, named by their hash
// and the architecture.
func Build(sources fs.FS, library string, flags ...string) (string, error) {
	compiler, err := exec.LookPath("g++")
	if err != nil {
		return "", fmt.Errorf("softmetal: no C++ compiler: install g++: %w", err)
	}
	flags = append([]string{"-std=gnu++17", "-O2", "-fno-semantic-interposition", "-ftls-model=initial-exec", "-fPIC", "-shared", "-Wall", "-Wextra", "-Werror"}, flags...)
	folder, err := cacheFolder(sources, fmt.Sprint(runtime.GOARCH, library, flags))
	if err != nil {
		return "", fmt.Errorf("softmetal: %w", err)
	}
	if _, err := os.Stat(filepath.Join(folder, library)); err == nil {
		return folder, nil
	}
	work, err := os.MkdirTemp(filepath.Dir(folder), "work-")
	if err != nil {
		return "", fmt.Errorf("softmetal: %w", err)
	}
	defer os.RemoveAll(work)
	if err := os.CopyFS(work, sources); err != nil {
		return "", fmt.Errorf("softmetal: %w", err)
	}
	files, err := filepath.Glob(filepath.Join(work, "*.cpp"))
	if err != nil {
		return "", err
	}
	args := slices.Concat([]string{"-o", filepath.Join(work, library)}, files, flags)
	if out, err := exec.Command(compiler, args...).CombinedOutput(); err != nil {
		return "", fmt.Errorf("softmetal: %s: %w\n%s", library, err, out)
	}
	// Another process may have been faster; its folder is as good.
	if err := os.Rename(work, folder); err != nil && !errors.Is(err, fs.ErrExist) {
		return "", fmt.Errorf("softmetal: %w", err)
	}
	return folder, nil
}

// cacheFolder returns the folder for what is compiled from sources.
func cacheFolder(sources fs.FS, how string) (string, error) {
	cache, err := os.UserCacheDir()
	if err != nil {
		return "", err
	}
	hash := sha256.New()
	fmt.Fprintln(hash, how)
	err = fs.WalkDir(sources, ".", func(name string, e fs.DirEntry, err error) error {
		if err != nil || e.IsDir() {
			return err
		}
		data, err := fs.ReadFile(sources, name)
		fmt.Fprintln(hash, name, len(data))
		hash.Write(data)
		return err
	})
	if err != nil {
		return "", err
	}
	parent := filepath.Join(cache, "onebit", "softmetal")
	return filepath.Join(parent, fmt.Sprintf("%x", hash.Sum(nil)[:12])), os.MkdirAll(parent, 0o755)
}
