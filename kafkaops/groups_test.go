package kafkaops_test

import (
	"fmt"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kfake"
	"github.com/twmb/franz-go/pkg/kmsg"
	"github.com/twmb/franz-go/pkg/kversion"

	"gtoffset/kafkaops"
	"gtoffset/kafkaops/kafkatest"
	"gtoffset/kafkaops/offsets"
)

func TestAllGroupsRequestBudget(t *testing.T) {
	b := kafkatest.Start(t, kafkatest.Options{})
	must(t, b.CreateTopic("orders", 12))
	for i := range 200 {
		must(t, b.Commit(fmt.Sprintf("g%03d", i), "orders", int32(i%12), int64(i), -1, ""))
	}
	c := connect(t, b, 0)
	groups, _ := describe(t, c)
	if len(groups) != 200 || b.Count() > 29 || b.Count(kmsg.FindCoordinator.Int16()) != 0 || b.Connections() != 3 {
		t.Errorf("%d groups with %d requests over %d connections", len(groups), b.Count(), b.Connections())
	}
	for i, g := range groups {
		if g.Trouble != nil || g.Type != offsets.Simple || g.Commits[key("orders", int32(i%12))].Offset != int64(i) {
			t.Fatalf("group %+v", g)
		}
	}
	b.Reset()
	c = connect(t, b, 0)
	var names []string
	for i := range 200 {
		names = append(names, fmt.Sprintf("g%03d", i))
	}
	if describe(t, c, names...); b.Count() > 29 || b.Count(kmsg.FindCoordinator.Int16()) != 1 {
		t.Errorf("200 named groups: %d requests, %d FindCoordinator", b.Count(), b.Count(kmsg.FindCoordinator.Int16()))
	}
}

func TestGroupTypes(t *testing.T) {
	versions := map[string]*kversion.Versions{"newest": nil, "4.0": kversion.V4_0_0(), "3.9": kversion.V3_9_0(), "2.8": kversion.V2_8_0(), "1.1": kversion.V1_1_0()}
	for name, v := range versions {
		t.Run(name, func(t *testing.T) {
			modern := name == "newest" || name == "4.0"
			b := kafkatest.Start(t, kafkatest.Options{Version: v})
			must(t, b.CreateTopic("orders", 3))
			must(t, b.Commit("simple", "orders", 1, 7, -1, "note"))
			_, err := b.Join("live", false, "orders")
			must(t, err)
			if modern {
				_, err := b.Join("modern", true, "orders")
				must(t, err)
			}
			for _, all := range []bool{false, true} {
				c := connect(t, b, 0)
				names := []string{"simple", "live", "modern", "never"}
				if all {
					names = nil
				}
				groups, ranges := describe(t, c, names...)
				g := one(t, groups, "simple")
				if e := g.Commits[key("orders", 1)]; g.Type != offsets.Simple || g.Existence != offsets.Exists || g.Active() || e.Offset != 7 ||
					e.Presence != offsets.Present || e.Metadata != "note" || e.Epoch != offsets.None {
					t.Errorf("simple = %+v", g)
				}
				if r := ranges.Range(key("orders", 1)); !r.Known() {
					t.Errorf("range = %+v", r)
				}
				g = one(t, groups, "live")
				if g.Type != offsets.Classic || !g.Active() || len(g.Members) != 1 || len(g.Members[0].Assigned) != 3 || g.Protocol != "consumer" {
					t.Errorf("live = %+v", g)
				}
				if modern {
					g = one(t, groups, "modern")
					if g.Type != offsets.Consumer || !g.Active() || len(g.Members) != 1 || len(g.Members[0].Assigned) != 3 || g.Epoch < 1 {
						t.Errorf("modern = %+v", g)
					}
				}
				if !all {
					if g := one(t, groups, "never"); g.Existence != offsets.Missing || g.Active() || len(g.Commits) != 0 || g.Trouble != nil {
						t.Errorf("never = %+v", g)
					}
				}
			}
		})
	}
}

func TestListGroupsSaysWhatOldBrokersCannot(t *testing.T) {
	for name, want := range map[string]struct {
		version *kversion.Versions
		state   string
		kind    offsets.GroupType
	}{
		"newest": {nil, "Empty", offsets.Simple},
		"2.8":    {kversion.V2_8_0(), "Empty", offsets.Simple},
		"1.1":    {kversion.V1_1_0(), "Unknown", offsets.Simple},
	} {
		t.Run(name, func(t *testing.T) {
			b := kafkatest.Start(t, kafkatest.Options{Version: want.version, Topics: map[string]int32{"orders": 1}})
			must(t, b.Commit("g", "orders", 0, 1, -1, ""))
			groups, troubles, err := connect(t, b, 0).ListGroups(within(t))
			must(t, err)
			if len(groups) != 1 || len(troubles) != 0 || groups[0].State != want.state || groups[0].Type != want.kind {
				t.Errorf("got %+v %+v", groups, troubles)
			}
		})
	}
}

// A group that DescribeGroups calls Dead on a broker that cannot say more is looked up in the list.
func TestDeadProvesNothing(t *testing.T) {
	b := kafkatest.Start(t, kafkatest.Options{Version: kversion.V3_9_0()})
	must(t, b.CreateTopic("orders", 1))
	must(t, b.Commit("g", "orders", 0, 1, -1, ""))
	b.Rewrite(kmsg.DescribeGroups.Int16(), func(_ int32, r kmsg.Response) bool {
		for i := range r.(*kmsg.DescribeGroupsResponse).Groups {
			r.(*kmsg.DescribeGroupsResponse).Groups[i].State = "Dead"
		}
		return true
	})
	groups, _, err := connect(t, b, 0).Groups(within(t), []string{"g", "never"}, nil)
	must(t, err)
	if g := one(t, groups, "g"); g.Existence != offsets.Exists || len(g.Notes) == 0 {
		t.Errorf("g = %+v", g)
	}
	if g := one(t, groups, "never"); g.Existence != offsets.Missing {
		t.Errorf("never = %+v", g)
	}
}

func TestUnknownGroupBudget(t *testing.T) {
	b := kafkatest.Start(t, kafkatest.Options{Topics: map[string]int32{"orders": 1}})
	c := connect(t, b, 0)
	groups, _ := describe(t, c, "never")
	if g := one(t, groups, "never"); g.Existence != offsets.Missing || g.State != "Dead" || g.Trouble != nil || b.Count() > 17 {
		t.Errorf("got %+v with %d requests", g, b.Count())
	}
}

// FindCoordinator would create the topic of the commits; a command that reads must not.
func TestFreshClusterIsLeftAlone(t *testing.T) {
	b := kafkatest.Start(t, kafkatest.Options{NoOffsetsTopic: true, Topics: map[string]int32{"orders": 1}})
	c := connect(t, b, 0)
	groups, _ := describe(t, c, "g")
	commits, trouble := c.Commits(within(t), "g", []offsets.Key{key("orders", 0)}, false)
	if g := one(t, groups, "g"); g.Existence != offsets.Missing || trouble != nil || len(commits) != 0 || b.Count(kmsg.FindCoordinator.Int16()) != 0 {
		t.Errorf("got %+v, %+v, %v, %d FindCoordinator", g, trouble, commits, b.Count(kmsg.FindCoordinator.Int16()))
	}
}

func TestGroupsSelectTopics(t *testing.T) {
	b := kafkatest.Start(t, kafkatest.Options{Topics: map[string]int32{"orders": 3, "bills": 1}})
	for p := range int32(3) {
		must(t, b.Commit("g", "orders", p, 5, -1, ""))
	}
	must(t, b.Commit("g", "bills", 0, 5, -1, ""))
	c := connect(t, b, 0)
	for _, x := range []struct {
		topics map[string][]int32
		want   int
	}{
		{nil, 4},
		{map[string][]int32{"orders": nil}, 3},
		{map[string][]int32{"orders": {0, 2, 9}}, 2},
		{map[string][]int32{"orders": {1}, "bills": nil}, 2},
		{map[string][]int32{"none": {0}}, 0},
		{map[string][]int32{"none": nil}, 0},
	} {
		groups, _, err := c.Groups(within(t), []string{"g"}, x.topics)
		must(t, err)
		if got := len(groups[0].Commits); got != x.want {
			t.Errorf("%v: %d commits, want %d", x.topics, got, x.want)
		}
	}
}

func TestGroupDenied(t *testing.T) {
	b := kafkatest.Start(t, kafkatest.Options{Topics: map[string]int32{"orders": 1}})
	must(t, b.Commit("g", "orders", 0, 5, -1, ""))
	must(t, b.Commit("h", "orders", 0, 5, -1, ""))
	b.DenyGroup("g")
	groups, _, err := connect(t, b, 0).Groups(within(t), []string{"g", "h"}, nil)
	must(t, err)
	g := one(t, groups, "g")
	if g.Trouble == nil || !g.Trouble.Denied || !strings.Contains(g.Trouble.Reason, "DESCRIBE on group g") || g.Entry(key("orders", 0)).Presence != offsets.Denied {
		t.Errorf("g = %+v", g)
	}
	if h := one(t, groups, "h"); h.Trouble != nil || len(h.Commits) != 1 {
		t.Errorf("h = %+v", h)
	}
}

// CON-11: the first answers send us on; that must never read as "no commits".
func TestCoordinatorMoves(t *testing.T) {
	for _, fault := range []kfake.Fault{
		{Keys: []kmsg.Key{kmsg.OffsetFetch}, Err: kerr.NotCoordinator},
		{Keys: []kmsg.Key{kmsg.OffsetFetch}, Err: kerr.CoordinatorLoadInProgress, Count: 2},
		{Keys: []kmsg.Key{kmsg.DescribeGroups}, Err: kerr.NotCoordinator},
		{Keys: []kmsg.Key{kmsg.FindCoordinator}, Err: kerr.CoordinatorNotAvailable, Count: 2},
	} {
		b := kafkatest.Start(t, kafkatest.Options{Topics: map[string]int32{"orders": 1}})
		must(t, b.Commit("g", "orders", 0, 5, -1, ""))
		h := b.Fake.Fault(fault)
		groups, _, err := connect(t, b, 0).Groups(within(t), []string{"g"}, nil)
		must(t, err)
		if g := groups[0]; g.Trouble != nil || g.Commits[key("orders", 0)].Offset != 5 || g.Existence != offsets.Exists || h.Hits() == 0 {
			t.Errorf("%v: got %+v after %d faults", fault, g, h.Hits())
		}
	}
}

// CON-11: a coordinator that has just taken over may show less than the one before it had acknowledged. That is no "no commits" either.
func TestNewCoordinatorIsLate(t *testing.T) {
	read := map[string]func(*kafkaops.Cluster) (offsets.Entry, *offsets.Trouble){
		"groups": func(c *kafkaops.Cluster) (offsets.Entry, *offsets.Trouble) {
			groups, _, err := c.Groups(within(t), []string{"g"}, nil)
			must(t, err)
			return groups[0].Commits[key("orders", 0)], groups[0].Trouble
		},
		"commits": func(c *kafkaops.Cluster) (offsets.Entry, *offsets.Trouble) {
			commits, trouble := c.Commits(within(t), "g", []offsets.Key{key("orders", 0)}, false)
			return commits[key("orders", 0)], trouble
		},
	}
	for name, read := range read {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := kafkatest.Start(t, kafkatest.Options{Topics: map[string]int32{"orders": 1}})
			must(t, b.Commit("g", "orders", 0, 5, -1, ""))
			var asked atomic.Int32
			b.Rewrite(kmsg.OffsetFetch.Int16(), func(_ int32, r kmsg.Response) bool {
				g := &r.(*kmsg.OffsetFetchResponse).Groups[0]
				switch asked.Add(1) {
				case 1:
					g.ErrorCode, g.Topics = kerr.NotCoordinator.Code, nil
				case 2:
					g.Topics = nil
				}
				return true
			})
			e, trouble := read(connect(t, b, 0))
			if trouble != nil || e.Offset != 5 {
				t.Errorf("got %+v, %v after %d questions", e, trouble, asked.Load())
			}
		})
	}
}

// CON-10: a coordinator that never comes is given up, with the likely cause.
func TestCoordinatorNeverComes(t *testing.T) {
	b := kafkatest.Start(t, kafkatest.Options{Topics: map[string]int32{"orders": 1}})
	b.Fake.Fault(kfake.Fault{Keys: []kmsg.Key{kmsg.FindCoordinator}, Err: kerr.CoordinatorNotAvailable, Count: -1})
	groups, _, err := connect(t, b, 0).Groups(within(t), []string{"g"}, nil)
	must(t, err)
	if tr := groups[0].Trouble; tr == nil || !strings.Contains(tr.Reason, "replication.factor") || groups[0].Existence != offsets.ExistenceUnknown {
		t.Errorf("got %+v", groups[0])
	}
}

// A broker that freezes, as coordinator, leader and first bootstrap address at once, is waited for once.
func TestFrozenBroker(t *testing.T) {
	b := kafkatest.Start(t, kafkatest.Options{})
	must(t, b.CreateTopic("orders", 6))
	id := ""
	for i := 0; id == ""; i++ {
		if g := fmt.Sprint("g", i); b.Fake.CoordinatorFor(g) == 0 {
			id = g
		}
	}
	other := ""
	for i := 0; other == ""; i++ {
		if g := fmt.Sprint("h", i); b.Fake.CoordinatorFor(g) == 1 {
			other = g
		}
	}
	for p := range int32(6) {
		must(t, b.Commit(id, "orders", p, 1, -1, ""))
		must(t, b.Commit(other, "orders", p, 1, -1, ""))
	}
	b.Freeze(0)
	const limit = time.Second
	c := connect(t, b, limit)
	start := time.Now()
	groups, ranges := describe(t, c, id, other)
	took := time.Since(start)
	if g := one(t, groups, id); g.Trouble == nil || !g.Trouble.Unreachable || !strings.Contains(g.Trouble.Reason, "did not answer within 1s") ||
		g.Entry(key("orders", 0)).Presence != offsets.Unreadable || g.Existence != offsets.ExistenceUnknown {
		t.Errorf("group of the frozen broker = %+v", g)
	}
	if g := one(t, groups, other); g.Trouble != nil || len(g.Commits) != 6 {
		t.Errorf("other group = %+v", g)
	}
	for p := range int32(6) {
		r := ranges.Range(key("orders", p))
		if frozen := p%3 == 0; r.Known() == frozen || frozen && !strings.Contains(r.Reason, "broker 0 (") || r.Gone() {
			t.Errorf("range of %d = %+v", p, r)
		}
	}
	if took > limit*3/2+2*time.Second { // generous: the bound itself is measured on a quiet machine
		t.Errorf("took %v", took)
	}
	t.Log("took", took)
	b.Thaw(0)
	c.NewLook()
	groups, _ = describe(t, c, id)
	if groups[0].Trouble != nil || len(groups[0].Commits) != 6 {
		t.Errorf("after the thaw: %+v", groups[0])
	}
}

func TestDeadBroker(t *testing.T) {
	b := kafkatest.Start(t, kafkatest.Options{})
	must(t, b.CreateTopic("orders", 3))
	must(t, b.Commit("g", "orders", 0, 1, -1, ""))
	dead := b.Fake.CoordinatorFor("g")
	b.Kill(dead)
	c := connect(t, b, 0)
	groups, troubles, err := c.Groups(within(t), nil, nil)
	must(t, err)
	if len(groups) != 0 || len(troubles) != 1 || !troubles[0].Unreachable || !strings.Contains(troubles[0].Reason, "refused") {
		t.Errorf("got %+v %+v", groups, troubles)
	}
	groups, _, err = c.Groups(within(t), []string{"g"}, nil)
	must(t, err)
	if tr := groups[0].Trouble; tr == nil || !tr.Unreachable {
		t.Errorf("got %+v", groups[0])
	}
	ranges, err := c.Ranges(within(t), []string{"orders"}, true)
	must(t, err)
	for p := range int32(3) {
		if r := ranges.Range(key("orders", p)); r.Known() == (p == dead) || r.Known() && r.Stable != 0 {
			t.Errorf("%d: %+v", p, r)
		}
	}
}

// CON-9: the bootstrap address answers, but what the broker advertises does not resolve.
func TestAdvertisedNameDoesNotResolve(t *testing.T) {
	b := kafkatest.Start(t, kafkatest.Options{Topics: map[string]int32{"orders": 1}})
	must(t, b.Commit("g", "orders", 0, 5, -1, ""))
	at := b.Fake.CoordinatorFor("g")
	b.Rewrite(kmsg.Metadata.Int16(), func(_ int32, r kmsg.Response) bool {
		for i, x := range r.(*kmsg.MetadataResponse).Brokers {
			if x.NodeID == at {
				r.(*kmsg.MetadataResponse).Brokers[i].Host = "c0ffee.invalid"
			}
		}
		return true
	})
	b.Rewrite(kmsg.FindCoordinator.Int16(), func(_ int32, r kmsg.Response) bool {
		for i := range r.(*kmsg.FindCoordinatorResponse).Coordinators {
			r.(*kmsg.FindCoordinatorResponse).Coordinators[i].Host = "c0ffee.invalid"
		}
		return true
	})
	c := kafkaops.New(kafkaops.Config{Bootstrap: []string{b.Addrs()[(at+1)%3]}})
	defer c.Close()
	groups, _, err := c.Groups(within(t), []string{"g"}, nil)
	must(t, err)
	tr := groups[0].Trouble
	if tr == nil || !tr.Unreachable || !strings.Contains(tr.Reason, `"c0ffee.invalid" does not resolve`) || !strings.Contains(tr.Reason, "answered, and names this address for broker 2") {
		t.Errorf("got %+v", tr)
	}
}

// Seven rounds: the dial, hello, coordinator, commits, metadata, offsets. The time is logged, not judged.
func TestRounds(t *testing.T) {
	b := kafkatest.Start(t, kafkatest.Options{Proxy: true})
	must(t, b.CreateTopic("orders", 1000))
	for p := range int32(1000) {
		must(t, b.Commit("g", "orders", p, 5, -1, ""))
	}
	for _, p := range b.Proxies {
		p.Delay(10 * time.Millisecond)
	}
	b.Reset()
	c := connect(t, b, 0)
	start := time.Now()
	groups, ranges := describe(t, c, "g")
	t.Log(time.Since(start))
	if len(groups[0].Commits) != 1000 || !ranges.Range(key("orders", 999)).Known() || b.Count() > 15 || b.Connections() != 3 {
		t.Errorf("%d requests over %d connections", b.Count(), b.Connections())
	}
}
