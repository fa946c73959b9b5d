package cmd

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"gtoffset/kafkaops/offsets"
	"gtoffset/kafkaops/offsets/infile"
	"gtoffset/offsetfile"
	"gtoffset/offsetfile/exchange"
)

type importOptions struct {
	road
	sideFlags
	source       string
	groups       []string
	topics       []string
	selections   []offsets.Selection // of topics
	as           string
	take         string
	clamp        bool
	recreated    string
	moved        string
	otherCluster bool
	stale        bool
	ownStore     bool // -s is given: it counts before the store that a backup or a plan names
}

func newImport(g *global) *cobra.Command {
	o := &importOptions{}
	c := &cobra.Command{
		Use: "import SOURCE",
		Long: `Use it to undo a write (SOURCE is its backup), to apply a plan of --dry-run -o json, or to write what a document says. What
that does not name stays.

SOURCE is a file, a folder of gtoffset files, or - for stdin. The format is recognised by its content: our own documents
(json, yaml, csv), gtoffset files, and those of other programs that --as lists. Where the content leaves a doubt, --as decides.

A backup brings back what was there before: the side, the store, and "no offset" too, which removes the commit or the entry.
-g and -t take only a part of a backup or a list. A plan is applied whole or not at all, where nothing has moved, unless
--partial says to leave out what is refused; a partition that is at its new value already is done.

Dangers: offsets of another cluster are other records; --other-cluster does not translate them. A job that is running
would overwrite it: a group with members is refused.`,
		Example: `  gtoffset import ~/.local/state/gtoffset/20261129T120000Z-clamp-billing.json
  gtoffset import plan.json --execute
  gtoffset import offsets.csv -g billing --committed --clamp --dry-run
  gtoffset export -g billing -s a --stored | gtoffset import - -s b --execute`,
		Args:              takes(1, 1, "name one file, one folder, or - for stdin"),
		ValidArgsFunction: g.backupsToo,
		RunE: func(c *cobra.Command, args []string) error {
			o.source, o.ownStore = args[0], c.Flags().Changed("store")
			if err := o.validate(g); err != nil {
				return err
			}
			return runImport(c.Context(), g, o)
		},
	}
	o.sideFlags.flags(c)
	f := c.Flags()
	f.StringArrayVarP(&o.groups, "group", "g", nil, "write only this `GROUP` of the document; needed where the document names no group; repeatable")
	f.StringArrayVarP(&o.topics, "topic", "t", nil, "write only this `TOPIC`[:0,1,4-7] of the document; of a gtoffset file that names no topic, the one that it is of; repeatable")
	choose(f, &o.as, "as", "", "the `FORMAT` of the document, where its content leaves a doubt: "+formatList(exchange.Formats()), formatNames(exchange.Formats())...)
	choose(f, &o.take, "take", "", "which end of a range counts, of lines with from and until", string(exchange.From), string(exchange.Until))
	f.BoolVar(&o.clamp, "clamp", false, "bring an offset that is out of range into it, instead of refusing it")
	choose(f, &o.moved, "moved", "", "write a partition that has moved since the backed-up write, too", "overwrite")
	choose(f, &o.recreated, "recreated", "", "write a topic that was recreated since, too, with the same number", "keep")
	f.BoolVar(&o.otherCluster, "other-cluster", false, "the document may be of another cluster; its topic ids then prove nothing, and its offsets are not translated")
	f.BoolVar(&o.stale, "stale", false, "apply a plan that is older than an hour, or of a time to come")
	o.road.flags(c)
	o.createFlag(c)
	return c
}

func formatList(formats []exchange.Format) string { return strings.Join(formatNames(formats), ", ") }

func formatNames(formats []exchange.Format) []string {
	names := make([]string, len(formats))
	for i, f := range formats {
		names[i] = string(f)
	}
	return names
}

func (o *importOptions) validate(g *global) error {
	o.command, o.document = "import", true
	if o.source == "-" && !o.execute && !o.dryRun && !o.check {
		return usage("the document comes from stdin, so nobody can be asked", "add --execute, or --dry-run")
	}
	for _, t := range o.topics {
		sel, err := parseSelection(t)
		if err != nil {
			return err
		}
		o.selections = append(o.selections, sel)
	}
	if err := o.sideFlags.validate(g); err != nil {
		return err
	}
	return o.road.validate(g)
}

func runImport(ctx context.Context, g *global, o *importOptions) error {
	g.unwritten = true
	doc, err := o.read(ctx, g)
	if err != nil {
		return err
	}
	for _, w := range doc.Warnings {
		g.note("%s: %s", o.source, w)
	}
	if doc.Origin.Cluster == "" && (doc.Kind != exchange.Export || doc.Format == exchange.JSON || doc.Format == exchange.YAML) {
		g.note("%s does not name its cluster: whether it is of this one was not checked", o.source)
	}
	if err := o.onlyMeaningful(doc); err != nil {
		return err
	}
	if doc, err = o.onlyNamed(g, doc); err != nil {
		return err
	}
	o.home = o.homeward(g, doc.Origin.Bootstrap)
	sc := &scope{}
	var build planner
	switch doc.Kind {
	case exchange.Backup:
		if build, err = o.fromBackup(g, sc, doc); err != nil {
			return err
		}
	case exchange.Plan:
		if build, err = o.fromPlan(g, sc, doc); err != nil {
			return err
		}
	default:
		g.note("%s is %s", o.source, doc.Format.Words())
		if err := o.sidesOf(g, doc); err != nil {
			return err
		}
		build = o.fromRows(g, sc, doc)
	}
	if o.committed && !o.stored && !o.watches() && (doc.Plan == nil || !doc.Plan.Compares()) {
		g.withoutStore()
	}
	sc.settle()
	if len(sc.groups) == 0 {
		g.note("%s names no offset: nothing to do", o.source)
		w := writing{g: g, road: o.road, plan: offsets.Plan{Command: o.command, Created: g.env.Now()}}
		w.plan.ID = planID(w.plan, w.plan.Created)
		return w.document()
	}
	return g.apply(ctx, sc, o.road, func(ctx context.Context, shot offsets.Snapshot) (offsets.Plan, error) {
		plan, err := build(ctx, shot)
		if was := doc.Origin.Store; was != "" && shot.Origin.Store != "" && !sameStore(was, shot.Origin.Store) {
			plan = plan.Noted(offsets.Stored, fmt.Sprintf("the %s is of the store %s; the store that is written is %s", kindWord(doc.Kind), was, shot.Origin.Store))
		}
		return plan, err
	})
}

// homeward is what a document of another cluster is told: the line that imports it into its own, unless that was reached here.
func (o *importOptions) homeward(g *global, at string) func(here string) string {
	return func(here string) string {
		if at == "" || at == here || o.source == "-" {
			return namesHome
		}
		words := []string{"gtoffset", "import", o.source}
		for _, group := range o.groups {
			words = append(words, "-g", group)
		}
		for _, t := range o.topics {
			words = append(words, "-t", t)
		}
		if o.ownStore {
			words = append(words, "-s", g.store)
		}
		if o.create {
			words = append(words, "--create")
		}
		return "to the cluster that it is of: " + commandLine(append(words, g.reach(at)...))
	}
}

const namesHome = "-b names the cluster that it is of"

// kindWord is what a document is called.
func kindWord(k exchange.Kind) string {
	if k == exchange.Export {
		return "document"
	}
	return string(k)
}

// useStoreOf takes the store that a backup or a plan names, unless another one is given with -s. The environment's is for
// commands that are typed, not for one that was written down with its store.
// A document does not choose what is sent where: a password goes only to a store that the operator has named as well.
func (o *importOptions) useStoreOf(g *global, doc exchange.Document) error {
	store := doc.Origin.Store
	if o.ownStore || store == "" || store == g.store {
		return nil
	}
	if secret := g.lends(store); secret != "" {
		return &problem{
			code: exitRefused, text: fmt.Sprintf("%s names the store %s, to which the password in %s would be sent; nothing was written", o.source, store, secret),
			hint: commandLine([]string{"add", "-s", store}) + " if that is the right one",
		}
	}
	g.store = store
	return nil
}

// onlyMeaningful refuses a flag that decides nothing of such a document: who gave it took the document for another.
func (o *importOptions) onlyMeaningful(doc exchange.Document) error {
	is := doc.Format.Words()
	if doc.Kind != exchange.Export {
		is = "a " + string(doc.Kind)
	}
	for _, f := range []struct {
		flag         string
		given, means bool
		of           string
	}{
		{"--take", o.take != "", doc.Format == exchange.Ranges, "lines of from and until"},
		{"--stale", o.stale, doc.Kind == exchange.Plan, "a plan"},
		{"--moved", o.moved != "", doc.Kind == exchange.Backup, "a backup"},
		{"--clamp", o.clamp, doc.Kind == exchange.Export, "a list of offsets"},
		{"--recreated", o.recreated != "", doc.Kind != exchange.Plan, "a list of offsets, or a backup"},
		{"--other-cluster", o.otherCluster, doc.Kind != exchange.Plan, "a list of offsets, or a backup"},
	} {
		if f.given && !f.means {
			return &problem{
				code: exitRefused, text: fmt.Sprintf("%s is %s, and %s is for %s; nothing was written", o.source, is, f.flag, f.of),
				hint: "leave out " + f.flag + ", if that is the right document",
			}
		}
	}
	return nil
}

// onlyNamed narrows a document to the groups and topics that were named, and refuses one that has nothing of them. A plan is applied
// whole: what it was consented to is all of it.
func (o *importOptions) onlyNamed(g *global, doc exchange.Document) (exchange.Document, error) {
	takes := func(group string) bool { return len(o.groups) == 0 || slices.Contains(o.groups, group) }
	for _, group := range o.groups {
		if !slices.ContainsFunc(doc.Groups, func(grp exchange.Group) bool { return grp.Name == group }) {
			return doc, o.nothingOf(g, doc, group)
		}
	}
	if doc.Kind == exchange.Plan {
		for group, c := range doc.Plan.Each() {
			if !takes(group) || !offsets.Holds(o.selections, c.Key) {
				return doc, &problem{
					code: exitRefused, text: fmt.Sprintf("%s is a plan, which is applied whole, and is about %s of group %q, too; nothing was written", o.source, c.Key, group),
					hint: "leave out -g and -t, or plan anew for less",
				}
			}
		}
	}
	for _, s := range o.selections {
		if doc.Plan == nil && !slices.ContainsFunc(doc.Rows, func(r exchange.Row) bool { return takes(r.Group) && offsets.Holds([]offsets.Selection{s}, r.Key) }) {
			return doc, &problem{
				code: exitFailed, causes: []cause{causeMissing}, text: fmt.Sprintf("%s says nothing of topic %q, which -t names; nothing was written", o.source, s.String()),
				hint: "leave out -t to take all that it says",
			}
		}
	}
	return g.partOf(doc, o.source, takes, o.selections), nil
}

// nothingOf is the error of a document that says nothing of a group that was named. Who wants the offsets of one group for another is
// told how to copy them.
func (o *importOptions) nothingOf(g *global, doc exchange.Document, group string) error {
	var has []string
	for _, grp := range doc.Groups {
		has = append(has, fmt.Sprintf("%q", grp.Name))
	}
	p := &problem{
		code: exitFailed, causes: []cause{causeMissing}, text: fmt.Sprintf("%s says nothing of group %q, which -g names: it is about %s; nothing was written", o.source, group, list(has, 3)),
		hint: "name one of these with -g, or leave out -g to take all",
	}
	if len(doc.Groups) == 1 {
		p.hint = "leave out -g if that is the right one; " + g.typed("reset", "-g", group, "--from-group", doc.Groups[0].Name, "--all-topics") + " copies what that group has committed now"
	}
	return p
}

// partOf is a document without the groups and topics that are not taken. What it leaves out is said.
func (g *global) partOf(doc exchange.Document, source string, takes func(group string) bool, topics []offsets.Selection) exchange.Document {
	groups, parts, rest := map[string]bool{}, map[string]int{}, map[string]bool{}
	doc.Rows = slices.DeleteFunc(doc.Rows, func(r exchange.Row) bool {
		switch {
		case !takes(r.Group):
			groups[r.Group] = true
		case !offsets.Holds(topics, r.Key):
			parts[r.Topic]++
		default:
			rest[r.Group] = true
			return false
		}
		return true
	})
	if len(groups)+len(parts) == 0 {
		return doc
	}
	doc.Groups = slices.DeleteFunc(doc.Groups, func(grp exchange.Group) bool { return !rest[grp.Name] })
	var left []string
	for _, name := range slices.Sorted(maps.Keys(groups)) {
		left = append(left, fmt.Sprintf("group %q", name))
	}
	for _, topic := range slices.Sorted(maps.Keys(parts)) {
		left = append(left, offsets.Plural(parts[topic], "partition")+" of "+quote(topic))
	}
	g.note("%s: left out, as it is not what was asked for: %s", source, list(left, 3))
	return doc
}

// sidesOf takes the side from a document that says it. Copying from one side to the other is another thing, which needs both of
// them read.
func (o *importOptions) sidesOf(g *global, doc exchange.Document) error {
	said := map[offsets.Side]bool{}
	for _, r := range doc.Rows {
		said[r.Side] = true
	}
	if said[""] || len(said) == 0 {
		return nil
	}
	chosen := map[offsets.Side]bool{offsets.Stored: o.stored, offsets.Committed: o.committed}
	for _, side := range []offsets.Side{offsets.Stored, offsets.Committed} {
		if said[side] && !chosen[side] && chosen[side.Other()] {
			return &problem{
				code: exitRefused, text: fmt.Sprintf("%s holds %s offsets, and --%s does not name that side; nothing was written", o.source, side, side.Other()),
				hint: fmt.Sprintf("gtoffset reset --to-%s copies them to the other side; a csv export names no side", side),
			}
		}
	}
	if !o.stored && !o.committed {
		o.stored, o.committed = said[offsets.Stored], said[offsets.Committed]
	}
	return o.needStore(g)
}

// needStore is the error of a document with stored offsets where no store is named.
func (o *importOptions) needStore(g *global) error {
	if !o.stored || g.store != "" {
		return nil
	}
	return &problem{code: exitUsage, wants: []string{storeVariable}, text: o.source + " holds stored offsets, and no store is named", hint: "add -s PATH"}
}

// fromBackup brings back what was there before a write.
func (o *importOptions) fromBackup(g *global, sc *scope, doc exchange.Document) (planner, error) {
	backup := doc.Backup()
	if err := o.useStoreOf(g, doc); err != nil {
		return nil, err
	}
	sides := map[offsets.Side]bool{}
	for _, bg := range backup.Groups {
		for _, r := range bg.Rows {
			sc.add(bg.Group, r.Key)
			sides[r.Side] = true
		}
	}
	if err := o.takeSides(g, "a backup", sides); err != nil {
		return nil, err
	}
	return func(ctx context.Context, shot offsets.Snapshot) (offsets.Plan, error) {
		return g.confirmEpochs(ctx, offsets.Restore(shot, backup, offsets.RestorePolicy{
			OtherCluster: o.otherCluster, KeepRecreated: o.recreated == "keep", OverwriteMoved: o.moved == "overwrite",
		}))
	}, nil
}

// takeSides takes the sides as the document has them, and refuses others that are named: a backup or a plan is written whole, or not at all.
func (o *importOptions) takeSides(g *global, kind string, has map[offsets.Side]bool) error {
	if !o.stored && !o.committed || o.stored == has[offsets.Stored] && o.committed == has[offsets.Committed] {
		o.stored, o.committed = has[offsets.Stored], has[offsets.Committed]
		return o.needStore(g)
	}
	var words []string
	for _, side := range []offsets.Side{offsets.Stored, offsets.Committed} {
		if has[side] {
			words = append(words, string(side))
		}
	}
	return &problem{
		code: exitRefused, text: fmt.Sprintf("%s is %s of %s offsets, and is written whole; nothing was written", o.source, kind, strings.Join(words, " and ")),
		hint: "leave out --stored and --committed: it says itself what goes where",
	}
}

// planAge is how old a plan may be before --stale is asked for.
const planAge = time.Hour

// clockSkew is how far ahead the clock of another machine may be that a plan was made on.
const clockSkew = 5 * time.Minute

// fromPlan applies what was planned before.
func (o *importOptions) fromPlan(g *global, sc *scope, doc exchange.Document) (planner, error) {
	planned := *doc.Plan
	if planned.Command == "replay" {
		return nil, &problem{
			code: exitRefused, text: fmt.Sprintf("%s is the plan of a replay: its offsets stand for records that are accepted first; nothing was written", planned.ID),
			hint: "gtoffset replay with --save goes on from the store",
		}
	}
	var when string
	switch age := g.env.Now().Sub(planned.Created); {
	case age > planAge:
		when = offsets.Span(age) + " ago"
	case age < -clockSkew:
		when = offsets.Span(age.Abs()) + " ahead of this machine's clock"
	}
	if when != "" && !o.stale {
		return nil, &problem{
			code: exitRefused, text: fmt.Sprintf("the plan %s was made %s; nothing was written", planned.ID, when),
			hint: "add --stale, or plan anew",
		}
	}
	if err := o.useStoreOf(g, doc); err != nil {
		return nil, err
	}
	sides := map[offsets.Side]bool{}
	o.whole = slices.ContainsFunc(planned.Groups, func(pg offsets.PlanGroup) bool { return pg.Whole })
	for group, c := range planned.Each() {
		if !o.whole { // what goes with a group may be of any topic
			sc.add(group, c.Key)
		}
		sides[c.Side] = true
	}
	if err := o.takeSides(g, "a plan", sides); err != nil {
		return nil, err
	}
	for _, pg := range planned.Groups {
		if pg.Whole {
			sc.groups = append(sc.groups, pg.Group)
		}
	}
	return func(ctx context.Context, shot offsets.Snapshot) (offsets.Plan, error) {
		if planned.From != "" {
			if err := g.lookFrom(ctx, planned.From, &shot); err != nil {
				return planned, err
			}
		}
		return g.confirmEpochs(ctx, offsets.Resume(planned, shot))
	}, nil
}

// fromRows writes the rows of a document.
func (o *importOptions) fromRows(g *global, sc *scope, doc exchange.Document) planner {
	for _, r := range doc.Rows {
		sc.add(r.Group, r.Key)
	}
	return func(ctx context.Context, shot offsets.Snapshot) (offsets.Plan, error) {
		sides, err := o.choose(shot)
		if err != nil {
			return offsets.Plan{}, err
		}
		plan := offsets.Plan{Command: "import", Origin: shot.Origin, Created: shot.At}
		plan, err = interruptible(g.soft, func() (offsets.Plan, error) {
			merged := plan
			for _, side := range sides {
				merged = merged.Join(offsets.Merge(shot, doc.Given(side), offsets.MergePolicy{
					Side: side, Cluster: doc.Origin.Cluster, OtherCluster: o.otherCluster, KeepRecreated: o.recreated == "keep", Clamp: o.clamp,
				}))
			}
			return merged, nil
		})
		if err != nil {
			return plan, err
		}
		return g.confirmEpochs(ctx, plan)
	}
}

// confirmEpochs asks the leaders about each leader epoch that is to be committed, and drops those that they do not confirm: a
// consumer that starts from an epoch which does not exist waits for ever, and from one that has ended earlier it jumps back.
func (g *global) confirmEpochs(ctx context.Context, plan offsets.Plan) (offsets.Plan, error) {
	for i, pg := range plan.Groups {
		epochs := map[offsets.Key][]int32{}
		for k, epoch := range pg.Epochs() {
			epochs[k] = []int32{epoch}
		}
		if len(epochs) == 0 {
			continue
		}
		ends, err := g.session.cluster.EpochEnds(ctx, epochs)
		if err != nil {
			return plan, err
		}
		plan.Groups[i] = pg.Confirm(func(k offsets.Key, v offsets.Value) bool {
			end := ends[offsets.KeyEpoch{Key: k, Epoch: v.Epoch}]
			return end.Reason == "" && end.Epoch == v.Epoch && end.End >= v.Offset
		})
	}
	return plan, nil
}

// read reads the document, from a file, a folder, or stdin.
func (o *importOptions) read(ctx context.Context, g *global) (exchange.Document, error) {
	opts := exchange.Options{As: exchange.Format(o.as), Take: exchange.Take(o.take)}
	if len(o.groups) == 1 {
		opts.Group = o.groups[0]
	}
	if topics := (&scope{selections: o.selections}).topicNames(); len(topics) == 1 {
		opts.Topic = topics[0]
	}
	in := g.env.Stdin
	if o.source != "-" {
		f, err := infile.Open(o.source)
		switch {
		case errors.Is(err, infile.ErrFolder):
			return o.readFolder(ctx)
		case err != nil:
			return exchange.Document{}, &problem{code: exitFailed, err: err, text: fmt.Sprintf("read %s: %v; nothing was written", o.source, unwrapPath(err)), hint: "check the path"}
		}
		defer f.Close()
		in = f
	}
	text := &counted{Reader: in}
	over := g.progress(func() string { return text.progress(o.source) })
	doc, err := interruptible(ctx, func() (exchange.Document, error) { return exchange.ReadFrom(text, opts) })
	over()
	switch {
	case err != nil && ctx.Err() != nil:
		return doc, err
	case err != nil:
		return doc, o.unread(err)
	}
	return doc, nil
}

// unread says why a document could not be read, and which flag would help.
func (o *importOptions) unread(err error) error {
	lines := []string{err.Error()}
	var places interface{ Lines() []string }
	if errors.As(err, &places) {
		lines = places.Lines()
	}
	lines[0] = "read " + o.source + ": " + lines[0]
	lines[len(lines)-1] += "; nothing was written"
	p := &problem{code: exitFailed, causes: []cause{causeDamaged}, text: lines[0], below: lines[1:], err: err}
	var ambiguous *exchange.AmbiguousError
	var missing *exchange.MissingError
	var internal *exchange.InternalError
	switch {
	case errors.As(err, &ambiguous):
		p.code, p.causes, p.hint = exitUsage, nil, "add --as "+strings.ReplaceAll(formatList(ambiguous.Formats), ", ", ", or --as ")
	case errors.As(err, &missing):
		p.code, p.causes = exitUsage, nil
		p.hint = map[exchange.Missing]string{
			exchange.MissingGroup: "add -g GROUP", exchange.MissingTopic: "add -t TOPIC", exchange.MissingTake: "add --take from, or --take until",
		}[missing.What]
	case errors.As(err, &internal):
		p.code, p.causes = exitRefused, nil
	}
	return p
}

// readFolder reads all gtoffset files below a folder as one document.
func (o *importOptions) readFolder(ctx context.Context) (exchange.Document, error) {
	doc := exchange.Document{Format: exchange.File, Kind: exchange.Export}
	files, err := offsetfile.Open(absolute(o.source))
	if err != nil {
		return doc, err
	}
	groups, notes, err := files.Groups(ctx)
	if err != nil {
		return doc, err
	}
	doc.Warnings = notes
	clusters := map[string]bool{}
	var bad, others []string
	for _, group := range groups {
		if len(o.groups) > 0 && !slices.Contains(o.groups, group) {
			others = append(others, fmt.Sprintf("group %q", group))
			continue
		}
		held, err := files.Load(ctx, group, nil, o.salvage)
		if err != nil {
			return doc, err
		}
		doc.Groups = append(doc.Groups, exchange.Group{Name: group})
		for _, t := range held.Store.Topics {
			if t.Presence != offsets.Present {
				bad = append(bad, t.Reason)
			}
		}
		for k, e := range held.Entries {
			clusters[e.Cluster] = true
			doc.Rows = append(doc.Rows, exchange.Row{Given: offsets.Given{Group: group, Key: k, Value: offsets.ValueOf(e), TopicID: e.TopicID}})
		}
	}
	if len(others) > 0 {
		doc.Warnings = append(doc.Warnings, "left out, as -g does not name it: "+list(others, 3))
	}
	delete(clusters, "")
	for c := range clusters {
		doc.Origin.Cluster = c
	}
	switch {
	case len(bad) > 0:
		return doc, &problem{code: exitFailed, causes: []cause{causeDamaged}, text: fmt.Sprintf("read %s: %s; nothing was written", o.source, list(bad, 3))}
	case len(clusters) > 1:
		return doc, &problem{code: exitRefused, text: fmt.Sprintf("read %s: its files are of %d clusters; nothing was written", o.source, len(clusters)), hint: "import them group by group: -g GROUP"}
	case len(doc.Groups) == 0 && len(others) > 0:
		return doc, &problem{code: exitFailed, causes: []cause{causeMissing}, text: fmt.Sprintf("read %s: there is no gtoffset file of group %q in it, only of %s; nothing was written", o.source, o.groups[0], list(others, 3)), hint: "name one of these with -g, or leave out -g to take all"}
	case len(doc.Groups) == 0:
		return doc, &problem{code: exitFailed, causes: []cause{causeMissing}, text: fmt.Sprintf("read %s: there is no gtoffset file in it (looked for GROUP/TOPIC/gtoffset)", o.source), hint: "name the folder that holds GROUP/TOPIC/gtoffset, or a file"}
	}
	return doc.Sorted(), nil
}
