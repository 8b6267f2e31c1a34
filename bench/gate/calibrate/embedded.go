package calibrate

import (
	"embed"
	"io/fs"
	"path"
	"strings"
)

//go:embed testdata/recordings
var recordings embed.FS

// Embedded returns the recordings of this package, by kind of machine: the
// part of their names before the first dash.
func Embedded() (map[string][]*Recording, error) {
	const dir = "testdata/recordings"
	files, err := fs.ReadDir(recordings, dir)
	if err != nil {
		return nil, err
	}
	all := map[string][]*Recording{}
	for _, file := range files {
		data, err := recordings.ReadFile(path.Join(dir, file.Name()))
		if err != nil {
			return nil, err
		}
		r, err := Read(data, file.Name())
		if err != nil {
			return nil, err
		}
		kind, _, _ := strings.Cut(file.Name(), "-")
		all[kind] = append(all[kind], r)
	}
	return all, nil
}
