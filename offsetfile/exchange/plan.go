package exchange

import (
	"cmp"
	"fmt"
	"slices"
	"sort"

	"gtoffset/kafkaops/offsets"
)

// readPlan reads gtoffset.plan/1, which a write command has printed or saved. Its counts are not read: they follow from the rest.
func (r *reading) readPlan(t *tree) {
	r.doc.Kind = Plan
	var at [11]int
	r.fields(t, 0, nowhere, false, at[:], "id", "command", "created", "applied", "cluster", "store", "backup", "undo", "groups", "from", "from_base64")
	p := &offsets.Plan{
		ID: r.textIn(t, at[0], nowhere, "id"), Command: r.textIn(t, at[1], nowhere, "command"),
		Created: r.timeIn(t, at[2], "created"), Applied: r.flag(t, at[3], nowhere, "applied"),
		Origin: r.origin(t, at[4], at[5]), Backup: r.textIn(t, at[6], nowhere, "backup"), Undo: r.textIn(t, at[7], nowhere, "undo"),
		From: r.exactly(t, at[9], at[10], nowhere, "from"),
	}
	var counts [1]int // they are not read, but stand at the end
	if r.fields(t, 0, nowhere, false, counts[:], "counts"); r.format == YAML && counts[0] < 0 {
		r.bad(0, "", "counts are missing: the document may be cut off")
	}
	if p.Command == "" {
		r.bad(0, "", "command is missing")
	}
	if p.Created.IsZero() {
		r.bad(0, "", "created is missing: how old the plan is cannot be told")
	}
	if r.list(t, at[8], nowhere, "groups") {
		i := 0
		for v := range t.items(at[8]) {
			r.planGroup(t, v, i, p)
			i++
		}
	}
	sort.Slice(p.Groups, func(i, j int) bool { return p.Groups[i].Group < p.Groups[j].Group })
	r.doc.ID, r.doc.Command, r.doc.Taken, r.doc.Origin, r.doc.Plan = p.ID, p.Command, p.Created, p.Origin, p
	for i, g := range p.Groups {
		r.doc.Groups = append(r.doc.Groups, Group{Name: g.Group, Type: g.Type})
		if i == 0 && len(g.Changes) > 0 {
			r.doc.Side = g.Changes[0].Side
		}
	}
	for _, c := range p.Each() {
		if c.Side != r.doc.Side {
			r.doc.Side = ""
			break
		}
	}
}

// writePlan writes gtoffset.plan/1.
func writePlan(w treeWriter, p offsets.Plan) error {
	w.open("", false)
	w.text("schema", PlanSchema)
	w.text("id", p.ID)
	w.text("command", p.Command)
	timeOrNull(w, "created", p.Created)
	w.flag("applied", p.Applied)
	writeOrigin(w, p.Origin)
	textOrNull(w, "backup", p.Backup)
	textOrNull(w, "undo", p.Undo)
	if p.From != "" {
		exactText(w, "from", p.From)
	}
	w.open("groups", true)
	for _, g := range p.Groups {
		w.open("", false)
		exactText(w, "group", g.Group)
		w.text("type", string(cmp.Or(g.Type, offsets.TypeUnknown)))
		textOrNull(w, "state", g.State)
		w.open("notes", true)
		for _, n := range g.Notes {
			w.text("", n)
		}
		w.close()
		textOrNull(w, "refusal", g.Refusal)
		textOrNull(w, "choice", g.Choice)
		if g.Live {
			w.flag("live", true)
		}
		if g.Whole {
			w.flag("whole", true)
		}
		textIfAny(w, "result", string(g.Result))
		textIfAny(w, "error", g.Error)
		w.open("changes", true)
		for i := range g.Changes {
			writeChange(w, &g.Changes[i])
		}
		w.close()
		w.close()
	}
	w.close()
	n := p.Count()
	w.open("counts", false)
	for _, c := range [...]struct {
		name string
		n    int64
	}{
		{"write", int64(n.Write)},
		{"keep", int64(n.Keep)},
		{"ask", int64(n.Ask)},
		{"refuse", int64(n.Refuse)},
		{"clamped", int64(n.Clamped)},
		{"written", int64(n.Written)},
		{"already", int64(n.Already)},
		{"verified", int64(n.Verified)},
		{"failed", int64(n.Failed)},
		{"unknown", int64(n.Unknown)},
		{"not_tried", int64(n.NotTried)},
		{"expired", n.Expired},
		{"skips", n.Skips},
		{"repeats", n.Repeats},
	} {
		w.number(c.name, c.n)
	}
	w.close()
	w.close()
	return w.end()
}

func writeChange(w treeWriter, c *offsets.Change) {
	w.open("", false)
	exactText(w, "topic", c.Topic)
	textOrNull(w, "topic_id", c.TopicID)
	w.number("partition", int64(c.Partition))
	w.text("side", string(c.Side))
	textOrNull(w, "condition", string(c.Condition))
	writeValue(w, "old", c.Old, c.Side)
	writeValue(w, "new", c.New, c.Side)
	if c.Beside != nil {
		orNull(w, "beside", *c.Beside)
	}
	textOrNull(w, "target", string(c.Target))
	w.text("verdict", string(c.Verdict))
	w.text("reason", c.Reason)
	textOrNull(w, "choice", c.Choice)
	if c.Rewrite {
		w.flag("rewrite", true)
	}
	w.flag("clamped", c.Clamped)
	w.number("expired", c.Expired)
	w.number("skips", c.Skips)
	w.number("repeats", c.Repeats)
	textOrNull(w, "result", string(c.Result))
	w.flag("verified", c.Verified)
	textOrNull(w, "error", c.Error)
	w.close()
}

func writeValue(w treeWriter, name string, v offsets.Value, side offsets.Side) {
	w.open(name, false)
	orNull(w, "offset", v.Offset)
	orNull(w, "epoch", int64(v.Epoch))
	writeRest(w, v, side)
	w.close()
}

// writeRest writes what is kept beside an offset: the metadata, null where there is no offset and where a store keeps none; and
// for which topic and cluster a store had recorded it.
func writeRest(w treeWriter, v offsets.Value, side offsets.Side) {
	if v.Offset != offsets.None && (side == offsets.Committed || v.Metadata != "") {
		exactText(w, "metadata", v.Metadata)
	} else {
		w.null("metadata")
	}
	if v.Offset != offsets.None {
		textIfAny(w, "recorded_topic_id", v.TopicID)
		textIfAny(w, "recorded_cluster", v.Cluster)
	}
}

func textIfAny(w treeWriter, name, s string) {
	if s != "" {
		w.text(name, s)
	}
}

// flag reads true or false; one that is not there is false.
func (r *reading) flag(t *tree, i int, where func() string, name string) bool {
	if i < 0 {
		return false
	}
	if t.nodes[i].kind != kindBool || t.raw(i) != "true" && t.raw(i) != "false" {
		r.bad(r.pos(t, i), where(), "%s is %s, not true or false", name, t.nodes[i].kind)
	}
	return t.raw(i) == "true"
}

func (r *reading) planGroup(t *tree, v, i int, p *offsets.Plan) {
	where := func() string { return fmt.Sprintf("groups[%d]", i) }
	var at [12]int
	if !r.fields(t, v, where, false, at[:], "group", "group_base64", "type", "state", "notes", "refusal", "choice", "whole", "changes",
		"live", "result", "error") {
		return
	}
	name, ok := r.groupName(t, at[0], at[1], at[2], v, where)
	if !ok || !r.list(t, at[8], where, "changes") {
		return
	}
	g := offsets.PlanGroup{
		Group: name, Type: r.groups[name], State: r.textIn(t, at[3], where, "state"), Refusal: r.textIn(t, at[5], where, "refusal"),
		Choice: r.textIn(t, at[6], where, "choice"), Whole: r.flag(t, at[7], where, "whole"),
		Live: r.flag(t, at[9], where, "live"), Result: r.result(t, at[10], v, where), Error: r.textIn(t, at[11], where, "error"),
	}
	if at[4] >= 0 && r.list(t, at[4], where, "notes") {
		for n := range t.items(at[4]) {
			g.Notes = append(g.Notes, r.textIn(t, n, where, "a note"))
		}
	}
	j := 0
	var places []found
	for c := range t.items(at[8]) {
		if change, ok := r.change(t, c, p.Command, &g, i, j); ok {
			g.Changes = append(g.Changes, change)
			places = append(places, found{Row{Given: offsets.Given{Group: name, Key: change.Key}, Side: change.Side}, r.pos(t, c)})
		}
		j++
	}
	sort.SliceStable(places, func(i, j int) bool { return places[i].compare(&places[j].Row) < 0 })
	for n := 1; n < len(places); n++ {
		if places[n-1].compare(&places[n].Row) == 0 && !r.untold(false) {
			at := r.place(places[n-1].pos, "", "")
			r.bad(places[n].pos, where(), "topic %q, partition %d, %s twice, first in line %d, column %d",
				places[n].Topic, places[n].Partition, places[n].Side, at.Line, at.Column)
		}
	}
	p.Groups = append(p.Groups, g)
}

// misplaced says what lets a change pass a check and stands where no command puts it, "" for nothing: who edits a plan is held to the rest.
func misplaced(command string, g *offsets.PlanGroup, c *offsets.Change) string {
	writes := c.ToDo()
	switch {
	case writes && (g.Whole || g.Live) && c.Side != offsets.Committed:
		return "side is stored in a group that is whole or live, of which only commits are removed"
	case writes && (g.Whole || g.Live) && c.New.Offset != offsets.None:
		return fmt.Sprintf("new offset is %d in a group that is whole or live, of which commits are only removed", c.New.Offset)
	case c.Target == offsets.Restored && command != "import":
		return "target is \"backup\", which only import plans, and this is of " + clip(command)
	}
	return ""
}

func (r *reading) change(t *tree, v int, command string, g *offsets.PlanGroup, i, j int) (offsets.Change, bool) {
	var c offsets.Change
	var at [21]int
	where := func() string {
		s := fmt.Sprintf("groups[%d].changes[%d]", i, j)
		if c.Topic != "" {
			s += fmt.Sprintf(" (group %q, topic %q, partition %d)", g.Group, c.Topic, c.Partition)
		}
		return s
	}
	if !r.fields(t, v, where, false, at[:], "topic", "topic_base64", "topic_id", "partition", "side", "condition", "old", "new", "target",
		"verdict", "reason", "choice", "clamped", "skips", "repeats", "result", "verified", "error", "rewrite", "expired", "beside") {
		return c, false
	}
	before := len(r.problems) + r.more
	word := func(i int, name string, words ...string) string { return r.word(t, i, v, where, name, words...) }
	c.Topic = r.exactly(t, at[0], at[1], where, "topic")
	c.TopicID = r.textIn(t, at[2], where, "topic_id")
	var why string
	switch {
	case at[3] < 0:
		r.bad(r.pos(t, v), where(), "partition is missing")
	default:
		if c.Partition, why = t.partitionAt(at[3]); why != "" {
			r.bad(r.pos(t, at[3]), where(), "partition %s", why)
		}
	}
	if c.Topic == "" {
		r.bad(r.pos(t, v), where(), "topic is missing")
	}
	c.Side = offsets.Side(word(at[4], "side", string(offsets.Stored), string(offsets.Committed)))
	c.Condition = offsets.Condition(word(at[5], "condition", "", string(offsets.OK), string(offsets.Low), string(offsets.High),
		string(offsets.NoEntry), string(offsets.Gone), string(offsets.Unknown)))
	c.Old, c.New = r.value(t, at[6], v, "old", where), r.value(t, at[7], v, "new", where)
	c.Target = offsets.Target(word(at[8], "target", "", string(offsets.Fixed), string(offsets.ToEarliest), string(offsets.ToEnd), string(offsets.Restored)))
	c.Verdict = offsets.Verdict(word(at[9], "verdict", string(offsets.Keep), string(offsets.Write), string(offsets.Ask), string(offsets.Refuse)))
	c.Reason, c.Choice = r.textIn(t, at[10], where, "reason"), r.textIn(t, at[11], where, "choice")
	c.Clamped = r.flag(t, at[12], where, "clamped")
	c.Skips, c.Repeats, c.Expired = r.count(t, at[13], where, "skips"), r.count(t, at[14], where, "repeats"), r.count(t, at[19], where, "expired")
	c.Rewrite, c.Result = r.flag(t, at[18], where, "rewrite"), r.result(t, at[15], v, where)
	c.Verified, c.Error = r.flag(t, at[16], where, "verified"), r.textIn(t, at[17], where, "error")
	if at[20] >= 0 {
		n := r.nullable(t, at[20], "beside", func(_ int, what, why string) { r.bad(r.pos(t, at[20]), where(), "%s %s", what, why) })
		c.Beside = &n
	}
	if offsets.Internal(c.Topic) {
		r.bad(r.pos(t, v), where(), "the topic is internal to Kafka")
	}
	if why := misplaced(command, g, &c); why != "" {
		r.bad(r.pos(t, v), where(), "%s", why)
	}
	return c, len(r.problems)+r.more == before
}

// word reads one of some words; "" is null.
func (r *reading) word(t *tree, i, self int, where func() string, name string, words ...string) string {
	s := r.textIn(t, i, where, name)
	if !slices.Contains(words, s) {
		r.bad(r.pos(t, max(i, self)), where(), "%s is %s, which is not known here", name, clip(s))
	}
	return s
}

func (r *reading) result(t *tree, i, self int, where func() string) offsets.Result {
	return offsets.Result(r.word(t, i, self, where, "result", "", string(offsets.NotTried), string(offsets.Written), string(offsets.Already),
		string(offsets.Failed), string(offsets.Unverified)))
}

func (r *reading) count(t *tree, i int, where func() string, name string) int64 {
	if i < 0 {
		return 0
	}
	n, why := t.numberIn(i)
	if why == "" && n < 0 {
		why = fmt.Sprintf("%d is negative", n)
	}
	if why != "" {
		r.bad(r.pos(t, i), where(), "%s %s", name, why)
	}
	return n
}

// value reads what a side holds, or is to hold.
func (r *reading) value(t *tree, i, self int, name string, where func() string) offsets.Value {
	v := offsets.NoValue
	if i < 0 {
		r.bad(r.pos(t, self), where(), "%s is missing", name)
		return v
	}
	var at [6]int
	if !r.fields(t, i, where, false, at[:], "offset", "epoch", "metadata", "metadata_base64", "recorded_topic_id", "recorded_cluster") {
		return v
	}
	wrong := func(j int, what, why string) {
		if j < 0 {
			j = i
		}
		r.bad(r.pos(t, j), where(), "%s %s %s", name, what, why)
	}
	v.Offset = r.nullable(t, at[0], "offset", wrong)
	if at[1] >= 0 && t.nodes[at[1]].kind != kindNull {
		n, why := t.numberIn(at[1])
		if why == "" && (n < 0 || n > 1<<31-1) {
			why = fmt.Sprintf("%d is no epoch; one that is not there is null", n)
		}
		if why != "" {
			wrong(at[1], "epoch", why)
		}
		v.Epoch = int32(n)
	}
	v.Metadata = r.exactly(t, at[2], at[3], where, "metadata")
	v.TopicID, v.Cluster = r.textIn(t, at[4], where, "recorded_topic_id"), r.textIn(t, at[5], where, "recorded_cluster")
	return v
}
