package redis

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	goredis "github.com/redis/go-redis/v9"

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
	found := offsetfile.Found{Path: "key " + t.form.build("*", group)}
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
	return found, nil
}

// namesOf are the names to be read: of the topics given, or of all keys of the group.
func (t *table) namesOf(ctx context.Context, group string, topics []string, notes *[]string) ([]name, error) {
	var all []name
	for _, topic := range topics {
		n := name{topic, group}
		names := t.form.names(t.form.key(n))
		if !slices.Contains(names, n) {
			return nil, &offsetfile.NameError{Kind: "topic", Name: topic, Reason: fmt.Sprintf("it has %q, which ends a topic in a key %s", t.form.between, t.form)}
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
	hashes, lives := make([]*goredis.MapStringStringCmd, len(names)), make([]*goredis.DurationCmd, len(names))
	var info *goredis.StringCmd
	err := t.request(ctx, fmt.Sprintf("HGETALL of %s", offsets.Plural(len(names), "key")), func(c goredis.UniversalClient) error {
		p := c.Pipeline()
		for i, n := range names {
			hashes[i], lives[i] = p.HGetAll(ctx, t.form.key(n)), p.PTTL(ctx, t.form.key(n))
		}
		if t.facts.Load() == nil {
			info = p.Info(ctx)
		}
		_, err := p.Exec(ctx)
		return err
	})
	if err != nil && !isAnswer(err) {
		return nil, t.explain(err)
	}
	if info != nil {
		t.facts.Store(factsOf(info.Val())) // a server that does not say is none that has something to say
	}
	answers := make([]answer, len(names))
	for i := range names {
		if err := hashes[i].Err(); err != nil && !ofOneKey(err) {
			return nil, t.explain(err)
		}
		answers[i] = answer{hashes[i].Val(), hashes[i].Err(), max(lives[i].Val(), 0)}
	}
	return answers, nil
}

// topicOf makes cells of what a server said.
func (t *table) topicOf(n name, a answer) (offsetfile.FoundTopic, []string) {
	key := t.form.key(n)
	f := offsetfile.FoundTopic{Topic: n.topic, Path: "key " + key, Cells: map[int32]offsetfile.Cell{}}
	switch {
	case a.problem != nil && goredis.IsPermissionError(a.problem):
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
	if t.o.Create || t.known.Load() {
		return nil
	}
	keys, err := t.scan(ctx, t.form.globAll())
	switch {
	case err != nil && goredis.IsPermissionError(err):
		t.addFact("whether there is any key " + t.form.build("*", "*") + " is not known: the user may not SCAN")
		return nil
	case err != nil:
		return err
	case len(keys) > 0:
		t.known.Store(true)
		return nil
	}
	place := fmt.Sprintf("database %d", t.options.DB)
	if t.kind == cluster {
		place = "the cluster"
	}
	return &offsetfile.NothingError{
		Looked: fmt.Sprintf("keys %s in %s, and there is none", t.form.build("*", "*"), place),
		Hint:   "check the number of the database and ?key=; --create-table begins a store here",
	}
}

// scan lists the keys of a pattern, sorted.
func (t *table) scan(ctx context.Context, pattern string) ([]string, error) {
	var mu sync.Mutex
	var keys []string
	of := func(ctx context.Context, c goredis.Cmdable) error {
		for cursor := uint64(0); ; {
			some, next, err := c.Scan(ctx, cursor, pattern, scanned).Result()
			if err != nil {
				return err
			}
			mu.Lock()
			keys = append(keys, some...)
			mu.Unlock()
			if cursor = next; cursor == 0 {
				return nil
			}
		}
	}
	err := t.request(ctx, "SCAN "+pattern, func(c goredis.UniversalClient) error {
		if all, ok := c.(*goredis.ClusterClient); ok {
			return all.ForEachMaster(ctx, func(ctx context.Context, one *goredis.Client) error { return of(ctx, one) })
		}
		return of(ctx, c)
	})
	if err != nil {
		return nil, t.explain(err)
	}
	slices.Sort(keys)
	return slices.Compact(keys), nil // SCAN may give one twice
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

func (t *table) addFact(fact string) {
	facts := append(slices.Clone(*t.facts.Load()), fact)
	t.facts.Store(&facts)
}
