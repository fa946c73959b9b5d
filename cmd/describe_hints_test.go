package cmd_test

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// hinted is the command that describe's hint names, "" if there is none.
func (r result) hinted() string {
	for line := range strings.Lines(r.out) {
		if hint, ok := strings.CutPrefix(line, "hint: "); ok {
			if _, command, ok := strings.Cut(strings.TrimSpace(hint), ": gtoffset "); ok {
				return command
			}
		}
	}
	return ""
}

// follow does what the hints say until none is left: each line works as it stands, and is not told again. It returns them.
func (w *world) follow(describe ...string) []string {
	w.t.Helper()
	var told []string
	for {
		hint := w.run(describe...).exits(0).hinted()
		if hint == "" {
			return told
		}
		if slices.Contains(told, hint) {
			w.t.Fatalf("told twice: %s", hint)
		}
		told = append(told, hint)
		w.run(append(typed(hint), "--execute")...).exits(0).never("Nothing to do")
	}
}

// Whoever does what describe says comes to an end: each line that it prints works, is not printed again, moves no entry of the store back that
// was in range, and when none is printed any more a restart from the commits loses nothing that is still there.
func TestHintsComeToAnEnd(t *testing.T) {
	t.Parallel()
	six := [][2]int64{{100, 1000}, {100, 1000}, {100, 1000}, {100, 1000}, {100, 1000}, {100, 1000}}
	for _, c := range []struct {
		name              string
		bare              bool // the store knows no identity
		stored, committed []int64
		only              string   // partitions that are asked for, "" for all
		first             string   // what the first hint selects
		after             []string // stored and committed at the end
	}{
		{
			name: "a commit beyond the end is among what would be lost", stored: []int64{150, 200, 300, 801, 100, none}, committed: []int64{150, 260, 300, 201, 99000, none},
			first: "-t orders:1,4 ", after: []string{"0=150 1=200 2=300 3=801 4=100 5=100", "0=150 1=200 2=300 3=201 4=100"},
		},
		{
			name: "low on both sides, and one of them", stored: []int64{50, 50, 500, 500}, committed: []int64{50, 300, 50, 501},
			first: "-t orders:0-1,3 ", after: []string{"0=100 1=100 2=500 3=500", "0=100 1=100 2=100 3=500"},
		},
		{
			name: "all of them", stored: []int64{150, 150, 150, 150, 150, 150}, committed: []int64{160, 160, 160, 160, 99000, 1000},
			first: "-t orders ", after: []string{"0=150 1=150 2=150 3=150 4=150 5=150", "0=150 1=150 2=150 3=150 4=150 5=150"},
		},
		{
			name: "no more than was asked for", stored: []int64{150, 150, 150, 150, 150, 150}, committed: []int64{160, 160, 160, 160, 99000, 1000}, only: ":0-1",
			first: "-t orders:0-1 ", after: []string{"0=150 1=150 2=150 3=150 4=150 5=150", "0=150 1=150 2=160 3=160 4=99000 5=1000"},
		},
		{
			name: "the store beyond the end", bare: true, stored: []int64{99000, 150, 99000}, committed: []int64{200, 150, 99000},
			first: "--stored --committed --high earliest", after: []string{"0=100 1=150 2=100", "0=100 1=150 2=100"},
		},
		{
			name: "the store beyond the end, beside records to be lost", bare: true, stored: []int64{99000, 150}, committed: []int64{99000, 160},
			first: "-t orders:1 ", after: []string{"0=100 1=150", "0=100 1=150"},
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			w := start(t).topic("orders", six[:len(c.stored)]...).commit("billing", "orders", c.committed...)
			w.saveAs("billing", "orders", w.b.TopicID("orders"), "kfake", c.stored...)
			if c.bare {
				w.save("billing", "orders", c.stored...)
			}
			describe := []string{"describe", "-g", "billing", "-s", w.store}
			if c.only != "" {
				describe = append(describe, "-t", "orders"+c.only)
			}
			if first := w.follow(describe...); len(first) == 0 || !strings.Contains(first[0], c.first) {
				t.Errorf("the hints are %q, want %s first", first, c.first)
			}
			same(t, "stored", w.stored("billing", "orders"), c.after[0])
			same(t, "committed", w.committed("billing", "orders"), c.after[1])
			w.run(describe...).never("never processed", "stored -")
		})
	}
}

// What is only read is no side that a hint could name.
func TestHintsOfAStoreThatIsOnlyRead(t *testing.T) {
	t.Parallel()
	w := start(t).topic("orders", [2]int64{100, 1000}, [2]int64{100, 1000}).commit("billing", "orders", 99000, 300)
	checkpoint := t.TempDir()
	for name, text := range map[string]string{"offsets/0": "v1\n{}\n{\"orders\":{\"0\":150,\"1\":50}}", "commits/0": "v1\n{}"} {
		must(t, os.MkdirAll(filepath.Dir(filepath.Join(checkpoint, name)), 0o755))
		must(t, os.WriteFile(filepath.Join(checkpoint, name), []byte(text), 0o644))
	}
	describe := []string{"describe", "-g", "billing", "-s", "spark:" + checkpoint}
	hint := w.run(describe...).hinted()
	if !strings.Contains(hint, "--to-safe --committed") || strings.Contains(hint, "--stored") {
		t.Errorf("hint = %q", hint)
	}
	w.run(append(typed(hint), "--execute")...).exits(0)
	same(t, "committed", w.committed("billing", "orders"), "0=150 1=100")
	same(t, "hint", w.run(describe...).hinted(), "")
}

// What has to be decided before the rest is told first, and no line is refused for what it does not name.
func TestHintsInTheirOrder(t *testing.T) {
	t.Parallel()
	begin := func(t *testing.T) *world {
		return start(t).topic("orders", [2]int64{100, 1000}, [2]int64{100, 1000}, [2]int64{100, 1000}).topic("payments", [2]int64{0, 500}, [2]int64{0, 500})
	}
	id := func(w *world, topic string) string { return w.b.TopicID(topic) }
	for _, c := range []struct {
		name    string
		prepare func(*world)
		says    string // beside the first hint
		hints   []string
	}{
		{
			"a recreated topic comes before what is unprocessed",
			func(w *world) {
				w.saveAs("billing", "orders", id(w, "orders"), "kfake", 200, 300, 400).commit("billing", "orders", 200, 350, 400)
				w.saveAs("billing", "payments", "AAAAAAAAAAAAAAAAAAAAAA", "kfake", 90, 70000).commit("billing", "payments", 95, 80000)
			},
			"to read the new topic from its beginning",
			[]string{
				"clamp -g billing -t payments -s STORE --stored --committed --high earliest --recreated earliest",
				"reset -g billing -t orders:1 -t payments:0 -s STORE --to-safe --stored --committed",
			},
		},
		{
			"what is left is said",
			func(w *world) {
				w.save("billing", "orders", 200, 300, 70000).commit("billing", "orders", 200, 350, 400)
			},
			"to lose nothing that is still there in these partitions, before what else is wrong",
			[]string{
				"reset -g billing -t orders:1 -s STORE --to-safe --stored --committed",
				"clamp -g billing -s STORE --stored --high earliest",
				"reset -g billing -t orders:2 -s STORE --to-safe --stored --committed",
			},
		},
		{
			"a lost entry beside one beyond the end",
			func(w *world) {
				w.save("billing", "orders", 70000, none, 150).commit("billing", "orders", 100, 350, 150)
			},
			"the log was cut back, or the topic was made anew (then its other numbers are wrong, too); to bring it back into range, and read again what may have been skipped",
			[]string{
				"clamp -g billing -t orders:0 -s STORE --stored --high earliest",
				"clamp -g billing -t orders:1 -s STORE --stored --missing earliest",
				"reset -g billing -t orders:1 -s STORE --to-safe --stored --committed",
			},
		},
		{
			"each side lacks what the other has, out of range",
			func(w *world) {
				w.save("billing", "orders", 50, none, 150).commit("billing", "orders", none, 50, 150)
			},
			"to bring it back into range",
			[]string{
				"clamp -g billing -t orders:0 -s STORE --stored", "clamp -g billing -t orders:1 -s STORE --committed",
				"clamp -g billing -t orders:1 -s STORE --stored --missing earliest",
			},
		},
		{
			"a recreated topic whose commits went with it, beside what is low on both sides",
			func(w *world) {
				w.save("billing", "orders", 50, 300, 50).commit("billing", "orders", 50, 300, 50)
				w.saveAs("billing", "payments", "AAAAAAAAAAAAAAAAAAAAAA", "kfake", 90, 70000)
			},
			"to read the new topic from its beginning",
			[]string{"clamp -g billing -t payments -s STORE --stored --recreated earliest", "clamp -g billing -t orders:0,2 -s STORE --stored --committed"},
		},
		{
			"a recreated topic whose commits went with it, beside what is low and what is unprocessed",
			func(w *world) {
				w.save("billing", "orders", 50, 300, 50).commit("billing", "orders", 50, 350, 50)
				w.saveAs("billing", "payments", "AAAAAAAAAAAAAAAAAAAAAA", "kfake", 90, 70000)
			},
			"to read the new topic from its beginning",
			[]string{"clamp -g billing -t payments -s STORE --stored --recreated earliest", "reset -g billing -t orders -s STORE --to-safe --stored --committed"},
		},
		{
			"a partition that was added while the job ran",
			func(w *world) {
				w.save("billing", "orders", 200, 300, none).commit("billing", "orders", 200, 300, 110)
			},
			"only the commits have an offset of these; to begin them at earliest (other in its place begins at the commit, and skips what was not processed)",
			[]string{"clamp -g billing -t orders:2 -s STORE --stored --missing earliest", "reset -g billing -t orders:2 -s STORE --to-safe --stored --committed"},
		},
		{
			"another cluster's store, beyond the end and of another topic",
			func(w *world) {
				w.saveAs("billing", "orders", "AAAAAAAAAAAAAAAAAAAAAA", "elsewhere", 70000, 300, 50).commit("billing", "orders", 100, 300, 100)
			},
			"the store is of another cluster; if that is meant",
			[]string{"clamp -g billing -s STORE --stored --other-cluster --high earliest"},
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			w := begin(t)
			c.prepare(w)
			describe := []string{"describe", "-g", "billing", "-s", w.store}
			w.run(describe...).prints("hint: " + c.says + ": gtoffset ")
			got := strings.ReplaceAll(strings.Join(w.follow(describe...), "\n"), w.store, "STORE")
			same(t, "hints", got, strings.Join(c.hints, "\n"))
		})
	}
}

// A store that has nothing of a group is rather the wrong one than one that has lost an entry of each partition: that is asked first.
func TestHintOfAStoreWithoutTheGroup(t *testing.T) {
	t.Parallel()
	w := start(t).topic("orders", [2]int64{100, 1000}).commit("billing", "orders", 500).commit("other", "orders", 500).save("other", "orders", 500)
	w.run("describe", "-g", "billing", "-s", w.store).exits(0).prints("no entry in the store", "hint: is it the right store? gtoffset describe -s "+w.store+" shows which groups it has. If it is, to begin them at earliest")
}

// A command that only reads has no use for a folder that is new.
func TestHintOfAStoreThatIsNotThere(t *testing.T) {
	t.Parallel()
	w := start(t).topic("orders", [2]int64{100, 1000}).commit("billing", "orders", 50)
	nowhere := filepath.Join(w.store, "misspelled")
	w.run("describe", "-g", "billing", "-s", nowhere).exits(1).says("looked at " + nowhere + "; -s names the folder").never("mkdir")
	w.run("clamp", "-g", "billing", "-t", "orders", "-s", nowhere, "--stored", "--execute").exits(1).says("mkdir")
}

// A replay of what was recorded for another topic of that name says what decides, and the line works.
func TestHintOfAReplayOfARecreatedTopic(t *testing.T) {
	t.Parallel()
	w := start(t).topic("orders", [2]int64{0, 0}).saveAs("billing", "orders", "AAAAAAAAAAAAAAAAAAAAAA", "kfake", 50)
	must(t, w.b.Produce("orders", 0, "a", "b"))
	e := w.run("replay", "-g", "billing", "-t", "orders", "-s", w.store).exits(4).says("recorded before the topic was recreated", "hint: clamp decides it")
	_, line, _ := strings.Cut(e.err, "to begin the new topic: gtoffset ")
	line, _, _ = strings.Cut(line, "\n")
	w.run(append(typed(line), "--execute")...).exits(0)
	w.run("replay", "-g", "billing", "-t", "orders", "-s", w.store).exits(0).prints(`"a"`)
}

// Of a plan that was overtaken what stands now is shown, beside what it was.
func TestPlanThatWasOvertaken(t *testing.T) {
	t.Parallel()
	w := start(t).topic("orders", [2]int64{500, 900}).commit("billing", "orders", 700)
	plan := w.document(w.run("reset", "-g", "billing", "-t", "orders", "--to-latest", "--dry-run", "-o", "json").exits(0).out)
	w.commit("billing", "orders", 640)
	w.run("import", plan, "--execute").exits(4).says("committed 640: moved since the plan: was 700, is 640", "plan anew from there")
	same(t, "old", w.run("import", plan, "--dry-run", "-o", "json").exits(4).plan().change(t, "orders", 0, "committed").Old.Offset.String(), "640")
}
