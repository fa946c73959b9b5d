package offsets

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"sort"
	"strings"
	"time"
)

// Origin names the cluster and the store that something was read from or is to be written to.
type Origin struct {
	Cluster   string // cluster id; "" if the broker does not tell
	Bootstrap string // address as given
	Source    string // where the address came from: a flag, a file, an environment variable
	Store     string // the store as given, without secrets; "" if none is named
}

// Snapshot is one look at the cluster and the store: commits and store were read before the ranges.
type Snapshot struct {
	Origin   Origin
	At       time.Time
	Stable   bool      // lag ends at the last stable offset (read_committed)
	Groups   []Group   // sorted by id
	Troubles []Trouble // brokers whose groups are missing from a list of all
	Unseen   []Unseen  // topics that were asked for by name, sorted

	From map[Key]Entry // what the group that a plan is made from has committed; nil if it is made from none
}

// Unseen is a topic of which nothing could be read, not even how many partitions it has, so that it has no rows.
type Unseen struct {
	Topic   string
	Trouble Trouble
}

// Group finds a group by its id.
func (s Snapshot) Group(id string) (Group, bool) {
	i, ok := slices.BinarySearchFunc(s.Groups, id, func(g Group, id string) int { return strings.Compare(g.ID, id) })
	if !ok {
		return Group{ID: id}, false
	}
	return s.Groups[i], true
}

// GroupType is Kafka's kind of a group.
type GroupType string

// The kinds. A simple group has commits, but never had members: its job assigns partitions by hand.
const (
	Classic     GroupType = "classic"
	Consumer    GroupType = "consumer" // KIP-848
	Share       GroupType = "share"
	Streams     GroupType = "streams"
	Simple      GroupType = "simple"
	TypeUnknown GroupType = "unknown"
)

// Existence says whether the cluster has a group of that name.
type Existence int

// The zero value says that it could not be found out.
const (
	ExistenceUnknown Existence = iota
	Exists
	Missing // the cluster says that there is none
)

// Trouble is why something could not be read.
type Trouble struct {
	Reason      string
	Unreachable bool // no answer from the broker or the store
	Denied      bool // a right is missing
	Login       bool // the credentials were refused
}

// Member is one member of a live group.
type Member struct {
	ID, InstanceID, ClientID, Host string
	Epoch                          int32 // None for classic groups
	Assigned                       []Key
}

// Group is one group as the cluster and the store know it.
type Group struct {
	ID              string
	Existence       Existence
	Type            GroupType
	State           string // Kafka's word (Stable, Empty, …); "" if not known
	Protocol        string // protocol type: "consumer", "connect", "share", …; "" for a simple group
	Assignor        string
	Epoch           int32  // group epoch, None for classic groups
	Coordinator     int32  // broker id, None if not known
	CoordinatorAddr string // where it is reached; "" if not known
	Members         []Member
	Shared          map[Key]Shared // of a share group: where each partition starts
	SharedReason    string         // why that is not known, "" if it is
	Trouble         *Trouble       // the cluster's side of this group could not be read
	Notes           []string       // what a falling back could not find out
	CommitsKept     time.Duration  // how long the coordinator keeps commits of a group that has no members; 0 if not asked, or not known
	Store           *Store         // nil if no store is named, or the group is judged without
	Unstored        string         // the place of the group in the named store, if it is judged without because nothing is there; else ""
	Rows            []Row          // sorted by Key
}

// Store is what the named store says about a group as a whole.
type Store struct {
	Path    string        // the place looked at
	Saved   time.Time     // newest save; zero if not known
	Ours    bool          // that was a write of this program, not the job
	Holder  string        // who holds the lock just now; "" if nobody
	Users   []string      // who works with it just now, where the store itself knows: consumers that Kafka does not list
	Notes   []string      // things ignored on the way, said once
	Damaged []Remains     // what was salvaged, as it was before: a save puts something else in its place
	Trouble *Trouble      // the store could not be read
	Topics  []StoredTopic // sorted by topic
}

// Remains is what lies in a damaged place of a store.
type Remains struct {
	Path    string
	Content []byte
}

// Nothing reports that nothing of the group is in the store, as far as was looked: neither an entry nor a trace of one.
func (s *Store) Nothing() bool {
	return s.Trouble == nil && s.Saved.IsZero() && s.Holder == "" && len(s.Users) == 0 && len(s.Notes) == 0 && !s.holds()
}

// holds reports that the store has a place for any topic of the group, whatever is in it.
func (s *Store) holds() bool {
	return slices.ContainsFunc(s.Topics, func(t StoredTopic) bool { return t.Presence != Absent })
}

// StoredTopic is the place of one topic in the store.
type StoredTopic struct {
	Topic    string
	Path     string
	Presence Presence // of the place as a whole
	Reason   string
	InTheWay string // what lies where the entry would be, and is none: moved away, there is no entry; "" if nothing does
	Whole    bool   // proven complete
	Salvaged bool   // it was damaged, and what was left of it was read: a save makes it whole again
	Token    string // stands for the content that was read; a save compares it
	Highest  int32  // largest partition with an entry, None if there is none
	Bare     bool   // a file without headers: with no entry it would be empty, which is damaged
	Entries  int    // how many there are; 0 where that is not told
}

// Topic finds the place of a topic.
func (s *Store) Topic(name string) (StoredTopic, bool) {
	if s == nil {
		return StoredTopic{}, false
	}
	i, ok := slices.BinarySearchFunc(s.Topics, name, StoredTopic.compare)
	if !ok {
		return StoredTopic{}, false
	}
	return s.Topics[i], true
}

// Put takes over what is known of a topic, in place of what was.
func (s *Store) Put(t StoredTopic) {
	i, ok := slices.BinarySearchFunc(s.Topics, t.Topic, StoredTopic.compare)
	if ok {
		s.Topics[i] = t
		return
	}
	s.Topics = append(s.Topics, t)
	copy(s.Topics[i+1:], s.Topics[i:])
	s.Topics[i] = t
}

func (t StoredTopic) compare(name string) int { return strings.Compare(t.Topic, name) }

// Row is one partition of a group.
type Row struct {
	Key
	Range     Range
	Committed Entry
	Stored    Entry   // Absent throughout when no store is named
	Owner     string  // member id that it is assigned to; "" if none
	Shared    *Shared // of a share group
	Timing    *Timing // nil unless it was measured
	Pace      *Pace   // nil without an earlier look
}

// Entry returns what the given side says.
func (r Row) Entry(s Side) Entry {
	if s == Stored {
		return r.Stored
	}
	return r.Committed
}

// Row finds a partition.
func (g *Group) Row(k Key) (Row, bool) {
	i, ok := slices.BinarySearchFunc(g.Rows, k, func(r Row, k Key) int { return r.Key.Compare(k) })
	if !ok {
		return Row{Key: k}, false
	}
	return g.Rows[i], true
}

// Nowhere reports that neither the cluster nor the named store knows the group. Of a group that could not be looked for nobody can tell.
func (g *Group) Nowhere() bool {
	nameless := g.ID == "" && g.Existence != Exists && !slices.ContainsFunc(g.Rows, func(r Row) bool { return r.Committed.Presence != Absent })
	return g.Trouble == nil && (g.Existence == Missing || nameless) && (g.Store == nil || g.Store.Trouble == nil && !g.Store.holds())
}

// Nothing reports a group that is there, of which neither the named store nor Kafka has an offset: it has no partition that could be not ok.
func (g *Group) Nothing() bool {
	return len(g.Rows) == 0 && g.Trouble == nil && (g.Store == nil || g.Store.Trouble == nil) && !g.Nowhere()
}

// Unheard reports a partition that was named, and of which neither the cluster nor either side has anything.
func (r *Row) Unheard() bool {
	return r.Range.Gone() && r.Committed.Presence == Absent && r.Stored.Presence == Absent
}

// Placed reports whether the group has, or may have, an offset of any of its partitions here, or an owner: topics that were named have
// partitions all the same.
func (g *Group) Placed() bool {
	for i := range g.Rows {
		r := &g.Rows[i]
		if r.Committed.Presence != Absent || r.Stored.Presence != Absent || r.Owner != "" || r.Shared != nil {
			return true
		}
	}
	return false
}

// unplaced reports a group judged without a store that has no place in what was looked at.
func (g *Group) unplaced() bool {
	there := slices.ContainsFunc(g.Rows, func(r Row) bool { return !r.Unheard() }) // of what does not exist nothing can be said
	return there && g.Store == nil && g.Type != Share && g.Trouble == nil && !g.Placed()
}

// Bare says what is not there of a group without partitions.
func (g *Group) Bare() string {
	switch {
	case g.Store != nil:
		return fmt.Sprintf("no offset is in the store (looked at %s), and none is committed", g.Store.Path)
	case g.Type == Share:
		return "the brokers keep no state of this share group"
	}
	return "no offset is committed, and no partition assigned"
}

// Active reports whether members are in the group, or may be: a state that we do not know for sure to be idle counts, and so do
// consumers that only the store knows.
func (g *Group) Active() bool {
	if len(g.Members) > 0 || len(g.users()) > 0 {
		return true
	}
	switch g.State {
	case "Empty", "Dead", "":
		return false
	}
	return true
}

// Locked reports whether somebody holds the lock of the group's store: a job may hold it for as long as it runs.
func (g *Group) Locked() bool { return g.Store != nil && g.Store.Holder != "" }

// Touched reports whether the group has a commit, an entry or an assignment in any row.
func (g *Group) Touched() bool {
	return slices.ContainsFunc(g.Rows, func(r Row) bool {
		return r.Owner != "" || r.Shared != nil && r.Shared.Start != None || r.Committed.Presence == Present || r.Committed.Pending || r.Stored.Presence != Absent
	})
}

// High lists the partitions with an offset above the end on either side.
func (s Snapshot) High() []Key {
	keys := map[Key]bool{}
	for _, g := range s.Groups {
		for i := range g.Rows {
			r := &g.Rows[i]
			if judge(&r.Committed, &r.Range, s.Origin.Cluster).Condition == High || judge(&r.Stored, &r.Range, s.Origin.Cluster).Condition == High {
				keys[r.Key] = true
			}
		}
	}
	return SortKeys(slices.Collect(maps.Keys(keys)))
}

// Remeasured replaces the ranges of the given partitions by newer ones. A newer look that failed does not hide the older one.
func (s Snapshot) Remeasured(ranges map[Key]Range) {
	for _, g := range s.Groups {
		for i, r := range g.Rows {
			if again, ok := ranges[r.Key]; ok && again.Known() {
				g.Rows[i].Range = again
			}
		}
	}
}

// Repair is what clamp would have to do with a group, and what it would have to be told.
type Repair struct {
	Sides                               []Side // on which an offset is out of range, or its topic was recreated
	Recreated, Foreign, Damaged, Denied bool   // there is such an entry
}

// Repairs says what clamp would have to do.
func (g *Group) Repairs(cluster string) Repair {
	var need Repair
	for _, side := range []Side{Stored, Committed} {
		found := false
		for i := range g.Rows {
			r := &g.Rows[i]
			e := r.Entry(side)
			s := Judge(e, r.Range, cluster)
			if r.Range.Gone() {
				continue
			}
			found = found || s.Condition == Low || e.negative() || s.Condition == High || s.Identity == Recreated
			need.Recreated = need.Recreated || s.Identity == Recreated
			need.Foreign = need.Foreign || s.Foreign
			need.Damaged = need.Damaged || side == Stored && (e.Presence == Damaged || e.Presence == Empty)
			need.Denied = need.Denied || side == Stored && e.Presence == Denied
		}
		if found {
			need.Sides = append(need.Sides, side)
		}
	}
	return need
}

// Safe selects the partitions of which a restart from the commits would pass over records that the store says were not processed,
// if there are any, and those whose entry in the store is low. Going to the smaller of stored and committed mends all of them, and moves
// no entry of the store back: there the smaller one is the store's. asked is what the look was held to.
func (g *Group) Safe(cluster string, asked []Selection) []Selection {
	some := false
	safe := g.Select(asked, func(r *Row) bool {
		j := JudgeRow(r, cluster, true)
		n, ok := j.Unprocessed()
		some = some || ok && n > 0
		return ok && (n > 0 || j.Stored.Condition == Low && n == 0)
	})
	if !some {
		return nil
	}
	return safe
}

// Select selects the rows for which f holds; a topic all of whose partitions are among them by its name alone, unless partitions of
// it were asked for: then there are others.
func (g *Group) Select(asked []Selection, f func(*Row) bool) []Selection {
	var all []Selection
	of := map[string]int{}
	for i := range g.Rows {
		r := &g.Rows[i]
		of[r.Topic]++
		if !f(r) {
			continue
		}
		if n := len(all); n == 0 || all[n-1].Topic != r.Topic {
			all = append(all, Selection{Topic: r.Topic})
		}
		last := &all[len(all)-1]
		last.Partitions = append(last.Partitions, r.Partition)
	}
	for i, s := range all {
		parts := slices.ContainsFunc(asked, func(a Selection) bool { return a.Topic == s.Topic && len(a.Partitions) > 0 })
		if len(s.Partitions) == of[s.Topic] && !parts {
			all[i].Partitions = nil // all of them
		}
	}
	return all
}

// Held reports which sides have anything for any of the groups; an entry that cannot be read is there too.
func (s Snapshot) Held() (stored, committed bool) {
	for _, g := range s.Groups {
		for _, r := range g.Rows {
			stored = stored || r.Stored.Presence != Absent
			committed = committed || r.Committed.Presence != Absent
		}
	}
	return stored, committed
}

// Read replaces what one side says in every row by what was read now. g.Rows must be the caller's own.
func (g *Group) Read(side Side, entries map[Key]Entry) {
	for i, r := range g.Rows {
		if side == Stored {
			g.Rows[i].Stored = g.entry(entries, r.Key)
		} else {
			g.Rows[i].Committed = g.commit(entries, r.Key)
		}
	}
}

// Again is the group as it was looked at, with what was read of it since: facts, members and commits. A commit of a partition that was
// not looked at has a row without a range.
func (g Group) Again(now Group, commits map[Key]Entry) Group {
	now.CommitsKept, now.Store, now.Unstored, now.Rows = g.CommitsKept, g.Store, g.Unstored, slices.Clone(g.Rows)
	for k := range commits {
		if _, found := g.Row(k); !found {
			now.Rows = append(now.Rows, Row{Key: k, Range: (Topic{}).Range(k.Partition)})
		}
	}
	sort.Slice(now.Rows, func(i, j int) bool { return now.Rows[i].Key.Compare(now.Rows[j].Key) < 0 })
	now.Read(Committed, commits)
	return now
}

// Moved says, in words, what differs between two looks at the same groups on either side. A store that was saved anew counts, whatever
// stands in it. A group that could not be read, or is not there any more, has nothing to be compared.
func Moved(before, after Snapshot) []string {
	var moved []string
	for _, g := range before.Groups {
		now, seen := after.Group(g.ID)
		if !seen || g.Trouble != nil || now.Trouble != nil {
			continue
		}
		stored := false
		for _, k := range (Snapshot{Groups: []Group{g, now}}).Keys() {
			was, _ := g.Row(k)
			is, _ := now.Row(k)
			for _, side := range []Side{Stored, Committed} {
				from, to := standing(was.Entry(side)), standing(is.Entry(side))
				if from != to {
					moved = append(moved, fmt.Sprintf("%s %s of group %q went from %s to %s", k, side, g.ID, from, to))
					stored = stored || side == Stored
				}
			}
		}
		if !stored && g.Store != nil && now.Store != nil && now.Store.Saved.After(g.Store.Saved) {
			moved = append(moved, fmt.Sprintf("the store of group %q was saved anew", g.ID))
		}
	}
	return moved
}

// standing is what an entry says, to be compared.
func standing(e Entry) string {
	if e.Problem() {
		return e.Presence.String()
	}
	return number(ValueOf(e).Offset)
}

// Unread says what of the store could not be read, so that nobody knows whether it moved; "" if all could. What is damaged was read.
func Unread(s Snapshot) string {
	for _, g := range s.Groups {
		if g.Store != nil && g.Store.Trouble != nil {
			return g.unread()
		}
		for _, r := range g.Rows {
			if e := r.Stored; e.Problem() && e.Presence != Damaged && e.Presence != Empty {
				return fmt.Sprintf("%s stored of group %q: %s", r.Key, g.ID, cmp.Or(e.Reason, e.Presence.String()))
			}
		}
	}
	return ""
}

// Troubled takes over what kept groups from being read in another look: what was not seen there is not known.
func (s Snapshot) Troubled(other Snapshot) Snapshot {
	for i := range s.Groups {
		if g, _ := other.Group(s.Groups[i].ID); s.Groups[i].Trouble == nil {
			s.Groups[i].Trouble = g.Trouble
		}
	}
	return s
}

// Keys lists every partition of the snapshot, sorted, each once.
func (s Snapshot) Keys() []Key {
	keys := map[Key]bool{}
	for _, g := range s.Groups {
		for _, r := range g.Rows {
			keys[r.Key] = true
		}
	}
	return SortKeys(slices.Collect(maps.Keys(keys)))
}
