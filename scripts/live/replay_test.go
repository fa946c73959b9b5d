//go:build live

package live_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kgo"

	"gtoffset/scripts/live"
)

// ledgerOf is what a command has taken in of a replay's batches, and the shell line that takes them in.
func ledgerOf(t *testing.T) (dir, script string) {
	t.Helper()
	dir = t.TempDir()
	return dir, `f=$(mktemp "` + dir + `/part.XXXXXX") && cat >"$f" && mv "$f" "$f.done"`
}

// taken lists the lines of all batches.
func taken(t *testing.T, dir string) []string {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(dir, "*.done"))
	must(t, err)
	var all []string
	for _, path := range files {
		text, err := os.ReadFile(path)
		must(t, err)
		all = append(all, strings.Split(strings.TrimSuffix(string(text), "\n"), "\n")...)
	}
	slices.Sort(all)
	return all
}

// javaReads is what a Java consumer reads of the scene's topic, which is so many records: on a busy machine it may give up before.
func (s scene) javaReads(isolation string, n int) (all []string) {
	s.t.Helper()
	must(s.t, live.Eventually(s.t.Context(), fmt.Sprintf("a Java consumer has read %d records", n), func(ctx context.Context) (bool, error) {
		var err error
		all, err = javaLines(ctx, s.topic, isolation)
		return len(all) == n, err
	}))
	return all
}

// The program reads what a Java consumer reads, to stdout and into a command, and the store ends behind the markers.
func TestReplayAsAJavaConsumer(t *testing.T) {
	ctx := t.Context()
	s := stage(t, cluster, [2]int64{0, 0}, [2]int64{0, 0})
	write := func(c *kgo.Client, what string, n int) {
		t.Helper()
		var rs []*kgo.Record
		for i := range n {
			rs = append(rs, &kgo.Record{Topic: s.topic, Partition: int32(i % 2), Key: fmt.Appendf(nil, "k%d", i), Value: fmt.Appendf(nil, "%s-%d", what, i)})
		}
		must(t, c.ProduceSync(ctx, rs...).FirstErr())
	}
	plain := producer(t, cluster)
	write(plain, "plain", 40)
	txn := producer(t, cluster, kgo.TransactionalID(name(t, "txn")), kgo.TransactionTimeout(5*time.Minute))
	for _, end := range []kgo.TransactionEndTry{kgo.TryCommit, kgo.TryAbort} {
		must(t, txn.BeginTransaction())
		write(txn, fmt.Sprint("txn", end), 20)
		write(plain, fmt.Sprint("between", end), 10)
		must(t, txn.EndTransaction(ctx, end))
	}
	must(t, cluster.DeleteRecords(ctx, s.topic, 0, 5))
	must(t, txn.BeginTransaction())
	write(txn, "open", 10)
	write(plain, "behind", 10)
	s.save(5, 0)

	const format = `%p %o %k %s\n`
	for isolation, n := range map[string]int{"read_committed": 75, "read_uncommitted": 115} {
		want := s.javaReads(isolation, n)
		r := s.run("replay", "-g", s.group, "-s", s.folder, "--isolation", isolation, "--format", format).exits(0)
		got := strings.Split(strings.TrimSuffix(r.out, "\n"), "\n")
		slices.Sort(got)
		differ(t, isolation, got, want)
	}
	must(t, txn.EndTransaction(ctx, kgo.TryCommit))
	want := s.javaReads("read_committed", 95)
	dir, script := ledgerOf(t)
	s.run("replay", "-g", s.group, "-s", s.folder, "--format", format, "--save", "--execute", "--batch-records", "7", "--", "sh", "-c", script).exits(0).says("2 of 2 verified")
	differ(t, "into a command", taken(t, dir), want)
	ranges, err := cluster.Ranges(ctx, s.topic)
	must(t, err)
	same(t, "stored", s.stored(), fmt.Sprintf("0=%d 1=%d", ranges[0].End, ranges[1].End))
}

// A broker is killed with -9 while a replay saves: every record comes, each batch once, and the store is at the end.
func TestReplaySavesWhileABrokerDies(t *testing.T) {
	ctx := t.Context()
	own, err := live.Kafka(ctx, live.Current, 3, live.Properties("broker.session.timeout.ms=3000"))
	must(t, err)
	defer own.Stop()
	const each = 5000
	s := stage(t, own, [2]int64{0, each}, [2]int64{0, each}, [2]int64{0, each})
	s.save(0, 0, 0)
	dir, script := ledgerOf(t)
	r := program{On: own}.start(t, "replay", "-g", s.group, "-s", s.folder, "--save", "--execute", "--batch-records", "500", "--max-rate", "1000", "--format", `%p %o\n`, "--", "sh", "-c", script)
	must(t, live.Eventually(ctx, "some batches were accepted", func(context.Context) (bool, error) {
		return len(taken(t, dir)) > 1000, nil
	}))
	before := len(taken(t, dir))
	must(t, own.Kill(2))
	r.wait().exits(0).says("3 of 3 verified")
	var want []string
	for p := range 3 {
		for o := range each {
			want = append(want, fmt.Sprintf("%d %d", p, o))
		}
	}
	slices.Sort(want)
	differ(t, "with broker 2 killed on the way", taken(t, dir), want)
	same(t, "stored", s.stored(), fmt.Sprintf("0=%d 1=%d 2=%d", each, each, each))
	if before > 2*each {
		t.Errorf("%d records were read before the broker was killed", before)
	}
}
