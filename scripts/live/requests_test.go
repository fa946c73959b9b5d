//go:build live

package live_test

import (
	"context"
	"encoding/csv"
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/kmsg"

	"gtoffset/kafkaops"
	"gtoffset/kafkaops/kafkatest"
	"gtoffset/kafkaops/wire"
	"gtoffset/scripts/live"
)

// onTheWire counts what the look of a describe sends, on the wire.
func onTheWire(t *testing.T, names ...string) (requests []string, connections int) {
	t.Helper()
	count := new(kafkatest.Counter)
	c := kafkaops.New(kafkaops.Config{Bootstrap: strings.Split(cluster.Bootstrap(), ","), Wire: wire.Config{Dial: count.Dial}})
	defer c.Close()
	groups, _, err := c.Groups(t.Context(), names, nil)
	must(t, err)
	var topics []string
	for _, g := range groups {
		if g.Trouble != nil {
			t.Fatalf("group %q: %+v", g.ID, g.Trouble)
		}
		for k := range g.Commits {
			topics = append(topics, k.Topic)
		}
		for _, m := range g.Members {
			for _, k := range m.Assigned {
				topics = append(topics, k.Topic)
			}
		}
	}
	slices.Sort(topics)
	_, err = c.Ranges(t.Context(), slices.Compact(topics), false)
	must(t, err)
	for _, q := range count.Requests() {
		requests = append(requests, fmt.Sprintf("%s.%d", kmsg.NameForKey(q.Key), q.Version))
	}
	return requests, count.Dials()
}

// raced is how many addresses the bootstrap race asked in vain: each costs the two requests of the race, and may cost a
// connection. Nothing else asks in this version.
func raced(requests []string) int {
	n := -1
	for _, q := range requests {
		if q == "Metadata.4" {
			n++
		}
	}
	return n
}

// logged counts the requests that -v tells of.
func logged(r result) (requests []string) {
	for line := range strings.Lines(r.err) {
		api, version := "", ""
		for _, f := range strings.Fields(line) {
			if after, ok := strings.CutPrefix(f, "api="); ok {
				api = after
			} else if after, ok := strings.CutPrefix(f, "version="); ok {
				version = after
			}
		}
		if strings.Contains(line, "msg=request ") {
			requests = append(requests, api+"."+version)
		}
	}
	return requests
}

// thousand is a topic of 1,000 partitions, which cost a cluster too much to be made twice.
const thousand = "thousand"

var createThousand = sync.OnceValue(func() error { return cluster.CreateTopic(context.Background(), thousand, 1000) })

func TestRequests(t *testing.T) {
	ctx := t.Context()
	topics := map[int]string{12: name(t, "twelve"), 1000: thousand}
	must(t, cluster.CreateTopic(ctx, topics[12], 12))
	must(t, createThousand())
	simple := map[int]string{}
	for n, topic := range topics {
		places := map[int32]live.Commit{}
		for p := range n {
			places[int32(p)] = live.At(0)
		}
		simple[n] = name(t, fmt.Sprint("simple-", n))
		must(t, cluster.Commit(ctx, simple[n], topic, places))
	}
	type subject struct {
		what, group string
		limit       int
	}
	subjects := []subject{
		{"a simple group of 12 partitions", simple[12], 15},
		{"a simple group of 1,000 partitions", simple[1000], 15},
	}
	for _, m := range []struct {
		kind       live.Kind
		partitions int
		limit      int
	}{{live.Classic, 12, 15}, {live.Classic, 1000, 15}, {live.Consumer, 12, 15}, {live.Consumer, 1000, 15}, {live.Share, 12, 17}} {
		group := name(t, fmt.Sprint(m.kind, "-", m.partitions))
		var opts []kgo.Opt
		if m.kind != live.Share {
			opts = append(opts, kgo.DisableAutoCommit())
		}
		member, err := cluster.Join(ctx, m.kind, group, topics[m.partitions], opts...)
		must(t, err)
		defer member.Leave()
		must(t, live.Eventually(ctx, "everything is assigned to the member", func(context.Context) (bool, error) {
			g := gtoffset(t, "describe", "-g", group, "-o", "json").describe().Groups[0]
			return len(g.Members) == 1 && len(g.Members[0].Assigned) == m.partitions, nil
		}))
		subjects = append(subjects, subject{fmt.Sprintf("a live %s group of %d partitions", m.kind, m.partitions), group, m.limit})
	}
	nobody := name(t, "nobody")
	subjects = append(subjects, subject{"a group that does not exist", nobody, 17})
	for _, s := range subjects {
		requests, connections := onTheWire(t, s.group)
		said := logged(gtoffset(t, "describe", "-g", s.group, "-v"))
		t.Logf("%s: %d requests over %d connections, %d by -v", s.what, len(requests), connections, len(said))
		checkRequests(t, s.what, s.limit, requests, connections, said)
		if s.group == nobody { // the program then looks for a name that is nearly the same, at each broker
			hints := func(q string) bool { return q == "ListGroups.5" || q == "ApiVersions.0" }
			requests, said = slices.DeleteFunc(requests, hints), slices.DeleteFunc(said, hints)
		}
		slices.Sort(requests)
		slices.Sort(said)
		if raced(requests) == raced(said) && !slices.Equal(said, requests) {
			t.Errorf("%s: the program tells of\n%v, on the wire are\n%v", s.what, said, requests)
		}
	}
}

// checkRequests holds what is on the wire, and what the program tells of, to a limit and to three connections.
func checkRequests(t *testing.T, what string, limit int, wired []string, connections int, said []string) {
	t.Helper()
	if len(said) == 0 {
		t.Errorf("%s: the program tells of no request", what)
	}
	for of, requests := range map[string][]string{"on the wire": wired, "by -v": said} {
		if n := len(requests) - 2*raced(requests); n > limit {
			t.Errorf("%s: %d requests %s, want at most %d: %v", what, n, of, limit, requests)
		}
	}
	if n := connections - raced(wired); n > 3 {
		t.Errorf("%s: %d connections, want at most 3", what, n)
	}
}

// All groups of a cluster cost little more than one: three coordinators, three leaders.
func TestRequestsOfManyGroups(t *testing.T) {
	ctx := t.Context()
	topic := name(t, "orders")
	must(t, cluster.CreateTopic(ctx, topic, 12))
	var flags, names []string
	for i := range 200 {
		group := name(t, fmt.Sprint(i))
		names = append(names, group)
		flags = append(flags, "-g", group)
		must(t, cluster.Commit(ctx, group, topic, map[int32]live.Commit{int32(i % 12): live.At(0)}))
	}
	requests, connections := onTheWire(t, names...)
	for _, c := range []struct {
		what  string
		flags []string
	}{
		{"200 groups by name", flags},
		{"200 groups by a pattern", []string{"--group-regex", strings.ReplaceAll(name(t, ""), ".", `\.`) + `\d+`}},
	} {
		r := gtoffset(t, append([]string{"describe", "-o", "json", "-v"}, c.flags...)...)
		same(t, c.what, len(r.describe().Groups), 200)
		said := logged(r)
		t.Logf("%s: %d requests over %d connections, %d by -v", c.what, len(requests), connections, len(said))
		checkRequests(t, c.what, 29, requests, connections, said)
	}
}

// A group of 1,000 partitions, in every document, is what another client reads, before and after a clamp.
func TestThousand(t *testing.T) {
	const n = 1000
	ctx := t.Context()
	s := scene{t, cluster, thousand, name(t, "billing"), t.TempDir()}
	must(t, createThousand())
	must(t, cluster.Produce(ctx, s.topic, 7))
	places, offsets, mended := map[int32]live.Commit{}, make([]int64, n), make([]int64, n)
	for p := range n {
		mended[p] = int64(p % 9) // 8 is above the end
		offsets[p] = mended[p]
		if p%9 == 8 {
			mended[p] = 7
		}
		if p%100 == 50 {
			must(t, cluster.DeleteRecords(ctx, s.topic, int32(p), 3))
			mended[p] = max(3, mended[p])
		}
		places[int32(p)] = live.Commit{Offset: offsets[p], Epoch: -1, Metadata: fmt.Sprint("m", p)}
	}
	must(t, cluster.Commit(ctx, s.group, s.topic, places))
	s.save(offsets...)
	check := func(when string, want []int64) {
		t.Helper()
		ranges, err := cluster.Ranges(ctx, s.topic)
		must(t, err)
		commits, err := cluster.Committed(ctx, s.group)
		must(t, err)
		doc := s.describe("-o", "json").exits(0).describe().Groups[0].Partitions
		lines, err := csv.NewReader(strings.NewReader(s.describe("-o", "csv").exits(0).out)).ReadAll()
		must(t, err)
		if len(doc) != n || len(lines) != n+1 {
			t.Fatalf("%s: %d partitions in JSON, %d lines of CSV", when, len(doc), len(lines))
		}
		column := func(line []string, name string) string {
			i := slices.Index(lines[0], name)
			if i < 0 {
				t.Fatalf("CSV has no column %q: %q", name, lines[0])
			}
			return line[i]
		}
		for p, r := range doc {
			about := fmt.Sprintf("%s, partition %d", when, p)
			commit := commits[s.topic][int32(p)]
			read := fmt.Sprintf("%d %d %d %d %d", p, ranges[int32(p)].Earliest, want[p], commit.Offset, ranges[int32(p)].End)
			same(t, about+", JSON", fmt.Sprintf("%d %s %s %s %s", r.Partition, number(r.Earliest), number(r.Stored.Offset), number(r.Committed.Offset), number(r.End)), read)
			l := lines[p+1]
			same(t, about+", CSV", strings.Join([]string{column(l, "partition"), column(l, "earliest"), column(l, "stored"), column(l, "committed"), column(l, "end")}, " "), read)
			metadata, err := json.Marshal(r.Committed.Metadata)
			must(t, err)
			same(t, about+", metadata", string(metadata), strconv.Quote(commit.Metadata))
			same(t, about+", committed", commit.Offset, want[p])
			if t.Failed() {
				t.FailNow() // one of a thousand is enough
			}
		}
	}
	check("before", offsets)
	before := s.committed()
	r := s.run(s.clamp("--stored", "--committed", "--high", "end")...).exits(0)
	check("after", mended)
	s.shell(r.undo()).exits(0)
	check("after undo", offsets)
	same(t, "committed after undo", s.committed(), before)
}
