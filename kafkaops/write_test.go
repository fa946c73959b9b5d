package kafkaops_test

import (
	"context"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kfake"
	"github.com/twmb/franz-go/pkg/kmsg"
	"github.com/twmb/franz-go/pkg/kversion"

	"gtoffset/kafkaops/kafkatest"
	"gtoffset/kafkaops/offsets"
)

// to is a change that writes where nothing is yet, or from what stands.
func to(topic string, p int32, offset int64, id string, from ...int64) offsets.Change {
	old := append(from, offsets.None)[0]
	return offsets.Change{
		Key: key(topic, p), Side: offsets.Committed, TopicID: id, Verdict: offsets.Write,
		Old: offsets.Value{Offset: old, Epoch: offsets.None}, New: offsets.Value{Offset: offset, Epoch: offsets.None},
	}
}

func results(changes []offsets.Change) []string {
	var all []string
	for _, c := range changes {
		all = append(all, strings.TrimSuffix(string(c.Result)+": "+c.Error, ": "))
	}
	return all
}

func TestWriteCommits(t *testing.T) {
	for name, v := range map[string]*kversion.Versions{"newest": nil, "3.9": kversion.V3_9_0(), "1.1": kversion.V1_1_0()} {
		t.Run(name, func(t *testing.T) {
			b := kafkatest.Start(t, kafkatest.Options{Version: v})
			must(t, b.CreateTopic("orders", 6))
			must(t, b.Commit("g", "orders", 4, 44, -1, ""))
			c := connect(t, b, 0)
			id := b.TopicID("orders")
			kept := to("orders", 3, 9, id)
			kept.Verdict = offsets.Keep
			done := to("orders", 5, 9, id)
			done.Result = offsets.Already
			rich := to("orders", 1, 20, id)
			rich.New.Metadata, rich.New.Epoch = "from the store", 0
			changes := []offsets.Change{to("orders", 0, 10, id), rich, to("orders", 2, 30, ""), kept, to("orders", 4, offsets.None, id, 44), done, to("orders", 9, 1, id)}
			before := slices.Clone(changes)
			got := c.WriteCommits(within(t), "g", changes, false)
			if !slices.EqualFunc(changes, before, func(a, b offsets.Change) bool { return a == b }) {
				t.Error("the changes given were changed")
			}
			want := []string{"written", "written", "written", "", "written", "already", "failed: there is no such topic or partition (UNKNOWN_TOPIC_OR_PARTITION)"}
			if name == "1.1" {
				want[4] = results(got)[4]
				if !strings.Contains(want[4], "failed: ") || !strings.Contains(want[4], "OffsetDelete") || !strings.Contains(want[4], "2.4") {
					t.Errorf("got %q", want[4])
				}
			}
			if r := results(got); !slices.Equal(r, want) {
				t.Errorf("got  %q\nwant %q", r, want)
			}
			commits, trouble := c.Commits(within(t), "g", []offsets.Key{key("orders", 0), key("orders", 1), key("orders", 2), key("orders", 3), key("orders", 4)}, false)
			if trouble != nil {
				t.Fatalf("read back: %+v", trouble)
			}
			if e := commits[key("orders", 1)]; e.Offset != 20 || e.Metadata != "from the store" || e.Epoch != 0 && name != "1.1" {
				t.Errorf("read back: %+v", e)
			}
			if _, there := commits[key("orders", 3)]; there || commits[key("orders", 0)].Offset != 10 || commits[key("orders", 2)].Offset != 30 {
				t.Errorf("read back: %+v", commits)
			}
			if _, there := commits[key("orders", 4)]; there != (name == "1.1") {
				t.Errorf("removed commit: %v", there)
			}
		})
	}
}

func TestWriteGuardsAgainstARecreatedTopic(t *testing.T) {
	b := kafkatest.Start(t, kafkatest.Options{})
	must(t, b.CreateTopic("orders", 2))
	id := b.TopicID("orders")
	must(t, b.Recreate("orders"))
	got := connect(t, b, 0).WriteCommits(within(t), "g", []offsets.Change{to("orders", 0, 5, id)}, false)
	if got[0].Result != offsets.Failed || !strings.Contains(got[0].Error, "recreated") {
		t.Errorf("got %q", results(got))
	}
}

func TestWriteToActiveGroup(t *testing.T) {
	for _, modern := range []bool{false, true} {
		b := kafkatest.Start(t, kafkatest.Options{})
		must(t, b.CreateTopic("orders", 2))
		_, err := b.Join("g", modern, "orders")
		must(t, err)
		got := connect(t, b, 0).WriteCommits(within(t), "g", []offsets.Change{to("orders", 0, 5, ""), to("orders", 1, 5, ""), to("orders", 1, offsets.None, "")}, false)
		if got[0].Result != offsets.Failed || !strings.Contains(got[0].Error, "the group is active") || got[1].Result != offsets.Failed ||
			got[2].Result != offsets.NotTried || got[2].Error == "" {
			t.Errorf("modern %v: got %q", modern, results(got))
		}
	}
}

func TestWriteOnePartitionFails(t *testing.T) {
	b := kafkatest.Start(t, kafkatest.Options{})
	must(t, b.CreateTopic("orders", 3))
	b.FailCommit("orders", 1, kerr.OffsetMetadataTooLarge)
	got := connect(t, b, 0).WriteCommits(within(t), "g", []offsets.Change{to("orders", 0, 5, ""), to("orders", 1, 5, ""), to("orders", 2, 5, "")}, false)
	if got[0].Result != offsets.Written || got[1].Result != offsets.Failed || got[2].Result != offsets.Written {
		t.Errorf("got %q", results(got))
	}
}

// A commit that was not answered is not sent again, and nobody says what became of it.
func TestWriteWithoutAnswer(t *testing.T) {
	b := kafkatest.Start(t, kafkatest.Options{})
	must(t, b.CreateTopic("orders", 3))
	b.Rewrite(kmsg.OffsetCommit.Int16(), func(int32, kmsg.Response) bool { return false })
	c := connect(t, b, 0)
	got := c.WriteCommits(within(t), "g", []offsets.Change{to("orders", 0, 5, ""), to("orders", 1, offsets.None, "")}, false)
	if got[0].Result != offsets.Unverified || got[0].Error == "" || got[1].Result != offsets.NotTried || b.Count(kmsg.OffsetCommit.Int16()) != 1 {
		t.Errorf("got %q with %d OffsetCommit", results(got), b.Count(kmsg.OffsetCommit.Int16()))
	}
	c.NewLook()
	if commits, trouble := c.Commits(within(t), "g", []offsets.Key{key("orders", 0)}, false); trouble != nil || commits[key("orders", 0)].Offset != 5 {
		t.Errorf("read back: %+v %+v", commits, trouble)
	}
}

// A coordinator that is away for a while, or moves, is waited for.
func TestWriteWaitsForTheCoordinator(t *testing.T) {
	b := kafkatest.Start(t, kafkatest.Options{})
	must(t, b.CreateTopic("orders", 3))
	must(t, b.Commit("g", "orders", 0, 1, -1, ""))
	c := connect(t, b, 0)
	_, _, err := c.Groups(within(t), []string{"g"}, nil)
	must(t, err)
	at := b.Fake.CoordinatorFor("g")
	b.Kill(at)
	back := time.AfterFunc(300*time.Millisecond, func() { b.Revive(at) })
	defer back.Stop()
	got := c.WriteCommits(within(t), "g", []offsets.Change{to("orders", 0, 5, "", 1)}, false)
	if got[0].Result != offsets.Written {
		t.Errorf("got %q", results(got))
	}
	b.Fake.Fault(kfake.Fault{Keys: []kmsg.Key{kmsg.OffsetCommit}, Err: kerr.NotCoordinator, Count: 6})
	got = c.WriteCommits(within(t), "g", []offsets.Change{to("orders", 0, 6, "", 5)}, false)
	if got[0].Result != offsets.Written {
		t.Errorf("got %q", results(got))
	}
	for _, moved := range []struct {
		err     *kerr.Error
		result  offsets.Result
		pending bool
	}{{kerr.CoordinatorLoadInProgress, offsets.Failed, false}, {kerr.CoordinatorNotAvailable, offsets.Unverified, true}} {
		stop := b.FailCommit("orders", 0, moved.err)
		ctx, cancel := context.WithTimeout(t.Context(), 500*time.Millisecond)
		got = c.WriteCommits(ctx, "g", []offsets.Change{to("orders", 0, 7, "", 6)}, false)
		if got[0].Result != moved.result || got[0].Pending != moved.pending {
			t.Errorf("%v to the end: got %q pending %v", moved.err, results(got), got[0].Pending)
		}
		cancel()
		stop()
	}
	b.Kill(at)
	ctx, cancel := context.WithTimeout(t.Context(), 500*time.Millisecond)
	defer cancel()
	got = c.WriteCommits(ctx, "g", []offsets.Change{to("orders", 0, 7, "", 6)}, false)
	if got[0].Result != offsets.Failed || !strings.Contains(got[0].Error, "refused") {
		t.Errorf("got %q", results(got))
	}
}

func TestWriteInPieces(t *testing.T) {
	b := kafkatest.Start(t, kafkatest.Options{})
	must(t, b.CreateTopic("orders", 400))
	var changes []offsets.Change
	for p := range int32(400) {
		ch := to("orders", p, int64(p), b.TopicID("orders"))
		ch.New.Metadata = strings.Repeat("m", 4000)
		changes = append(changes, ch)
	}
	got := connect(t, b, 0).WriteCommits(within(t), "g", changes, false)
	for _, ch := range got {
		if ch.Result != offsets.Written {
			t.Fatalf("%v: %s %s", ch.Key, ch.Result, ch.Error)
		}
	}
	if n := b.Count(kmsg.OffsetCommit.Int16()); n != 4 {
		t.Errorf("%d OffsetCommit", n)
	}
}
