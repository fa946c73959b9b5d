package cmd_test

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// Every flag that takes a value is refused without one, before anything is asked of the cluster: its variable is not set.
func TestEmptyFlags(t *testing.T) {
	t.Parallel()
	w := low(t)
	flag := regexp.MustCompile(`(?m)^ +(?:-\w, )?--([a-z-]+) \S`)
	w.b.Reset()
	checked := map[string]bool{}
	for _, command := range []string{"describe", "clamp", "reset", "export", "import", "delete", "replay", "history", "wait", "backups", "config"} {
		args := []string{command}
		if command == "import" {
			args = append(args, "nothing.json")
		}
		for _, m := range flag.FindAllStringSubmatch(w.run(command, "--help").exits(0).out, -1) {
			if m[1] == "group" { // Kafka has known a group without a name
				continue
			}
			checked[m[1]] = true
			r := w.run(append(args, "--"+m[1]+"=")...).exits(2).says("--" + m[1])
			if strings.Contains(r.err, "panic") {
				t.Error(r)
			}
		}
	}
	same(t, "requests", w.b.Count(), 0)
	for _, name := range []string{"store", "output", "output-file", "why", "high", "missing", "recreated", "take", "as", "moved", "type", "summary", "format", "topic", "backup-dir"} {
		if !checked[name] {
			t.Errorf("--%s was not tried, of %d", name, len(checked))
		}
	}
	w.run("describe", "-g", "billing", "-o", "prom", "--output-file", "").exits(2).says("--output-file is empty", "is a variable not set?")
	w.run("clamp", "-g", "billing", "--high", "", "--execute").exits(2).says("--high is empty")
}

// What is only told is not written over what a job keeps, nor found to be unwritable when all was read.
func TestTargets(t *testing.T) {
	t.Parallel()
	w := start(t).topic("orders", [2]int64{500, 900}).commit("billing", "orders", 600).save("billing", "orders", 700)
	link := filepath.Join(t.TempDir(), "link")
	must(t, os.Symlink(w.store, link))
	before := w.file("billing", "orders")
	elsewhere := t.TempDir()
	w.b.Reset()
	for _, path := range []string{w.path("billing", "orders"), w.path("billing", "orders") + ".lock", filepath.Join(link, "metrics.prom"), filepath.Join(w.store, "new", "x"), "-"} {
		w.run("describe", "-g", "billing", "-s", w.store, "-o", "prom", "--output-file", path).exits(2)
		w.run("replay", "-g", "billing", "-s", w.store, "--summary", path).exits(2).never("values")
	}
	w.run("describe", "-g", "billing", "-o", "prom", "--output-file", w.path("billing", "orders")).exits(2).says("in which a job keeps its offsets")
	log := filepath.Join(t.TempDir(), "log")
	must(t, os.WriteFile(log, []byte("what the script said\n"), 0o644))
	f, err := os.OpenFile(log, os.O_WRONLY|os.O_APPEND, 0)
	must(t, err)
	defer f.Close()
	fds, open := filepath.Join(t.TempDir(), "fds"), filepath.Join(t.TempDir(), "open")
	must(t, os.Symlink("/dev/fd", fds))
	must(t, os.Symlink(fmt.Sprintf("/dev/fd/%d", f.Fd()), open))
	for _, path := range []string{fmt.Sprintf("/dev/fd/%d", f.Fd()), fmt.Sprintf("/proc/self/fd/%d", f.Fd()), fmt.Sprintf("%s/%d", fds, f.Fd()), open, log} {
		w.run("describe", "-g", "billing", "--output-file", path).exits(2).says("--output-file " + path + " is a file that this process was given")
		w.run("replay", "-g", "billing", "-t", "paid", "--from", "earliest", "--summary", path).exits(2).says("--summary " + path)
	}
	job, dangling, prom := filepath.Join(t.TempDir(), "job"), filepath.Join(t.TempDir(), "dangling"), filepath.Join(t.TempDir(), "metrics.prom")
	must(t, os.Symlink(w.path("billing", "orders"), job))
	must(t, os.Symlink(prom, dangling))
	for _, store := range [][]string{nil, {"-s", w.store}} {
		w.run(append([]string{"describe", "-g", "billing", "--output-file", job}, store...)...).exits(2).says("in which a job keeps its offsets")
	}
	settings := filepath.Join(t.TempDir(), "client.properties")
	must(t, os.WriteFile(settings, nil, 0o600))
	w.run("describe", "-g", "billing", "--command-config", settings, "--output-file", settings).exits(2).says("is the file of --command-config")
	kept, err := os.ReadFile(log)
	must(t, err)
	same(t, "the script's log", string(kept), "what the script said\n")
	for _, path := range []string{elsewhere, filepath.Join(elsewhere, "none", "summary.json")} {
		r := w.run("replay", "-g", "billing", "-s", w.store, "--summary", path).exits(1).says("write "+path, "nothing was read")
		same(t, "stdout", r.out, "")
	}
	same(t, "requests", w.b.Count(), 0)
	same(t, "the file", w.file("billing", "orders"), before)
	w.run("describe", "-g", "billing", "-s", "file:"+w.store, "-o", "prom", "--output-file", filepath.Join(w.store, "x")).exits(2).says("is inside the store")
	w.run("describe", "-g", "billing", "-s", w.store, "-o", "prom", "--output-file", filepath.Join(elsewhere, "metrics.prom")).exits(0)
	w.run("describe", "-g", "billing", "--output-file", os.DevNull).exits(0)
	w.run("describe", "-g", "billing", "--output-file", dangling).exits(0)
	loop, folder, far := filepath.Join(t.TempDir(), "loop"), filepath.Join(t.TempDir(), "linked"), t.TempDir()
	must(t, os.Mkdir(filepath.Join(far, "in"), 0o755))
	must(t, errors.Join(os.Symlink("loop/x", loop), os.Symlink(filepath.Join(far, "in"), folder), os.Symlink("../metrics.prom", filepath.Join(far, "in", "link"))))
	w.run("describe", "-g", "billing", "--output-file", loop).exits(1).says("too many levels of symbolic links")
	w.run("describe", "-g", "billing", "--output-file", filepath.Join(folder, "link")).exits(0)
	_, err = os.Stat(filepath.Join(far, "metrics.prom"))
	must(t, err)
	info, err := os.Lstat(prom)
	must(t, err)
	same(t, "what the link leads to", info.Mode().IsRegular(), true)
	must(t, w.b.CreateTopic("paid", 1))
	must(t, w.b.Produce("paid", 0, "a"))
	w.run("replay", "-g", "billing", "-t", "paid", "--from", "earliest", "--summary", filepath.Join(elsewhere, "summary.json")).exits(0)
	left, err := os.ReadDir(elsewhere)
	must(t, err)
	same(t, "files left", len(left), 2)
}

// The hint of describe can be typed: where clamp would refuse for a doubt, it decides it so that nothing is lost.
func TestHintOfADoubtRuns(t *testing.T) {
	t.Parallel()
	w := start(t).topic("orders", [2]int64{500, 900}, [2]int64{0, 1070}).commit("billing", "orders", 100, 1200)
	r := w.run("describe", "-g", "billing").exits(0).prints("clamp -g billing", "--committed --high earliest")
	_, line, _ := strings.Cut(strings.Join(strings.Fields(r.out), " "), "skipped: gtoffset ")
	w.run(append(typed(line), "--execute")...).exits(0).prints("2 of 2 verified")
	same(t, "committed", w.committed("billing", "orders"), "0=500 1=0")
}

// An argument that is empty is a variable that is not set, whatever the command would do without one.
func TestEmptyArguments(t *testing.T) {
	t.Parallel()
	for _, line := range [][]string{{"export", "-g", "billing", ""}, {"import", "", "--dry-run"}, {"completion", ""}} {
		start(t).run(line...).exits(2).says("an argument is empty", "is a variable not set?")
	}
	start(t).run("export", "-g", "billing", "", "x").exits(2)
}
