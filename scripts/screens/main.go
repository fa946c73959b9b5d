// Command screens writes docs/screens: what gtoffset shows on terminals of 80 and of 200 columns, with and without colour, and a picture
// of one of them for the README. The program runs in tmux, on a cluster inside this process, and what stands on the screen then is taken.
//
//	go run ./scripts/screens          writes the files
//	go run ./scripts/screens -check   fails when they are not what would be written
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"syscall"
	"time"

	"gtoffset/kafkaops/kafkatest"
	"gtoffset/scripts/terminal"
)

const folder = "docs/screens"

func main() {
	check := flag.Bool("check", false, "write nothing; fail when a file is stale")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	err := run(ctx, *check)
	stop()
	if err != nil {
		fmt.Fprintln(os.Stderr, "screens:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, check bool) error {
	all, err := screens(ctx)
	if err != nil {
		return err
	}
	var stale []error
	for name, text := range all {
		path := filepath.Join(folder, name)
		if !check {
			if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
				return err
			}
			continue
		}
		if old, err := os.ReadFile(path); err != nil || string(old) != text {
			stale = append(stale, fmt.Errorf("%s is stale: go run ./scripts/screens", path))
		}
	}
	return errors.Join(stale...)
}

// pictureWidth is how many columns the terminal of the picture has: as few as a gauge leaves room for.
const pictureWidth = 140

// shown is where the store is said to be.
const shown = "/var/lib/offsets"

// scenes are the command lines that are shown, by the name of their file.
var scenes = map[string]string{
	"describe": "describe -g billing -s " + shown,
	"problems": "describe -g billing -s " + shown + " --problems",
	"time":     "describe -g shipping --time",
	"wide":     "describe -g shipping -o wide",
	"groups":   "describe --all-groups --problems --sort lag",
	"state":    "describe --all-groups --state",
}

// screens takes every scene at both widths, with and without colour.
func screens(ctx context.Context) (map[string]string, error) {
	dir, err := os.MkdirTemp("", "gtoffset-screens-")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(dir)
	program := filepath.Join(dir, "gtoffset")
	if said, err := exec.CommandContext(ctx, "go", "build", "-o", program, "gtoffset").CombinedOutput(); err != nil {
		return nil, fmt.Errorf("go build: %w\n%s", err, said)
	}
	b, err := kafkatest.New(kafkatest.Options{Brokers: 1})
	if err != nil {
		return nil, err
	}
	defer b.Close()
	store := fmt.Sprintf("/tmp/gts-%07x", rand.N(1<<28)) // as long as the path that is shown instead
	defer os.RemoveAll(store)
	if err := fill(b, store); err != nil {
		return nil, err
	}
	screen := func(name string, width int, color string) (string, error) {
		line := scenes[name]
		text, err := take(ctx, dir, width, fmt.Sprintf("%s %s -b %s --color %s", program, strings.ReplaceAll(line, shown, store), b.Bootstrap(), color), color == "always")
		if err != nil {
			return "", fmt.Errorf("%s: %w", name, err)
		}
		// Where the program ran differs from run to run; of the same length, it folds the same.
		text = regexp.MustCompile(`127\.0\.0\.1:\d{5}`).ReplaceAllString(text, "127.0.0.1:19092")
		text = regexp.MustCompile(` +\n`).ReplaceAllString(text, "\n")
		text = strings.ReplaceAll(text, store, shown)
		for _, topic := range []string{"orders", "parcels"} {
			text = strings.ReplaceAll(text, b.TopicID(topic), "5Qx0pnu7R1mL4dyX6hDb3w")
		}
		return "$ gtoffset " + line + "\n" + text, nil
	}
	all := map[string]string{}
	for name := range scenes {
		for _, width := range []int{80, 200} {
			for suffix, color := range map[string]string{"": "never", "-color": "always"} {
				if all[fmt.Sprintf("%s-%d%s.txt", name, width, suffix)], err = screen(name, width, color); err != nil {
					return nil, err
				}
			}
		}
	}
	pictured, err := screen("describe", pictureWidth, "always")
	all["describe.svg"] = picture(pictured, pictureWidth)
	return all, err
}

// fill breaks two groups in the ways that the documentation speaks of.
func fill(b *kafkatest.Broker, store string) error {
	ranges := map[string][][2]int64{"orders": {{500, 2000}, {0, 2000}, {0, 1600}, {0, 1200}, {0, 1000}}}
	for topic, parts := range ranges {
		if err := b.CreateTopic(topic, int32(len(parts))); err != nil {
			return err
		}
		for p, r := range parts {
			if err := b.SetRange(topic, int32(p), r[0], r[1]); err != nil {
				return err
			}
		}
	}
	if err := b.Fake.CreateTopic("parcels", 2, map[string]string{"retention.ms": strconv.Itoa(4 * 24 * 3600 * 1000)}); err != nil {
		return err
	}
	old := time.Now().Add(-27*time.Hour - 30*time.Minute) // far from where what is shown of it changes
	for p := range int32(2) {
		if err := b.ProduceAt("parcels", p, old, old, old); err != nil {
			return err
		}
	}
	for group, topics := range map[string]map[string][]int64{
		"billing":  {"orders": {900, 1450, 1700, -1, 800}},
		"shipping": {"parcels": {1, 3}},
	} {
		for topic, at := range topics {
			for p, o := range at {
				if o < 0 {
					continue
				}
				if err := b.Commit(group, topic, int32(p), o, -1, ""); err != nil {
					return err
				}
			}
		}
	}
	path := filepath.Join(store, "billing", "orders")
	if err := os.MkdirAll(path, 0o755); err != nil {
		return err
	}
	file := filepath.Join(path, "gtoffset")
	if err := os.WriteFile(file, []byte("0 120\n1 950\n2 1700\n4 800\n"), 0o644); err != nil {
		return err
	}
	saved := time.Now().Add(-51*time.Hour - 30*time.Minute)
	return os.Chtimes(file, saved, saved)
}

// take runs a line in a terminal of its own and returns what stands on it.
func take(ctx context.Context, dir string, width int, line string, color bool) (string, error) {
	const done = "-- the end --"
	// The line is run by a shell that stays, so that the screen stays too.
	t, err := terminal.Open(ctx, dir, width, 60, line+"; echo '"+done+"'; exec sleep 60")
	if err != nil {
		return "", err
	}
	defer t.Close()
	text, err := t.Wait(color, func(screen string) bool { return strings.Contains(screen, done) })
	before, _, _ := strings.Cut(text, done)
	return before, err
}
