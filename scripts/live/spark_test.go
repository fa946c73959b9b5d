//go:build live

package live_test

import (
	"fmt"
	"net/http"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"gtoffset/scripts/live"
)

// read is, sorted, what a query has read: "topic partition: first..last (count)".
func read(records []live.SparkRecord) string {
	type span struct{ first, last, count int64 }
	type place struct {
		topic     string
		partition int32
	}
	spans := map[place]span{}
	for _, r := range records {
		k := place{r.Topic, r.Partition}
		s, ok := spans[k]
		if !ok {
			s = span{r.Offset, r.Offset, 0}
		}
		spans[k] = span{min(s.first, r.Offset), max(s.last, r.Offset), s.count + 1}
	}
	var all []string
	for k, s := range spans {
		all = append(all, fmt.Sprintf("%s %d: %d..%d (%d)", k.topic[strings.LastIndexByte(k.topic, '.')+1:], k.partition, s.first, s.last, s.count))
	}
	slices.Sort(all)
	return strings.Join(all, ", ")
}

// Checkpoints of real queries, on this machine and in HDFS; and a query that starts where export says, after records were added.
func TestSpark(t *testing.T) {
	ctx := t.Context()
	hdfs, err := live.StartHDFS(ctx)
	must(t, err)
	defer hdfs.Stop()
	spark, err := live.StartSparkSQL(ctx, hdfs.User)
	must(t, err)
	defer spark.Stop()

	a, b, group := name(t, "a"), name(t, "b"), name(t, "query")
	must(t, cluster.CreateTopic(ctx, a, 2))
	must(t, cluster.CreateTopic(ctx, b, 1))
	must(t, cluster.Produce(ctx, a, 20))
	must(t, cluster.Produce(ctx, b, 7))
	local := filepath.Join(t.TempDir(), "ck")
	query := func(checkpoint string, sources ...live.SparkSource) live.SparkQuery {
		return live.SparkQuery{Bootstrap: cluster.Bootstrap(), Sources: sources, Checkpoint: checkpoint, Most: 12}
	}
	both := live.SparkSource{"subscribe": a + "," + b, "startingOffsets": "earliest"}
	run := func(q live.SparkQuery, want string) {
		t.Helper()
		records, err := spark.Run(q)
		must(t, err)
		same(t, "read by the query", read(records), want)
	}
	stored := func(url, topic string) string {
		t.Helper()
		r := gtoffset(t, "export", "--stored", "-g", group, "-t", topic, "-s", url, "-o", "kafka-csv").exits(0)
		return strings.Join(strings.Fields(strings.ReplaceAll(r.out, topic+",", "")), " ")
	}

	run(query(local, both), "a 0: 0..19 (20), a 1: 0..19 (20), b 0: 0..6 (7)")
	same(t, "where it stands", stored("spark:"+local, a), "0,20 1,20")
	gtoffset(t, "describe", "-g", group, "-s", "spark:"+local).exits(0)

	// A batch that was read, and not committed: what counts is the one before.
	must(t, cluster.Produce(ctx, a, 8))
	gtoffset(t, "describe", "-g", group, "-s", "spark:"+local, "--check").exits(0)
	starting := gtoffset(t, "export", "--stored", "-g", group, "-s", "spark:"+local, "-o", "spark").exits(0)
	same(t, "startingOffsets", strings.TrimSpace(starting.out), fmt.Sprintf(`{%q:{"0":20,"1":20},%q:{"0":7}}`, a, b))

	// A new query, with a checkpoint of its own, from where the old one stands: nothing is lost and nothing repeated. Its checkpoint is in HDFS.
	from := live.SparkSource{"subscribe": a + "," + b, "startingOffsets": strings.TrimSpace(starting.out)}
	run(query(hdfs.URL()+"/ck/query", from), "a 0: 20..27 (8), a 1: 20..27 (8)")
	remote := "spark:webhdfs://" + hdfs.Addr + "/ck/query?user.name=" + hdfs.User
	same(t, "where it stands, in HDFS", stored(remote, a), "0,28 1,28")
	gtoffset(t, "describe", "-g", group, "-s", "spark:webhdfs://"+hdfs.Addr+"/ck?user.name="+hdfs.User).exits(1).says("nothing at spark:webhdfs://", "/ck/offsets", "checkpointLocation")

	// It is only read; what it says goes to the commits.
	gtoffset(t, "reset", "-g", group, "-t", a, "-s", remote, "--stored", "--to-earliest", "--execute").exits(2).says("this store is only read")
	gtoffset(t, "describe", "--all-groups", "-s", remote).exits(2).says("names no group")
	gtoffset(t, "reset", "-g", group, "-t", a, "-t", b, "-s", remote, "--committed", "--to-stored", "--create", "--execute").exits(0).prints("3 of 3 verified")

	// Two sources read one topic: they are shown, and not merged.
	twice := filepath.Join(t.TempDir(), "twice")
	one := live.SparkSource{"subscribe": b, "startingOffsets": "earliest"}
	run(query(twice, one, one), "b 0: 0..6 (14)")
	gtoffset(t, "describe", "-g", group, "-s", "spark:"+twice).exits(3).prints("2 sources read topic")
	same(t, "one of them", stored("spark:"+twice+"?source=1", b), "0,7")

	// Killed between the plan of a batch and its commit. It is the last: Spark is gone then.
	must(t, cluster.Produce(ctx, b, 5))
	dies := query(twice, one, one)
	number := 1
	dies.Die = &number
	_, err = spark.Run(dies)
	must(t, err)
	same(t, "before the batch that was cut off", stored("spark:"+twice+"?source=0", b), "0,7")
	gtoffset(t, "describe", "-g", group, "-s", "spark:"+twice+"?source=0").exits(0).prints("the newest batch is 1, the last committed is 0")
	same(t, "and with it", stored("spark:"+twice+"?source=0&batch=1", b), "0,12")
}

// Every command on gtoffset files in HDFS.
func TestWebHDFSCommands(t *testing.T) {
	hdfs, err := live.StartHDFS(t.Context())
	must(t, err)
	defer hdfs.Stop()
	_, err = hdfs.Ask(t.Context(), http.MethodPut, "/offsets", "MKDIRS", nil)
	must(t, err)
	gtoffset(t, "describe", "-g", "g", "-s", "webhdfs://"+hdfs.Addr+"/elsewhere").exits(1).says("nothing at webhdfs://", "folder /elsewhere")
	gtoffset(t, "describe", "-g", "g", "-s", "hdfs://"+hdfs.Addr+"/offsets").exits(2).says("webhdfs://NAMENODE:9870")
	url, group := "webhdfs://"+hdfs.User+"@"+hdfs.Addr+"/offsets", name(t, "billing")
	everyCommand(t, url)

	// Out of HDFS, into a folder of this machine, and nothing changes on the way.
	folder := t.TempDir()
	path, err := built()
	must(t, err)
	line := fmt.Sprintf("'%[1]s' export --stored -g '%[2]s' -s '%[3]s' | '%[1]s' import - --stored -s '%[4]s' --execute", path, group, url, folder)
	program{On: cluster, Wrap: []string{"sh", "-c", line}}.run(t).exits(0).prints("3 of 3 verified")
	there := gtoffset(t, "export", "--stored", "-g", group, "-s", url, "-o", "csv").exits(0)
	same(t, "copied", gtoffset(t, "export", "--stored", "-g", group, "-s", folder, "-o", "csv").exits(0).out, there.out)
}
