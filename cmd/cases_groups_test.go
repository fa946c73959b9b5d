package cmd_test

import (
	"strings"
	"testing"

	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kfake"
	"github.com/twmb/franz-go/pkg/kmsg"
)

// classic lets the broker describe every group of the old protocol as f says.
func (w *world) classic(f func(*kmsg.DescribeGroupsResponseGroup)) {
	w.b.Rewrite(kmsg.DescribeGroups.Int16(), func(_ int32, r kmsg.Response) bool {
		for i := range r.(*kmsg.DescribeGroupsResponse).Groups {
			f(&r.(*kmsg.DescribeGroupsResponse).Groups[i])
		}
		return true
	})
}

// stable is a live group of some protocol type with one member.
func stable(protocol, client string) func(*kmsg.DescribeGroupsResponseGroup) {
	return func(g *kmsg.DescribeGroupsResponseGroup) {
		m := kmsg.NewDescribeGroupsResponseGroupMember()
		m.MemberID, m.ClientID, m.ClientHost = client+"-1", client, "/10.0.0.5"
		g.ErrorCode, g.ErrorMessage, g.State, g.ProtocolType, g.Members = 0, nil, "Stable", protocol, append(g.Members, m)
	}
}

func b2i(b bool) int {
	if b {
		return 1
	}
	return 0
}

// share lets the broker have a share group of every name.
func (w *world) share() {
	w.b.Rewrite(kmsg.ShareGroupDescribe.Int16(), func(_ int32, r kmsg.Response) bool {
		for i, g := range r.(*kmsg.ShareGroupDescribeResponse).Groups {
			n := kmsg.NewShareGroupDescribeResponseGroup()
			n.GroupID, n.GroupState = g.GroupID, "Empty"
			r.(*kmsg.ShareGroupDescribeResponse).Groups[i] = n
		}
		return true
	})
}

// Every case of GRP: the state and the type of a group before a write.
func TestGroupStateCases(t *testing.T) {
	t.Parallel()
	for _, modern := range []bool{false, true} {
		name := map[bool]string{false: "GRP-1 a running classic group", true: "GRP-4 a running group of the new protocol"}[modern]
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := start(t).topic("orders", [2]int64{500, 900}, [2]int64{500, 900}).save("g1", "orders", 100, 600)
			for range 2 {
				_, err := w.b.Join("g1", modern, "orders")
				must(t, err)
			}
			_, err := w.b.Fake.WaitGroupInfo(t.Context(), "g1", func(g *kfake.GroupInfo) bool {
				one := 0 // members with one of the two partitions: the second rebalance of cooperative members is over
				for _, m := range g.Members {
					one += b2i(m.NumAssigned() == 1)
				}
				return g.State == "Stable" && one == 2
			})
			must(t, err)
			kind := map[bool]string{false: "classic", true: "consumer"}[modern]
			w.run("describe", "-g", "g1").prints(kind+" group, Stable, 2 members", "no commit").exits(0)
			w.b.Reset()
			for _, side := range []string{"--stored", "--committed"} {
				for _, way := range []string{"--execute", "--dry-run"} {
					r := w.run("clamp", "-g", "g1", "-t", "orders", "-s", w.store, side, "--missing", "earliest", way).exits(4)
					r.says(`group "g1" is active: 2 members (kafkatest-member on `, "kafkatest-member", "nothing was written", "--wait-empty 60s")
				}
			}
			w.person("y\n", nil).run("clamp", "-g", "g1", "-t", "orders", "-s", w.store, "--stored").exits(4).never("[y/N]")
			same(t, "writes", w.writes(), 0)
			same(t, "stored", w.stored("g1", "orders"), "0=100 1=600")
			w.run("clamp", "-g", "g1", "-s", w.store, "-t", "orders:1", "--stored", "--execute").exits(0).prints("Nothing to do") // there is nothing to refuse
		})
	}
	t.Run("GRP-1 becomes active after the plan", func(t *testing.T) {
		t.Parallel()
		w := start(t).topic("orders", [2]int64{500, 900}).commit("g1", "orders", 100).save("g1", "orders", 100)
		w.person("y\n", func() {
			_, err := w.b.Join("g1", false, "orders")
			must(t, err)
		})
		w.run("clamp", "-g", "g1", "-s", w.store, "--stored", "--committed").exits(4).says("is active: 1 member", "nothing was written")
		same(t, "writes", w.writes(), 0)
		same(t, "stored", w.stored("g1", "orders"), "0=100")
		same(t, "backups", len(w.backups()), 0)
	})
	t.Run("GRP-4 the old call says Dead", func(t *testing.T) {
		t.Parallel()
		w := start(t).topic("orders", [2]int64{500, 900}).commit("g1", "orders", 100)
		w.classic(func(g *kmsg.DescribeGroupsResponseGroup) { g.ErrorCode, g.State, g.Members = 0, "Dead", nil })
		w.b.Rewrite(kmsg.ConsumerGroupDescribe.Int16(), func(_ int32, r kmsg.Response) bool {
			for i := range r.(*kmsg.ConsumerGroupDescribeResponse).Groups {
				r.(*kmsg.ConsumerGroupDescribeResponse).Groups[i].ErrorCode = kerr.GroupIDNotFound.Code
			}
			return true
		})
		w.run("clamp", "-g", "g1", "--execute").exits(4)
		same(t, "committed", w.committed("g1", "orders"), "0=100")
	})
	t.Run("GRP-5 Connect's workers", func(t *testing.T) {
		t.Parallel()
		w := start(t).topic("orders", [2]int64{500, 900}).commit("workers", "orders", 100)
		w.classic(stable("connect", "connect-worker"))
		w.run("clamp", "-g", "workers", "--execute").exits(4).says("coordinates Connect workers", "connect-NAME")
		w.run("describe", "-g", "workers").exits(0).prints("workers")
		same(t, "writes", w.writes(), 0)
	})
	t.Run("GRP-6 a misspelled group", func(t *testing.T) {
		t.Parallel()
		w := start(t).topic("orders", [2]int64{500, 900}).commit("connect-test", "orders", 100)
		w.run("clamp", "-g", "conect-test", "-t", "orders", "--committed", "--execute").exits(4).says(`group "conect-test" does not exist`, "--create")
		w.run("clamp", "-g", "conect-test", "--committed", "--execute").exits(1).says(`group "conect-test" is not known`)
		w.run("describe", "-g", "conect-test").exits(1).says(`group "conect-test" is not known`)
		w.run("describe", "-g", "conect-test", "-g", "connect-test").exits(3).prints("connect-test").says(`group "conect-test" is not known`)
		if w.b.Fake.GroupInfo("conect-test") != nil {
			t.Error("a group was made of the misspelled name")
		}
		// A member that came after the last look: the broker answers "unknown member".
		stop := w.b.FailCommit("orders", 0, kerr.UnknownMemberID)
		w.run("clamp", "-g", "connect-test", "--execute").exits(4).says("the group is active", "nothing was written")
		stop()
		w.run("clamp", "-g", "connect-test", "--execute").exits(0)
	})
	t.Run("a store's first entries", func(t *testing.T) {
		t.Parallel()
		w := start(t).topic("orders", [2]int64{500, 900}).commit("billing", "orders", 600)
		note := "neither the cluster nor the store knows group \"biling\": its first entries are made"
		w.run("clamp", "-g", "biling", "-t", "orders", "-s", w.store, "--stored", "--dry-run").exits(0).prints("note: "+note+"; did you mean -g billing?", "starts at earliest")
		w.run("clamp", "-g", "biling", "-t", "orders", "-s", w.store, "--stored", "--execute").exits(0).prints(note)
		w.run("clamp", "-g", "biling", "-t", "orders", "-s", w.store, "--stored", "--execute").exits(0).never("neither the cluster")
		w.run("clamp", "-g", "billing", "-t", "orders", "-s", w.store, "--stored", "--missing", "other", "--execute").exits(0).never("neither the cluster")
	})
	t.Run("GRP-8 a job that assigns by hand", func(t *testing.T) {
		t.Parallel()
		w := start(t).topic("orders", [2]int64{500, 900}).commit("job", "orders", 100)
		saved := w.now.Add(-12e9).Format("2006-01-02T15:04:05Z")
		w.put("job", "orders", "# gtoffset 1\n# saved "+saved+"\n0 100\n# entries 1\n")
		w.run("clamp", "-g", "job", "-s", w.store, "--stored", "--dry-run").exits(0).prints("saved 12 s ago: the job may be running", "--idle")
		held := w.lock("job", "orders")
		w.run("clamp", "-g", "job", "-s", w.store, "--stored", "--dry-run").exits(0).prints("locked by", "the job may be running")
		w.run("describe", "-g", "job", "-s", w.store).exits(0).prints("locked by")
		w.run("clamp", "-g", "job", "-s", w.store, "--stored", "--execute").exits(4).says("gtoffset.lock", "nothing was written")
		same(t, "stored", w.stored("job", "orders"), "0=100")
		e := w.run("clamp", "-g", "job", "-s", w.store, "--stored", "--execute", "-o", "json", "-q").exits(4).failure()
		same(t, "details", len(e.Details), 1)
		same(t, "detail", words(deref(e.Details[0].Group), deref(e.Details[0].Topic), e.Details[0].Partition == nil, strings.Contains(e.Details[0].Reason, "gtoffset.lock is locked by the nightly job")), "job orders true true")
		w.run("clamp", "-g", "job", "-s", w.store, "--stored", "--execute", "--wait-empty", "2ms").exits(4).says("waiting up to 2 ms for whoever holds the store's lock", "is locked by")
		must(t, held.Unlock())
		// --idle compares two looks.
		w.run("clamp", "-g", "job", "-s", w.store, "--stored", "--idle", "1ms", "--execute").exits(0).says("watching both sides for 1 ms")
		same(t, "stored", w.stored("job", "orders"), "0=500")
	})
	for _, moves := range []string{"stored", "committed"} {
		t.Run("GRP-8 --idle, and it moves: "+moves, func(t *testing.T) {
			t.Parallel()
			w := start(t).topic("orders", [2]int64{500, 900}, [2]int64{0, 10}).commit("job", "orders", 100, 4).save("job", "orders", 100, 5)
			looks := 0
			w.tick = func() {
				if looks++; looks == 2 { // the second look
					if moves == "stored" {
						w.save("job", "orders", 100, 6)
					} else {
						w.commit("job", "orders", none, 6)
					}
				}
			}
			w.run("clamp", "-g", "job", "-s", w.store, "--stored", "--idle", "1ms", "--execute").exits(4).says("not idle: orders 1 "+moves, "to 6", "nothing was written")
			same(t, "p0", strings.Fields(w.stored("job", "orders"))[0], "0=100")
		})
	}
	for _, c := range []struct {
		name  string
		moves func(*world)
		says  string
	}{
		{"another partition in the store", func(w *world) { w.save("job", "orders", 100, 6) }, "not idle: orders 1 stored of group \"job\" went from 5 to 6"},
		{"another partition's commit", func(w *world) { w.commit("job", "orders", none, 6) }, "not idle: orders 1 committed of group \"job\" went from 4 to 6"},
		{"another topic in the store", func(w *world) { w.save("job", "payments", 3) }, "not idle: payments 0 stored of group \"job\" went from none to 3"},
		{"another topic's commit", func(w *world) { w.commit("job", "payments", 3) }, "not idle: payments 0 committed of group \"job\" went from none to 3"},
		{"a save of the same numbers", func(w *world) {
			w.put("job", "orders", "# gtoffset 1\n# saved 2026-11-29T11:59:59Z\n0 100\n1 5\n# entries 2\n")
		}, "not idle: the store of group \"job\" was saved anew"},
	} {
		for _, line := range []string{"clamp -t orders:0 --stored", "reset -t orders:0 --to-latest --committed"} {
			t.Run("GRP-8 --idle of one partition, "+c.name+", "+line, func(t *testing.T) {
				t.Parallel()
				w := start(t).topic("orders", [2]int64{500, 900}, [2]int64{0, 10}).topic("payments", [2]int64{0, 10}).commit("job", "orders", 100, 4)
				w.put("job", "orders", "# gtoffset 1\n# saved 2026-11-29T11:00:00Z\n0 100\n1 5\n# entries 2\n")
				looks := 0
				w.tick = func() {
					if looks++; looks == 3 { // while it is watched
						c.moves(w)
					}
				}
				w.run(append(strings.Fields(line), "-g", "job", "-s", w.store, "--idle", "1ms", "--execute")...).exits(4).says(c.says, "nothing was written")
			})
		}
	}
	t.Run("GRP-9 share and streams groups", func(t *testing.T) {
		t.Parallel()
		w := start(t).topic("orders", [2]int64{500, 900}).save("s1", "orders", 100)
		w.share()
		w.run("describe", "-g", "s1").exits(0).prints("share group")
		w.run("wait", "-g", "s1", "-s", w.store, "--stored-caught-up", "--for", "0").exits(10).says("is a share group, which commits no offset", "hint: waiting longer does not mend that; --lag 0 without --stored-caught-up").never("waits longer")
		w.run("clamp", "-g", "s1", "-t", "orders", "--committed", "--create", "--execute").exits(4).says(`"s1" is a share group`)
		w.run("clamp", "-g", "s1", "-t", "orders", "-s", w.store, "--stored", "--execute").exits(4).says("share group")
		same(t, "writes", w.writes(), 0)
		if w.b.Fake.GroupInfo("s1") != nil {
			t.Error("a consumer group was made")
		}
	})
	t.Run("GRP-10 a paused connector", func(t *testing.T) {
		t.Parallel()
		w := start(t).topic("orders", [2]int64{500, 900}).commit("connect-sink1", "orders", 100)
		w.classic(stable("consumer", "connector-consumer-sink1-0"))
		w.run("clamp", "-g", "connect-sink1", "--execute").exits(4).says("connector-consumer-sink1-0", "paused connector", "stop it")
	})
	t.Run("GRP-11 a job with two groups", func(t *testing.T) {
		t.Parallel()
		w := start(t).topic("orders", [2]int64{500, 900}).commit("cg-control-x", "orders", 100).commit("connect-x", "orders", 700)
		w.run("describe", "-g", "connect-x", "-g", "cg-control-x", "-t", "orders").exits(0).prints("cg-control-x", "connect-x", "committed low: 400 expired")
		d := w.run("describe", "--group-regex", "c.*-x", "-o", "json").exits(0).describe()
		same(t, "groups", words(len(d.Groups), d.Groups[0].Group, d.Groups[1].Group), "2 cg-control-x connect-x")
		w.run("describe", "--group-regex", "connect", "-o", "json").exits(1).failure() // regexes are anchored, and no match is no success
		p := w.run("clamp", "-g", "cg-control-x", "-g", "connect-x", "--execute", "-o", "json").exits(0).plan()
		same(t, "counts", p.Counts, countsDoc{Write: 1, Keep: 1, Clamped: 1, Written: 1, Verified: 1})
		same(t, "committed", w.committed("cg-control-x", "orders")+" "+w.committed("connect-x", "orders"), "0=500 0=700")
	})
	t.Run("GRP-12 nothing to do", func(t *testing.T) { // nothing is refused then, and so something has to say that the group is active
		t.Parallel()
		w := start(t).topic("orders", [2]int64{500, 900}).commit("g1", "orders", 700)
		w.run("clamp", "-g", "g1", "--execute").exits(0).prints("Nothing to do.").never("active")
		leave, err := w.b.Join("g1", false, "orders")
		must(t, err)
		w.run("clamp", "-g", "g1", "--execute").exits(0).prints("note: the group is still active: 1 member (kafkatest-member", "Nothing to do.")
		w.run("clamp", "-g", "g1", "--wait-empty", "3ms", "--execute").exits(0).says("waiting up to 3 ms").prints("the group is still active", "Nothing to do.")
		d := w.run("clamp", "-g", "g1", "--wait-empty", "3ms", "--execute", "-o", "json", "-q").exits(0).plan()
		same(t, "notes", strings.Contains(strings.Join(d.Groups[0].Notes, ";"), "the group is still active: 1 member"), true)
		leave()
		w.run("clamp", "-g", "g1", "--wait-empty", "3ms", "--execute").exits(0).never("active")
	})
	t.Run("GRP-12 wait until a member is gone", func(t *testing.T) {
		t.Parallel()
		w := start(t).topic("orders", [2]int64{500, 900}).commit("g1", "orders", 100)
		leave, err := w.b.Join("g1", false, "orders")
		must(t, err)
		w.run("clamp", "-g", "g1", "--wait-empty", "3ms", "--execute").exits(4).says("waiting up to 3 ms", "is active", "nothing was written")
		same(t, "committed", w.committed("g1", "orders"), "0=100")
		calls := 0
		w.tick = func() {
			if calls++; calls == 3 {
				leave()
			}
		}
		w.run("clamp", "-g", "g1", "--wait-empty", "50ms", "--execute").exits(0).prints("1 of 1 verified")
		same(t, "committed", w.committed("g1", "orders"), "0=500")
	})
	t.Run("one group active, the other not", func(t *testing.T) {
		t.Parallel()
		w := start(t).topic("orders", [2]int64{500, 900}).commit("idle", "orders", 100).commit("live", "orders", 100)
		_, err := w.b.Join("live", false, "orders")
		must(t, err)
		w.run("clamp", "-g", "idle", "-g", "live", "--execute").exits(4).says(`group "live" is active`)
		same(t, "committed", w.committed("idle", "orders"), "0=100")
		w.run("clamp", "-g", "idle", "-g", "live", "--dry-run", "--partial").exits(3).says("--execute would", "and leave out what is refused (").never("--partial writes the rest")
		w.run("clamp", "-g", "idle", "-g", "live", "--execute", "--partial").exits(3).says(`group "live" is active`).prints("1 of 1 verified")
		same(t, "committed", w.committed("idle", "orders")+" "+w.committed("live", "orders"), "0=500 0=100")
	})
}
