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
	if p := refusal(shot, plan); p != nil {
		p.text += "; nothing was written"
		if w.inVain {
			p.text = fmt.Sprintf("waited %s in vain: %s", offsets.Span(time.Duration(w.road.waitEmpty)), p.text)
			p.hint = "stop the members first"
		}
		if i := slices.IndexFunc(plan.Groups, func(pg offsets.PlanGroup) bool { return pg.Choice == "--create" }); i >= 0 {
			if near := w.g.near("-g", plan.Groups[i].Group, w.g.session.groupNames); near != "" {
				p.hint = near + " else " + p.hint
			}
		}
		return p
	}
	return nil
}

// leftOut is the error of a partial run at its end: what was refused was not written. shot is the first look: it knows of
// brokers whose groups are missing.
func (w *writing) leftOut(shot offsets.Snapshot, plan offsets.Plan) error {
	p := refusal(shot, plan)
	if p == nil {
		return nil
	}
	if n := plan.Count(); n.Write == 0 && !plan.Applied {
		p.text += "; nothing was written" // refused at the very last look
		return p
	}
	p.code, p.text = exitPartly, "left out: "+p.text
	if p.hint == writesTheRest { // it has
		p.hint = ""
	}
	return p
}

const writesTheRest = "--partial writes the rest"

// refusal is the problem that names what a plan refuses, nil if it refuses nothing.
func refusal(shot offsets.Snapshot, plan offsets.Plan) *problem {
	var texts, choices []string
	var details []output.ErrorDetail
	add := func(text, choice string) {
		texts = append(texts, text)
		if choice = spelled(choice); choice != "" && !slices.Contains(choices, choice) {
			choices = append(choices, choice)
		}
	}
	code, away := exitRefused, len(shot.Troubles) == 0
	for _, t := range shot.Troubles {
		add("groups may be missing: "+t.Reason, "")
	}
	for _, u := range unseen(shot) {
		add(notSeen(u), "")
		away = away && u.Trouble.Unreachable
	}
	for _, pg := range plan.Groups {
		if pg.Refusal != "" {
			add(pg.Refusal, pg.Choice)
			details = append(details, output.ErrorDetail{Group: pg.Group, Partition: offsets.None, Reason: pg.Refusal})
		}
		g, _ := shot.Group(pg.Group)
		groupAway := g.Trouble != nil && g.Trouble.Unreachable
		away = away && (pg.Refusal == "" || groupAway)
		for _, c := range pg.Changes {
			if c.Verdict != offsets.Refuse || pg.Refusal != "" && c.Reason == pg.Refusal {
				continue
			}
			at := fmt.Sprintf("%s %d", c.Topic, c.Partition)
			if len(plan.Groups) > 1 {
				at = fmt.Sprintf("group %q %s", pg.Group, at)
			}
			if c.Old.Offset != offsets.None {
				at += fmt.Sprintf(": %s %d", c.Side, c.Old.Offset)
			}
			away = away && (c.Away || groupAway)
			add(at+": "+c.Reason, c.Choice)
			details = append(details, output.ErrorDetail{Group: pg.Group, Topic: c.Topic, Partition: c.Partition, Reason: c.Reason})
		}
	}
	if len(texts) == 0 {
		return nil
	}
	if away { // nothing else stands against it: it is worth trying again
		code = exitUnreachable
	}
	hint := writesTheRest
	switch {
	case len(choices) > 0 && plan.Command == "import" && strings.HasPrefix(choices[0], "--high"): // a clamp's plan leaves it open
		hint = "make the plan anew: gtoffset clamp with " + choices[0]
	case len(choices) > 0:
		hint = "add " + strings.Join(choices, "; ")
	case plan.Count().Write == 0:
		hint = ""
	}
	return &problem{code: code, text: list(texts, 3), hint: hint, details: details}
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
	bad, refused := 0, 0
	var details []output.ErrorDetail
	first := ""
	for group, c := range w.plan.Each() {
		if c.Verdict != offsets.Write || c.Verified {
			continue
		}
		bad++
		if c.Refused || c.Result == offsets.NotTried && refused > 0 {
			refused++
		}
		reason := cmp.Or(c.Error, string(c.Result))
		if first == "" {
			first = fmt.Sprintf("%s %d: %s", c.Topic, c.Partition, reason)
		}
		details = append(details, output.ErrorDetail{Group: group, Topic: c.Topic, Partition: c.Partition, Reason: reason})
	}
	for _, pg := range w.plan.Groups {
		if pg.Whole && pg.Result != "" && pg.Result != offsets.Written && pg.Result != offsets.Already && !slices.ContainsFunc(pg.Changes, func(c offsets.Change) bool { return c.Verdict == offsets.Write }) {
			bad++
			first = cmp.Or(first, fmt.Sprintf("group %q: %s", pg.Group, cmp.Or(pg.Error, "no answer")))
			details = append(details, output.ErrorDetail{Group: pg.Group, Partition: offsets.None, Reason: pg.Error})
		}
	}
	switch {
	case bad == 0:
		return nil
	case !wrote && n.Written+n.Unknown == 0 && w.away:
		return &problem{code: exitUnreachable, text: first + "; nothing was written", details: details}
	case !wrote && n.Written+n.Unknown == 0 && refused == bad:
		return &problem{code: exitRefused, text: first + "; nothing was written", details: details}
	case !wrote && n.Written+n.Unknown == 0:
		return &problem{code: exitFailed, text: first + "; nothing was written", details: details}
	}
	return &problem{ // also if the store is away by now: what was not answered may have been written
		code: exitPartly, text: fmt.Sprintf("%s of %s not written as planned: %s", offsets.Thousands(int64(bad)), offsets.Plural(n.Write, "offset"), first),
		hint: w.finishing(), details: details,
	}
}

// finishing is the command that writes what is left: partitions at their new value already are done.
func (w *writing) finishing() string {
	if w.road.long != nil {
		return "the same command goes on"
	}
	line := append(w.importing(w.saved), "--execute")
	if w.road.create {
		line = append(line, "--create")
	}
	if w.road.partial { // what was refused is still in the plan
		line = append(line, "--partial")
	}
	return commandLine(line)
}

// untold is the error of a write that was done, but could not be told of: stdout is full, or closed. It must not read as if nothing
// had been written.
func (w *writing) untold(err error) error {
	if err == nil || !w.plan.Applied {
		return err
	}
	n := w.plan.Count()
	return &problem{
		code: exitPartly, text: fmt.Sprintf("%d of %d offsets are written and verified, but telling of it failed: %v", n.Verified, n.Write, err),
		hint: "all is done; what would undo it: " + w.plan.Undo, cause: err,
	}
}
