//go:build live

package live_test

import (
	"fmt"
	"strings"
	"testing"

	"gtoffset/scripts/live"
)

// Every condition at once, on the store, the commits, and both: shown, repaired, found in order, undone.
func TestClamp(t *testing.T) {
	ranges := [][2]int64{
		{500, 1000}, // low
		{0, 300},    // high
		{0, 1000},   // in range, far behind
		{400, 400},  // in range, nothing readable
		{200, 600},  // exactly earliest
		{200, 600},  // exactly the end
		{100, 100},  // low, nothing readable
		{100, 300},  // none
		{0, 0},      // 0, and never written to
	}
	offsets := []int64{120, 400, 1, 400, 200, 600, 50, none, 0}
	const (
		before = "0=120 1=400 2=1 3=400 4=200 5=600 6=50 8=0"
		after  = "0=500 1=300 2=1 3=400 4=200 5=600 6=100 7=100 8=0"
	)
	conditions := []string{"low", "high", "ok", "ok", "ok", "ok", "low", "none", "ok"}
	onEach(t, func(t *testing.T, on *live.Cluster) {
		for _, c := range []struct {
			name              string
			flags             []string
			writes            int
			stored, committed string
		}{
			{"stored", []string{"--stored"}, 4, after, before},
			{"committed", []string{"--committed", "--high", "end"}, 4, before, after},
			{"both", []string{"--stored", "--committed", "--high", "end"}, 8, after, after},
		} {
			t.Run(c.name, func(t *testing.T) {
				s := stage(t, on, ranges...)
				s.save(offsets...)
				s.commit(offsets...)

				doc := s.describe("-o", "json").exits(0).describe()
				for p, want := range conditions {
					r := doc.row(t, int32(p))
					same(t, fmt.Sprintf("range of partition %d", p), number(r.Earliest)+".."+number(r.End), fmt.Sprintf("%d..%d", ranges[p][0], ranges[p][1]))
					same(t, fmt.Sprintf("conditions of partition %d", p), r.Stored.Condition+" "+r.Committed.Condition, want+" "+want)
					value := "null"
					if offsets[p] != none {
						value = fmt.Sprint(offsets[p])
					}
					same(t, fmt.Sprintf("offsets of partition %d", p), number(r.Stored.Offset)+" "+number(r.Committed.Offset), value+" "+value)
				}
				same(t, "identity of what is stored", doc.row(t, 1).Stored.Identity, "same")
				same(t, "identity of what is committed", doc.row(t, 1).Committed.Identity, "unknown")
				s.describe().exits(0).prints("stored low: 380 expired; committed low: 380 expired", "stored high: 100 ahead; committed high: 100 ahead")
				s.describe("--check").exits(10)

				whole := s.file()
				s.run(s.clamp(append(c.flags, "--dry-run")[1:]...)...).exits(2) // --execute and --dry-run
				dry := append([]string{"clamp", "-g", s.group, "-s", s.folder, "-t", s.topic, "--dry-run"}, c.flags...)
				s.run(dry...).exits(0)
				same(t, "file after a dry run", s.file(), whole)
				same(t, "committed after a dry run", s.committed(), before)

				r := s.run(s.clamp(append(c.flags, "-t", s.topic)...)...).exits(0).prints(fmt.Sprintf("%d of %d verified", c.writes, c.writes))
				same(t, "stored", s.stored(), c.stored)
				same(t, "committed", s.committed(), c.committed)
				if c.stored == before {
					same(t, "file of the other side", s.file(), whole)
				}
				written := s.file()
				s.run(s.clamp(append(c.flags, "-t", s.topic)...)...).exits(0)
				same(t, "file after nothing was to do", s.file(), written)

				s.shell(r.undo()).exits(0)
				same(t, "stored after undo", s.stored(), before)
				same(t, "committed after undo", s.committed(), before)
			})
		}
	})
}

// A commit says nothing of the topic that it was made for. So one above the end is asked about where records would be skipped.
func TestClampHighCommit(t *testing.T) {
	s := stage(t, cluster, [2]int64{100, 300}, [2]int64{300, 300}, [2]int64{0, 300})
	must(t, cluster.Commit(t.Context(), s.group, s.topic, map[int32]live.Commit{
		0: live.At(400), 1: live.At(400), 2: {Offset: 7, Epoch: 0, Metadata: "as it was"},
	}))
	const before = "0=400 1=400 2=7/0/as it was"
	s.run("clamp", "-g", s.group, "--execute").exits(4).
		says("high by 100", "skips up to 200 readable", "--high end", "--high earliest", "nothing was written")
	same(t, "committed after a refusal", s.committed(), before)
	s.run("clamp", "-g", s.group, "--dry-run").exits(4)
	s.run("clamp", "-g", s.group, "--execute", "-t", s.topic+":1").exits(0).prints("1 of 1 verified") // nothing readable is skipped
	same(t, "committed where nothing is skipped", s.committed(), "0=400 1=300 2=7/0/as it was")
	s.run("clamp", "-g", s.group, "--execute", "--high", "earliest").exits(0).prints("1 of 1 verified")
	same(t, "committed", s.committed(), "0=100 1=300 2=7/0/as it was")
}

// An undo brings back what stood beside a number, too.
func TestUndoMetadata(t *testing.T) {
	onEach(t, func(t *testing.T, on *live.Cluster) {
		s := stage(t, on, [2]int64{50, 100}, [2]int64{50, 100}, [2]int64{50, 100})
		must(t, on.Commit(t.Context(), s.group, s.topic, map[int32]live.Commit{
			0: {Offset: 10, Epoch: -1, Metadata: "héllo \"10\""}, 1: {Offset: 60, Epoch: 0, Metadata: "kept"},
		}))
		before := s.committed()
		r := s.run("clamp", "-g", s.group, "-t", s.topic, "--committed", "--execute").exits(0)
		same(t, "committed", s.committed(), "0=50 1=60/0/kept 2=50")
		s.shell(r.undo()).exits(0).prints("2 of 2 verified")
		same(t, "committed after undo", s.committed(), before)
	})
}

func TestClampFirstRun(t *testing.T) {
	onEach(t, func(t *testing.T, on *live.Cluster) {
		t.Run("stored", func(t *testing.T) {
			s := stage(t, on, [2]int64{40, 90}, [2]int64{0, 10})
			s.run(s.clamp("--stored")...).exits(1).says("is not known to the cluster", s.folder)
			s.run(s.clamp("-t", s.topic)...).exits(2).says("--stored", "--committed")
			same(t, "file", s.file(), "")
			r := s.run(s.clamp("-t", s.topic, "--stored")...).exits(0).prints("starts at earliest", s.path(), "repeats up to 50")
			same(t, "stored", s.stored(), "0=40 1=0")
			same(t, "committed", s.committed(), "")
			s.shell(r.undo()).exits(0)
			same(t, "stored after undo", s.stored(), "")
		})
		t.Run("committed", func(t *testing.T) {
			s := stage(t, on, [2]int64{40, 90}, [2]int64{0, 10})
			line := []string{"clamp", "-g", s.group, "-t", s.topic, "--committed", "--execute"}
			s.run(line...).exits(4).says("does not exist", "--create")
			same(t, "committed after a refusal", s.committed(), "")
			groups, err := on.Groups(t.Context())
			must(t, err)
			if _, made := groups[s.group]; made {
				t.Errorf("a refusal made the group %+v", groups[s.group])
			}
			r := s.run(append(line, "--create")...).exits(0).prints("2 of 2 verified")
			same(t, "committed", s.committed(), "0=40 1=0")
			same(t, "type", s.run("describe", "-g", s.group, "-o", "json").exits(0).describe().Groups[0].Type, "simple")
			s.shell(r.undo()).exits(0)
			same(t, "committed after undo", s.committed(), "")
		})
	})
}

// The store has an entry of the topic as it was before it was deleted and made anew: the number may fit and still mean nothing.
func TestClampRecreated(t *testing.T) {
	onEach(t, func(t *testing.T, on *live.Cluster) {
		for _, c := range []struct {
			choice []string
			stored string
		}{
			{[]string{"end"}, "0=50 1=20"}, {[]string{"earliest"}, "0=0 1=0"}, {[]string{"keep", "--high", "end"}, "0=30 1=20"},
		} {
			t.Run(c.choice[0], func(t *testing.T) {
				s := stage(t, on, [2]int64{0, 100}, [2]int64{0, 100})
				s.save(30, 90)
				s.commit(30, 90)
				before, id := s.file(), s.topicID()
				must(t, on.Recreate(t.Context(), s.topic))
				s.forgets()
				s.grow([2]int64{0, 50}, [2]int64{0, 20})
				s.commit(10, 10)
				if s.topicID() == id {
					t.Fatal("the topic has its old id")
				}
				r := s.describe("-o", "json").exits(0).describe().row(t, 0)
				same(t, "what is stored", r.Stored.Identity+" "+r.Stored.Condition, "recreated ok")
				same(t, "ok", r.OK, false)
				s.describe().prints("stored before the topic was recreated (id was " + id + ")")
				s.describe("--check").exits(10)
				s.run(s.clamp("--stored")...).exits(4).says("the topic was recreated", "--recreated end", "nothing was written")
				s.run(s.clamp("--stored", "--high", "end")...).exits(4)
				same(t, "file after a refusal", s.file(), before)

				undo := s.run(s.clamp(append([]string{"--stored", "--recreated"}, c.choice...)...)...).exits(0).undo()
				same(t, "stored", s.stored(), c.stored)
				if !strings.Contains(s.file(), "# topic-id "+s.topicID()+"\n") {
					t.Errorf("the file does not name the new topic:\n%s", s.file())
				}
				same(t, "committed", s.committed(), "0=10 1=10")
				s.run(s.clamp("--stored")...).exits(0)
				same(t, "stored after nothing was to do", s.stored(), c.stored)
				s.shell(undo).exits(0)
				if r := s.describe("-o", "json").exits(0).describe().row(t, 0); number(r.Stored.Offset) != "30" || r.Stored.Identity != "recreated" {
					t.Errorf("after undo: got %s, %s, want 30, recreated\n%s", number(r.Stored.Offset), r.Stored.Identity, s.file())
				}
			})
		}
	})
}

// A topic that is gone takes its commits with it. What the store has of it is shown and left alone.
func TestClampGone(t *testing.T) {
	onEach(t, func(t *testing.T, on *live.Cluster) {
		s := stage(t, on, [2]int64{0, 100}, [2]int64{0, 100})
		s.save(30, 90)
		s.commit(30, 90)
		before := s.file()
		must(t, on.DeleteTopic(t.Context(), s.topic))
		s.forgets()
		r := s.describe("-o", "json").exits(3).says("2 of 2 partitions no longer exist").describe().row(t, 1)
		same(t, "what is left", r.Stored.Condition+" "+number(r.Stored.Offset)+" "+number(r.Committed.Offset)+" "+number(r.End), "gone 90 null null")
		s.describe().exits(3).prints("gone: the topic does not exist")
		s.run(s.clamp("--stored")...).exits(0).prints("the topic does not exist; left as it is")
		same(t, "file", s.file(), before)
	})
}

// The store is behind the topic, which has got new partitions; another entry is of a partition that there never was.
func TestClampAdded(t *testing.T) {
	onEach(t, func(t *testing.T, on *live.Cluster) {
		s := stage(t, on, [2]int64{0, 100}, [2]int64{0, 100})
		s.save(30, 90)
		s.commit(30, 90)
		must(t, on.AddPartitions(t.Context(), s.topic, 4))
		must(t, on.Produce(t.Context(), s.topic, 20, 2, 3))
		must(t, on.DeleteRecords(t.Context(), s.topic, 3, 5))
		s.describe().exits(0).prints("no entry in the store; no commit")
		r := s.run(s.clamp("--stored")...).exits(0).prints("above the store's last partition (1): starts at earliest", "2 of 2 verified")
		same(t, "stored", s.stored(), "0=30 1=90 2=0 3=5")
		same(t, "committed", s.committed(), "0=30 1=90")
		s.shell(r.undo()).exits(0)
		same(t, "stored after undo", s.stored(), "0=30 1=90")

		s.save(30, 90, 1, 6, 77)
		s.describe().exits(3).prints("gone: ")
		s.run(s.clamp("--stored")...).exits(0)
		same(t, "stored with one partition too many", s.stored(), "0=30 1=90 2=1 3=6 4=77")
	})
}

// A lost entry is no first run.
func TestClampLost(t *testing.T) {
	s := stage(t, cluster, [2]int64{10, 100}, [2]int64{10, 100})
	s.save(30)
	s.commit(30, 5)
	s.run(s.clamp("--stored")...).exits(4).says("no entry, but committed is 5", "--missing other", "--missing earliest")
	same(t, "stored after a refusal", s.stored(), "0=30")
	s.run(s.clamp("--stored", "--missing", "other")...).exits(0)
	same(t, "stored", s.stored(), "0=30 1=10") // brought into the range, too
	same(t, "committed", s.committed(), "0=30 1=5")
}
