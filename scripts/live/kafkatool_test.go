//go:build live

package live_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"gtoffset/scripts/live"
)

// What we export, Kafka's own tool writes; what it exports, we write.
func TestKafkaToolCSV(t *testing.T) {
	ctx := t.Context()
	for _, n := range []int{1, 2} {
		t.Run(fmt.Sprint(n), func(t *testing.T) {
			topics := []string{fmt.Sprint("csv", n), name(t, "orders-of-the-north-by-customer")}
			for _, topic := range topics {
				must(t, cluster.CreateTopic(ctx, topic, 2))
				must(t, cluster.Produce(ctx, topic, 100))
			}
			var flags []string
			var scenes []scene
			for i := range n {
				for _, topic := range topics {
					scenes = append(scenes, scene{t, cluster, topic, name(t, fmt.Sprint("billing-", i)), t.TempDir()})
				}
				flags = append(flags, "--group", name(t, fmt.Sprint("billing-", i)))
			}
			commit := func(first int64) {
				t.Helper()
				for i, s := range scenes {
					s.commit(first+int64(i), first+50+int64(i))
				}
			}
			check := func(what string, first int64) {
				t.Helper()
				for i, s := range scenes {
					same(t, fmt.Sprintf("%s: %s of %s", what, s.topic, s.group), s.committed(), fmt.Sprintf("0=%d 1=%d", first+int64(i), first+50+int64(i)))
				}
			}
			tool := func(more ...string) string {
				t.Helper()
				args := append([]string{"--bootstrap-server", cluster.Bootstrap(), "--reset-offsets"}, flags...)
				said, err := cluster.Tool(ctx, live.ConsumerGroups, append(args, more...)...)
				must(t, err)
				return said
			}
			columns := func(what, content string) {
				t.Helper()
				lines := strings.Split(strings.TrimSpace(content), "\n")
				same(t, what+": lines", len(lines), 2*len(scenes))
				for _, line := range lines {
					same(t, what+": columns of "+line, strings.Count(line, ",")+1, 2+min(n, 2))
				}
			}

			commit(10)
			ours := filepath.Join(t.TempDir(), "ours.csv")
			gtoffset(t, append([]string{"export", "-o", "kafka-csv", ours}, flags...)...).exits(0)
			content, err := os.ReadFile(ours)
			must(t, err)
			columns("our export", string(content))
			commit(30)
			tool("--from-file", ours, "--execute")
			check("after Kafka's tool has read our export", 10)

			theirs := filepath.Join(t.TempDir(), "theirs.csv")
			exported := tool("--all-topics", "--to-current", "--export")
			columns("the tool's export", exported)
			must(t, os.WriteFile(theirs, []byte(exported), 0o644))
			commit(30)
			line := []string{"import", theirs, "--committed", "--execute"}
			if n == 1 {
				line = append(line, flags...)
			}
			r := gtoffset(t, line...).exits(0).says("is ").prints(fmt.Sprintf("%d of %[1]d verified", 2*len(scenes)))
			check("after our import of the tool's export", 10)
			scenes[0].shell(r.undo()).exits(0)
			check("after undo", 30)
		})
	}
}

// What the README says of Kafka's own tool: an offset below the log's start is a lag that can never be read, one above its end a negative
// lag; a shift by nothing brings both into range, and tells only where they are now; a failure ends with 0.
func TestKafkaToolAsTheReadmeTells(t *testing.T) {
	s := stage(t, cluster, [2]int64{500, 900}, [2]int64{0, 100}, [2]int64{0, 100})
	s.commit(300, 140, 60)
	tool := func(args ...string) string {
		t.Helper()
		said, err := cluster.Tool(t.Context(), live.ConsumerGroups, append([]string{"--bootstrap-server", cluster.Bootstrap(), "--group", s.group}, args...)...)
		must(t, err)
		return said
	}
	said := tool("--describe")
	for p, want := range []string{"300 900 600", "140 100 -40", "60 100 40"} {
		got := ""
		for line := range strings.Lines(said) {
			if f := strings.Fields(line); len(f) > 5 && f[1] == s.topic && f[2] == fmt.Sprint(p) {
				got = strings.Join(f[3:6], " ")
			}
		}
		same(t, fmt.Sprintf("offset, end and lag of partition %d", p), got, want)
	}
	said = tool("--reset-offsets", "--topic", s.topic, "--shift-by", "0", "--execute")
	same(t, "committed", s.committed(), "0=500 1=100 2=60")
	if strings.Contains(said, "300") {
		t.Errorf("it tells what was there\n%s", said)
	}
	if said := tool("--reset-offsets", "--topic", "no-such-topic", "--to-earliest", "--execute"); !strings.Contains(said, "Error") {
		t.Errorf("got no error, and exit code 0\n%s", said)
	}
}
