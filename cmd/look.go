package cmd

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"sort"
	"strings"
	"time"

	"gtoffset/kafkaops"
	"gtoffset/kafkaops/offsets"
	"gtoffset/offsetfile"
)

// session is what a command talks to: made late, so that help and usage errors open nothing.
type session struct {
	cluster *kafkaops.Cluster
	store   offsetfile.Store // nil if none is named
	user    string           // who logs in to the cluster, as far as it is known
	away    *offsets.Trouble // the store did not answer in this look, and is asked no more in it
	stored  map[string]bool  // the groups that the store has something of, when it has listed them; nil of one that names none
	origin  offsets.Origin
	note    func(format string, args ...any) // says on stderr what was passed over; nil says nothing, as in a completion
}

func (g *global) openStore() (offsetfile.Store, error) {
	return openStore(g.store, g.env.Getenv, offsetfile.Options{Holder: g.command, Hook: g.env.Step, Log: g.log(), Create: g.createTable})
}

// open opens the store and makes the cluster; the first request connects.
func (g *global) open() (*session, error) {
	if g.session != nil {
		return g.session, nil
	}
	c, err := g.connection()
	if err != nil {
		return nil, err
	}
	s := &session{user: c.User, note: g.note, origin: offsets.Origin{Bootstrap: strings.Join(c.Bootstrap, ","), Source: c.Source}}
	if g.store != "" {
		if s.store, err = interruptible(g.soft, g.openStore); err != nil {
			return nil, err
		}
		s.origin.Store = s.store.Name()
	}
	g.noteUnread()
	s.cluster = kafkaops.New(kafkaops.Config{Bootstrap: c.Bootstrap, Wire: c.Wire})
	g.session = s
	return s, nil
}

func (g *global) close() {
	if g.session == nil {
		return
	}
	g.session.cluster.Close()
	if g.session.store != nil {
		_ = g.session.store.Close() // nothing is under way any more
	}
}

// connect makes sure that this is the cluster that was meant.
func (g *global) connect(ctx context.Context) (*session, error) {
	s, err := g.open()
	if err != nil {
		return nil, err
	}
	if err := s.cluster.Connect(ctx); err != nil {
		return nil, err
	}
	s.origin.Cluster = s.cluster.ID()
	if g.expectCluster != "" && g.expectCluster != s.origin.Cluster {
		return nil, &problem{
			code: exitRefused, causes: []cause{causeCluster}, text: fmt.Sprintf("this is cluster %s (%s), not %s", s.origin.Cluster, s.origin.Bootstrap, g.expectCluster),
			hint: "check the address, or --expect-cluster",
		}
	}
	return s, nil
}

// lookOptions are what differs between one look and another.
type lookOptions struct {
	stable  bool          // lag to the last stable offset
	salvage bool          // read what is left of a damaged entry
	settle  time.Duration // how long to wait before a high verdict is measured a last time; 0: not again
	epochs  bool          // ask about leader epochs that may send consumers back
	sparing bool          // of several groups, judge those without that have nothing in the store
	times   bool          // measure how old the next records are, and how long they stay
	firsts  bool          // of named groups and topics, ask whether a first commit is pending
	whole   bool          // of groups, whether one is pending anywhere
}

// look takes a snapshot: commits and store first, then the ranges, so that a busy topic does not look overrun.
func (g *global) look(ctx context.Context, sc *scope, o lookOptions) (offsets.Snapshot, error) {
	shot, err := g.lookWithin(ctx, sc, o)
	if ctx.Err() != nil { // an interrupt would show as brokers that do not answer
		return shot, ctx.Err()
	}
	return shot, err
}

func (g *global) lookWithin(ctx context.Context, sc *scope, o lookOptions) (offsets.Snapshot, error) {
	interrupt := ctx
	ctx, cancel := context.WithTimeout(ctx, time.Duration(g.timeout))
	defer cancel()
	s, err := g.connect(ctx)
	if err != nil {
		return offsets.Snapshot{}, err
	}
	s.cluster.NewLook()
	s.away = nil
	shot := offsets.Snapshot{Origin: s.origin, At: g.env.Now(), Stable: o.stable}

	groups, troubles, err := s.groups(ctx, sc)
	if err != nil {
		return shot, err
	}
	if sc.pattern != nil && len(groups) == 0 && len(troubles) == 0 {
		return shot, &problem{code: exitFailed, causes: []cause{causeMissing}, text: fmt.Sprintf("no group matches %q", sc.regex), hint: g.typed("describe") + " lists the groups; the whole name must match"}
	}
	shot.Troubles = troubles
	held := make([]offsetfile.Holding, len(groups))
	if s.store != nil {
		if s.store.Can().Nameless && (sc.listed() || len(groups) != 1) {
			return shot, usage(fmt.Sprintf("store %s names no group: what it has is of one", s.store.Name()), "name that group alone, with -g")
		}
		if err := s.loadStored(ctx, sc, o, groups, held); err != nil {
			return shot, err
		}
		if o.sparing && s.away == nil && sc.several() {
			s.spare(ctx, sc, groups, held)
		}
	}
	s.firstsAnywhere(ctx, sc, o, groups)
	var topics []string
	topicsOf := make([][]string, len(groups))
	for i, gc := range groups {
		topicsOf[i] = offsets.Topics(gc.Commits, held[i].Entries, gc.Group, sc.selections)
		topics = append(topics, topicsOf[i]...)
	}
	slices.Sort(topics)
	ranges, err := s.cluster.Ranges(ctx, slices.Compact(topics), o.stable)
	if err != nil {
		return shot, err
	}
	s.firstsOf(ctx, sc, o, groups, topicsOf, ranges)
	joined, err := interruptible(interrupt, func() ([]offsets.Group, error) {
		joined := make([]offsets.Group, len(groups))
		offsets.Each(len(groups), func(i int) {
			joined[i] = offsets.Join(groups[i].Group, groups[i].Commits, held[i].Entries, ranges.Topics, sc.selections)
			groups[i].Commits, held[i].Entries = nil, nil // of many groups they take as much as the rows
		})
		return joined, nil
	})
	if err != nil {
		return shot, err
	}
	for _, g := range joined {
		if !sc.listed() || len(sc.selections) == 0 || g.Touched() { // else it has nothing to do with the topics
			shot.Groups = append(shot.Groups, g)
		}
	}
	if len(shot.Groups) == 0 && len(groups) > 0 { // as what was named has no group: it may be misspelled
		if p := g.notThere(ranges, sc.keys(), nil); p != nil {
			p.hint = cmp.Or(p.hint, g.kafkaTool("kafka-topics.sh", "--list")+" shows those that do")
			return shot, p
		}
	}
	for _, name := range sc.topicNames() {
		if t := ranges.Topics[name]; t.Trouble != nil && len(t.Ranges) == 0 {
			shot.Unseen = append(shot.Unseen, offsets.Unseen{Topic: name, Trouble: *t.Trouble})
		}
	}
	if err := s.measureHighAgain(ctx, &shot, o); err != nil {
		return shot, err
	}
	s.measureMore(ctx, shot, o)
	return shot, nil
}

// firstsAnywhere asks of groups that are deleted whole whether a first commit is pending in any topic, and of named ones that have
// none, and nobody to commit one.
func (s *session) firstsAnywhere(ctx context.Context, sc *scope, o lookOptions, groups []kafkaops.GroupCommits) {
	if !o.whole {
		if !o.asksFirsts(sc) || len(sc.selections) > 0 {
			return
		}
		groups = slices.DeleteFunc(slices.Clone(groups), func(g kafkaops.GroupCommits) bool {
			return len(g.Commits) > 0 || g.Active() || g.Type == offsets.Share || g.Existence != offsets.Exists
		})
	}
	if len(groups) > 0 {
		s.cluster.PendingAnywhere(ctx, groups)
	}
}

// firstsOf asks of named groups whether a first commit is pending in topics that are named as a whole; and of one alone, where none are, in
// all its topics: of many, or each time of a live one, these would be too many requests.
func (s *session) firstsOf(ctx context.Context, sc *scope, o lookOptions, groups []kafkaops.GroupCommits, topics [][]string, known kafkaops.Ranges) {
	alone := len(groups) == 1 && !sc.several() && !o.whole && len(groups[0].Commits) > 0 && !groups[0].Active()
	if !o.asksFirsts(sc) || len(sc.selections) == 0 && !alone {
		return
	}
	for i := range groups {
		topics[i] = slices.DeleteFunc(topics[i], sc.partly) // these were asked for by number
	}
	s.cluster.FirstPending(ctx, groups, topics, known)
}

// asksFirsts reports a look at named groups that wants to know of first commits that are pending.
func (o lookOptions) asksFirsts(sc *scope) bool { return o.firsts && !sc.listed() && !sc.groupless }

// loadStored reads what the store has of each group. A store that is away is said of each of them, and asked no more in this look;
// what the cluster says is shown all the same.
func (s *session) loadStored(ctx context.Context, sc *scope, o lookOptions, groups []kafkaops.GroupCommits, held []offsetfile.Holding) error {
	whole := ctx
	ctx, cancel := halfOf(ctx)
	defer cancel()
	topics := sc.topicNames()
	for i := range groups {
		if s.away == nil {
			var err error
			held[i], err = s.store.Load(ctx, groups[i].ID, topics, o.salvage)
			nothing := new(offsetfile.NothingError)
			switch s.away = storeAway(err); {
			case err == nil || s.away != nil:
			case errors.As(err, &nothing) || !sc.listed() || whole.Err() != nil:
				return err
			default: // one name without a place must not hide the other groups
				held[i].Store.Trouble = &offsets.Trouble{Reason: err.Error()}
			}
		}
		if s.away != nil {
			held[i].Store.Trouble = s.away
		}
		groups[i].Store = &held[i].Store
	}
	return nil
}

// spare judges the groups without the store of which it has nothing: their jobs do not keep their place there. A store that has nothing
// of any group is hardly the one that was meant, and is held against all of them.
func (s *session) spare(ctx context.Context, sc *scope, groups []kafkaops.GroupCommits, held []offsetfile.Holding) {
	var bare []int
	for i := range groups {
		if held[i].Store.Nothing() && (len(sc.selections) == 0 || s.hasNothing(ctx, groups[i].ID)) {
			bare = append(bare, i)
		}
	}
	if len(bare) == len(groups) {
		if any, _, err := s.store.Groups(ctx); err != nil || len(any) == 0 {
			return
		}
	}
	for _, i := range bare {
		groups[i].Unstored, groups[i].Store = held[i].Store.Path, nil
	}
}

// hasNothing reports that the store has no topic of a group, whichever were asked for.
func (s *session) hasNothing(ctx context.Context, group string) bool {
	all, err := s.store.Load(ctx, group, nil, false)
	return err == nil && all.Store.Nothing()
}

// awayFrom is the error of a write whose look did not reach the store.
func (s *session) awayFrom() error {
	if s.away == nil {
		return nil
	}
	p := &problem{code: exitUnreachable, text: s.away.Reason + "; nothing was written", hint: "--timeout 60s waits longer; --committed without -s writes commits only"}
	if s.away.Login {
		p.hint, p.causes = storeLogin, []cause{causeAuthentication}
	}
	return p
}

// halfOf leaves half of the time that is left to what comes after: the cluster is asked for ranges when a store did not answer.
func halfOf(ctx context.Context) (context.Context, context.CancelFunc) {
	deadline, ok := ctx.Deadline()
	if !ok {
		return ctx, func() {}
	}
	return context.WithTimeout(ctx, time.Until(deadline)/2)
}

// storeAway is the trouble of a store that was not reached, or refused our credentials; nil for any other error.
func storeAway(err error) *offsets.Trouble {
	var away *offsetfile.AwayError
	var credentials *offsetfile.CredentialsError
	if errors.As(err, &away) || errors.As(err, &credentials) {
		return &offsets.Trouble{Reason: err.Error(), Unreachable: true, Login: credentials != nil}
	}
	return nil
}

// groups reads the group facts and commits of the scope, sorted by id. A group that only the store knows is among those that
// come from a list.
func (s *session) groups(ctx context.Context, sc *scope) ([]kafkaops.GroupCommits, []offsets.Trouble, error) {
	if sc.groupless {
		return []kafkaops.GroupCommits{{}}, nil, nil
	}
	names := sc.groups
	var listTroubles []offsets.Trouble
	switch {
	case sc.all && sc.kinds == nil:
		names = nil
	case sc.listed():
		listed, troubles, err := s.cluster.ListGroups(ctx)
		if err != nil {
			return nil, nil, err
		}
		listTroubles = troubles
		names = []string{}
		for _, g := range listed {
			if sc.takes(g.ID) && sc.ofKind(g.Type) {
				names = append(names, g.ID)
			}
		}
	}
	groups, troubles, err := s.cluster.Groups(ctx, names, partitionsOf(sc.selections))
	if err != nil {
		return nil, nil, err
	}
	troubles = append(listTroubles, troubles...)
	if sc.listed() {
		groups, err = withStored(ctx, s, groups, len(troubles) == 0, func(g *kafkaops.GroupCommits) *offsets.Group { return &g.Group })
		switch s.away = storeAway(err); {
		case s.away != nil:
			troubles = append(troubles, *s.away)
		case err != nil:
			return nil, nil, err
		}
		groups = slices.DeleteFunc(groups, func(g kafkaops.GroupCommits) bool { return !sc.takes(g.ID) })
	}
	return groups, troubles, nil
}

// partitionsOf is the scope's topics as the cluster is asked for them; nil asks for all topics of a group.
func partitionsOf(selections []offsets.Selection) map[string][]int32 {
	if len(selections) == 0 {
		return nil
	}
	topics := map[string][]int32{}
	for _, s := range selections {
		if have, twice := topics[s.Topic]; twice && (have == nil || s.Partitions == nil) {
			topics[s.Topic] = nil // all of it
			continue
		}
		topics[s.Topic] = append(topics[s.Topic], s.Partitions...)
	}
	return topics
}

// measureHighAgain reads the range of each high partition once more: a follower's end, or one read a moment too early, must not
// make an offset look too large.
func (s *session) measureHighAgain(ctx context.Context, shot *offsets.Snapshot, o lookOptions) error {
	high := shot.High()
	if len(high) == 0 {
		return nil
	}
	if o.settle > 0 {
		if err := wait(ctx, o.settle); err != nil {
			return err
		}
	}
	again, err := s.cluster.Remeasure(ctx, high, o.stable)
	if err != nil {
		return err
	}
	shot.Remeasured(again)
	return nil
}

// withStored adds to the groups of the cluster those that only the store knows, and sorts them by id. whole tells that the cluster has
// named all that it has. With an error they are those of the cluster.
func withStored[G any](ctx context.Context, s *session, groups []G, whole bool, group func(*G) *offsets.Group) ([]G, error) {
	known := map[string]bool{}
	for i := range groups {
		known[group(&groups[i]).ID] = true
	}
	only, err := s.onlyStored(ctx, known, whole)
	for _, g := range only {
		var one G
		*group(&one) = g
		groups = append(groups, one)
	}
	sort.Slice(groups, func(i, j int) bool { return group(&groups[i]).ID < group(&groups[j]).ID })
	return groups, err
}

// itself is what a group of a list is for withStored.
func itself(g *offsets.Group) *offsets.Group { return g }

// onlyStored are the groups that the store knows and the cluster does not. They are missing from the cluster if the list of its groups
// is whole.
func (s *session) onlyStored(ctx context.Context, known map[string]bool, whole bool) ([]offsets.Group, error) {
	if s.store == nil {
		return nil, nil
	}
	ctx, cancel := halfOf(ctx)
	defer cancel()
	stored, notes, err := s.store.Groups(ctx)
	if err != nil {
		return nil, err
	}
	if s.note != nil {
		for _, n := range notes {
			s.note("store %s: %s", s.store.Name(), n)
		}
		s.note = nil // once is enough, also while it is watched
	}
	var groups []offsets.Group
	if !s.store.Can().Nameless {
		s.stored = make(map[string]bool, len(stored))
	}
	for _, name := range stored {
		s.stored[name] = true
		if known[name] {
			continue
		}
		only := offsets.Group{ID: name, Type: offsets.TypeUnknown, Epoch: offsets.None, Coordinator: offsets.None}
		if whole {
			only.Existence = offsets.Missing
		}
		groups = append(groups, only)
	}
	return groups, nil
}
