package spark

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"path"
	"slices"
	"sort"
	"strconv"
	"strings"
	"time"

	"gtoffset/kafkaops/offsets"
	"gtoffset/offsetfile"
)

// source is what a batch says of one source of the query.
type source struct {
	number int
	kafka  map[string]map[int32]int64 // topic, partition, next offset to read; nil if it is no Kafka source, or has nothing yet
	other  string                     // what it says otherwise
}

// ends reads the file of a batch: version, the batch's facts, and a line for each source.
func (c *checkpoint) ends(ctx context.Context, h *offsetfile.Holding) ([]source, error) {
	file := h.Store.Path
	data, err := c.content(ctx, file)
	if err != nil {
		return nil, err
	}
	all, saved, err := parseBatch(data)
	if err != nil {
		return nil, &troubleError{reason: fmt.Sprintf("%s: %v", file, err)}
	}
	h.Store.Saved = saved
	return all, nil
}

func (c *checkpoint) content(ctx context.Context, file string) ([]byte, error) {
	data, err := c.read(ctx, file)
	switch {
	case errors.Is(err, fs.ErrPermission):
		return nil, &troubleError{fmt.Sprintf("%s: %v", file, err), true}
	case errors.Is(err, fs.ErrNotExist):
		return nil, &troubleError{reason: file + " was taken away while it was looked at"}
	case errors.Is(err, offsetfile.ErrTooLarge):
		return nil, &troubleError{reason: fmt.Sprintf("%s: %v", file, err)}
	case err != nil:
		return nil, fmt.Errorf("read %s: %w", file, err)
	}
	return data, nil
}

// initial reads where a query starts that has not committed a batch yet: what its sources wrote down first.
func (c *checkpoint) initial(ctx context.Context, h *offsetfile.Holding) ([]source, error) {
	dir := path.Join(c.root, "sources")
	h.Store.Path = dir
	h.Store.Notes = append(h.Store.Notes, "no batch is committed yet: shown is where the sources start")
	folders, err := c.list(ctx, dir)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil, &troubleError{reason: dir + " is not there, and no batch is committed"}
	case err != nil:
		return nil, fmt.Errorf("list %s: %w", dir, err)
	}
	var all []source
	for _, f := range folders {
		n, ok := number(f.Name)
		if !ok || !f.Folder {
			continue
		}
		data, err := c.content(ctx, path.Join(dir, f.Name, "0"))
		if err != nil {
			return nil, err
		}
		_, line, found := bytes.Cut(bytes.TrimPrefix(data, []byte{0}), []byte("\n"))
		if !found { // the zero byte is there for readers of Spark 2.1
			return nil, &troubleError{reason: fmt.Sprintf("%s: it is cut off", path.Join(dir, f.Name, "0"))}
		}
		s, err := parseSource(int(n), string(bytes.TrimRight(line, "\n")))
		if err != nil {
			return nil, &troubleError{reason: fmt.Sprintf("%s: %v", path.Join(dir, f.Name, "0"), err)}
		}
		all = append(all, s)
	}
	sort.Slice(all, func(i, j int) bool { return all[i].number < all[j].number })
	return all, nil
}

// parseBatch reads the content of a file in offsets. The last line has no end.
func parseBatch(data []byte) (all []source, saved time.Time, err error) {
	lines := strings.Split(strings.TrimRight(string(data), "\n"), "\n")
	if len(data) == 0 {
		return nil, saved, errors.New("the file is empty (0 bytes), probably after a crash")
	}
	if version, ok := strings.CutPrefix(lines[0], "v"); !ok || version != "1" {
		if _, known := number(version); !ok || !known {
			return nil, saved, errors.New("line 1: no version: this is no batch of Structured Streaming")
		}
		return nil, saved, fmt.Errorf("line 1: version %s of the format is not known", version)
	}
	if len(lines) < 3 {
		return nil, saved, errors.New("it is cut off: there is no source in it")
	}
	if lines[1] != "" { // before Spark 2.1 there were no facts
		var facts struct {
			BatchTimestampMs int64 `json:"batchTimestampMs"`
		}
		if err := json.Unmarshal([]byte(lines[1]), &facts); err != nil {
			return nil, saved, errors.New("line 2: it is cut off, or no JSON")
		}
		if at := time.UnixMilli(facts.BatchTimestampMs).UTC(); facts.BatchTimestampMs > 0 && offsets.Plain(at) {
			saved = at
		}
	}
	for i, line := range lines[2:] {
		s, err := parseSource(i, line)
		if err != nil {
			return nil, saved, fmt.Errorf("line %d: %w", i+3, err)
		}
		all = append(all, s)
	}
	return all, saved, nil
}

// parseSource reads what one source says: {"topic":{"0":42}} of a Kafka source, - of one that had nothing yet, and anything else of others.
func parseSource(n int, line string) (source, error) {
	s := source{number: n}
	if line == "-" {
		s.other = "nothing yet"
		return s, nil
	}
	if !json.Valid([]byte(line)) {
		return s, errors.New("it is cut off, or no JSON")
	}
	var topics map[string]map[string]json.Number
	if err := json.Unmarshal([]byte(line), &topics); err != nil || len(topics) == 0 {
		s.other = line
		return s, nil // of a source that is not Kafka
	}
	s.kafka = make(map[string]map[int32]int64, len(topics))
	return s, members(line, func(topic string, partitions json.RawMessage) error {
		if _, again := s.kafka[topic]; again {
			return fmt.Errorf("topic %q is in it twice", topic)
		}
		next := map[int32]int64{}
		s.kafka[topic] = next
		return members(string(partitions), func(text string, value json.RawMessage) error {
			p, ok := offsetfile.ParsePartition(text)
			if !ok {
				return fmt.Errorf("topic %q: %q is no partition", topic, text)
			}
			if _, again := next[p]; again {
				return fmt.Errorf("topic %q: partition %d is in it twice", topic, p)
			}
			var number json.Number
			if err := json.Unmarshal(value, &number); err != nil {
				return fmt.Errorf("topic %q, partition %d: %w", topic, p, err)
			}
			offset, err := offsetfile.CountsNext.Read(number.String())
			if err != nil {
				return fmt.Errorf("topic %q, partition %d: %w", topic, p, err)
			}
			next[p] = offset
			return nil
		})
	})
}

// members visits what an object has, in its order, and a key as often as it stands there: a map of encoding/json has the last one only.
// null has nothing.
func members(object string, visit func(key string, value json.RawMessage) error) error {
	d := json.NewDecoder(strings.NewReader(object))
	if start, err := d.Token(); err != nil || start == nil {
		return err
	}
	for d.More() {
		key, err := d.Token()
		if err != nil {
			return err
		}
		var value json.RawMessage
		if err := d.Decode(&value); err != nil {
			return err
		}
		if err := visit(key.(string), value); err != nil { // the key of an object is a string, or Token had ended with an error
			return err
		}
	}
	return nil
}

// fill makes entries of what the sources say. A topic that several of them read has a place in each, so no single one can be told.
func fill(h *offsetfile.Holding, all []source, topics []string) {
	of := map[string][]source{} // by topic
	for _, s := range all {
		if s.kafka == nil {
			h.Store.Notes = append(h.Store.Notes, fmt.Sprintf("source %d is not of Kafka, or has nothing yet: %s", s.number, offsets.Clip(s.other, mostSaid)))
		}
		for topic := range s.kafka {
			of[topic] = append(of[topic], s)
		}
	}
	if topics == nil {
		topics = slices.Collect(maps.Keys(of))
	}
	for _, topic := range slices.Compact(slices.Sorted(slices.Values(topics))) {
		t := offsets.StoredTopic{Topic: topic, Path: h.Store.Path, Highest: offsets.None}
		switch sources := of[topic]; {
		case len(sources) > 1:
			t.Presence, t.Reason = offsets.Damaged, h.Store.Path+": "+several(topic, sources)
		case len(sources) == 1:
			t.Presence = offsets.Present
			for p, next := range sources[0].kafka[topic] {
				e := offsets.At(next)
				e.Saved = h.Store.Saved
				h.Entries[offsets.Key{Topic: topic, Partition: p}] = e
				t.Highest = max(t.Highest, p)
			}
		}
		h.Store.Topics = append(h.Store.Topics, t)
	}
}

// mostSaid is how much of a source is quoted.
const mostSaid = 120

// several says what each source has of a topic, and how to choose.
func several(topic string, sources []source) string {
	var says []string
	for _, s := range sources {
		var at []string
		for _, p := range slices.Sorted(maps.Keys(s.kafka[topic])) {
			at = append(at, fmt.Sprintf("%d:%d", p, s.kafka[topic][p]))
		}
		says = append(says, fmt.Sprintf("source %d has %s", s.number, offsets.Clip(strings.Join(at, " "), mostSaid)))
	}
	return fmt.Sprintf("%s read topic %q, and are not merged: %s; choose one with ?source=%s", offsets.Plural(len(sources), "source"), topic, strings.Join(says, ", "), strconv.Itoa(sources[0].number))
}
