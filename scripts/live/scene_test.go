//go:build live

package live_test

import (
	"context"
	"encoding/base64"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"gtoffset/scripts/live"
)

// scene is a topic of a test's own, a group, and a store of that group.
type scene struct {
	t                    *testing.T
	on                   *live.Cluster
	topic, group, folder string
}

// stage makes a topic whose partitions have the given ranges of offsets.
func stage(t *testing.T, on *live.Cluster, ranges ...[2]int64) scene {
	t.Helper()
	s := scene{t, on, name(t, "orders"), name(t, "billing"), t.TempDir()}
	must(t, on.CreateTopic(t.Context(), s.topic, len(ranges)))
	s.grow(ranges...)
	return s
}

// grow moves the partitions from 0 on to the given ranges: they were empty.
func (s scene) grow(ranges ...[2]int64) {
	s.t.Helper()
	ends := map[int64][]int32{}
	for p, r := range ranges {
		if r[1] > 0 {
			ends[r[1]] = append(ends[r[1]], int32(p))
		}
	}
	for end, partitions := range ends {
		must(s.t, s.on.Produce(s.t.Context(), s.topic, int(end), partitions...))
	}
	for p, r := range ranges {
		if r[0] > 0 {
			must(s.t, s.on.DeleteRecords(s.t.Context(), s.topic, int32(p), r[0]))
		}
	}
}

// run runs the program against the scene's cluster.
func (s scene) run(args ...string) result {
	s.t.Helper()
	return program{On: s.on}.run(s.t, args...)
}

// clamp is the arguments that repair the scene's group without asking.
func (s scene) clamp(more ...string) []string {
	return append([]string{"clamp", "-g", s.group, "-s", s.folder, "--execute"}, more...)
}

// describe describes the scene's group with its store.
func (s scene) describe(more ...string) result {
	s.t.Helper()
	return s.run(append([]string{"describe", "-g", s.group, "-s", s.folder}, more...)...)
}

// shell types a line that the program printed, in a shell that knows the program and nothing else of the scene.
func (s scene) shell(line string) result {
	s.t.Helper()
	path, err := built()
	must(s.t, err)
	return program{Wrap: []string{"sh", "-c", line}, Env: []string{"PATH=" + filepath.Dir(path) + ":" + os.Getenv("PATH")}}.run(s.t)
}

// none is a partition without an offset.
const none = -1

// commit commits offsets for the partitions from 0 on.
func (s scene) commit(offsets ...int64) {
	s.t.Helper()
	places := map[int32]live.Commit{}
	for p, offset := range offsets {
		if offset != none {
			places[int32(p)] = live.At(offset)
		}
	}
	must(s.t, s.on.Commit(s.t.Context(), s.group, s.topic, places))
}

// path is where the store keeps the scene's entry.
func (s scene) path() string { return filepath.Join(s.folder, s.group, s.topic, "gtoffset") }

// save writes what a job that knows the topic's id saves, for the partitions from 0 on.
func (s scene) save(offsets ...int64) {
	s.t.Helper()
	s.write(s.head() + strings.Join(lines(offsets), "") + fmt.Sprintf("# entries %d\n", len(lines(offsets))))
}

// head is the beginning of a file that knows the topic's id.
func (s scene) head() string {
	s.t.Helper()
	return fmt.Sprintf("# gtoffset 1\n# group %s\n# topic %s\n# topic-id %s\n# cluster %s\n# saved 2026-01-02T03:04:05Z\n",
		s.group, s.topic, s.topicID(), s.on.ID)
}

func (s scene) topicID() string {
	s.t.Helper()
	id, err := s.on.TopicID(s.t.Context(), s.topic)
	must(s.t, err)
	return base64.RawURLEncoding.EncodeToString(id[:])
}

func lines(offsets []int64) []string {
	var all []string
	for p, offset := range offsets {
		if offset != none {
			all = append(all, fmt.Sprintf("%d %d\n", p, offset))
		}
	}
	return all
}

func (s scene) write(content string) {
	s.t.Helper()
	must(s.t, os.MkdirAll(filepath.Dir(s.path()), 0o755))
	must(s.t, os.WriteFile(s.path(), []byte(content), 0o644))
}

// file is the entry as it lies in the store, "" if there is none.
func (s scene) file() string {
	s.t.Helper()
	content, err := os.ReadFile(s.path())
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		s.t.Fatal(err)
	}
	return string(content)
}

// stored is the entry without what a save changes by itself, and "" if it is not proven whole.
func (s scene) stored() string {
	s.t.Helper()
	var body []string
	whole := ""
	for line := range strings.Lines(s.file()) {
		switch f := strings.Fields(line); {
		case strings.HasPrefix(line, "# entries "):
			whole = f[2]
		case len(f) > 1 && f[0] != "#":
			body = append(body, strings.Join(append([]string{f[0] + "=" + f[1]}, f[2:]...), "/"))
		}
	}
	if whole != fmt.Sprint(len(body)) {
		return ""
	}
	return strings.Join(body, " ")
}

// committed is what Kafka holds, "0=500 1=900/epoch/metadata".
func (s scene) committed() string {
	s.t.Helper()
	all, err := s.on.Committed(s.t.Context(), s.group)
	must(s.t, err)
	var list []string
	for _, p := range slices.Sorted(maps.Keys(all[s.topic])) {
		c := all[s.topic][p]
		text := fmt.Sprintf("%d=%d", p, c.Offset)
		if c.Epoch != -1 || c.Metadata != "" {
			text += fmt.Sprintf("/%d/%s", c.Epoch, c.Metadata)
		}
		list = append(list, text)
	}
	return strings.Join(list, " ")
}

// backups is what the scene's runs have kept.
func (s scene) backups() []string {
	s.t.Helper()
	all, err := filepath.Glob(filepath.Join(home(s.t), ".local", "state", "gtoffset", "*"))
	must(s.t, err)
	return all
}

// forgets waits until Kafka has taken the commits of a deleted topic away.
func (s scene) forgets() {
	s.t.Helper()
	must(s.t, live.Eventually(s.t.Context(), "the commits of the deleted topic are gone", func(ctx context.Context) (bool, error) {
		all, err := s.on.Committed(ctx, s.group)
		return len(all[s.topic]) == 0, err
	}))
}

// onEach runs a test on three brokers of the current release and on one of the previous.
func onEach(t *testing.T, test func(t *testing.T, on *live.Cluster)) {
	t.Run(live.Current, func(t *testing.T) { test(t, cluster) })
	t.Run(live.Previous, func(t *testing.T) {
		old, err := previous()
		must(t, err)
		test(t, old)
	})
}
