package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"time"

	"github.com/spf13/cobra"

	"onebit/bench/cases"
	"onebit/bench/gate"
	"onebit/bench/results"
	"onebit/internal/clock"
	"onebit/internal/sysinfo"
	"onebit/reports/doc"
	gatepage "onebit/reports/gate"
	"onebit/reports/render"
)

// A gateRecord holds what a gate measures as it goes: in results.txt of a
// folder, or else in memory. All that is shown is made from it.
type gateRecord struct {
	*gate.Recorder
	folder *resultsFile // nil: in memory
	memory bytes.Buffer
	temp   string // for profiles that are not kept
}

// openRecord takes the folder, if one was named, for this gate alone. temp is a
// folder that goes when the gate ends.
func (f *gateFlags) openRecord(temp string) (*gateRecord, error) {
	r := &gateRecord{temp: temp}
	if f.out == "" {
		return r, nil
	}
	var err error
	r.folder, err = takeFolder(f.out, f.force)
	return r, err
}

// begin writes the header.
func (r *gateRecord) begin(settings []results.Setting, better func(unit string) int) {
	var out io.Writer = &r.memory
	if r.folder != nil {
		out = r.folder
	}
	r.Recorder = gate.NewRecorder(out, settings, better)
}

// close also lets other gates into the folder.
func (r *gateRecord) close() error {
	if r.folder == nil {
		return nil
	}
	return r.folder.Close()
}

// failed is why there is no report, and where to find what was measured.
func (r *gateRecord) failed(err error) error {
	err = errors.Join(err, r.Err())
	if err != nil && r.folder != nil && r.folder.named {
		return fmt.Errorf("%w (the finished processes are in %s; onebit report renders them)", err, r.folder.path())
	}
	return err
}

// finish writes what the gate found, which are results also where nothing had to
// be measured.
func (r *gateRecord) finish(report *gate.Report, profiles []gate.Profile) error {
	if err := r.Finish(report, profiles); err != nil || r.folder == nil || r.folder.named {
		return err
	}
	return r.folder.name()
}

// read reads back what was written.
func (r *gateRecord) read() (*gate.Results, error) {
	if r.folder == nil {
		return gate.ReadResults(&r.memory, "the gate's measurements")
	}
	return gatepage.Read(r.folder.path())
}

// profiles is the folder of profiles, without those of an earlier gate.
func (r *gateRecord) profiles() (string, error) {
	if r.folder == nil {
		return filepath.Join(r.temp, gate.ProfilesFolder), nil
	}
	dir := filepath.Join(r.folder.dir, gate.ProfilesFolder)
	for _, side := range []gate.Side{gate.Base, gate.Head} {
		old, err := filepath.Glob(filepath.Join(dir, "*."+side.String()+".pprof"))
		if err != nil {
			return "", err
		}
		for _, path := range old {
			if err := os.Remove(path); err != nil {
				return "", err
			}
		}
	}
	return dir, nil
}

// gateSettings are the header of a gate's results: the machine, and what is
// compared how.
func (f *gateFlags) settings(cmd *cobra.Command, base, head string, o gate.Options) []results.Setting {
	settings := cases.Settings(sysinfo.Probe(), time.Now(),
		results.Setting{Key: "base", Value: base},
		results.Setting{Key: "head", Value: head},
		results.Setting{Key: "command", Value: f.command(cmd)},
		results.Setting{Key: comparisonKey, Value: f.command(cmd, unequal...)},
		results.Setting{Key: "seed", Value: strconv.FormatUint(o.Seed, 10)},
		results.Setting{Key: "budget", Value: f.budget.String()},
		results.Setting{Key: "times", Value: "typical"}, // gates before November 2026 judged the best
	)
	// These are of onebit's own benchmarks.
	return slices.DeleteFunc(settings, func(s results.Setting) bool { return s.Key == "pkg" || s.Key == results.ClassesKey })
}

// command is a command line that does the same, wherever it reports to, without some
// flags.
func (f *gateFlags) command(cmd *cobra.Command, without ...string) string {
	return commandLine(slices.Concat([]string{"gate"}, arguments(cmd.Flags(), without...), cmd.Flags().Args())...)
}

// profileTime is how long a benchmark is profiled, on both sides together.
const profileTime = 6 * time.Second

// reserve is the part of the budget that is kept for profiles: no more than a tenth.
func (f *gateFlags) reserve(target gate.Target) time.Duration {
	if _, ok := target.(gate.Profiler); !ok {
		return 0
	}
	return min(time.Duration(f.profiles)*profileTime, f.budget/10)
}

// profile profiles the slower benchmarks of a gate that came to its end. A failure
// is a warning: the verdict stands.
func (f *gateFlags) profile(cmd *cobra.Command, r *gate.Report, target gate.Target, record *gateRecord) []gate.Profile {
	profiler, ok := target.(gate.Profiler)
	if !ok || r.Unfinished != "" {
		return nil
	}
	dir, err := record.profiles()
	var profiles []gate.Profile
	if err == nil {
		profiles, err = gate.ProfileSlower(cmd.Context(), profiler, r, gate.ProfileOptions{Dir: dir, Most: f.profiles, Time: profileTime, Left: r.Options.Budget - clock.Now().Sub(r.Options.Start)})
	}
	if err != nil {
		f.warn(cmd, record, err.Error())
	}
	return profiles
}

// warn also keeps the warning with the results.
func (f *gateFlags) warn(cmd *cobra.Command, record *gateRecord, text string) {
	fmt.Fprintf(cmd.ErrOrStderr(), "onebit: warning: %s\n", text)
	record.Warn(text)
}

// publish prints a report and writes the files that were asked for, also of a
// gate that was interrupted.
func (f *gateFlags) publish(cmd *cobra.Command, r *gate.Report, profiles []gate.Profile, record *gateRecord) error {
	cmd.SetContext(context.WithoutCancel(cmd.Context()))
	for _, alarm := range r.Alarms {
		fmt.Fprintf(cmd.ErrOrStderr(), "onebit: warning: %s\n", alarm)
	}
	if err := record.finish(r, profiles); err != nil {
		return err
	}
	res, err := record.read()
	if err != nil {
		return err
	}
	d := gatepage.Document(res)
	err = printDocument(cmd, d, f.asJSON, false)
	if path := os.Getenv("GITHUB_STEP_SUMMARY"); path != "" {
		err = errors.Join(err, appendSummary(cmd.Context(), path, d))
	}
	if record.folder == nil {
		return err
	}
	if err = errors.Join(err, writeGateFolder(cmd.Context(), f.out, res, d, record.folder.options(f.force))); err == nil {
		fmt.Fprintf(cmd.ErrOrStderr(), "report: %s\n", filepath.Join(f.out, "index.html"))
	}
	return err
}

// writeGateFolder writes what stands beside a gate's results.txt, all or none.
func writeGateFolder(ctx context.Context, dir string, res *gate.Results, d *doc.Document, opt render.FolderOptions) error {
	for _, side := range []gate.Side{gate.Base, gate.Head, gate.Control} {
		opt.Beside = append(opt.Beside, doc.File{
			Name: side.String() + ".txt", Write: func(w io.Writer) error { return res.WriteSide(w, side) },
		})
	}
	return render.Folder(ctx, dir, d, opt)
}

// maxSummary is what GitHub shows of a step's summary.
const maxSummary = 1 << 20

// appendSummary appends the report to the summary of a step of GitHub's CI.
func appendSummary(ctx context.Context, path string, d *doc.Document) error {
	file, err := os.OpenFile(path, os.O_APPEND|os.O_WRONLY|os.O_CREATE, 0o666)
	if err != nil {
		return err
	}
	room := maxSummary
	if info, err := file.Stat(); err == nil {
		room -= int(min(info.Size(), maxSummary))
	}
	markdown, _ := render.Named("markdown")
	return errors.Join(markdown.Print(ctx, file, d, render.Options{Limit: room}), file.Close())
}
