//go:build live

package live_test

import (
	"bytes"
	"context"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kgo"

	"gtoffset/kafkaops/kafkatest/tcpproxy"
	"gtoffset/scripts/live"
)

// target is one target of reset and what comes of it on the scene of targets.
type target struct {
	flags             []string
	committed, stored string // after it; "" for as before
	store             bool   // it needs one
	makes             string // the commits of a group that it may create, "" if it cannot
}

const (
	targetCommits = "0=30 1=10/0/m"
	targetStored  = "0=25 1=15"
)

// targets makes the scene: ranges 20..55 and 0..40, commits at 30 and 10, stored 25 and 15, another group at 44 and 4.
func targets(t *testing.T) (s scene, all []target) {
	t.Helper()
	s = stage(t, cluster, [2]int64{20, 50}, [2]int64{0, 40})
	time.Sleep(2 * time.Millisecond) // the records' times are in milliseconds
	then := time.Now()
	must(t, cluster.Produce(t.Context(), s.topic, 5, 0))
	other := s
	other.group = s.group + ".other"
	other.commit(44, 4)
	s.save(25, 15)
	return s, []target{
		{flags: []string{"--to-earliest"}, committed: "0=20 1=0", makes: "0=20 1=0"},
		{flags: []string{"--to-latest"}, committed: "0=55 1=40", makes: "0=55 1=40"},
		{flags: []string{"--to-offset", "33"}, committed: "0=33 1=33", makes: "0=33 1=33"},
		{flags: []string{"--to-datetime", fmt.Sprint("@", then.UnixMilli())}, committed: "0=50 1=40", makes: "0=50 1=40"},
		{flags: []string{"--to-datetime", then.UTC().Format("2006-01-02T15:04:05.000")}, committed: "0=50 1=40", makes: "0=50 1=40"},
		{flags: []string{"--by-duration", "PT12H"}, committed: "0=20 1=0", makes: "0=20 1=0"},
		{flags: []string{"--shift-by", "5"}, committed: "0=35 1=15"},
		{flags: []string{"--shift-by", "-15"}, committed: "0=20 1=0"},
		{flags: []string{"--to-current"}, committed: "0=30 1=10/-1/m"},
		{flags: []string{"--to-stored"}, committed: "0=25 1=15", store: true, makes: "0=25 1=15"},
		{flags: []string{"--to-committed"}, stored: "0=30 1=10", store: true},
		{flags: []string{"--to-safe", "--committed"}, committed: "0=25 1=10", store: true},
		{flags: []string{"--to-safe", "--stored", "--committed"}, committed: "0=25 1=10", stored: "0=25 1=10", store: true},
		{flags: []string{"--from-group", other.group}, committed: "0=44 1=4", makes: "0=44 1=4"},
	}
}

// commitTarget puts the scene's commits where the targets find them.
func (s scene) commitTarget() {
	s.t.Helper()
	must(s.t, s.on.Commit(s.t.Context(), s.group, s.topic, map[int32]live.Commit{0: live.At(30), 1: {Offset: 10, Epoch: 0, Metadata: "m"}}))
}

// reset is the arguments that move the scene's group to a target without asking.
func (s scene) reset(c target, more ...string) []string {
	line := append([]string{"reset", "-g", s.group, "-t", s.topic, "--execute"}, c.flags...)
	if c.store {
		line = append(line, "-s", s.folder)
	}
	return append(line, more...)
}

func orElse(text, other string) string {
	if text == "" {
		return other
	}
	return text
}

func TestWritesTargets(t *testing.T) {
	t.Run("empty", func(t *testing.T) {
		s, all := targets(t)
		for _, c := range all {
			what := strings.Join(c.flags, " ")
			s.commitTarget()
			s.save(25, 15)
			r := s.run(s.reset(c)...).exits(0)
			same(t, what+": committed", s.committed(), orElse(c.committed, targetCommits))
			same(t, what+": stored", s.stored(), orElse(c.stored, targetStored))
			s.shell(r.undo()).exits(0)
			same(t, what+": committed after undo", s.committed(), targetCommits)
			same(t, what+": stored after undo", s.stored(), targetStored)
		}
	})
	for _, kind := range []live.Kind{live.Classic, live.Consumer} {
		t.Run("active "+string(kind), func(t *testing.T) {
			s, all := targets(t)
			if kind == live.Consumer { // only a new group becomes one of this kind
				member, err := cluster.Join(t.Context(), kind, s.group, s.topic, kgo.DisableAutoCommit())
				must(t, err)
				member.Leave()
				must(t, live.Eventually(t.Context(), "the group is empty", func(ctx context.Context) (bool, error) {
					groups, err := cluster.Groups(ctx)
					return groups[s.group].State == "Empty", err
				}))
			}
			s.commitTarget()
			member, err := cluster.Join(t.Context(), kind, s.group, s.topic, kgo.DisableAutoCommit(), kgo.ClientID("billing-one"))
			must(t, err)
			defer member.Leave()
			group := s.members()
			for _, c := range all {
				s.run(s.reset(c)...).exits(4).says("is active: 1 member", "billing-one on ", "nothing was written")
				same(t, strings.Join(c.flags, " ")+": committed", s.committed(), targetCommits)
			}
			same(t, "stored", s.stored(), targetStored)
			same(t, "the group", s.members(), group)
			if saved := s.backups(); len(saved) > 0 {
				t.Errorf("refused runs left %q", saved)
			}
		})
	}
	t.Run("missing", func(t *testing.T) {
		s, all := targets(t)
		for _, c := range all {
			what := strings.Join(c.flags, " ")
			r := s.run(s.reset(c)...).exits(4)
			same(t, what+": the group", s.members(), fmt.Sprintf("%+v", live.Group{}))
			if c.makes == "" {
				s.run(s.reset(c, "--create")...).exits(4).says("nothing was written")
				same(t, what+": the group after --create", s.members(), fmt.Sprintf("%+v", live.Group{}))
				continue
			}
			r.says("does not exist", "--create")
			r = s.run(s.reset(c, "--create")...).exits(0)
			same(t, what+": committed", s.committed(), c.makes)
			s.shell(r.undo()).exits(0)
			same(t, what+": committed after undo", s.committed(), "")
			must(t, live.Eventually(t.Context(), "the group is gone", func(ctx context.Context) (bool, error) {
				_ = cluster.DeleteGroup(ctx, s.group) // the broker may have done it
				groups, err := cluster.Groups(ctx)
				return groups[s.group].Name == "", err
			}))
		}
		same(t, "stored", s.stored(), targetStored)
	})
	t.Run("out of range", func(t *testing.T) {
		s, _ := targets(t)
		s.commitTarget()
		s.save(5, 99)
		other := s
		other.group = s.group + ".other"
		other.commit(5, 99)
		for _, c := range []target{
			{flags: []string{"--to-offset", "52"}, committed: "0=52 1=40"},
			{flags: []string{"--to-offset", "5"}, committed: "0=20 1=5"},
			{flags: []string{"--from-group", other.group}, committed: "0=20 1=40"},
			{flags: []string{"--to-stored"}, committed: "0=20 1=40", store: true},
		} {
			what := strings.Join(c.flags, " ")
			s.run(s.reset(c)...).exits(4).says("the range is ", "--clamp", "nothing was written")
			same(t, what+": committed after a refusal", s.committed(), targetCommits)
			r := s.run(s.reset(c, "--clamp")...).exits(0)
			same(t, what+": committed", s.committed(), c.committed)
			s.shell(r.undo()).exits(0)
			same(t, what+": committed after undo", s.committed(), targetCommits)
		}
	})
	// A job that assigns its partitions by hand is no member of its group. What it saves betrays it.
	t.Run("assigned by hand", func(t *testing.T) {
		s, _ := targets(t)
		s.commitTarget()
		ctx, stop := context.WithCancel(t.Context())
		done := make(chan error, 1)
		go func() {
			var err error
			for i := int64(0); err == nil && ctx.Err() == nil; i++ {
				err = cluster.Commit(t.Context(), s.group, s.topic, map[int32]live.Commit{1: live.At(i % 40)})
				select {
				case <-ctx.Done():
				case <-time.After(50 * time.Millisecond):
				}
			}
			done <- err
		}()
		line := s.reset(target{flags: []string{"--to-earliest"}}, "--idle", "2s")
		s.run(line...).exits(4).says("not idle", s.topic, "nothing was written", "stop the job first")
		stop()
		must(t, <-done)
		if got := s.committed(); !strings.HasPrefix(got, "0=30 1=") {
			t.Errorf("committed after a refusal: got %s", got)
		}
		s.run(line...).exits(0)
		same(t, "committed when the job has ended", s.committed(), "0=20 1=0")
	})
}

// exported is an export of one side, without its time, and without the type of the group if another is to be expected.
func (s scene) exported(side string, typeless bool) string {
	s.t.Helper()
	line := []string{"export", "-g", s.group, "-o", "json", "--" + side}
	if side == "stored" {
		line = append(line, "-s", s.folder)
	}
	var doc map[string]any
	r := s.run(line...).exits(0)
	if err := json.Unmarshal([]byte(r.out), &doc); err != nil {
		s.t.Fatalf("%v\n%v", err, r)
	}
	if doc["taken"] == nil {
		s.t.Fatalf("no time\n%v", r)
	}
	delete(doc, "taken")
	if groups, ok := doc["groups"].([]any); ok && typeless {
		for _, g := range groups {
			delete(g.(map[string]any), "type")
		}
	}
	b, err := json.MarshalIndent(doc, "", " ")
	must(s.t, err)
	return string(b)
}

func TestWritesUndo(t *testing.T) {
	for _, side := range []string{"committed", "stored"} {
		for _, what := range []string{"clamp", "reset", "import", "delete", "delete --whole-group"} {
			if side == "stored" && strings.HasPrefix(what, "delete") {
				continue // leaves the store alone
			}
			t.Run(side+" "+what, func(t *testing.T) {
				s := stage(t, cluster, [2]int64{20, 50}, [2]int64{0, 40}, [2]int64{0, 0}, [2]int64{0, 10})
				if what == "delete --whole-group" { // brought back, it is another type
					member, err := cluster.Join(t.Context(), live.Classic, s.group, s.topic, kgo.DisableAutoCommit())
					must(t, err)
					member.Leave()
				}
				if side == "stored" {
					s.save(5, 30, none, 7)
				} else {
					must(t, cluster.Commit(t.Context(), s.group, s.topic, map[int32]live.Commit{
						0: live.At(5), 1: {Offset: 30, Epoch: 0, Metadata: "kept, \"as it is\""}, 3: {Offset: 7, Epoch: -1, Metadata: "héllo"},
					}))
				}
				csv := filepath.Join(t.TempDir(), "offsets.csv")
				must(t, os.WriteFile(csv, fmt.Appendf(nil, "%[1]s,0,33\n%[1]s,1,1\n%[1]s,2,0\n", s.topic), 0o644))
				line := map[string][]string{
					"clamp":                {"clamp", "-g", s.group, "-t", s.topic, "--" + side},
					"reset":                {"reset", "-g", s.group, "-t", s.topic, "--" + side, "--to-latest"},
					"import":               {"import", csv, "-g", s.group, "--" + side},
					"delete":               {"delete", "-g", s.group, "-t", s.topic},
					"delete --whole-group": {"delete", "-g", s.group, "--whole-group"},
				}[what]
				if side == "stored" {
					line = append(line, "-s", s.folder)
				}
				whole := what == "delete --whole-group"
				before := s.exported(side, whole)
				r := s.run(append(line, "--execute")...).exits(0)
				if whole {
					s.run("export", "-g", s.group).exits(1)
				} else if what != "delete" && s.exported(side, false) == before {
					t.Errorf("nothing was written\n%v", r)
				}
				s.shell(r.undo()).exits(0)
				same(t, "export after undo", s.exported(side, whole), before)
			})
		}
	}
}

// planned is what these tests read of a plan.
type planned struct {
	Schema  string
	Applied bool
	Groups  []struct {
		Group   string
		Changes []struct {
			Topic     string
			Partition int32
			Old, New  struct{ Offset *int64 }
			Verdict   string
			Result    *string
			Verified  *bool
		}
	}
}

func (r result) plan() planned {
	r.t.Helper()
	var doc planned
	if err := json.Unmarshal([]byte(r.out), &doc); err != nil || doc.Schema != "gtoffset.plan/1" {
		r.t.Fatalf("stdout is no plan: %v\n%v", err, r)
	}
	return doc
}

// hint is the command that the run advises, beside a document on stdout.
func (r result) hint() string {
	r.t.Helper()
	for line := range strings.Lines(r.err) {
		var doc struct{ Schema, Hint string }
		if json.Unmarshal([]byte(line), &doc) == nil && doc.Schema == "gtoffset.error/1" && strings.HasPrefix(doc.Hint, "gtoffset import ") {
			return doc.Hint
		}
	}
	r.t.Fatalf("no hint that can be typed\n%v", r)
	return ""
}

// settled checks that every partition is told of, once, as it stands, and returns how many are written. Of what was sent and not answered
// nobody can say more than that it may still come.
func (s scene) settled(r result, partitions int, groups ...string) (written int) {
	s.t.Helper()
	doc := r.plan()
	same(s.t, "groups", len(doc.Groups), len(groups))
	for _, g := range doc.Groups {
		commits, err := s.on.Committed(s.t.Context(), g.Group)
		must(s.t, err)
		same(s.t, "partitions of "+g.Group, len(g.Changes), partitions)
		for _, c := range g.Changes {
			if c.Result == nil {
				s.t.Errorf("partition %d of %s has no result\n%v", c.Partition, g.Group, r)
				continue
			}
			want := number(c.Old.Offset)
			switch *c.Result {
			case "written", "already":
				want = number(c.New.Offset)
				written++
			case "failed", "not-tried":
			case "unknown":
				r.says("may still come")
			default:
				s.t.Errorf("partition %d of %s: %s, which is no result\n%v", c.Partition, g.Group, *c.Result, r)
			}
			got := fmt.Sprint(commits[c.Topic][c.Partition].Offset)
			if *c.Result == "unknown" && got == number(c.New.Offset) {
				continue // it has come
			}
			if got != want {
				s.t.Errorf("partition %d of %s is told to be %s: got %s, want %s\n%v", c.Partition, g.Group, *c.Result, got, want, r)
			}
		}
	}
	if whole := written == partitions*len(groups); whole != (r.code == 0) {
		s.t.Errorf("exit code %d with %d written\n%v", r.code, written, r)
	}
	return written
}

// cutter stands in front of every broker of a cluster, under addresses of its own, and decides over each commit.
type cutter struct {
	bootstrap string
	mu        sync.Mutex
	commits   int
	decide    func(i int, frame []byte) int // how many bytes of the commit pass before all is cut; all: no answer; -1: nothing is cut
	old, new  [][]byte                      // addresses as they stand in answers
}

func cut(t *testing.T, on *live.Cluster, decide func(i int, frame []byte) int) *cutter {
	t.Helper()
	c := &cutter{decide: decide}
	address := func(a string) []byte {
		tcp, err := net.ResolveTCPAddr("tcp", a)
		must(t, err)
		return binary.BigEndian.AppendUint32([]byte(tcp.IP.String()), uint32(tcp.Port))
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	var names []string
	for _, b := range on.Brokers() {
		p, err := tcpproxy.New(b.Addr, c.wire)
		must(t, err)
		t.Cleanup(p.Close)
		names = append(names, p.Addr())
		c.old, c.new = append(c.old, address(b.Addr)), append(c.new, address(p.Addr()))
	}
	c.bootstrap = strings.Join(names, ",")
	return c
}

// pass lets everything pass from now on.
func (c *cutter) pass() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.decide = func(int, []byte) int { return -1 }
}

// wire passes frames, with the addresses in them changed.
func (c *cutter) wire(client, server net.Conn) (_ net.Conn, up, down func() ([]byte, error), _ error) {
	c.mu.Lock() // until all addresses are known
	defer c.mu.Unlock()
	var mute atomic.Bool // the next answer is not delivered
	up = func() ([]byte, error) {
		frame, err := readFrame(client)
		if err != nil || binary.BigEndian.Uint16(frame[4:]) != 8 { // OffsetCommit
			return frame, err
		}
		c.mu.Lock()
		n := c.decide(c.commits, frame)
		c.commits++
		c.mu.Unlock()
		switch {
		case n >= len(frame):
			mute.Store(true)
		case n >= 0:
			return frame[:n], tcpproxy.ErrCut
		}
		return frame, nil
	}
	down = func() ([]byte, error) {
		frame, err := readFrame(server)
		if mute.Load() {
			return nil, tcpproxy.ErrCut
		}
		for i := range c.old {
			frame = bytes.ReplaceAll(frame, c.old[i], c.new[i])
		}
		return frame, err
	}
	return client, up, down, nil
}

func readFrame(from io.Reader) ([]byte, error) {
	frame := make([]byte, 4)
	if _, err := io.ReadFull(from, frame); err != nil {
		return nil, err
	}
	frame = append(frame, make([]byte, binary.BigEndian.Uint32(frame))...)
	_, err := io.ReadFull(from, frame[4:])
	return frame, err
}

// The connection is cut within the commit of the second of two groups: each partition is told of as it stands, and the command that
// the program advises finishes the rest, and no more.
func TestWritesCutConnection(t *testing.T) {
	const partitions = 12
	for _, after := range []int{0, 1, 60, -1, 100_000} { // bytes of the commit; below 0 from its end; beyond it there is no answer
		t.Run(fmt.Sprint(after), func(t *testing.T) {
			t.Parallel()
			ranges := make([][2]int64, partitions)
			places := make([]int64, partitions)
			for p := range ranges {
				ranges[p], places[p] = [2]int64{0, 50}, int64(p)
			}
			s := stage(t, cluster, ranges...)
			groups := []string{s.group + ".1", s.group + ".2"}
			for _, g := range groups {
				s.group = g
				s.commit(places...)
			}
			wire := cut(t, cluster, func(i int, frame []byte) int {
				switch {
				case i == 0:
					return -1
				case after < 0:
					return len(frame) + after
				}
				return after
			})
			r := s.run("reset", "-b", wire.bootstrap, "-g", groups[0], "-g", groups[1], "-t", s.topic, "--shift-by", "3", "--execute", "-o", "json")
			if r.code != 0 && r.code != 3 {
				t.Errorf("exit code: got %d, want 0 or 3\n%v", r.code, r)
			}
			written := s.settled(r, partitions, groups...)
			t.Logf("%d of %d written, exit %d, %v, %d commits", written, 2*partitions, r.code, r.took.Round(time.Millisecond), wire.commits)
			if wire.commits < 2 {
				t.Errorf("%d commits went through the cutter, want 2 or more", wire.commits)
			}
			if written < partitions {
				t.Errorf("%d written, want the first group whole\n%v", written, r)
			}
			wire.pass()
			if r.code == 3 {
				s.shell(r.hint()).exits(0)
			}
			for i := range places {
				places[i] += 3
			}
			for _, g := range groups {
				commits, err := cluster.Committed(t.Context(), g)
				must(t, err)
				for p, want := range places {
					same(t, fmt.Sprintf("partition %d of %s in the end", p, g), commits[s.topic][int32(p)].Offset, want)
				}
			}
		})
	}
}

// The coordinator dies when the plan is made: before the run that applies it, and in the moment of its commit.
func TestWritesCutBroker(t *testing.T) {
	ctx := t.Context()
	own, err := live.Kafka(ctx, live.Current, 3, live.Properties("broker.session.timeout.ms=3000"))
	must(t, err)
	defer own.Stop()
	s := stage(t, own, [2]int64{0, 50}, [2]int64{0, 50}, [2]int64{0, 50})
	for _, c := range []string{"before the run", "at the commit"} {
		t.Run(c, func(t *testing.T) {
			s := s
			s.t = t
			s.group = name(t, "billing")
			s.commit(5, 6, 7)
			victim, err := own.Coordinator(ctx, s.group)
			must(t, err)
			for p := range int32(3) { // so that the group's place alone is lost
				must(t, own.MoveLeader(ctx, s.topic, p, victim%3+1))
			}
			dry := s.run("reset", "-g", s.group, "-t", s.topic, "--shift-by", "3", "--dry-run", "-o", "json").exits(0)
			plan := filepath.Join(t.TempDir(), "plan.json")
			must(t, os.WriteFile(plan, []byte(dry.out), 0o644))
			line := []string{"import", plan, "--execute", "-o", "json"}
			var killed error
			var wire *cutter
			if c == "at the commit" {
				wire = cut(t, own, func(i int, _ []byte) int {
					if i > 0 {
						return -1
					}
					killed = own.Kill(victim)
					return 0
				})
				line = append(line, "-b", wire.bootstrap)
			} else {
				killed = own.Kill(victim)
			}
			var r result
			must(t, live.Eventually(ctx, "the plan is applied", func(context.Context) (bool, error) {
				r = s.run(line...)
				if r.code != 5 || c == "at the commit" {
					return true, nil
				}
				r.says("nothing was written") // the look found nobody to ask: try again
				return false, nil
			}))
			must(t, killed)
			t.Logf("exit %d after %v: %s", r.code, r.took.Round(time.Millisecond), r.err)
			switch r.code {
			case 0, 3:
			case 1:
				r.says("nothing was written")
			default:
				t.Errorf("exit code: got %d, want 0, 3, or 1 with nothing written\n%v", r.code, r)
			}
			must(t, own.Restart(ctx, victim))
			must(t, live.Eventually(ctx, "the coordinator answers", func(ctx context.Context) (bool, error) {
				_, err := own.Committed(ctx, s.group)
				return err == nil, err
			}))
			s.settled(r, 3, s.group)
			if r.code != 0 {
				s.run("import", plan, "--execute").exits(0) // on to what was planned, no further
			}
			same(t, "committed in the end", s.committed(), "0=8 1=9 2=10")
		})
	}
}

func TestWritesWait(t *testing.T) {
	ctx := t.Context()
	s := stage(t, cluster, [2]int64{0, 50}, [2]int64{0, 0})
	s.run("wait", "-g", s.group, "--empty", "--for", "1s").exits(1).says("is not known to the cluster")
	begin := func(args ...string) (end func() result) {
		t.Helper()
		r := program{On: cluster}.start(t, append([]string{"wait", "-g", s.group, "--for", "60s"}, args...)...)
		time.Sleep(700 * time.Millisecond) // it has looked in vain
		return func() result {
			t.Helper()
			w := r.wait().exits(0)
			if w.took < 700*time.Millisecond {
				t.Errorf("it did not wait: %v\n%v", w.took, w)
			}
			return w
		}
	}
	for _, kind := range []live.Kind{live.Classic, live.Consumer} {
		s.group = name(t, string(kind))
		member, err := cluster.Join(ctx, kind, s.group, s.topic, kgo.DisableAutoCommit(), kgo.ClientID("billing-one"))
		must(t, err)
		s.run("wait", "-g", s.group, "--empty", "--for", "1s").exits(10).says("not met within 1", "is active: 1 member (billing-one on ")
		end := begin("--empty")
		member.Leave()
		end()
	}
	s.commit(45)
	s.run("wait", "-g", s.group, "--empty", "--lag", "5", "--for", "1s").exits(0)
	s.run("wait", "-g", s.group, "--lag", "0", "--for", "1s").exits(10).says("lag 5")
	end := begin("--lag", "0")
	s.commit(50)
	end()
	s.save(40)
	s.run("wait", "-g", s.group, "-s", s.folder, "--stored-caught-up", "--for", "1s").exits(10).says("stored 10 behind committed")
	end = begin("-s", s.folder, "--stored-caught-up")
	s.save(50)
	end()
	if saved := s.backups(); len(saved) > 0 {
		t.Errorf("a wait left %q", saved)
	}
}
