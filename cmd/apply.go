package cmd

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"gtoffset/kafkaops/offsets"
	"gtoffset/offsetfile"
	"gtoffset/offsetfile/exchange"
	"gtoffset/output"
)

// road holds the flags of the one road that every write takes.
type road struct {
	command     string
	execute     bool
	dryRun      bool
	check       bool
	partial     bool
	create      bool
	createTable bool
	salvage     bool
	waitEmpty   span
	idle        span
	backupDir   string
	noBackup    bool
	why         string
	document    bool                     // the rows come from a document, and those that are gone are refused one by one
	stable      bool                     // what belongs to open transactions is not there yet
	epochs      bool                     // leader epochs that may send consumers back are told of
	file        string                   // of reset --from-file
	whole       bool                     // groups are deleted with all that they have
	home        func(here string) string // what imports a document into the cluster that it is of
	sparing     bool                     // of listed groups, those of which the store has nothing are left as they are

	// long takes the place of the one write: it writes many times, and leaves in the plan what came of it. stdout is then not the
	// plan's, and the plan is not kept: the same command goes on.
	long func(context.Context, *writing) error
}

// roadHelp is what the help of each command on the road ends with.
const roadHelp = `

The plan is shown first, and asked about; a script says --execute or --dry-run. A backup is saved, what was written is read back, and the
line that undoes it is printed.`

func (r *road) flags(c *cobra.Command) {
	c.Long += roadHelp
	r.writeFlags(c)
	formats(c, output.Table, output.JSON, output.YAML)
}

func (r *road) writeFlags(c *cobra.Command) {
	f := c.Flags()
	f.BoolVar(&r.execute, "execute", false, "write without asking")
	f.BoolVar(&r.dryRun, "dry-run", false, "only show the plan")
	f.BoolVar(&r.check, "check", false, "only plan, and exit 10 if there is something to do")
	f.BoolVar(&r.partial, "partial", false, "write what is not refused, and exit 3")
	f.Var(&r.waitEmpty, "wait-empty", "wait up to `DURATION` for the members of an active group to leave")
	f.Var(&r.idle, "idle", "watch all of the group, on both sides, for `DURATION` and refuse if anything moves: a job that assigns partitions by hand shows no members")
	f.StringVar(&r.backupDir, "backup-dir", "", "`FOLDER` for backups and plans (default $XDG_STATE_HOME/gtoffset)")
	f.BoolVar(&r.noBackup, "no-backup", false, "save no backup; the plan is saved all the same")
	f.StringVar(&r.why, "why", "", "a `REASON` to keep in the backup")
}

// createFlag is for the commands that can commit for a group which does not exist yet.
func (r *road) createFlag(c *cobra.Command) {
	c.Flags().BoolVar(&r.create, "create", false, "commit for a group that does not exist yet")
	c.Flags().BoolVar(&r.createTable, "create-table", false, "make what the store's entries are kept in (a table, a root), if it is missing")
}

// watches reports whether the run waits for who holds the store's lock, or looks whether the store moves.
func (r *road) watches() bool { return r.waitEmpty > 0 || r.idle > 0 }

// validate checks the flags against each other, and that somebody can consent.
func (r *road) validate(g *global) error {
	r.dryRun = r.dryRun || r.check
	g.createTable = r.createTable
	switch {
	case r.execute && r.dryRun:
		return usage("--execute and --dry-run (or --check) exclude each other", "say --execute to write, --dry-run to look")
	case !r.execute && !r.dryRun && !g.env.mayAsk():
		return usage("nobody can be asked here: stdin and stderr are no terminals, or CI is set; nothing was written", "add --execute to write, or --dry-run to look")
	case !r.dryRun:
		_, err := backupDir(g.env, r.backupDir)
		return err
	}
	return nil
}

// writing is one run of the road.
type writing struct {
	g      *global
	road   road
	scope  *scope
	plan   offsets.Plan
	fresh  offsets.Snapshot
	locks  map[string]offsetfile.Writer // by group
	saved  string                       // where the plan is kept
	taken  time.Time                    // when the backup was saved
	backed int                          // how many offsets it has
	inVain bool                         // members were waited for, and are still there
	away   bool                         // the store did not answer when it was read back
}

// A planner is the thinking of a command: what it makes of a snapshot.
type planner func(context.Context, offsets.Snapshot) (offsets.Plan, error)

// apply takes a write from the first look to the line that undoes it. build is the thinking; nothing else in the program writes.
func (g *global) apply(ctx context.Context, sc *scope, r road, build planner) (err error) {
	w := &writing{g: g, road: r, scope: sc, locks: map[string]offsetfile.Writer{}}
	g.unwritten = true
	shot, err := w.propose(ctx, build)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, w.untold(w.document())) }()
	if !r.dryRun {
		tellOfPipes() // whoever reads stdout may have seen enough, as head has: what is written, or is not, has to be told all the same
	}

	if err := w.showPlan(ctx); err != nil {
		return err
	}
	if r.dryRun {
		return w.dryRun(shot)
	}
	if err := w.refused(shot, w.plan); err != nil {
		return err
	}
	if w.plan.ToDo() == 0 {
		return w.leftOut(shot, w.plan)
	}
	if err := w.consent(ctx, shot); err != nil {
		return err
	}
	defer w.unlock()
	if err := w.freshLook(ctx, shot); err != nil {
		return err
	}
	if w.plan.ToDo() == 0 {
		return errors.Join(w.results(), w.leftOut(shot, w.plan))
	}
	if err := w.save(); err != nil {
		return err
	}
	if err := w.lastRead(ctx); err != nil {
		return err
	}
	if w.plan.ToDo() == 0 {
		return errors.Join(w.results(), w.leftOut(shot, w.plan))
	}
	if ctx.Err() != nil {
		return errors.Join(ctx.Err(), w.unsave()) // nothing was written yet
	}
	g.unwritten = false
	var longErr error
	if r.long != nil {
		if longErr = r.long(ctx, w); g.hard.Err() != nil { // stopped for good: nothing can be read back
			return longErr
		}
	}
	wrote := w.carryOut()
	saved := w.settleBackup()
	return errors.Join(longErr, saved, w.untold(w.results()), w.outcome(wrote), w.leftOut(shot, w.plan))
}

// propose looks, and makes the plan.
func (w *writing) propose(ctx context.Context, build planner) (offsets.Snapshot, error) {
	for _, sel := range w.scope.selections {
		if offsets.Internal(sel.Topic) {
			return offsets.Snapshot{}, &problem{code: exitRefused, text: fmt.Sprintf("%s is a topic of Kafka's own; nothing was written", sel.Topic), hint: "name the topics that the job reads"}
		}
	}
	shot, err := w.firstLook(ctx)
	if err != nil {
		return shot, err
	}
	w.ownSaves(shot)
	over := w.g.busy("planning", w.scope)
	w.plan, err = w.build(ctx, shot, build)
	over()
	if err := cmp.Or(err, ctx.Err()); err != nil {
		return shot, err
	}
	w.plan = w.plan.Lacking(shot).Standing(shot)
	for i := range shot.Groups {
		shot.Groups[i].Rows = nil // the plan has them
	}
	if err := w.readOnly(); err != nil {
		return shot, err
	}
	w.plan.Command = w.road.command
	w.plan.ID = planID(w.plan, w.g.env.Now())
	w.plan = offsets.Gate(w.plan, shot, w.road.create)
	if w.inVain || w.road.execute && len(shot.Groups) == 1 {
		w.plan = w.plan.NotRefused(shot)
	}
	if w.road.idle == 0 {
		w.plan = w.plan.Unwatched(shot)
	}
	w.knownToNeither(ctx, shot)
	return shot, nil
}

// carryOut writes, unless a long write has done so, and reads back what was written.
func (w *writing) carryOut() (wrote bool) {
	over := w.g.busy("writing and reading back", w.scope)
	if w.road.long == nil {
		w.write(w.g.hard)
	}
	wrote = w.plan.Count().Written > 0
	after, done := w.g.afterWrite()
	defer done()
	w.readBack(after)
	over()
	n := w.plan.Count()
	w.plan.Applied = wrote || n.Unknown > 0 || slices.ContainsFunc(w.plan.Groups, offsets.PlanGroup.Deleting)
	return wrote
}

// build runs the thinking, and holds it against what the store can keep; what it has to look up beside the snapshot has the time of one look.
func (w *writing) build(ctx context.Context, shot offsets.Snapshot, build planner) (offsets.Plan, error) {
	ctx, cancel := context.WithTimeout(ctx, time.Duration(w.g.timeout))
	defer cancel()
	plan, err := build(ctx, shot)
	return plan.AtLeast(w.g.least()).KeepsOne(shot), err
}

// least is the smallest next offset that the store has a number for.
func (g *global) least() int64 {
	if g.session.store == nil {
		return 0
	}
	return g.session.store.Can().Least
}

// writeWait is how long a write keeps trying at least: a broker that was killed stays named as coordinator for 9 s.
const writeWait = 15 * time.Second

// lastWait is how long a second interrupt leaves for finding out what was written: as long as a silent broker is given.
const lastWait = 2 * time.Second

// oneGroup bounds the write of one group, and the reading back of it: of many, each has as long.
func (g *global) oneGroup(ctx context.Context) (context.Context, context.CancelFunc) {
	return context.WithTimeout(ctx, max(time.Duration(g.timeout), writeWait))
}

// afterWrite is for reading back what was written. A second interrupt ends the write; what has come of it until then has to be said all
// the same, so that this ends a moment later.
func (g *global) afterWrite() (context.Context, context.CancelFunc) {
	ctx, cancel := context.WithCancel(context.WithoutCancel(g.hard))
	stop := context.AfterFunc(g.hard, func() { time.AfterFunc(lastWait, cancel) })
	return ctx, func() { stop(); cancel() }
}

// knownToNeither notes which groups the store is to get entries of, although nobody knows them: a name may be misspelled. Of many groups,
// as a document may have, it does not search for what was meant.
func (w *writing) knownToNeither(ctx context.Context, shot offsets.Snapshot) {
	for i := range w.plan.Groups {
		pg := &w.plan.Groups[i]
		grp, _ := shot.Group(pg.Group)
		made := func(c offsets.Change) bool { return c.Side == offsets.Stored && c.Verdict == offsets.Write }
		if grp.Existence != offsets.Missing || grp.Store == nil || !grp.Store.Nothing() || w.road.long != nil ||
			!slices.ContainsFunc(pg.Changes, made) || !w.g.session.hasNothing(ctx, pg.Group) {
			continue
		}
		note := fmt.Sprintf("neither the cluster nor the store knows group %q: its first entries are made", pg.Group)
		if len(w.plan.Groups) == 1 && w.typedGroup() {
			if near := w.g.near("-g", pg.Group, w.g.session.groupNames); near != "" {
				note += "; " + near
			}
		}
		pg.Notes = append(slices.Clone(pg.Notes), note)
	}
}

// settleTime is how long a high verdict is given to turn out a stale end, before a write.
const settleTime = 500 * time.Millisecond

// firstLook takes the snapshot that the plan rests on, after waiting for members to leave and watching for movement as asked.
func (w *writing) firstLook(ctx context.Context) (offsets.Snapshot, error) {
	o := lookOptions{stable: w.road.stable, salvage: w.road.salvage, epochs: w.road.epochs, sparing: w.road.sparing && w.scope.listed(), firsts: true, whole: w.road.whole}
	over := w.g.busy("looking at", w.scope)
	shot, err := w.g.look(ctx, w.scope, o)
	over()
	if err != nil {
		return shot, err
	}
	if err := w.g.session.awayFrom(); err != nil {
		return shot, err
	}
	if !w.road.document {
		if len(w.scope.selections) == 0 || w.road.command == "delete" { // else a group may be made: see --create
			if err := w.g.unknownGroups(shot); err != nil {
				var p *problem
				errors.As(err, &p)
				refused := *p
				refused.code, refused.text = exitFailed, strings.ReplaceAll(err.Error(), "\n", "; ")+nothingWritten
				return shot, &refused
			}
		}
		if err := w.g.unnamedTopics(shot, w.scope); err != nil {
			return shot, err
		}
	}
	if w.road.waitEmpty > 0 {
		if shot, err = w.waitEmpty(ctx, shot, o); err != nil {
			return shot, err
		}
	}
	if w.road.idle > 0 {
		return w.watchIdle(ctx, shot, o)
	}
	return shot, nil
}

// asText reports whether stdout is for people; if not, the text goes to stderr and stdout gets one document at the end.
func (w *writing) asText() bool {
	f := output.Format(w.g.format)
	return (w.road.long == nil || w.road.dryRun) && (f == "" || f == output.Table)
}

// people is the stream that the plan and its results are shown on.
func (w *writing) people() output.Stream {
	if w.asText() && !w.g.shutStdout() {
		return w.g.out()
	}
	return w.g.talk()
}

func (w *writing) showPlan(ctx context.Context) error {
	nothing := w.road.check && w.plan.ToDo() == 0 && w.plan.Count().Refuse == 0 // a check with -q speaks when it fails
	if w.g.quiet && (nothing || !w.asText()) {
		return nil
	}
	_, err := interruptible(ctx, func() (none struct{}, err error) {
		s := w.people()
		s.W = stopped{ctx, s.W}
		return none, w.view().Write(s)
	})
	return err
}

func (w *writing) view() output.PlanView {
	v := output.PlanView{Plan: w.plan, Asking: !w.road.execute && !w.road.dryRun, Dry: w.road.dryRun, Partial: w.road.partial}
	if w.road.noBackup {
		v.Saved = w.saved
	}
	return v
}

// document prints the plan as it stands at the end, where a document was asked for.
func (w *writing) document() error {
	if w.asText() || w.road.long != nil {
		return nil
	}
	return exchange.PlanOf(w.plan).Write(w.g.out().W, exchange.Format(w.g.format), exchange.WriteOptions{})
}

// readOnly refuses a plan for a store that is only read.
func (w *writing) readOnly() error {
	store := w.g.session.store
	if store == nil || store.Can().Write || !w.plan.Has(func(c *offsets.Change) bool { return c.Side == offsets.Stored && c.Verdict != offsets.Keep }) {
		return nil
	}
	p := &problem{
		code: exitUsage, text: fmt.Sprintf("store %s: %v; nothing was written", store.Name(), offsetfile.ErrReadOnly),
		hint: "--committed writes the commits",
	}
	if instead := store.Can().Instead; instead != "" {
		p.hint += "; " + instead
	}
	if w.road.long != nil {
		p.hint = "leave out --save: records can be read from there, and how far is for the job to keep"
	}
	return p
}

const checkedOnly = "--execute in the place of --check writes it"

// dryRun ends a run that only looks: as --execute would end where a refusal is known already.
func (w *writing) dryRun(shot offsets.Snapshot) error {
	if !w.g.quiet {
		if err := w.view().DryRun(w.g.talk()); err != nil {
			return err
		}
	}
	settled := w.plan.Settle(false)
	var check error
	if n := w.plan.Count(); w.road.check && w.plan.ToDo() > 0 {
		var would []string
		if n.Write+n.Ask > 0 {
			would = append(would, fmt.Sprintf("%s of %s would change", offsets.Thousands(int64(n.Write+n.Ask)), offsets.Plural(n.Write+n.Keep+n.Ask+n.Refuse, "offset")))
		}
		if bare := w.plan.ToDo() - n.Write - n.Ask; bare > 0 {
			would = append(would, offsets.Plural(bare, "group")+" without commits would be deleted")
		}
		check = &problem{code: exitNotMet, text: "check: " + strings.Join(would, ", and "), hint: checkedOnly}
	}
	if err := w.refused(shot, settled); err != nil {
		return errors.Join(err, check)
	}
	return errors.Join(w.leftOut(shot, settled), check)
}

// freshLook takes the locks, looks again, and holds the plan against what is there now. A lock in a new place of the store makes folders,
// which a refusal would leave behind: so before that it looks, too.
func (w *writing) freshLook(ctx context.Context, shot offsets.Snapshot) error {
	if w.makesPlaces(shot) {
		checked, err := w.lookAgain(ctx, 0)
		if err != nil {
			return err
		}
		if checked.ToDo() == 0 {
			w.plan = checked
			return nil
		}
	}
	if err := w.lock(ctx); err != nil {
		return err
	}
	settle := time.Duration(0)
	if w.plan.Has(func(c *offsets.Change) bool { return c.Verdict == offsets.Write && c.Condition == offsets.High }) {
		settle = settleTime
	}
	checked, err := w.lookAgain(ctx, settle)
	if err != nil {
		return err
	}
	w.overtook(checked)
	w.plan = checked
	return nil
}

// makesPlaces reports whether the plan writes to a place of the store where nothing is yet.
func (w *writing) makesPlaces(shot offsets.Snapshot) bool {
	for group, c := range w.plan.Each() {
		if c.Side != offsets.Stored || c.Verdict != offsets.Write {
			continue
		}
		g, _ := shot.Group(group)
		if t, _ := g.Store.Topic(c.Topic); t.Presence == offsets.Absent {
			return true
		}
	}
	return false
}

// lookAgain holds the plan against what is there now. What is refused then is in the plan that is shown.
func (w *writing) lookAgain(ctx context.Context, settle time.Duration) (offsets.Plan, error) {
	over := w.g.busy("looking once more at", w.scope)
	fresh, err := w.g.look(ctx, w.narrowed(), lookOptions{stable: w.road.stable, salvage: w.road.salvage, settle: settle})
	if err == nil && w.plan.From != "" {
		limited, cancel := context.WithTimeout(ctx, time.Duration(w.g.timeout))
		err = w.g.lookFrom(limited, w.plan.From, &fresh)
		cancel()
	}
	over()
	if err := cmp.Or(ctx.Err(), err, w.g.session.awayFrom()); err != nil {
		return w.plan, err
	}
	w.fresh = fresh
	checked := w.recheck(w.plan)
	if err := w.refused(fresh, checked); err != nil {
		w.plan = checked
		return checked, err
	}
	return checked, nil
}

// recheck is the plan as it holds against what is there now.
func (w *writing) recheck(plan offsets.Plan) offsets.Plan {
	return offsets.Recheck(offsets.Gate(plan, w.fresh, w.road.create), w.fresh).KeepsOne(w.fresh).Lacking(w.fresh)
}

// lastRead reads the commits, and what decided in the store, once more when all else is done. A look takes as long as its slowest broker and
// a backup as long as its disk: what was committed meanwhile would be written over, and be in no backup.
func (w *writing) lastRead(ctx context.Context) error {
	read, err := w.reread(ctx, w.plan.Groups)
	if err = cmp.Or(ctx.Err(), err); err != nil {
		return errors.Join(err, w.unsave()) // nothing was written yet
	}
	if !read {
		return nil
	}
	checked := w.recheck(w.plan)
	if checked.Count() == w.plan.Count() {
		return nil
	}
	if err := w.unsave(); err != nil {
		return err
	}
	w.plan = checked
	if err := w.refused(w.fresh, checked); err != nil || w.plan.ToDo() == 0 {
		return err
	}
	return w.save()
}

// reread reads the commits of groups, and what decided in the store or in another group, once more. It reports whether there was anything to read.
func (w *writing) reread(ctx context.Context, groups []offsets.PlanGroup) (bool, error) {
	var names []string
	leans := map[string]bool{}
	for _, pg := range groups {
		leans[pg.Group] = w.plan.From == "" && w.g.session.store != nil && pg.Leans(offsets.Stored)
		if pg.WritesCommits() || pg.Leans(offsets.Committed) {
			names = append(names, pg.Group)
		}
	}
	if len(names) == 0 {
		return false, nil
	}
	ctx, cancel := context.WithTimeout(ctx, time.Duration(w.g.timeout))
	defer cancel()
	now, _, err := w.g.session.cluster.Groups(ctx, names, partitionsOf(w.scope.selections))
	w.fresh.Groups = slices.Clone(w.fresh.Groups)
	if err == nil && w.plan.From != "" {
		var of offsets.Snapshot // of many groups, each alone
		for _, g := range w.fresh.Groups {
			if _, asked := leans[g.ID]; asked {
				of.Groups = append(of.Groups, g)
			}
		}
		err = w.g.lookFrom(ctx, w.plan.From, &of)
		w.fresh.From = of.From
	}
	if err != nil {
		return false, err
	}
	next := 0 // both are sorted
	for i, was := range w.fresh.Groups {
		if next < len(now) && now[next].ID == was.ID {
			w.fresh.Groups[i] = was.Again(now[next].Group, now[next].Commits)
			next++
		}
		if g := &w.fresh.Groups[i]; leans[g.ID] {
			held, err := w.g.session.store.Load(ctx, g.ID, w.scope.topicNames(), w.road.salvage)
			if err != nil {
				return false, err
			}
			g.Store = &held.Store
			g.Read(offsets.Stored, held.Entries)
		}
	}
	return true, nil
}

// overtook notes where what is written differs from what was asked about: a beginning that moved on, and partitions that are new.
func (w *writing) overtook(checked offsets.Plan) {
	for i, pg := range w.plan.Groups {
		now := checked.Groups[i]
		var moved []offsets.Key
		first := ""
		for j, c := range pg.Changes {
			if n := now.Changes; len(n) == len(pg.Changes) && c.Verdict == offsets.Write && n[j].Verdict == offsets.Write && n[j].New.Offset != c.New.Offset {
				moved = append(moved, c.Key)
				first = cmp.Or(first, fmt.Sprintf(" (%s: %d, not %d)", c.Key, n[j].New.Offset, c.New.Offset))
			}
		}
		if len(moved) > 0 {
			w.g.note("group %q: earliest has moved on since the plan, and is written as it is now: %s%s", pg.Group, inWords(offsets.Selections(moved)), first)
		}
		if added := pg.Unknown(w.fresh); len(added) > 0 && !w.road.document { // which has what it has
			w.g.note("group %q: new since the plan, and not in it: %s; run the same command again to plan from there", pg.Group, inWords(offsets.Selections(added)))
		}
	}
}

// narrowed is the scope of the second look: the groups that are to be written, by name.
func (w *writing) narrowed() *scope {
	sc := &scope{selections: w.scope.selections}
	for _, pg := range w.plan.Groups {
		if pg.Whole && pg.Refusal == "" || slices.ContainsFunc(pg.Changes, func(c offsets.Change) bool { return c.Verdict == offsets.Write }) {
			sc.groups = append(sc.groups, pg.Group)
		}
	}
	return sc
}

// lock takes the locks of every place in the store that is to be written, and holds them until the read-back is done.
func (w *writing) lock(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, time.Duration(w.g.timeout))
	defer cancel()
	if store := w.g.session.store; store != nil && w.g.verbose {
		for _, cannot := range store.Can().Cannot() {
			w.g.note("store %s %s", store.Name(), cannot)
		}
	}
	if err := w.enoughFiles(); err != nil {
		return err
	}
	for _, pg := range w.plan.Groups {
		var topics []string
		for _, c := range pg.Changes {
			if c.Side == offsets.Stored && c.Verdict == offsets.Write {
				topics = append(topics, c.Topic)
			}
		}
		if len(topics) == 0 {
			continue
		}
		slices.Sort(topics)
		topics = slices.Compact(topics)
		l, err := w.g.session.store.Writer(ctx, pg.Group, topics)
		if err != nil {
			return lockedOf(err, pg.Group, topics)
		}
		w.locks[pg.Group] = l
		for _, n := range l.Notes() {
			w.g.note("%s", n)
		}
	}
	return nil
}

// enoughFiles tries, where locks are files, whether all can be open at a time: what failed at the last would leave those of the others, as
// a lock file cannot be removed again.
func (w *writing) enoughFiles() error {
	const others = 32 // connections, and the files themselves
	if store := w.g.session.store; store == nil || !store.Can().Locks {
		return nil
	}
	places := map[string]bool{}
	for group, c := range w.plan.Each() {
		if c.Side == offsets.Stored && c.Verdict == offsets.Write {
			places[group+"\x00"+c.Topic] = true
		}
	}
	if len(places) == 0 {
		return nil
	}
	for range len(places) + others {
		f, err := os.Open(os.DevNull)
		if err != nil {
			return &problem{
				code: exitFailed, text: fmt.Sprintf("%s are to be locked at a time: %v; nothing was written", offsets.Plural(len(places), "file"), unwrapPath(err)),
				hint: fmt.Sprintf("ulimit -n %d before it lets so many be open; or name fewer groups, with -g", len(places)+8*others),
			}
		}
		defer f.Close()
	}
	return nil
}

// lockedOf adds to the error of a lock that another process holds what of the plan it is about; other errors it leaves alone.
func lockedOf(err error, group string, topics []string) error {
	var locked *offsetfile.LockedError
	if !errors.As(err, &locked) {
		return err
	}
	p := explain(context.Background(), err)
	at := output.ErrorDetail{Group: group, Partition: offsets.None, Reason: locked.Error()}
	if len(topics) == 1 { // of several the path tells which
		at.Topic = topics[0]
	}
	p.details = append(p.details, at)
	return &p
}

func (w *writing) unlock() {
	for _, l := range w.locks {
		if err := l.Unlock(); err != nil {
			w.g.note("unlock: %v", err)
		}
	}
}

// write does what the plan says: commits before store, and the store only if the commits stood; after a group's first failure
// no new group starts. With --partial what is refused only now is passed over, as it was before.
func (w *writing) write(hard context.Context) {
	w.plan.Applied = true
	var failed *offsets.Change // what ended it
	of := ""                   // of another group
	for i, pg := range w.plan.Groups {
		ctx, cancel := w.g.oneGroup(hard)
		switch {
		case failed != nil || pg.Whole && pg.Result == offsets.Already:
		case pg.Whole && pg.Refusal == "":
			done := w.g.session.cluster.DeleteGroup(ctx, pg.Group, pg.Changes)
			if pg = pg.Deleted(done); done.Result != offsets.Written && done.Result != offsets.Already {
				failed = &done
			}
		default:
			if i > 0 {
				pg.Changes, failed = w.decidedStill(ctx, i)
			}
			if failed == nil {
				pg.Changes = w.g.session.cluster.WriteCommits(ctx, pg.Group, pg.Changes, w.road.partial)
				failed = w.failure(pg.Changes, offsets.Committed)
			}
		}
		if lock := w.locks[pg.Group]; failed == nil && lock != nil {
			g, _ := w.fresh.Group(pg.Group)
			pg.Changes, _ = lock.Save(ctx, *g.Store, pg.Changes, w.facts(pg))
			failed = w.failure(pg.Changes, offsets.Stored)
		}
		cancel()
		if failed != nil {
			why := "an earlier write" + of + " failed: "
			if failed.Topic != "" {
				why += failed.Key.String() + ": "
			}
			why += failed.Error
			for j := range pg.Changes {
				c := &pg.Changes[j]
				if c.Verdict == offsets.Write && c.Result == "" {
					c.Result, c.Error = offsets.NotTried, why
				}
				c.Refused = c.Refused || c.Result == offsets.NotTried && failed.Refused
			}
			if pg.Whole && pg.Refusal == "" && pg.Result == "" {
				pg.Result, pg.Error, pg.Refused = offsets.NotTried, why, failed.Refused
			}
			of = cmp.Or(of, fmt.Sprintf(" of group %q", pg.Group))
			if failed.Refused && w.road.partial {
				failed, of = nil, ""
			}
		}
		w.plan.Groups[i] = pg
	}
}

// decidedStill reads once more what decided of a group, as those before it may have taken long to write, and refuses what it does not fit any
// more. It returns what keeps the group from being written, nil for nothing.
func (w *writing) decidedStill(ctx context.Context, i int) ([]offsets.Change, *offsets.Change) {
	pg := w.plan.Groups[i]
	if !pg.Leans(offsets.Stored) && !pg.Leans(offsets.Committed) {
		return pg.Changes, nil
	}
	if _, err := w.reread(ctx, w.plan.Groups[i:i+1]); err != nil {
		return pg.Changes, &offsets.Change{Error: "what decided could not be read again: " + strings.TrimSuffix(err.Error(), "; nothing was written")}
	}
	one := w.plan
	one.Groups = one.Groups[i : i+1]
	changes := slices.Clone(pg.Changes)
	for j, now := range w.recheck(one).Groups[0].Changes {
		if c := &changes[j]; c.Verdict == offsets.Write && now.Verdict == offsets.Refuse {
			c.Result, c.Error, c.Refused, c.Moved = offsets.Failed, now.Reason, true, now.Moved
		}
	}
	return changes, cmp.Or(w.failure(changes, offsets.Committed), w.failure(changes, offsets.Stored))
}

// failure is the change for which a side was not written as planned, nil if it was, or if --partial passes over it.
func (w *writing) failure(changes []offsets.Change, side offsets.Side) (failed *offsets.Change) {
	for i := range changes {
		switch c := &changes[i]; {
		case c.Side != side || c.Moved && w.road.partial:
		case c.Result == offsets.Failed || c.Result == offsets.Unverified:
			return c
		case c.Result == offsets.NotTried:
			failed = c
		}
	}
	return failed
}

// facts is what a store records beside the offsets.
func (w *writing) facts(pg offsets.PlanGroup) offsetfile.Facts {
	f := offsetfile.Facts{Cluster: w.fresh.Origin.Cluster, TopicIDs: map[string]string{}, Now: w.g.env.Now()}
	for _, c := range pg.Changes {
		if c.TopicID != "" {
			f.TopicIDs[c.Topic] = c.TopicID
		}
	}
	return f
}

// readBack reads every partition that was tried, and settles what was not answered. What was sent may still be stored, though the
// connection is gone: it is looked for until the broker, too, has given it up.
func (w *writing) readBack(after context.Context) {
	w.g.session.cluster.NewLook()      // a broker that hung up during the write may answer again
	for i, pg := range w.plan.Groups { // one after the other: of many groups, the whole and its copy would not fit
		ctx, cancel := w.g.oneGroup(after)
		one := w.plan
		one.Groups = w.plan.Groups[i : i+1]
		for try := 0; ; try++ {
			settled := offsets.Verify(one, w.lookBack(ctx, pg))
			g := settled.Groups[0]
			pending := g.Whole && g.Result == offsets.Unverified && !g.Doubt ||
				settled.Has(func(c *offsets.Change) bool {
					return c.Result == offsets.Unverified && c.Pending || c.Result == offsets.Failed && c.Doubt
				})
			if !pending || try == pendingTries || wait(ctx, time.Second) != nil {
				w.plan.Groups[i] = g
				break
			}
		}
		if ctx.Err() != nil {
			after = ctx // who did not answer in all that time is not asked about the next group
		}
		cancel()
	}
}

// pendingTries is how often, a second apart, a commit without an answer is looked for: a broker gives it up after 5 s
// (offsets.commit.timeout.ms).
const pendingTries = 7

// lookBack reads what stands now where something was to be written of a group.
func (w *writing) lookBack(ctx context.Context, pg offsets.PlanGroup) offsets.Snapshot {
	g, _ := w.fresh.Group(pg.Group) // nobody else needs its rows any more
	var keys []offsets.Key
	stored := false
	for _, c := range pg.Changes {
		if c.Verdict == offsets.Write && c.Side == offsets.Committed {
			keys = append(keys, c.Key)
		}
		stored = stored || c.Verdict == offsets.Write && c.Side == offsets.Stored
	}
	if len(keys) > 0 {
		commits, trouble := w.g.session.cluster.Commits(ctx, pg.Group, keys, false)
		for trouble != nil && trouble.Unreachable && unsettled(pg.Changes) && wait(ctx, settleTime) == nil { // a coordinator that died has a successor soon
			w.g.session.cluster.NewLook()
			commits, trouble = w.g.session.cluster.Commits(ctx, pg.Group, keys, false)
		}
		g.Trouble = trouble
		g.Read(offsets.Committed, commits)
	}
	if pg.Unsettled() {
		g.Existence = offsets.ExistenceUnknown
		if found, _, err := w.g.session.cluster.Groups(ctx, []string{pg.Group}, nil); err == nil && found[0].Trouble == nil {
			g.Existence = found[0].Existence
		}
	}
	if stored {
		held, err := w.g.session.store.Load(ctx, pg.Group, w.scope.topicNames(), false)
		if err != nil {
			held.Store.Trouble = &offsets.Trouble{Reason: err.Error()}
			w.away = w.away || storeAway(err) != nil
		}
		g.Store = &held.Store
		g.Read(offsets.Stored, held.Entries)
	}
	return offsets.Snapshot{Origin: w.fresh.Origin, Groups: []offsets.Group{g}}
}

// unsettled reports whether a write was not answered.
func unsettled(changes []offsets.Change) bool {
	return slices.ContainsFunc(changes, func(c offsets.Change) bool { return c.Result == offsets.Unverified || c.Doubt })
}

// results shows what came of it, with the way back.
func (w *writing) results() error {
	for _, pg := range w.plan.Groups {
		var doubtful []*offsets.Change
		for i := range pg.Changes {
			if c := &pg.Changes[i]; c.Result == offsets.Written && c.Error != "" {
				doubtful = append(doubtful, c)
			}
		}
		for _, same := range alike(doubtful) {
			w.g.note("%s: %s", w.of(pg.Group, same[0].Topic, numbers(same)), same[0].Error)
		}
	}
	if !w.asText() && w.g.quiet {
		return nil
	}
	return w.view().Results(w.people())
}
