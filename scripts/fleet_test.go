//go:build linux

// Package scripts holds the tests of the scripts.
package scripts

import (
	"crypto/rand"
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"os/user"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"onebit/internal/require"
)

// A cluster is a Slurm controller and nodes, all of them on this machine.
type cluster struct {
	conf  string
	nodes []string
}

// findSlurm returns the paths of Slurm's programs, or skips. Those that serve
// are where a user's PATH may not lead.
func findSlurm(t *testing.T) map[string]string {
	t.Helper()
	t.Setenv("PATH", os.Getenv("PATH")+":/usr/sbin:/sbin")
	paths := make(map[string]string)
	for _, name := range []string{"munged", "slurmctld", "slurmd", "sbatch", "sinfo", "scontrol"} {
		path, err := exec.LookPath(name)
		if err != nil {
			require.Skip(t, "slurm", "no "+name+" in PATH (Debian: apt-get install slurm-wlm munge)")
		}
		paths[name] = path
	}
	return paths
}

// freePorts returns ports on which nothing listens.
func freePorts(t *testing.T, n int) []int {
	t.Helper()
	var ports []int
	for range n {
		l, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			t.Fatal(err)
		}
		defer l.Close()
		ports = append(ports, l.Addr().(*net.TCPAddr).Port)
	}
	return ports
}

// startCluster starts munged, slurmctld and a slurmd for each node, which end
// with the test.
func startCluster(t *testing.T, nodes ...string) *cluster {
	t.Helper()
	paths := findSlurm(t)
	// Sockets have short paths, and munged wants nobody else to write where its own is.
	dir, err := os.MkdirTemp("", "slurm")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	me, err := user.Current()
	if err != nil {
		t.Fatal(err)
	}
	host, err := os.Hostname()
	if err != nil {
		t.Fatal(err)
	}
	key := make([]byte, 1024)
	rand.Read(key)
	write(t, filepath.Join(dir, "key"), string(key), 0o400)
	for _, d := range []string{"munge", "state"} {
		if err := os.MkdirAll(filepath.Join(dir, d), 0o711); err != nil {
			t.Fatal(err)
		}
	}
	socket := filepath.Join(dir, "munge", "socket")
	ports := freePorts(t, 1+len(nodes))
	conf := fmt.Sprintf(`ClusterName=test
SlurmctldHost=%s(127.0.0.1)
SlurmctldPort=%d
SlurmUser=%s
SlurmdUser=%[3]s
AuthType=auth/munge
AuthInfo=socket=%[4]s
CredType=cred/munge
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
SelectType=select/linear
SchedulerType=sched/backfill
SchedulerParameters=batch_sched_delay=0,sched_interval=1,bf_interval=1
MpiDefault=none
ReturnToService=2
SlurmctldTimeout=30
SlurmdTimeout=30
StateSaveLocation=%[5]s/state
SlurmctldPidFile=%[5]s/slurmctld.pid
SlurmctldLogFile=%[5]s/slurmctld.log
SlurmdSpoolDir=%[5]s/%%n
SlurmdPidFile=%[5]s/%%n.pid
SlurmdLogFile=%[5]s/%%n.log
`, host, ports[0], me.Username, socket, dir)
	for i, n := range nodes {
		conf += fmt.Sprintf("NodeName=%s NodeHostname=%s NodeAddr=127.0.0.1 Port=%d CPUs=1\n", n, host, ports[1+i])
	}
	conf += "PartitionName=all Nodes=ALL Default=YES MaxTime=10 State=UP\n"
	c := &cluster{conf: filepath.Join(dir, "slurm.conf"), nodes: nodes}
	write(t, c.conf, conf, 0o644)
	t.Setenv("SLURM_CONF", c.conf)

	start(t, paths["munged"], "--foreground", "--force", "--key-file", filepath.Join(dir, "key"), "--socket", socket,
		"--pid-file", filepath.Join(dir, "munge", "pid"), "--log-file", filepath.Join(dir, "munge", "log"), "--seed-file", filepath.Join(dir, "munge", "seed"))
	await(t, "munged", func() bool { _, err := os.Stat(socket); return err == nil })
	start(t, paths["slurmctld"], "-D", "-i", "-f", c.conf)
	for _, n := range nodes {
		start(t, paths["slurmd"], "-D", "-f", c.conf, "-N", n)
	}
	t.Cleanup(func() {
		if t.Failed() {
			for _, name := range append([]string{"slurmctld"}, nodes...) {
				log, _ := os.ReadFile(filepath.Join(dir, name+".log"))
				t.Logf("%s.log:\n%s", name, log)
			}
		}
	})
	await(t, "the nodes", func() bool {
		out, _ := exec.Command(paths["sinfo"], "-h", "-N", "-o", "%N %T").Output()
		return strings.Count(string(out), " idle\n") == len(nodes)
	})
	return c
}

// start starts a program that serves until the test ends.
func start(t *testing.T, name string, args ...string) {
	t.Helper()
	cmd := exec.Command(name, args...)
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	ended := make(chan error, 1)
	go func() { ended <- cmd.Wait() }()
	t.Cleanup(func() {
		_ = syscall.Kill(-cmd.Process.Pid, syscall.SIGTERM)
		select {
		case <-ended:
		case <-time.After(10 * time.Second):
			_ = syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL)
			<-ended
		}
	})
}

// await waits until something is so, for at most as long as a busy machine takes.
func await(t *testing.T, what string, so func() bool) {
	t.Helper()
	for deadline := time.Now().Add(time.Minute); time.Now().Before(deadline); time.Sleep(100 * time.Millisecond) {
		if so() {
			return
		}
	}
	t.Fatalf("%s did not come up in a minute", what)
}

func write(t *testing.T, path, text string, mode os.FileMode) {
	t.Helper()
	if err := os.WriteFile(path, []byte(text), mode); err != nil {
		t.Fatal(err)
	}
}

// fleet runs the script, and returns what it printed and its exit status.
func fleet(t *testing.T, args ...string) (string, int) {
	t.Helper()
	return fleetIn(t, "", args...)
}

// fleetIn runs it in a folder.
func fleetIn(t *testing.T, folder string, args ...string) (string, int) {
	t.Helper()
	script, err := filepath.Abs("fleet.sbatch")
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(script, args...)
	cmd.Dir = folder
	out, err := cmd.CombinedOutput()
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) {
		t.Fatal(err)
	}
	return string(out), cmd.ProcessState.ExitCode()
}

// played is an onebit that has measured before: Slurm's part is the same.
const played = `#!/bin/sh
command=$1
shift
while [ $# -gt 0 ]; do
	case $1 in -o) out=$2 ;; --host) host=$2 ;; --format) format=$2 ;; *=*) nodes="$nodes ${1%%=*}" ;; esac
	shift
done
case $command$out in
report)
	case $format in json) echo '  "exit": 1,' ;; *) echo "Work is 30.0% slower" ;; esac
	exit
	;;
esac
mkdir -p "$out"
case $command in
report) echo "onebit · $(echo $nodes | wc -w) machines:$nodes" >"$out/index.html" ;;
bench) printf 'host: %s\n\nBenchmarkMatVec/format=q1_0_g128 1 5 ns/op\n' "$host" >"$out/results.txt" ;;
gate)
	echo "BenchmarkWork 1 130 ns/op" >"$out/results.txt"
	exit 1
	;;
esac
`

// newFleetDir makes a folder with a binary in it that fails on a node while a
// file of the node's name lies beside it. It is onebit under ONEBIT_ALL, and played
// by default.
func newFleetDir(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	if !require.All() {
		write(t, filepath.Join(dir, "real"), played, 0o755)
	} else if out, err := exec.Command("go", "build", "-o", filepath.Join(dir, "real"), "../cmd/onebit").CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	write(t, filepath.Join(dir, "onebit"), `#!/bin/sh
here=$(dirname "$0")
if [ -n "$SLURMD_NODENAME" ] && [ -e "$here/break-$SLURMD_NODENAME" ]; then
	echo "onebit: this node is broken" >&2
	exit 7
fi
exec "$here/real" "$@"
`, 0o755)
	return dir
}

// measured is when a node's results were taken; "" if there are none.
func measured(t *testing.T, dir, node string) string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(dir, node+".txt"))
	if err != nil {
		return ""
	}
	if !strings.Contains(string(text), "host: "+node+"\n") || !strings.Contains(string(text), "\nBenchmarkMatVec/") {
		t.Errorf("%s.txt has no measurements of %[1]s:\n%s", node, text)
	}
	info, err := os.Stat(filepath.Join(dir, node+".txt"))
	if err != nil {
		t.Fatal(err)
	}
	return strconv.FormatInt(info.ModTime().UnixNano(), 10)
}

// TestFleet measures on two nodes of a real Slurm: one of them fails, is named, and is redone alone.
func TestFleet(t *testing.T) {
	if testing.Short() {
		t.Skip("a cluster takes seconds to start")
	}
	require.Turns(t, "TestFleet", "TestFleetOfGates")
	startCluster(t, "n1", "n2")
	dir := newFleetDir(t)
	bench := []string{dir, "bench", "--short", "--count", "1", "--time", "1ms", "--filter", "/format:q1_0_g128 /variant:scalar /threads:1 /cache:warm"}
	broken := filepath.Join(dir, "break-n2")
	write(t, broken, "", 0o644)

	out, status := fleet(t, bench...)
	if status != 2 || !strings.Contains(out, "failed: n2: exit status 7 onebit: this node is broken") || !strings.Contains(out, "1 nodes finished, 1 did not") {
		t.Fatalf("with a node that fails: status %d\n%s", status, out)
	}
	first := measured(t, dir, "n1")
	if first == "" || measured(t, dir, "n2") != "" {
		t.Fatalf("n1 was measured %q, n2 %q\n%s", first, measured(t, dir, "n2"), out)
	}

	// A partial file of a run that was killed is none.
	if err := os.MkdirAll(filepath.Join(dir, "work", "n2.0", "report"), 0o777); err != nil {
		t.Fatal(err)
	}
	write(t, filepath.Join(dir, "work", "n2.0", "report", "results.txt"), "cpu: X\n", 0o666)
	if err := os.Remove(broken); err != nil {
		t.Fatal(err)
	}
	out, status = fleet(t, bench...)
	if status != 0 || !strings.Contains(out, "measuring on 1 nodes") || !strings.Contains(out, "2 nodes finished, 0 did not") {
		t.Fatalf("run again: status %d\n%s", status, out)
	}
	if now := measured(t, dir, "n1"); now != first {
		t.Error("the node that had finished was measured again")
	}
	if measured(t, dir, "n2") == "" {
		t.Error("the node that had failed was not measured again")
	}
	page, err := os.ReadFile(filepath.Join(dir, "report", "index.html"))
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"onebit · 2 machines", "n1", "n2"} {
		if !strings.Contains(string(page), want) {
			t.Errorf("the report lacks %q", want)
		}
	}

	// Nothing is left to do, then a node is away.
	if out, status = fleet(t, bench...); status != 0 || strings.Contains(out, "measuring") {
		t.Errorf("run a third time: status %d\n%s", status, out)
	}
	if out, err := exec.Command("scontrol", "update", "NodeName=n1", "State=DRAIN", "Reason=test").CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	if err := os.Remove(filepath.Join(dir, "n1.txt")); err != nil {
		t.Fatal(err)
	}
	if out, status = fleet(t, bench...); status != 2 || !strings.Contains(out, "not measured: n1 (drained)") || strings.Contains(out, "measuring") {
		t.Errorf("with a node that is drained: status %d\n%s", status, out)
	}
}

// TestFleetOfGates gates a module of fixed times on two nodes: each has a verdict and a page of its own.
func TestFleetOfGates(t *testing.T) {
	if testing.Short() {
		t.Skip("a cluster takes seconds to start")
	}
	require.Turns(t, "TestFleet", "TestFleetOfGates")
	if _, err := exec.LookPath("git"); err != nil {
		require.Skip(t, "git", "no git in PATH")
	}
	startCluster(t, "n1", "n2")
	dir, module := newFleetDir(t), t.TempDir()
	work := func(ns int) string {
		return fmt.Sprintf("package module\n\nimport \"testing\"\n\nfunc BenchmarkWork(b *testing.B) { b.ReportMetric(%d, \"ns/op\") }\n", ns)
	}
	write(t, filepath.Join(module, "go.mod"), "module example.com/module\n\ngo 1.26\n", 0o666)
	write(t, filepath.Join(module, "work_test.go"), work(100), 0o666)
	for _, args := range [][]string{{"init", "-q", "."}, {"add", "."}, {"-c", "user.name=a", "-c", "user.email=a@b.c", "commit", "-q", "-m", "one"}} {
		git := exec.Command("git", args...)
		git.Dir = module
		if out, err := git.CombinedOutput(); err != nil {
			t.Fatalf("git %q: %v\n%s", args, err, out)
		}
	}
	write(t, filepath.Join(module, "work_test.go"), work(130), 0o666)

	out, status := fleetIn(t, module, dir, "gate", "--base", "HEAD", "--budget", "5m", "--profiles", "0")
	if status != 1 || !strings.Contains(out, "n1: Work is 30.0% slower") || !strings.Contains(out, "n2: Work is 30.0% slower") {
		t.Fatalf("a third more time: status %d\n%s", status, out)
	}
	for _, node := range []string{"n1", "n2"} {
		if _, err := os.Stat(filepath.Join(dir, "report", node, "index.html")); err != nil {
			t.Error(err)
		}
	}
	if out, status = fleetIn(t, module, dir, "gate", "--base", "HEAD", "--budget", "5m", "--profiles", "0"); status != 1 || strings.Contains(out, "measuring") {
		t.Errorf("run again: status %d\n%s", status, out)
	}
}

// TestFleetAsksNodes describes nodes in states that sinfo knows: those that will
// take a job are asked, each by a job of its own, the others are named.
func TestFleetAsksNodes(t *testing.T) {
	asked := []string{"idle", "mixed", "allocated", "allocated+", "completing", "idle~", "idle#", "idle!", "idle%", "idle@", "idle^", "idle-",
		"mixed-", "planned", "reserved", "powered_down", "powering_down", "powering_up", "reboot_issued"}
	named := []string{"idle*", "idle$", "down", "down*", "drained", "draining", "fail", "failing", "future", "inval", "maint", "unknown*"}
	bin, dir, states := t.TempDir(), t.TempDir(), ""
	for i, state := range append(slices.Clone(asked), named...) {
		states += fmt.Sprintf("n%d %s\n", i, state)
	}
	states += "done idle\n"
	write(t, filepath.Join(dir, "states"), states, 0o666)
	write(t, filepath.Join(dir, "done.txt"), "measured before\n", 0o666)
	write(t, filepath.Join(bin, "sinfo"), "#!/bin/sh\ncat "+filepath.Join(dir, "states")+"\n", 0o755)
	write(t, filepath.Join(bin, "sbatch"), `#!/bin/bash
while [[ $1 = --* ]]; do
	case $1 in --nodelist=*) export SLURMD_NODENAME=${1#*=} SLURM_JOB_ID=1 ;; esac
	shift
done
exec "$@"
`, 0o755)
	write(t, filepath.Join(dir, "onebit"), `#!/bin/bash
command=$1
while [ "$1" != -o ]; do shift; done
mkdir -p "$2"
[ $command = report ] || echo "of $SLURMD_NODENAME" >"$2/results.txt"
`, 0o755)
	t.Setenv("PATH", bin+":"+os.Getenv("PATH"))

	out, status := fleet(t, dir, "bench", "--short")
	if want := fmt.Sprintf("measuring on %d nodes", len(asked)); status != 2 || !strings.Contains(out, want) {
		t.Errorf("status %d, want 2 and %q:\n%s", status, want, out)
	}
	for i, state := range asked {
		node := fmt.Sprintf("n%d", i)
		if got, err := os.ReadFile(filepath.Join(dir, node+".txt")); string(got) != "of "+node+"\n" {
			t.Errorf("%s (%s): measured %q, %v", node, state, got, err)
		}
	}
	for i, state := range named {
		if want := fmt.Sprintf("not measured: n%d (%s)\n", len(asked)+i, state); !strings.Contains(out, want) {
			t.Errorf("no line %q", want)
		}
	}
	if got, _ := os.ReadFile(filepath.Join(dir, "done.txt")); string(got) != "measured before\n" {
		t.Errorf("a node that had finished was measured again: %q", got)
	}
}

// TestFleetArguments needs no Slurm: what is wrong is told before it is asked.
func TestFleetArguments(t *testing.T) {
	dir := t.TempDir()
	for _, tc := range []struct {
		args []string
		want string
	}{
		{nil, "usage: scripts/fleet.sbatch DIR bench|gate"},
		{[]string{dir, "run"}, "usage: "},
		{[]string{dir, "bench"}, dir + "/onebit is not there: go build -o "},
	} {
		if out, status := fleet(t, tc.args...); status != 2 || !strings.Contains(out, tc.want) {
			t.Errorf("%q: status %d\n%s", tc.args, status, out)
		}
	}
}
