//go:build live

package live_test

import (
	"context"
	"fmt"
	"log/slog"
	"strings"
	"testing"
	"time"

	"gtoffset/kafkaops"
	"gtoffset/kafkaops/offsets"
	"gtoffset/kafkaops/wire"
	"gtoffset/scripts/live"
)

// One broker is frozen, then killed. The others go on naming it as leader and coordinator for as long as its session lasts, which
// is longer here than the test: so everything that can go wrong goes wrong every time.
func TestBrokerAway(t *testing.T) {
	ctx := t.Context()
	own, err := live.Kafka(ctx, live.Current, 3, live.Properties("broker.session.timeout.ms=300000", "replica.lag.time.max.ms=1000"))
	must(t, err)
	defer own.Stop()
	const away = 2
	s := stage(t, own, [2]int64{20, 50}, [2]int64{20, 50}, [2]int64{20, 50})
	ranges, err := own.Ranges(ctx, s.topic)
	must(t, err)
	lost := int32(-1)
	for p, r := range ranges {
		if r.Leader == away {
			lost = p
		}
	}
	if lost < 0 || ranges[0].Leader == ranges[1].Leader || ranges[1].Leader == ranges[2].Leader {
		t.Fatalf("want one partition on each broker, got %+v", ranges)
	}
	s.group, err = own.GroupAt(ctx, "billing", away%3+1) // readable throughout
	must(t, err)
	other := s // its coordinator is the one that goes away
	other.group, err = own.GroupAt(ctx, "shipping", away)
	must(t, err)
	s.commit(5, 5, 5)
	other.commit(5, 5, 5)
	victim := own.Brokers()[away-1]
	orders := map[string]string{"first": victim.Addr, "last": ""}
	for _, b := range own.Brokers() {
		if b.ID != away {
			orders["first"] += "," + b.Addr
			orders["last"] += b.Addr + ","
		}
	}
	orders["last"] += victim.Addr
	named := fmt.Sprintf("broker %d (%s)", away, victim.Addr)

	// What a look takes that waits for nobody, with all that the machine does meanwhile.
	var healthy time.Duration
	for range 3 {
		healthy = max(healthy, s.describe("-g", other.group).exits(0).took)
	}
	// The exchange deadline, and at most half of it again.
	const deadline = 2 * time.Second
	once := func(r result) result {
		t.Helper()
		t.Logf("%v, healthy %v: gtoffset %s", r.took.Round(time.Millisecond), healthy.Round(time.Millisecond), strings.Join(r.args, " "))
		if limit := deadline*3/2 + healthy; r.took > limit {
			t.Errorf("took %v, want at most %v\n%v", r.took, limit, r)
		}
		return r
	}
	// rest checks that what can be known of the group is shown, and that what cannot is said.
	rest := func(r result) {
		t.Helper()
		r.exits(3).says("1 of 3 partitions could not be read")
		d := r.describe()
		for p := range int32(3) {
			row := d.row(t, p)
			same(t, fmt.Sprintf("committed of partition %d", p), number(row.Committed.Offset), "5")
			if p != lost {
				same(t, fmt.Sprintf("partition %d", p), number(row.Earliest)+".."+number(row.End)+" "+row.Committed.Condition, "20..50 low")
				continue
			}
			same(t, "range of the lost partition", number(row.Earliest)+".."+number(row.End), "null..null")
			if !strings.Contains(row.State, named) || row.Error == nil {
				t.Errorf("the lost partition: got %+v, want %s named", row, named)
			}
		}
	}
	for _, harm := range []struct {
		name string
		do   func() error
		undo func() error
	}{
		{"frozen", func() error { return own.Freeze(away) }, func() error { return own.Thaw(ctx, away) }},
		{"killed", func() error { return own.Kill(away) }, nil}, // while its session lasts, it cannot come back
	} {
		t.Run(harm.name, func(t *testing.T) {
			s, other := s, other
			s.t, other.t = t, t
			s.folder, other.folder = t.TempDir(), t.TempDir()
			s.save(5, 5, 5)
			other.save(5, 5, 5)
			s.commit(5, 5, 5)
			other.commit(5, 5, 5)
			file, otherFile := s.file(), other.file()
			must(t, harm.do())
			if harm.undo != nil {
				defer func() { must(t, harm.undo()) }()
			}
			for _, order := range []string{"first", "last"} {
				b := orders[order]
				rest(once(s.run("describe", "-b", b, "-g", s.group, "-o", "json")))
				once(s.run("describe", "-b", b, "-g", s.group)).exits(3).prints("unknown: "+named, "committed low: 15 expired")

				r := once(s.run("describe", "-b", b, "-g", s.group, "-g", other.group, "-o", "json")).exits(3).says(other.group, named)
				d := r.describe()
				if len(d.Groups) != 2 || d.Groups[0].Error != nil || d.Groups[1].Error == nil || !strings.Contains(*d.Groups[1].Error, named) {
					t.Errorf("want the second group away because of %s\n%v", named, r)
				}
				once(s.run("describe", "-b", b, "-g", other.group)).exits(5).says(named)
				once(s.run("describe", "-b", b)).exits(3).prints(s.group).says("groups may be missing from this list", named)
				once(s.run("describe", "-b", b, "--all-groups")).exits(3).prints(s.group).says(named)
				once(s.run("history", "-b", b, "-g", s.group)).exits(0).prints(" new ")
				once(s.run("history", "-b", b, "-g", other.group)).exits(5).says("of topic __consumer_offsets: ", named)

				// Refused as a whole, whichever side, and worth trying again.
				for _, side := range []string{"--stored", "--committed"} {
					once(s.run(s.clamp(side, "-b", b)...)).exits(5).says(fmt.Sprintf("%s %d: ", s.topic, lost), named, "nothing was written", "--partial")
				}
				once(s.run("clamp", "-b", b, "-g", s.group, "-g", other.group, "--committed", "--execute")).exits(5).says(named, "nothing was written")
				once(other.run(other.clamp("--stored", "-b", b)...)).exits(5).says(named)
				same(t, "file after the refusals", s.file(), file)
				same(t, "committed after the refusals", s.committed(), "0=5 1=5 2=5")
			}
			once(s.run("describe", "-b", victim.Addr, "-g", s.group)).exits(5).says(victim.Addr)

			mended := []string{"0=20", "1=20", "2=20"}
			mended[lost] = fmt.Sprintf("%d=5", lost)
			want := strings.Join(mended, " ")
			s.run(s.clamp("--stored", "--partial", "-b", orders["first"])...).exits(3).says("left out", named).prints("2 of 2 verified")
			same(t, "stored", s.stored(), want)
			// A commit stands when every copy that counts as in step has it, and a frozen one counts until a write shows it to be
			// behind. That first write is ours, so that the program's is answered in time.
			must(t, live.Eventually(ctx, "the copy that went away no longer counts", func(ctx context.Context) (bool, error) {
				return true, own.Commit(ctx, s.group, s.topic, map[int32]live.Commit{0: live.At(5), 1: live.At(5), 2: live.At(5)})
			}))
			r := s.run("clamp", "-b", orders["last"], "-g", s.group, "-g", other.group, "--committed", "--partial", "--execute").
				exits(3).says("left out", named).prints("2 of 2 verified")
			t.Logf("a partial write of commits took %v", r.took.Round(time.Millisecond))
			same(t, "committed", s.committed(), want)
			same(t, "file of the other group", other.file(), otherFile)

			if harm.undo == nil {
				return
			}
			must(t, harm.undo())
			same(t, "committed of the other group", other.committed(), "0=5 1=5 2=5")
			s.describe().exits(0)
			s.run(s.clamp("--stored", "--committed")...).exits(0).prints("2 of 2 verified")
			same(t, "stored in the end", s.stored(), "0=20 1=20 2=20")
			same(t, "committed in the end", s.committed(), "0=20 1=20 2=20")
		})
	}
}

// The coordinator of a group dies just before a write, and stays named for as long as its session lasts: the write waits for the
// next one.
func TestCoordinatorKilledBeforeWrite(t *testing.T) {
	ctx := t.Context()
	own, err := live.Kafka(ctx, live.Current, 3, live.Properties("broker.session.timeout.ms=3000"))
	must(t, err)
	defer own.Stop()
	s := stage(t, own, [2]int64{0, 50})
	s.group, err = own.GroupAt(ctx, "billing", 3)
	must(t, err)
	s.commit(5)
	w := kafkaops.New(kafkaops.Config{Bootstrap: strings.Split(own.Bootstrap(), ","), Wire: wire.Config{Log: slog.New(slog.NewTextHandler(t.Output(), nil))}})
	defer w.Close()
	groups, _, err := w.Groups(ctx, []string{s.group}, nil)
	must(t, err)
	same(t, "coordinator", groups[0].Coordinator, 3)
	must(t, own.Kill(3))
	began := time.Now()
	got := w.WriteCommits(ctx, s.group, []offsets.Change{{
		Key: offsets.Key{Topic: s.topic}, Side: offsets.Committed, Verdict: offsets.Write, TopicID: s.topicID(),
		Old: offsets.Value{Offset: 5, Epoch: offsets.None}, New: offsets.Value{Offset: 20, Epoch: offsets.None},
	}}, false)
	t.Logf("%s %s after %v", got[0].Result, got[0].Error, time.Since(began).Round(time.Millisecond))
	same(t, "result", got[0].Result, offsets.Written)
	// The harness's own client goes on asking the dead one.
	same(t, "committed", number(s.run("describe", "-g", s.group, "-o", "json").exits(0).describe().row(t, 0).Committed.Offset), "20")
	same(t, "history", s.history().brief(), "new 0 ->5 by not a member; forward 0 5>20 by not a member")
}
