package counters

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"onebit/bench/results"
)

// energy is that of the processor's packages and of memory beside them.
type energy struct{ zones []*zone }

// A zone of powercap counts microjoules and begins again behind most.
type zone struct {
	file  string
	most  float64
	last  float64
	total float64
}

// openEnergy finds the zones in a folder of powercap. A package holds its
// cores; "psys", the whole board, would count it twice.
func openEnergy(root string) ([]source, []Missing) {
	no := func(err error) ([]source, []Missing) {
		return nil, []Missing{{[]string{results.Energy}, err}}
	}
	folders, err := filepath.Glob(filepath.Join(root, "*-rapl:[0-9]*"))
	if err != nil || len(folders) == 0 {
		return no(fmt.Errorf("there is no counter of energy in %s (virtual machines have none)", root))
	}
	e := &energy{}
	for _, folder := range folders {
		name, err := os.ReadFile(filepath.Join(folder, "name"))
		if err != nil {
			return no(err)
		}
		label := strings.TrimSpace(string(name))
		if nested := strings.Count(filepath.Base(folder), ":") > 1; label == "psys" || nested && label != "dram" {
			continue
		}
		z := &zone{file: filepath.Join(folder, "energy_uj")}
		if z.most, err = number(filepath.Join(folder, "max_energy_range_uj")); err == nil {
			z.last, err = number(z.file)
		}
		if errors.Is(err, fs.ErrPermission) {
			return no(fmt.Errorf("%w (root, or an administrator's chmod a+r, would allow it)", err))
		}
		if err != nil {
			return no(err)
		}
		e.zones = append(e.zones, z)
	}
	if len(e.zones) == 0 {
		return no(fmt.Errorf("%s has no package", root))
	}
	return []source{e}, nil
}

func number(path string) (float64, error) {
	text, err := os.ReadFile(path)
	if err != nil {
		return 0, err
	}
	v, err := strconv.ParseUint(strings.TrimSpace(string(text)), 10, 64)
	if err != nil {
		return 0, fmt.Errorf("%s: %w", path, err)
	}
	return float64(v), nil
}

func (e *energy) units() []string { return []string{results.Energy} }

// read returns joules. A counter that stands lower than before has wrapped,
// once: at a thousand watts it does so in minutes.
func (e *energy) read() ([]value, error) {
	sum := 0.0
	for _, z := range e.zones {
		now, err := number(z.file)
		if err != nil {
			return nil, err
		}
		step := now - z.last
		if step < 0 {
			step += z.most
		}
		z.last = now
		z.total += step
		sum += z.total
	}
	return []value{{count: sum / 1e6}}, nil
}

func (e *energy) close() error { return nil }
