package cmd_test

import (
	"encoding/csv"
	"strings"
	"testing"
)

// All codes that a run met are in the document.
func TestErrorListsAllCodes(t *testing.T) {
	t.Parallel()
	w := start(t).topic("orders", [2]int64{500, 900}, [2]int64{500, 900}, [2]int64{500, 900}).commit("billing", "orders", 100, 600, 1000)
	e := w.run("clamp", "-g", "billing", "--check", "-o", "json").exits(4).failure()
	same(t, "codes", words(e.Codes), "[4 10]")
	same(t, "details", words(len(e.Details), deref(e.Details[0].Group), deref(e.Details[0].Topic), *e.Details[0].Partition), "1 billing orders 2")
	if e.Hint == nil || !strings.Contains(*e.Hint, "--high end") {
		t.Errorf("hint = %v", deref(e.Hint))
	}
	w.hide("orders", 2)
	e = w.run("describe", "-g", "billing", "-g", "nobody", "--check", "-o", "json").exits(3).failure()
	same(t, "codes", words(e.Codes), "[3 10]")
}

// What is on which stream.
func TestStreams(t *testing.T) {
	t.Parallel()
	w := start(t).topic("orders", [2]int64{500, 900}, [2]int64{500, 900}).commit("billing", "orders", 100, 600).save("billing", "orders", 100, 600)
	describe := []string{"describe", "-g", "billing", "-s", w.store}
	r := w.run(describe...)
	same(t, "stderr", r.err, "")
	v := w.run(append(describe, "-v")...).says("OffsetFetch", "ListOffsets", "level=")
	same(t, "-v leaves stdout alone", v.out, r.out)
	w.run(append(describe, "-o", "json", "-v")...).describe()
	all, err := csv.NewReader(strings.NewReader(w.run(append(describe, "-o", "csv")...).out)).ReadAll()
	must(t, err)
	same(t, "csv", words(len(all), all[0][:6], all[1][:8]), "3 [group topic partition earliest stored committed] [billing orders 0 500 100 100 900 400]")

	// The answer is the same with and without colour and terminal, but for colour, gauge and width.
	same(t, "--color always", strings.Contains(w.run(append(describe, "--color", "always")...).out, "\x1b["), true)
	w.tty, w.width = true, 200
	same(t, "NO_COLOR", strings.Contains(w.run(describe...).out, "\x1b["), false)
	delete(w.vars, "NO_COLOR")
	same(t, "a terminal", strings.Contains(w.run(describe...).out, "\x1b["), true)
	same(t, "--color never", strings.Contains(w.run(append(describe, "--color", "never")...).out, "\x1b["), false)
	w.width = 80
	for line := range strings.Lines(w.run(append(describe, "--color", "never")...).out) {
		if f := strings.Fields(line); len(f) > 1 && f[0] == "orders" && len([]rune(line)) > 81 {
			t.Errorf("too wide for 80 columns: %q", line)
		}
	}
	w.tty, w.width = false, 0

	// --problems hides what is ok, but counts it.
	r = w.run(append(describe, "--problems")...).exits(0).prints("1 more is not shown", "2 partitions, 1 ok")
	r.line("orders", 0)
	same(t, "shown", strings.Contains(r.out, "orders          1"), false)

	// -q: the plan is part of the answer as text; beside a document it is talk.
	r = w.run("clamp", "-g", "billing", "--dry-run", "-q").exits(0)
	same(t, "-q", r.err, "")
	r = w.run("clamp", "-g", "billing", "--dry-run", "-q", "-o", "json").exits(0)
	same(t, "-q", r.err, "")
	r.plan()
	w.run("version").exits(0).prints("gtoffset ")
	w.run().exits(0).prints("Commands", "describe", "clamp", "import")
	w.run("descrbe").exits(2).says(`"descrbe"`, "gtoffset describe")
}
