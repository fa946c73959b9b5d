//go:build !race && linux

package main

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"gtoffset/kafkaops/kafkatest"
)

// 100,000 offsets of 100 groups go from one store into another and into the commits, and from there into a document again, equal
// each time. No process of it takes more than 200 MB. The race detector takes several times the memory: scripts/test runs this
// without it.
func TestMemoryOf100kOffsets(t *testing.T) {
	const groups, topics, partitions = 100, 10, 100
	o := kafkatest.Options{Brokers: 1, Topics: map[string]int32{}}
	for i := range topics {
		o.Topics[fmt.Sprintf("orders-%02d", i)] = partitions
	}
	b := kafkatest.Start(t, o)
	from, to, state := t.TempDir(), t.TempDir(), t.TempDir()
	for g := range groups {
		for topic := range o.Topics {
			group := fmt.Sprintf("billing-%03d", g)
			var file strings.Builder
			fmt.Fprintf(&file, "# gtoffset 1\n# group %s\n# topic %s\n# topic-id %s\n# cluster kfake\n", group, topic, b.TopicID(topic))
			for p := range partitions {
				fmt.Fprintln(&file, p, 0)
			}
			fmt.Fprintln(&file, "# entries", partitions)
			dir := filepath.Join(from, group, topic)
			if err := os.MkdirAll(dir, 0o755); err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(filepath.Join(dir, "gtoffset"), []byte(file.String()), 0o600); err != nil {
				t.Fatal(err)
			}
		}
	}
	run := func(in string, args ...string) string {
		t.Helper()
		bin, err := os.Executable()
		if err != nil {
			t.Fatal(err)
		}
		c := exec.CommandContext(t.Context(), bin, args...)
		c.Env = []string{"TEST_PROGRAM=1", "GTOFFSET_BOOTSTRAP_SERVER=" + b.Bootstrap(), "HOME=" + state}
		var out, talk bytes.Buffer
		c.Stdin, c.Stdout, c.Stderr = strings.NewReader(in), &out, &talk
		if err := c.Run(); err != nil {
			t.Fatalf("%v: %v\n%s", args, err, &talk)
		}
		peak := c.ProcessState.SysUsage().(*syscall.Rusage).Maxrss << 10
		t.Logf("%v: %d MB", args, peak/1e6)
		if peak > 200e6 {
			t.Errorf("%v: peak of %d MB, want at most 200", args, peak/1e6)
		}
		return out.String()
	}
	same := func(what, got, want string) {
		t.Helper()
		if got != want {
			t.Errorf("%s differ: %d and %d bytes", what, len(got), len(want))
		}
	}
	csv := run("", "export", "--all-groups", "-s", from, "--stored", "-o", "csv")
	if n := strings.Count(csv, "\n") - 1; n != groups*topics*partitions {
		t.Fatalf("%d offsets, want 100,000", n)
	}
	json := run("", "export", "--all-groups", "-s", from, "--stored", "-o", "json")
	run(json, "import", "-", "-s", to, "--stored", "--execute", "-q")
	same("the stores", run("", "export", "--all-groups", "-s", to, "--stored", "-o", "csv"), csv)
	run(csv, "import", "-", "--committed", "--create", "--execute", "-q")
	same("store and commits", strings.ReplaceAll(run("", "export", "--all-groups", "-o", "csv"), ",-,\"\"\n", ",-,-\n"), csv) // a commit has metadata, if only none
	json = run("", "export", "--all-groups", "-o", "json")
	run(json, "import", "-", "--execute", "-q")
	run(json, "import", "-", "--execute", "-o", "json")
}
