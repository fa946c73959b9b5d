package cmd

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"gtoffset/kafkaops/offsets"
	"gtoffset/output"
)

// refused turns the refusals of a plan into an error, unless --partial lets the rest go on.
func (w *writing) refused(shot offsets.Snapshot, plan offsets.Plan) error {
	if w.road.partial && plan.Count().Write+plan.Count().Ask > 0 {
		return nil
	}
	if p := w.refusal(shot, plan); p != nil {
		p.text += "; nothing was written"
		least := w.g.least()
		if p.hint == "" && plan.Has(func(c *offsets.Change) bool { return c.Verdict == offsets.Refuse && c.Below(least) }) {
			p.hint = "leave it out, with -t and the other partitions: a job that is to begin with the first record needs no entry"
		}
		if w.inVain {
			p.text = fmt.Sprintf("waited %s in vain: %s", offsets.Span(time.Duration(w.road.waitEmpty)), p.text)
			p.hint = "stop the members first"
		}
		if i := slices.IndexFunc(plan.Groups, func(pg offsets.PlanGroup) bool { return pg.Choice == "--create" }); i >= 0 && w.typedGroup() {
			if near := w.g.near("-g", plan.Groups[i].Group, w.g.session.groupNames); near != "" {
				p.hint = near + " else " + p.hint + "; " + w.g.ofDeleted(plan.Groups[i].Group)
			}
		}
		return p
	}
	return nil
}

// typedGroup reports that the groups were typed, so that one may be misspelled: those of a list or of a document are as they are.
func (w *writing) typedGroup() bool { return !w.road.document && !w.scope.listed() }

// leftOut is the error of a partial run at its end: what was refused was not written. shot is the first look: it knows of
// brokers whose groups are missing.
func (w *writing) leftOut(shot offsets.Snapshot, plan offsets.Plan) error {
	p := w.refusal(shot, plan)
	if p == nil {
		return nil
	}
	if n := plan.Count(); n.Write == 0 && !plan.Applied {
		p.text += "; nothing was written" // refused at the very last look
		return p
	}
	p.code, p.text = exitPartly, "left out: "+p.text
	p.hint = strings.TrimSuffix(strings.TrimSuffix(p.hint, writesTheRest), "; ") // it has
	return p
}

const writesTheRest = "--partial writes the rest"

// refusal is the problem that names what a plan refuses, nil if it refuses nothing.
func (w *writing) refusal(shot offsets.Snapshot, plan offsets.Plan) *problem {
	no := w.against(shot, plan)
	if len(no.texts) == 0 {
		return nil
	}
	p := &problem{code: exitRefused, text: list(no.texts, 3), hint: w.around(plan, no), causes: no.causes, details: no.details, lacks: no.lacks}
	if no.away { // nothing else stands against it: it is worth trying again
		p.code = exitUnreachable
	}
	return p
}

// objections are what stands against a plan, and what is known to help.
type objections struct {
	texts, choices []string // the latter are flags that decide
	causes         []cause
	lacks          *offsets.Right
	details        []output.ErrorDetail
	helped, all    int  // refusals of partitions that a flag decides, and all
	away           bool // nothing but a broker that does not answer
	final          bool // a group is refused that no flag helps
	// Other ways, "" for none: another program's, the hints of the refusals themselves, and a look at what has moved.
	sibling, aside, elsewhere, moved string
}

func (no *objections) add(text, choice string, why cause, lacks *offsets.Right) {
	no.texts, no.causes = append(no.texts, text), byRank(append(no.causes, why))
	no.lacks = cmp.Or(no.lacks, lacks)
	no.choices = decide(no.choices, choice)
}

// against gathers what stands against a plan.
func (w *writing) against(shot offsets.Snapshot, plan offsets.Plan) objections {
	no := objections{away: true}
	for _, t := range shot.Troubles {
		no.add("groups may be missing: "+t.Reason, "", causeOfTrouble(&t), nil)
		no.away = no.away && t.Unreachable
	}
	for _, u := range unseen(shot) {
		no.add(notSeen(u), "", causeOfTrouble(&u.Trouble), u.Trouble.Lacks("topic", u.Topic))
		no.away = no.away && u.Trouble.Unreachable
	}
	for _, pg := range plan.Groups {
		if pg.Refusal != "" {
			why, lacks := causeOfGroup(shot, pg)
			no.add(pg.Refusal, pg.Choice, why, lacks)
			no.final = no.final || pg.Choice == ""
			no.sibling = cmp.Or(no.sibling, w.sibling(pg))
			no.details = append(no.details, output.ErrorDetail{Group: pg.Group, Partition: offsets.None, Reason: pg.Refusal})
		}
		g, _ := shot.Group(pg.Group)
		groupAway := g.Trouble != nil && g.Trouble.Unreachable
		no.away = no.away && (pg.Refusal == "" || groupAway)
		alone := refusedAlone(pg)
		no.all += len(alone)
		for _, c := range alone {
			no.helped += b2i(c.Choice != "")
			no.away = no.away && (c.Away || groupAway)
			if c.Moved && no.moved == "" {
				no.moved = w.standing(pg.Group) + "plan anew from there"
			}
			no.details = append(no.details, output.ErrorDetail{Group: pg.Group, Topic: c.Topic, Partition: c.Partition, Reason: c.Reason})
		}
		for _, same := range alike(alone) {
			c := same[0]
			at := w.of(pg.Group, c.Topic, numbers(same))
			if c.Old.Offset != offsets.None {
				at += fmt.Sprintf(": %s %d", c.Side, c.Old.Offset)
			}
			no.add(at+": "+c.Reason, c.Choice, causeOfChange(c), c.Lacks)
		}
		no.aside = cmp.Or(no.aside, w.aside(shot, g, alone))
		no.elsewhere = cmp.Or(no.elsewhere, w.elsewhere(pg, alone))
	}
	return no
}

// around is the hint at what decides, or leaves out, what stands against a plan.
func (w *writing) around(plan offsets.Plan, no objections) string {
	choices := no.choices
	if no.final { // no flag decides it, and those that would decide the rest lead here again
		choices = nil
	}
	switch {
	case len(choices) > 0 && plan.Command == "import" && slices.ContainsFunc(choices, ofClamp):
		return "make the plan anew: gtoffset clamp with " + allSpelled(choices)
	case len(choices) == 0 && plan.Count().Write == 0:
		return cmp.Or(no.sibling, no.aside, no.elsewhere, no.moved)
	case len(choices) == 0 && no.elsewhere != "":
		return no.elsewhere + "; " + writesTheRest
	case len(choices) == 0:
		return writesTheRest
	}
	hint := "add " + allSpelled(choices)
	other := slices.Contains(choices, "--other-cluster")
	if w.road.file != "" && (other || slices.Contains(choices, "--recreated keep")) {
		hint = commandLine([]string{"gtoffset", "import", w.road.file}) + " has the flags for it: " + allSpelled(choices)
	}
	if other {
		hint = "if it is meant for this cluster: " + hint
	}
	if 0 < no.helped && no.helped < no.all {
		hint += fmt.Sprintf(": that decides %s of %s", offsets.Thousands(int64(no.helped)), offsets.Plural(no.all, "refusal"))
		if !w.road.partial {
			hint += "; --partial leaves out what is refused"
		}
	}
	switch {
	case no.elsewhere == "":
		return hint
	case other: // first where nothing is lost
		return no.elsewhere + "; " + hint
	case plan.Count().Write > 0 && no.helped == no.all && !w.road.partial:
		hint += "; " + writesTheRest
	}
	return hint + "; " + no.elsewhere
}

// elsewhere is the command that has to decide of a group, before this one can, what stands against the first that is refused for want of
// such a decision, and of all that are like it; "" if there is none.
func (w *writing) elsewhere(pg offsets.PlanGroup, refused []*offsets.Change) string {
	i := slices.IndexFunc(refused, func(c *offsets.Change) bool { return strings.Contains(c.Aside, " ") })
	if i < 0 { // what only looks comes after what decides
		i = slices.IndexFunc(refused, func(c *offsets.Change) bool { return c.Aside != "" })
	}
	if i < 0 {
		return ""
	}
	other := refused[i].Aside
	command, flags, _ := strings.Cut(other, " ")
	switch command {
	case "import":
		return w.road.home(w.plan.Origin.Bootstrap)
	case offsets.LookBack:
		if refused[i].Awaits() {
			return w.g.transaction(pg.Group)
		}
		return "what became of its commits: " + w.g.typed(command, "-g", pg.Group)
	}
	sc := &scope{}
	for _, c := range refused {
		if c.Aside == other {
			sc.include(c.Key)
		}
	}
	sc.settle()
	words := w.g.withStore(append([]string{command, "-g", pg.Group}, sc.typed()...))
	words = append(words, strings.Fields(flags)...)
	if w.road.create && command != offsets.LookThere {
		words = append(words, "--create")
	}
	line := w.g.typed(words...)
	switch {
	case command == offsets.LookThere:
		return "what the store lacks, and what helps: " + line
	case command == "reset" && w.road.command != "clamp":
		hint := "to read again what is there, in the place of --clamp: " + line
		rest, clamped := &scope{}, false
		for _, c := range pg.Changes {
			if c.Verdict != offsets.Keep && c.Aside != other {
				rest.include(c.Key)
				clamped = clamped || c.Choice == "--clamp"
			}
		}
		if rest.settle(); clamped && len(w.plan.Groups) == 1 { // of all of them it would pass over what was just brought back
			hint += "; the rest then with --clamp and only " + commandLine(rest.typed())
		}
		return hint
	case command == "reset":
		return "if the topic was recreated: " + line + "; if not, leave out --recreated"
	case strings.HasSuffix(flags, "--gone remove"):
		return "to remove what the store has of it: " + line
	case strings.HasSuffix(flags, "--other-cluster"):
		return "if the numbers hold here, too: " + line
	}
	return "first, to read the new topic from its beginning: " + line
}

// sibling is the program that does it for a group which commits no offsets; "" for any other.
func (w *writing) sibling(pg offsets.PlanGroup) string {
	if pg.Type != offsets.Share {
		return ""
	}
	words, shows := []string{"--group", pg.Group}, ""
	if !pg.Whole {
		for _, sel := range w.scope.selections {
			words = append(words, "--topic", sel.Topic)
		}
	}
	switch {
	case w.plan.Command == "delete" && pg.Whole:
		words = append(words, "--delete")
	case w.plan.Command == "delete":
		words = append(words, "--delete-offsets")
	default:
		if len(w.scope.selections) == 0 {
			words = append(words, "--all-topics")
		}
		words, shows = append(words, "--reset-offsets", "--to-earliest", "--dry-run"), " shows what it would set"
	}
	return w.g.kafkaTool("kafka-share-groups.sh", words...) + shows
}

// aside is what helps with the places in the store of what is refused, where no flag of the command does; "" if nothing is known to.
func (w *writing) aside(shot offsets.Snapshot, g offsets.Group, refused []*offsets.Change) string {
	if g.Store == nil {
		return ""
	}
	topics, emptied := map[string]bool{}, map[string]bool{}
	for _, c := range refused {
		topics[c.Topic] = true
		emptied[c.Topic] = emptied[c.Topic] || c.Side == offsets.Stored && c.Old.Offset != offsets.None && c.New.Offset == offsets.None
	}
	for _, t := range g.Store.Topics {
		switch out := wayOut(shot, t); {
		case !topics[t.Topic]:
		case out != "":
			return out
		case t.Bare && emptied[t.Topic]:
			return away(shot, t.Path)
		case (t.Presence == offsets.Damaged || t.Presence == offsets.Empty) && w.road.command != "clamp":
			return w.g.typed("clamp", "-g", g.ID, "-t", t.Topic, "-s", w.g.store, "--stored", "--salvage") + " keeps what is left of it"
		}
	}
	return ""
}

// refusedAlone lists what is refused of a group for reasons that are not those of the whole group.
func refusedAlone(pg offsets.PlanGroup) []*offsets.Change {
	var all []*offsets.Change
	for i := range pg.Changes {
		if c := &pg.Changes[i]; c.Verdict == offsets.Refuse && (pg.Refusal == "" || c.Reason != pg.Refusal) {
			all = append(all, c)
		}
	}
	return all
}

// alike puts together what is refused for one reason, of the partitions of a topic that have no offset: what is wrong with a file is said once.
// So is what is uncertain of what was written.
func alike(all []*offsets.Change) [][]*offsets.Change {
	type place struct {
		topic, reason string
		side          offsets.Side
	}
	var groups [][]*offsets.Change
	of := map[place]int{}
	for _, c := range all {
		at, none := place{c.Topic, cmp.Or(c.Error, c.Reason), c.Side}, c.Old.Offset == offsets.None || c.Error != ""
		i, again := of[at]
		if again && none {
			groups[i] = append(groups[i], c)
			continue
		}
		if none {
			of[at] = len(groups)
		}
		groups = append(groups, []*offsets.Change{c})
	}
	return groups
}

// numbers writes the partitions of changes as 0,2-5.
func numbers(changes []*offsets.Change) string {
	var sel offsets.Selection
	for _, c := range changes {
		sel.Partitions = append(sel.Partitions, c.Partition)
	}
	return strings.TrimPrefix(sel.String(), ":")
}

// of names partitions in an error, with their group where the plan has several.
func (w *writing) of(group, topic, partitions string) string {
	if len(w.plan.Groups) > 1 {
		return fmt.Sprintf("group %q %s %s", group, topic, partitions)
	}
	return topic + " " + partitions
}

// wayOut is how to get rid of what lies where a topic's entries would be and is none, or is not for us to read; "" if nothing is known to help.
func wayOut(shot offsets.Snapshot, t offsets.StoredTopic) string {
	_, local, _ := localPath(shot.Origin.Store)
	switch {
	case t.Presence == offsets.Denied && local != "":
		return asJobsUser
	case t.InTheWay == "":
		return ""
	}
	return away(shot, t.InTheWay)
}

// away is how to get rid of what lies at a path of the store.
func away(shot offsets.Snapshot, path string) string {
	if _, local, _ := localPath(shot.Origin.Store); local == "" {
		return "move " + path + " away: then there is no entry"
	}
	return outOfTheWay(path) + ": then there is no entry"
}

// outOfTheWay is the command that moves a file where it hinders nobody.
func outOfTheWay(path string) string {
	return commandLine([]string{"mv", path, path + ".aside"}) + " moves it out of the way"
}

const asJobsUser = "run it as the user of the job"

// causeOfGroup is why nothing of a group may be written, and the right that is missing if it is for want of one.
func causeOfGroup(shot offsets.Snapshot, pg offsets.PlanGroup) (cause, *offsets.Right) {
	g, _ := shot.Group(pg.Group)
	switch {
	case g.Trouble != nil:
		return causeOfTrouble(g.Trouble), g.Trouble.Lacks("group", pg.Group)
	case g.Active() && !pg.Live:
		return causeActive, nil
	case g.Existence == offsets.Missing:
		return causeMissing, nil
	}
	return causeRefused, nil
}

// causeOfChange is why a partition is refused, or was not written.
func causeOfChange(c *offsets.Change) cause {
	switch {
	case c.Result == offsets.NotTried && c.Verdict != offsets.Refuse:
		return causeFailed // another's is the cause
	case c.Lacks != nil:
		return causeAuthorization
	case c.Away:
		return causeUnreachable
	case c.Moved:
		return causeChanged
	case c.Refused && c.Side == offsets.Committed:
		return causeActive
	case c.Refused:
		return causeChanged
	case c.Verdict == offsets.Refuse:
		return causeRefused
	}
	return causeFailed
}

// decide adds a choice, which may be of several flags, to those that have to be made. Of a flag that is there already it leaves the values
// that serve both.
func decide(choices []string, choice string) []string {
	first, next, more := strings.Cut(choice, " --")
	if more {
		return decide(decide(choices, first), "--"+next)
	}
	flag, values, _ := strings.Cut(choice, " ")
	i := slices.IndexFunc(choices, func(c string) bool { return c == flag || strings.HasPrefix(c, flag+" ") })
	switch {
	case choice == "":
		return choices
	case i < 0:
		return append(choices, choice)
	}
	_, had, _ := strings.Cut(choices[i], " ")
	both := slices.DeleteFunc(strings.Split(had, "|"), func(v string) bool { return !slices.Contains(strings.Split(values, "|"), v) })
	if len(both) > 0 {
		choices[i] = strings.TrimSpace(flag + " " + strings.Join(both, "|"))
	}
	return choices
}

// ofClamp reports a choice that a plan of clamp leaves open, and import has no flag for.
func ofClamp(choice string) bool {
	flag, values, _ := strings.Cut(choice, " ")
	return flag == "--high" || flag == "--missing" || flag == "--recreated" && values != "keep"
}

// allSpelled writes choices as they can be typed.
func allSpelled(choices []string) string {
	ways := make([]string, len(choices))
	for i, c := range choices {
		ways[i] = spelled(c)
	}
	return strings.Join(ways, "; ")
}

// spelled writes "--high end|earliest" as it can be typed: --high end, or --high earliest.
func spelled(choice string) string {
	flag, values, _ := strings.Cut(choice, " ")
	if values == "" {
		return choice
	}
	ways := strings.Split(values, "|")
	for i, v := range ways {
		ways[i] = flag + " " + v
	}
	return strings.Join(ways, ", or ")
}

// outcome is the error of a write that did not come as planned. wrote tells that something was written, whatever was read back.
func (w *writing) outcome(wrote bool) error {
	n := w.plan.Count()
	bad, refused, unread, moved, active := 0, 0, 0, 0, 0
	anew := "" // of what moved
	p := &problem{}
	var texts []string
	notTried := "" // the first; what it was not tried for says more
	tell := func(at string, c *offsets.Change, detail output.ErrorDetail) {
		detail.Reason = cmp.Or(c.Error, string(c.Result))
		if c.Result == offsets.NotTried {
			detail.Reason = "not tried: " + detail.Reason
			notTried = cmp.Or(notTried, at+": "+detail.Reason)
		} else {
			texts = append(texts, at+": "+detail.Reason)
		}
		refused += b2i(c.Refused)
		why := causeOfChange(c)
		moved += b2i(why == causeChanged)
		if why == causeChanged && anew == "" {
			anew = w.standing(detail.Group) + "run the same command again to plan from there"
			if c.Awaits() {
				anew = w.g.transaction(detail.Group)
			}
		}
		active += b2i(why == causeActive)
		if why != causeFailed {
			p.causes = byRank(append(p.causes, why))
		}
		p.lacks = cmp.Or(p.lacks, c.Lacks)
		p.details = append(p.details, detail)
	}
	for group, c := range w.plan.Each() {
		if c.Verdict != offsets.Write || c.Verified {
			continue
		}
		bad++
		unread += b2i(c.Result == offsets.Written || c.Result == offsets.Already)
		tell(w.of(group, c.Topic, numbers([]*offsets.Change{c})), c, output.ErrorDetail{Group: group, Topic: c.Topic, Partition: c.Partition})
	}
	bare, gone := 0, 0 // the latter are gone, or may be
	for _, pg := range w.plan.Groups {
		gone += b2i(pg.Deleting())
		if pg.Unlisted() && pg.Result != offsets.Written && pg.Result != offsets.Already {
			bare++
			tell(fmt.Sprintf("group %q", pg.Group), &offsets.Change{Side: offsets.Committed, Result: pg.Result, Error: cmp.Or(pg.Error, "no answer"), Lacks: pg.Lacks, Refused: pg.Refused, Moved: pg.Moved},
				output.ErrorDetail{Group: pg.Group, Partition: offsets.None})
		}
	}
	if bad+bare == 0 {
		return nil
	}
	if len(texts) == 0 {
		texts = append(texts, notTried)
	}
	all := refused == bad+bare
	p.text = texts[0] + "; nothing was written"
	switch nothing := !wrote && n.Written+n.Unknown+gone == 0; {
	case nothing && w.away:
		p.code, p.causes = exitUnreachable, nil
	case nothing && all:
		p.code = exitRefused
		switch {
		case moved > 0:
			p.hint = anew
		case w.road.waitEmpty > 0:
			p.hint = "stop the members first"
		default:
			p.hint = "add " + waiting
		}
	case nothing && w.plan.Has(func(c *offsets.Change) bool { return c.Denied }):
		p.code, p.causes, p.hint = exitFailed, []cause{causeAuthorization}, asJobsUser
	case nothing:
		p.code = exitFailed
	default: // also if the store is away by now: what was not answered may have been written
		var what []string
		verb := "deleted"
		if bad > 0 {
			verb = "written"
			what = append(what, fmt.Sprintf("%s of %s", offsets.Thousands(int64(bad)), offsets.Plural(n.Write, "offset")))
		}
		if bare > 0 {
			what = append(what, offsets.Plural(bare, "group")+" without commits")
		}
		switch {
		case w.road.partial && all: // as at the last look
			p.text = "left out: " + list(texts, 3)
		case unread == bad+bare:
			p.text = what[0] + " written, but not verified: " + texts[0]
		default:
			p.text = strings.Join(what, " and ") + " not " + verb + " as planned: " + texts[0]
		}
		p.code, p.hint = exitPartly, w.finishing(moved > 0, active > 0)
		if w.plan.Has(func(c *offsets.Change) bool { return c.Denied }) { // as this user it would end likewise
			p.hint = asJobsUser + " to write what is left: " + p.hint
		}
		if moved == bad+bare && w.road.long == nil { // the plan does not fit what another wrote
			p.hint = anew
		}
	}
	return p
}

// waiting is the flag that helps with members.
const waiting = "--wait-empty 60s"

// standing begins the hint for what does not fit what another wrote.
func (w *writing) standing(group string) string {
	look := []string{"describe", "-g", group}
	if w.plan.From != "" {
		look = append(look, "-g", w.plan.From)
	}
	return w.g.typed(w.g.withStore(look)...) + " shows what stands now; "
}

// finishing is the command that writes what is left: partitions at their new value already are done, and those that another has moved stay.
func (w *writing) finishing(moved, active bool) string {
	if w.road.long != nil {
		return "the same command goes on"
	}
	line := append(w.importing(w.saved), "--execute")
	if w.road.create {
		line = append(line, "--create")
	}
	if w.road.partial || moved { // what was refused is still in the plan
		line = append(line, "--partial")
	}
	if active {
		line = append(line, strings.Fields(waiting)...)
	}
	return commandLine(line)
}

// untold is the error of a write that was done, but could not be told of: stdout is full, or closed, or nobody reads it any more. It must
// not read as if nothing had been written.
func (w *writing) untold(err error) error {
	if err == nil || !w.plan.Applied {
		return err
	}
	n, code := w.plan.Count(), exitPartly
	if readerGone(err) {
		code = exitUnread
	}
	hint := "all is done; what would undo it: " + w.plan.Undo
	if w.plan.Undo == "" {
		hint = "all is done; what was there before stands in " + cmp.Or(w.plan.Backup, w.saved)
	}
	return &problem{code: code, text: fmt.Sprintf("%d of %d offsets are written and verified, but telling of it failed: %v", n.Verified, n.Write, err), hint: hint, err: err}
}
