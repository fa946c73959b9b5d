package cmd_test

import (
	"bytes"
	"context"
	"regexp"
	"strings"
	"sync"
	"testing"

	"gtoffset/cmd"
	"gtoffset/kafkaops/kafkatest"
	"gtoffset/output"
)

// frames is a stdout that calls back after each picture, or line, with its number from 1 on.
type frames struct {
	mu   sync.Mutex
	all  []string
	each func(n int, written string)
}

func (f *frames) Write(b []byte) (int, error) {
	f.mu.Lock()
	f.all = append(f.all, string(b))
	n := len(f.all)
	f.mu.Unlock()
	f.each(n, string(b))
	return len(b), nil
}

// watch runs the program until each, called after every write to stdout, ends it.
func (w *world) watch(size func() (int, int), each func(n int, written string, end func()), args ...string) (all []string, talk string, code int) {
	w.t.Helper()
	ctx, end := context.WithCancel(w.t.Context())
	defer end()
	w.soft = ctx
	out := &frames{each: func(n int, written string) { each(n, written, end) }}
	var said bytes.Buffer
	env := w.env(out, &said)
	env.Size = size
	code = cmd.Main(ctx, env, args)
	return out.all, said.String(), code
}

func TestWatchLines(t *testing.T) {
	w := start(t).topic("orders", [2]int64{0, 100}).commit("billing", "orders", 40)
	all, talk, code := w.watch(nil, func(n int, _ string, end func()) {
		switch n {
		case 1:
			w.grow("orders", [2]int64{0, 300})
			w.commit("billing", "orders", 140)
		case 3:
			end()
		}
	}, "describe", "-g", "billing", "--watch=100ms")
	same(t, "exit code", code, 0)
	same(t, "lines", len(all), 3)
	if !strings.Contains(all[0], "billing  Empty, 1 partition, 1 ok, lag 60\n") || strings.ContainsAny(strings.Join(all, ""), "\x1b\r") {
		t.Errorf("lines: %q", all)
	}
	if !strings.Contains(all[1], "lag 160; ") || !strings.Contains(all[1], "in ") || !strings.Contains(all[1], "lag grows") {
		t.Errorf("second line: %q", all[1])
	}
	same(t, "stderr", talk, "")
}

func TestWatchDocuments(t *testing.T) {
	w := start(t).topic("orders", [2]int64{0, 100}).commit("billing", "orders", 40)
	all, _, code := w.watch(nil, func(n int, _ string, end func()) {
		if n == 2 {
			end()
		}
	}, "describe", "-g", "billing", "--watch=100ms", "-o", "json")
	same(t, "exit code", code, 0)
	for _, line := range all {
		r := result{t: t, out: line}
		same(t, "lag", r.describe().Groups[0].Totals.Lag, 60)
	}
}

func TestWatchScreen(t *testing.T) {
	w := start(t)
	var ranges [][2]int64
	var at []int64
	for p := range 400 {
		ranges, at = append(ranges, [2]int64{0, 100}), append(at, int64(p%100))
	}
	w.topic("orders", ranges...).commit("billing", "orders", at...)
	w.vars["TERM"] = "xterm"
	w.width = 100
	lines := 30
	var resized, marked string // the first pictures that show it
	all, _, code := w.watch(func() (int, int) { return 100, lines }, func(n int, picture string, end func()) {
		switch {
		case n == 1:
			w.grow("orders", [2]int64{50, 200}, [2]int64{0, 100}, [2]int64{0, 120})
			lines = 20
		case n == 2:
			resized = picture
		}
		if regexp.MustCompile(`orders .* ▲ +[0-9]`).MatchString(picture) { // the heading has the sign, too
			marked = picture
		}
		if marked != "" && n > 1 || n == 50 {
			end()
		}
	}, "describe", "-g", "billing", "--watch=300ms")
	same(t, "exit code", code, 0)
	if !strings.HasPrefix(all[0], "\x1b[?1049h") || strings.Contains(strings.Join(all[1:], ""), "\x1b[2J") {
		t.Errorf("the screen is not opened, or cleared: %q", all)
	}
	screen := strings.Join(all, "")
	if strings.Count(screen, "\x1b[?1049h") != 1 || strings.Count(screen, "\x1b[?1049l") != 1 || strings.Count(screen, "\x1b[?25h") != 1 {
		t.Error("the terminal is not given back once")
	}
	for height, picture := range map[int]string{30: all[0], 20: resized} {
		if n := strings.Count(picture, "\r\n"); n >= height {
			t.Errorf("a picture has %d lines, the terminal %d", n, height)
		}
		if !strings.Contains(picture, " more") || !strings.Contains(picture, "400 partitions") {
			t.Errorf("a picture does not say what it leaves out, or the totals: %q", picture)
		}
	}
	mark := func(row, sign string) bool {
		return regexp.MustCompile(`\norders +` + row + ` .* ` + sign + ` +[0-9]`).MatchString(marked)
	}
	if !mark("0", "▲") || !mark("2", "▲") || !mark("1", "●") {
		t.Errorf("how the lags move is not marked: %q", marked)
	}
	last := all[len(all)-1]
	if strings.Contains(last, "\x1b[?") || strings.Count(last, "orders ") < 400 {
		t.Errorf("the last picture is not left behind whole: %q", last)
	}
}

func TestWatchOfManyGroups(t *testing.T) {
	w := start(t).topic("orders", [2]int64{50, 100})
	for i := range 60 {
		w.commit("billing-"+string(rune('a'+i%26))+string(rune('a'+i/26)), "orders", int64(40+i))
	}
	w.vars["TERM"], w.width = "xterm", 120
	all, _, code := w.watch(func() (int, int) { return 120, 24 }, func(n int, _ string, end func()) { end() }, "describe", "--all-groups", "--watch", "--sort", "state")
	same(t, "exit code", code, 0)
	picture := all[0]
	if n := strings.Count(picture, "\r\n"); n >= 24 {
		t.Errorf("%d lines on a terminal of 24", n)
	}
	for _, want := range []string{"60 groups, 60 partitions, 50 ok", "and 44 more", "IN/S", "1 not ok, such as orders 0: committed low"} {
		if !strings.Contains(picture, want) {
			t.Errorf("the picture lacks %q:\n%s", want, picture)
		}
	}
}

func TestWatchSurvivesLoss(t *testing.T) {
	w := startWith(t, kafkatest.Options{Brokers: 1}).topic("orders", [2]int64{0, 100}).commit("billing", "orders", 40)
	w.vars["TERM"], w.width = "xterm", 120
	var lost, back string
	_, _, code := w.watch(func() (int, int) { return 120, 30 }, func(n int, picture string, end func()) {
		told := strings.Contains(picture, "no new look since")
		switch {
		case n == 1:
			w.b.Kill(0)
		case told && lost == "":
			lost = picture
			must(t, w.b.Revive(0))
		case lost != "" && !told:
			back = picture
			end()
		case n == 100:
			end()
		}
	}, "describe", "-g", "billing", "--watch=100ms")
	same(t, "exit code", code, 0)
	if !strings.Contains(lost, "orders          0         40  100   60") {
		t.Errorf("the loss is not told beside what was seen last: %q", lost)
	}
	if back == "" {
		t.Error("the loss is told for ever")
	}
}

func TestWatchEndsAtOnce(t *testing.T) {
	w := start(t).topic("orders", [2]int64{0, 100}).commit("billing", "orders", 40)
	w.run("describe", "-g", "nobody", "--watch").exits(1).says("not known to the cluster")
	w.b.Kill(0)
	w.run("describe", "-g", "billing", "--watch").exits(5)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	w.soft = ctx
	w.run("describe", "-g", "billing", "--watch").exits(130)
}

func TestWatchUsage(t *testing.T) {
	w := start(t)
	wrong := [][]string{{"--check"}, {"--max-lag", "1"}, {"--watch=1ms"}, {"--watch=-1s"}}
	for _, f := range (output.Describe{}).Formats() {
		if f != output.Table && f != output.Wide && f != output.JSON { // whatever else there is has no place for a second look
			wrong = append(wrong, []string{"-o", string(f)})
		}
	}
	for _, args := range wrong {
		w.run(append([]string{"describe", "-g", "billing", "--watch=1s"}, args...)...).exits(2)
	}
	w.run("describe", "-g", "billing", "--watch", "billing").exits(2).says("takes no argument")
	w.run("describe", "-g", "billing", "1s", "--watch").exits(2).says("takes no argument")
	w.run("describe", "--watch", "1s").exits(2).says("--watch needs a group")
	w.run("describe", "--watch").exits(2).says("--watch needs a group")
	same(t, "requests", w.b.Count(), 0)
}

// Mark and words are of one lag over one stretch of time, with a store, too; and a commit beyond the end is no work that was done.
func TestWatchMarks(t *testing.T) {
	w := start(t).topic("orders", [2]int64{0, 100}, [2]int64{0, 100}, [2]int64{0, 100}, [2]int64{0, 100}).commit("billing", "orders", 40, 40, 100, 20).save("billing", "orders", 40, 40, 100, 20)
	w.vars["TERM"], w.width = "xterm", 140
	all, _, code := w.watch(func() (int, int) { return 140, 40 }, func(n int, _ string, end func()) {
		switch n {
		case 1:
			w.commit("billing", "orders", 90, 40, 100, 99999)
		case 4: // nothing has moved since the second
			end()
		}
	}, "describe", "-g", "billing", "-s", w.store, "--watch=100ms")
	same(t, "exit code", code, 0)
	for _, picture := range all[1:] {
		if !strings.Contains(picture, "TOPIC") { // the terminal is given back
			continue
		}
		for _, want := range []string{`orders +0 +40 +90 +100 +10 +▼ +60 `, `orders +1 +40 +40 +100 +60 +● +60 `, `orders +2 +100 +100 +100 +0 +0 `, `orders +3 +20 +99999 +100 +0 +80 +0 +- +0 `, `, lag shrinks`} {
			if !regexp.MustCompile(want).MatchString(picture) {
				t.Errorf("the picture lacks %s:\n%s", want, picture)
			}
		}
	}
}
