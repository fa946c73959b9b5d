package redis

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	redigo "github.com/gomodule/redigo/redis"

	"gtoffset/kafkaops/offsets"
	"gtoffset/offsetfile"
)

// scanned is how many keys a server looks at for one answer of SCAN: a few milliseconds of its time.
const scanned = 5000

// mostNotes is how many keys that were passed over are noted one by one.
const mostNotes = 5

func (t *table) Groups(ctx context.Context) (groups, notes []string, err error) {
	keys, err := t.scan(ctx, t.form.globAll())
	if err != nil {
		return nil, nil, err
	}
	found := map[string]bool{}
	for _, key := range keys {
		names := t.form.names(key)
		switch len(names) {
		case 0:
			notes = append(notes, fmt.Sprintf("key %q has no topic, and was passed over", key))
		case 1:
			found[names[0].group] = true
		default:
			notes = append(notes, t.ambiguous(key, names)+": it is not listed; name the group")
		}
	}
	if len(found) == 0 && len(notes) == 0 {
		if err := t.nothing(ctx); err != nil {
			return nil, nil, err
		}
	}
	return slices.Collect(maps.Keys(found)), few(notes), nil
}

func (t *table) Read(ctx context.Context, group string, topics []string) (offsetfile.Found, error) {
	found := offsetfile.Found{Path: "key " + t.form.Key("*", group)}
	names, err := t.namesOf(ctx, group, topics, &found.Notes)
	if err != nil {
		return found, err
	}
	answers, err := t.fetch(ctx, names)
	if err != nil {
		return found, err
	}
	present := false
	for i, n := range names {
		topic, notes := t.topicOf(n, answers[i])
		found.Topics = append(found.Topics, topic)
		found.Notes = append(found.Notes, notes...)
		present = present || topic.Presence != offsets.Absent
	}
	if present {
		t.known.Store(true)
	} else if err := t.nothing(ctx); err != nil {
		return found, err
	}
	found.Notes = append(few(found.Notes), *t.facts.Load()...)
	if t.unsure.Load() {
		found.Notes = append(found.Notes, "whether there is any key "+t.form.Key("*", "*")+" is not known: the user may not SCAN")
	}
	return found, nil
}

// namesOf are the names to be read: of the topics given, or of all keys of the group.
func (t *table) namesOf(ctx context.Context, group string, topics []string, notes *[]string) ([]name, error) {
	var all []name
	for _, topic := range topics {
		n := name{topic, group}
		names := t.form.names(t.form.key(n))
		if !slices.Contains(names, n) {
			return nil, &offsetfile.NameError{Kind: "topic", Name: topic, Reason: fmt.Sprintf("it has %q, which ends a topic in a key %s", t.form.Between, t.form)}
		}
		if len(names) > 1 {
			*notes = append(*notes, t.ambiguous(t.form.key(n), names))
		}
		all = append(all, n)
	}
	if topics != nil {
		return all, nil
	}
	keys, err := t.scan(ctx, t.form.glob(group))
	for _, key := range keys {
		names := t.form.names(key)
		if len(names) > 1 {
			*notes = append(*notes, t.ambiguous(key, names))
		}
		for _, n := range names {
			if n.group == group {
				all = append(all, n)
			}
		}
	}
	return all, err
}

func (t *table) ambiguous(key string, names []name) string {
	return fmt.Sprintf("key %q can be read as topic %q of group %q and as topic %q of group %q: %q does not tell them apart",
		key, names[0].topic, names[0].group, names[1].topic, names[1].group, t.form)
}

// few cuts a list of notes.
func few(notes []string) []string {
	if len(notes) > mostNotes {
		return append(notes[:mostNotes:mostNotes], fmt.Sprintf("and %d more of the kind", len(notes)-mostNotes))
	}
	return notes
}

// answer is what a server says of one key.
type answer struct {
	fields  map[string]string
	problem error
	expires time.Duration // what is left of the key's time to live; 0 without one
}

// fetch reads the keys in one round trip, and with the first of them what the server says of itself.
func (t *table) fetch(ctx context.Context, names []name) ([]answer, error) {
	var commands []command
	for _, n := range names {
		key := t.form.key(n)
		commands = append(commands, command{key: key, name: "HGETALL", args: []any{key}}, command{key: key, name: "PTTL", args: []any{key}})
	}
	if t.facts.Load() == nil {
		commands = append(commands, command{name: "INFO"})
	}
	var replies []reply
	err := t.request(ctx, fmt.Sprintf("HGETALL of %s", offsets.Plural(len(names), "key")), func() (err error) {
		replies, err = t.do(ctx, true, commands)
		return err
	})
	if err != nil {
		return nil, t.explain(err)
	}
	answers := make([]answer, len(names))
	for i := range names {
		hash, life := replies[2*i], replies[2*i+1]
		fields, err := redigo.StringMap(hash.value, hash.err)
		if err != nil && !ofOneKey(err) {
			return nil, t.explain(err)
		}
		left, _ := redigo.Int64(life.value, life.err) // negative without an end; who may not ask sees none
		answers[i] = answer{fields, err, offsets.Millis(max(left, 0))}
	}
	if len(replies) > 2*len(names) {
		last := replies[2*len(names)]
		info, err := redigo.String(last.value, last.err)
		if err != nil && !isAnswer(err) {
			return nil, t.explain(err)
		}
		t.facts.Store(factsOf(info)) // a server that does not say is none that has something to say
	}
	return answers, nil
}

// topicOf makes cells of what a server said.
func (t *table) topicOf(n name, a answer) (offsetfile.FoundTopic, []string) {
	key := t.form.key(n)
	f := offsetfile.FoundTopic{Topic: n.topic, Path: "key " + key, Cells: map[int32]offsetfile.Cell{}}
	switch {
	case code(a.problem) == "NOPERM":
		f.Presence, f.Reason = offsets.Denied, fmt.Sprintf("key %s: %s", key, said(a.problem))
		return f, nil
	case a.problem != nil:
		f.Presence, f.Reason = offsets.WrongType, fmt.Sprintf("key %s holds something else than a hash", key)
		return f, nil
	case len(a.fields) == 0:
		return f, nil
	}
	var notes []string
	f.Presence = offsets.Present
	for _, field := range slices.Sorted(maps.Keys(a.fields)) {
		if p, ok := offsetfile.ParsePartition(field); ok {
			f.Cells[p] = offsetfile.Cell{Text: a.fields[field]}
		} else {
			notes = append(notes, fmt.Sprintf("key %s: the field %q is no partition, and was passed over", key, field))
		}
	}
	if a.expires > 0 {
		notes = append(notes, fmt.Sprintf("key %s expires in %v, and its offsets with it", key, a.expires.Round(time.Second)))
	}
	return f, notes
}

// nothing is the error of a database without any key of this form: the wrong one, or the wrong form. It is not asked where one was seen
// already.
func (t *table) nothing(ctx context.Context) error {
	if t.o.Create || t.known.Load() || t.unsure.Load() {
		return nil
	}
	keys, err := t.scan(ctx, t.form.globAll())
	var refused *offsetfile.CredentialsError
	switch {
	case errors.As(err, &refused):
		t.unsure.Store(true)
		return nil
	case err != nil:
		return err
	case len(keys) > 0:
		t.known.Store(true)
		return nil
	}
	place := fmt.Sprintf("database %d", t.db)
	if t.kind == cluster {
		place = "the cluster"
	}
	return &offsetfile.NothingError{
		Looked: fmt.Sprintf("keys %s in %s, and there is none", t.form.Key("*", "*"), place),
		Hint:   "check the number of the database and ?key=; a write with --create-table begins a store here",
	}
}

// scan lists the keys of a pattern, sorted.
func (t *table) scan(ctx context.Context, pattern string) ([]string, error) {
	var keys []string
	err := t.request(ctx, "SCAN "+pattern, func() error {
		masters, err := t.masters(ctx)
		if err != nil {
			return err
		}
		found, errs := make([][]string, len(masters)), make([]error, len(masters))
		var wg sync.WaitGroup
		for i, addr := range masters {
			wg.Go(func() { found[i], errs[i] = t.scanOne(ctx, addr, pattern) })
		}
		wg.Wait()
		keys = slices.Concat(found...)
		return cmp.Or(errs...)
	})
	if err != nil {
		return nil, t.explain(err)
	}
	slices.Sort(keys)
	return slices.Compact(keys), nil // SCAN may give one twice
}

func (t *table) scanOne(ctx context.Context, addr, pattern string) (keys []string, err error) {
	for cursor := "0"; ; {
		replies, err := t.at(ctx, addr, true, []command{{name: "SCAN", args: []any{cursor, "MATCH", pattern, "COUNT", scanned}}})
		if err != nil {
			return nil, err
		}
		parts, err := redigo.Values(replies[0].value, replies[0].err)
		if err != nil {
			return nil, err
		}
		if len(parts) != 2 {
			return nil, fmt.Errorf("SCAN of %s: %d parts instead of 2", addr, len(parts))
		}
		some, err := redigo.Strings(parts[1], nil)
		if err != nil {
			return nil, err
		}
		keys = append(keys, some...)
		if cursor, err = redigo.String(parts[0], nil); err != nil || cursor == "0" {
			return keys, err
		}
	}
}

// factsOf are the properties of a server that endanger offsets, as INFO gives them.
func factsOf(info string) *[]string {
	facts := []string{}
	values := map[string]string{}
	for line := range strings.Lines(info) {
		if name, value, ok := strings.Cut(strings.TrimSpace(line), ":"); ok {
			values[name] = value
		}
	}
	if limit, _ := strconv.ParseInt(values["maxmemory"], 10, 64); limit > 0 && strings.HasPrefix(values["maxmemory_policy"], "allkeys-") {
		facts = append(facts, "the server may drop offsets when its memory is full: maxmemory-policy is "+values["maxmemory_policy"])
	}
	if values["role"] == "slave" {
		facts = append(facts, fmt.Sprintf("the server is a replica of %s:%s: what was saved last may not have come to it", values["master_host"], values["master_port"]))
	}
	return &facts
}
