package storetest

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"
	"testing"

	"gtoffset/kafkaops/offsets"
	"gtoffset/offsetfile"
)

func (c *contract) nothing(t *testing.T) {
	s, group := c.open(t, Given{}), c.group()
	save(t, s, c.group(), put{"t", 0, 1}) // the store itself is not empty
	h := load(t, s, group, "t")
	if len(h.Entries) > 0 {
		t.Errorf("entries: got %v, want none", h.Entries)
	}
	topic, ok := h.Store.Topic("t")
	if !ok || topic.Presence != offsets.Absent || topic.Path == "" || h.Store.Path == "" {
		t.Errorf("got %+v at %q, want an absent topic with the places looked at", topic, h.Store.Path)
	}
	if s.Can().Nameless {
		t.Error("Nameless: a store that is written to has groups, and a look at one must not be of another")
	}
	if h := load(t, s, group); len(h.Entries) > 0 || h.Store.Trouble != nil {
		t.Errorf("all topics: got %+v, want nothing", h)
	}
	groups, _, err := s.Groups(Within(t, patience))
	if err != nil || slices.Contains(groups, group) {
		t.Errorf("groups: got %q, %v; %q has nothing", groups, err, group)
	}
}

func (c *contract) saveAndLoad(t *testing.T) {
	s, group, neighbour := c.open(t, Given{}), c.group(), c.group()
	changes, _ := save(t, s, neighbour, put{"a", 0, 1})
	written(t, changes)
	changes, _ = save(t, s, group, put{"a", 0, 5}, put{"a", 2, 7}, put{"b", 11, 0})
	written(t, changes)
	holds(t, s, group, "a 0 5, a 2 7, b 11 0")
	holds(t, s, group, "b 11 0", "b", "c")
	holds(t, c.open(t, Given{}), group, "a 0 5, a 2 7", "a")
	h := load(t, s, group)
	for _, topic := range h.Store.Topics {
		if want := map[string]int32{"a": 2, "b": 11}[topic.Topic]; topic.Presence != offsets.Present || topic.Highest != want {
			t.Errorf("topic %q: got %v, highest %d; want present, %d", topic.Topic, topic.Presence, topic.Highest, want)
		}
	}
	if s.Can().Times && h.Store.Saved.IsZero() {
		t.Error("the time of the save is not known")
	}
	groups, _, err := s.Groups(Within(t, patience))
	if err != nil || !slices.Contains(groups, group) || !slices.Contains(groups, neighbour) || !slices.IsSorted(groups) {
		t.Errorf("groups: got %q, %v; want %q and %q, sorted", groups, err, group, neighbour)
	}
	// What a save does not name stays; none removes.
	changes, _ = save(t, s, group, put{"a", 0, offsets.None}, put{"a", 1, 9})
	written(t, changes)
	holds(t, s, group, "a 1 9, a 2 7, b 11 0")
	holds(t, s, neighbour, "a 0 1")
	changes, _ = save(t, s, group, put{"b", 11, offsets.None})
	written(t, changes)
	holds(t, s, group, "a 1 9, a 2 7")
	changes, _ = save(t, s, group, put{"a", 1, offsets.None}, put{"a", 2, offsets.None})
	written(t, changes)
	holds(t, s, group, "")
	c.isListed(t, s, group)
	c.isListed(t, s, neighbour)
}

// isListed wants a group among those of the store as long as something is kept of it: a value, or a file that says there is none.
func (c *contract) isListed(t testing.TB, s offsetfile.Store, group string) {
	t.Helper()
	kept := slices.ContainsFunc(load(t, s, group).Store.Topics, func(topic offsets.StoredTopic) bool {
		return topic.Presence != offsets.Absent && (c.OneBadAll || topic.Highest != offsets.None)
	})
	groups, _, err := s.Groups(Within(t, patience))
	if listed := slices.Contains(groups, group); err != nil || listed != kept {
		t.Errorf("group %q, of which something is kept: %v, listed: %v (%v)", group, kept, listed, err)
	}
}

func (c *contract) renewed(t *testing.T) {
	s, group := c.open(t, Given{}), c.group()
	h := load(t, s, group, "a", "b")
	w, err := s.Writer(Within(t, patience), group, []string{"a", "b"})
	if err != nil {
		t.Fatal(err)
	}
	defer w.Unlock()
	seen := h.Store
	for n := range int64(5) {
		puts := []put{{"a", 0, 10 * n}, {"a", 1, 10*n + 1}, {"b", int32(n), n}}
		if n == 3 {
			puts = append(puts, put{"b", 0, offsets.None})
		}
		var changes []offsets.Change
		changes, seen = w.Save(Within(t, patience), seen, changesOf(puts), offsetfile.Facts{Now: now})
		written(t, changes)
	}
	holds(t, s, group, "a 0 40, a 1 41, b 1 1, b 2 2, b 3 3, b 4 4")
}

func (c *contract) again(t *testing.T) {
	s, group := c.open(t, Given{}), c.group()
	for range 3 {
		changes, _ := save(t, s, group, put{"t", 0, 5}, put{"t", 1, 6})
		written(t, changes)
		holds(t, s, group, "t 0 5, t 1 6")
	}
	changes, _ := save(t, s, group, put{"t", 7, offsets.None})
	if changes[0].Result != offsets.Already {
		t.Errorf("what is not there is removed: got %s, want already", changes[0].Result)
	}
}

func (c *contract) limits(t *testing.T) {
	s, group := c.open(t, Given{}), c.group()
	puts := []put{{"t", 0, 0}, {"t", 1, 1}, {"t", 2, math.MaxInt64}, {"t", 3, 1 << 53}, {"t", math.MaxInt32, math.MaxInt64 - 1}}
	changes, _ := save(t, s, group, puts...)
	written(t, changes)
	var want []string
	for _, p := range puts {
		want = append(want, fmt.Sprintf("t %d %d", p.partition, p.offset))
	}
	holds(t, s, group, strings.Join(want, ", "))
	changes, _ = save(t, s, group, put{"t", 0, -2})
	if changes[0].Result == offsets.Written || offset(t, s, group, "t", 0) != 0 {
		t.Errorf("a negative offset: got %s, want a refusal", changes[0].Result)
	}
	c.least(t, s)
}

// least wants the smallest number that a store claims to have saved, and the one below it, if it is an offset, refused.
func (c *contract) least(t testing.TB, s offsetfile.Store) {
	t.Helper()
	group, least := c.group(), s.Can().Least
	changes, _ := save(t, s, group, put{"t", 0, least})
	written(t, changes)
	holds(t, s, group, fmt.Sprintf("t 0 %d", least))
	if least == 0 {
		return
	}
	changes, _ = save(t, s, group, put{"t", 0, least - 1})
	refused(t, changes...)
	holds(t, s, group, fmt.Sprintf("t 0 %d", least))
}

// Names are strange names of groups and topics, each another one.
func Names() []string {
	return []string{
		"plain", "Plain", "with space", " outer ", "a:b", "a/b", "/a", "a/", "a//b", "..", ".", "...", "a%3Ab", "a%b", "%", "*", "a*", "?", "[a]", "{a}", "{topic}",
		`quo"te`, "quo'te", `back\slash`, "semi;colon", "a&b=c", "a+b", "#hash", "größe", "日本", "🦉", "e\u0301", "\u00e9", "a\tb", "line\nfeed", "-", "--", "_", "$HOME", "`id`",
		"0", "a,b", "a|b", "<a>", "a@b", "offsets", "null", "%_", strings.Repeat("x", 249), strings.Repeat("é/", 60), strings.Repeat("long", 250),
	}
}

// A strange group is tried with a strange topic, and with a plain one: what a store makes of one name must not hide what it makes of the other.
func (c *contract) names(t *testing.T) {
	s := c.open(t, Given{})
	type place struct{ group, topic string }
	known := map[place]int64{}
	for i, name := range Names() {
		for _, at := range []place{{name + c.run, name}, {name + c.run + "t", "t"}} {
			changes, err := trySave(t, s, at.group, put{at.topic, 0, int64(i)})
			var no *offsetfile.NameError
			if errors.As(err, &no) {
				t.Logf("no place: %v", err)
				continue
			}
			if err != nil {
				t.Errorf("%q: %v", at, err)
				continue
			}
			written(t, changes)
			known[at] = int64(i)
		}
	}
	if len(known) < len(Names()) {
		t.Errorf("only %d of %d names have a place", len(known), 2*len(Names()))
	}
	groups, notes, err := s.Groups(Within(t, patience))
	if err != nil {
		t.Fatal(err)
	}
	for at, n := range known {
		want := fmt.Sprintf("%s 0 %d", at.topic, n)
		if got := held(load(t, s, at.group)); got != want {
			t.Errorf("%q, all topics: got %q, want %q", at, got, want)
		}
		holds(t, s, at.group, want, at.topic)
		if !slices.Contains(groups, at.group) {
			t.Errorf("%q is not listed (%q)", at.group, notes)
		}
	}
}

func trySave(t testing.TB, s offsetfile.Store, group string, p put) ([]offsets.Change, error) {
	t.Helper()
	w, err := s.Writer(Within(t, patience), group, []string{p.topic})
	if err != nil {
		return nil, err
	}
	defer w.Unlock()
	h, err := s.Load(Within(t, patience), group, []string{p.topic}, false)
	if err != nil {
		return nil, err
	}
	changes, _ := w.Save(Within(t, patience), h.Store, changesOf([]put{p}), offsetfile.Facts{Now: now})
	return changes, nil
}

// badTexts are texts that are no number, by what they are.
func (c *contract) badTexts() map[string]string {
	texts := map[string]string{
		"word": "abc", "nothing": "", "negative": "-1", "sentinel": "-2", "too large": "9223372036854775808", "fraction": "1.5", "exponent": "1e3", "two": "1 2",
		"plus": "+1", "hex": "0x10", "bytes": "\xff\xfe7",
	}
	if c.TextOnly {
		delete(texts, "bytes")
	}
	return texts
}

// bad spoils a value in each way that there is.
func (c *contract) bad(t *testing.T) {
	s := c.open(t, Given{})
	spoils := maps.Clone(c.Spoil)
	if spoils == nil {
		spoils = map[string]func(testing.TB, string, string, int32){}
	}
	for name, text := range c.badTexts() {
		spoils[name] = func(t testing.TB, group, topic string, partition int32) {
			t.Helper()
			c.Poke(t, group, topic, partition, text)
		}
	}
	for name, spoil := range spoils {
		t.Run(name, func(t *testing.T) {
			group := c.group()
			save(t, s, group, put{"t", 0, 5}, put{"t", 2, 6}, put{"other", 0, 7})
			spoil(t, group, "t", 1)
			c.isDamaged(t, s, group)
			written(t, c.salvage(t, s, group, put{"t", 1, 9}, func() {}))
			holds(t, s, group, "other 0 7, t 0 5, t 1 9, t 2 6")
		})
		if _, own := c.Spoil[name]; own || name == "word" || name == "bytes" {
			t.Run(name+", not written over", func(t *testing.T) { c.notWrittenOver(t, s, spoil) })
		}
	}
}

// notWrittenOver writes over a value that is spoilt only where that is asked for, and only while it is as it was seen.
func (c *contract) notWrittenOver(t *testing.T, s offsetfile.Store, spoil func(t testing.TB, group, topic string, partition int32)) {
	group := c.group()
	save(t, s, group, put{"t", 0, 5}, put{"t", 2, 6}, put{"other", 0, 7})
	spoil(t, group, "t", 1)
	changes, _ := save(t, s, group, put{"t", 1, 9})
	refused(t, changes...)
	c.isDamaged(t, s, group)
	refused(t, c.salvage(t, s, group, put{"t", 1, 9}, func() { c.Poke(t, group, "t", 1, "77") })...)
	spoil(t, group, "t", 1)
	written(t, c.salvage(t, s, group, put{"t", 1, offsets.None}, func() {}))
	holds(t, s, group, "other 0 7, t 0 5, t 2 6")
}

// salvage saves on a look that takes what is damaged for no entry. meanwhile is called between the look and the save.
func (c *contract) salvage(t testing.TB, s offsetfile.Store, group string, p put, meanwhile func()) []offsets.Change {
	t.Helper()
	w := writer(t, s, group, p.topic)
	h, err := s.Load(Within(t, patience), group, []string{p.topic}, true)
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range []int32{0, 2} {
		if e := h.Entries[offsets.Key{Topic: "t", Partition: p}]; e.Presence != offsets.Present {
			t.Errorf("salvaged: partition %d: got %+v, want it present", p, e)
		}
	}
	if len(h.Store.Notes) == 0 {
		t.Error("what was lost is not noted")
	}
	meanwhile()
	changes, _ := w.Save(Within(t, patience), h.Store, changesOf([]put{p}), offsetfile.Facts{Now: now})
	return changes
}

// isDamaged wants partition 1 of topic t told as damaged, or empty, without hiding more than it has to; salvaged, it is no entry.
func (c *contract) isDamaged(t testing.TB, s offsetfile.Store, group string) {
	t.Helper()
	h := load(t, s, group)
	if got := h.Entries[offsets.Key{Topic: "other"}]; got.Presence != offsets.Present {
		t.Errorf("the other topic: got %+v, want it present", got)
	}
	e := h.Entries[offsets.Key{Topic: "t", Partition: 1}]
	presence, reason := e.Presence, e.Reason
	if c.OneBadAll {
		topic, _ := h.Store.Topic("t")
		presence, reason = topic.Presence, topic.Reason
	} else {
		for _, p := range []int32{0, 2} {
			if e := h.Entries[offsets.Key{Topic: "t", Partition: p}]; e.Presence != offsets.Present {
				t.Errorf("partition %d: got %+v, want it present", p, e)
			}
		}
	}
	if presence != offsets.Damaged && presence != offsets.Empty || reason == "" {
		t.Errorf("got %v (%s), want it damaged, with the reason", presence, reason)
	}
	h, err := s.Load(Within(t, patience), group, []string{"t"}, true)
	if err != nil {
		t.Fatal(err)
	}
	place, _ := h.Store.Topic("t")
	if e := h.Entries[offsets.Key{Topic: "t", Partition: 1}]; e.Presence != offsets.Absent || !e.Lost && !place.Salvaged {
		t.Errorf("salvaged: got %+v, want no entry, and that one was lost", e)
	}
	if len(h.Store.Damaged) == 0 {
		t.Error("salvaged: what is there is not kept, and a save would be its end")
	}
}

// badNeighbour saves beside another group's value that is spoilt, which stays as it was: it is not ours to mend.
func (c *contract) badNeighbour(t *testing.T) {
	const text = "abc"
	s, group, neighbour := c.open(t, Given{}), c.group(), c.group()
	save(t, s, neighbour, put{"t", 0, 5}, put{"t", 2, 6}, put{"other", 0, 7})
	c.Poke(t, neighbour, "t", 1, text)
	for _, offset := range []int64{8, 9, offsets.None} {
		changes, _ := save(t, s, group, put{"t", 1, offset}, put{"other", 0, offset})
		written(t, changes)
		if got := c.Peek(t, neighbour, "t", 1); got != text {
			t.Fatalf("the other group's bad value: got %q, want %q, as it was", got, text)
		}
	}
	c.isDamaged(t, s, neighbour)
}

// others wants what is not the store's to stay as it is, with each number of changes.
func (c *contract) others(t *testing.T) {
	switch {
	case c.Addr == "" && (c.Others == nil) != (c.Alone != ""):
		t.Fatal("the service has to say what another program can keep in the place of a topic (Others), or why nothing (Alone)")
	case c.Others == nil:
		t.Skip(cmp.Or(c.Alone, "nothing says what another program can keep there"))
	}
	s, group := c.open(t, Given{}), c.group()
	save(t, s, group, put{"t", 0, 0}, put{"t", 9, 9})
	stands := c.Others(t, group, "t")
	want := stands()
	for _, puts := range [][]put{{{"t", 0, 1}}, {{"t", 0, 2}, {"t", 1, 5}}, {}, {{"t", 0, offsets.None}, {"t", 1, offsets.None}}} {
		changes, _ := save(t, s, group, puts...)
		written(t, changes)
		for _, p := range append(puts, put{"t", 9, 9}) {
			if got := offset(t, s, group, p.topic, p.partition); got != p.offset {
				t.Errorf("after saving %v: partition %d: got %d, want %d", puts, p.partition, got, p.offset)
			}
		}
		if got := stands(); got != want {
			t.Errorf("after saving %v: of others there is %q, want %q", puts, got, want)
		}
	}
}

// breaks asks for ways in which a topic's place cannot be read, or why there are none.
func (c *contract) breaks(t *testing.T) map[offsets.Presence]func(testing.TB, string, string) {
	t.Helper()
	if (len(c.Broken) == 0) != (c.Unbroken != "") {
		t.Fatal("the service has to say how the place of a topic can be broken (Broken), or why it cannot be (Unbroken)")
	}
	if c.Unbroken != "" {
		t.Skip(c.Unbroken)
	}
	return c.Broken
}

func (c *contract) broken(t *testing.T) {
	s := c.open(t, Given{})
	for presence, breaks := range c.breaks(t) {
		t.Run(presence.String(), func(t *testing.T) {
			group := c.group()
			save(t, s, group, put{"other", 0, 7})
			breaks(t, group, "t")
			h := load(t, s, group, "other", "t")
			topic, _ := h.Store.Topic("t")
			if topic.Presence != presence || topic.Reason == "" {
				t.Errorf("got %v (%s), want %v with a reason", topic.Presence, topic.Reason, presence)
			}
			if got := h.Entries[offsets.Key{Topic: "other"}].Offset; got != 7 {
				t.Errorf("the other topic: got %d, want 7", got)
			}
			w, err := s.Writer(Within(t, patience), group, []string{"t"})
			if err != nil {
				return // so nothing is written
			}
			defer w.Unlock()
			changes, _ := w.Save(Within(t, patience), h.Store, changesOf([]put{{"t", 0, 1}}), offsetfile.Facts{Now: now})
			refused(t, changes...)
			if presence != offsets.Empty && presence != offsets.Damaged {
				return
			}
			h, err = s.Load(Within(t, patience), group, []string{"t"}, true)
			if err != nil {
				t.Fatal(err)
			}
			changes, _ = w.Save(Within(t, patience), h.Store, changesOf([]put{{"t", 0, 1}}), offsetfile.Facts{Now: now})
			written(t, changes)
			holds(t, s, group, "other 0 7, t 0 1")
		})
	}
}

// word is a place of which there is nothing yet.
func (c *contract) word() string { return strings.ReplaceAll(c.group(), "-", "") }

func (c *contract) missing(t *testing.T) {
	c.isMissing(t, c.word(), offsetfile.Options{})
}

// isMissing wants a root told as not there, by whatever is asked of it, and not made.
func (c *contract) isMissing(t testing.TB, place string, o offsetfile.Options) {
	t.Helper()
	s := c.Missing(t, place, o)
	defer s.Close()
	_, _, err := s.Groups(Within(t, patience))
	isNothing(t, err)
	_, err = s.Load(Within(t, patience), "g", []string{"t"}, false)
	isNothing(t, err)
	_, err = s.Load(Within(t, patience), "g", nil, true)
	isNothing(t, err)
	if !s.Can().Write {
		return
	}
	changes, err := saveBlindly(t, s)
	if err != nil {
		isNothing(t, err)
	}
	for _, ch := range changes {
		if ch.Result != offsets.Failed && ch.Result != offsets.NotTried || ch.Error == "" {
			t.Errorf("a save: got %s (%s), want a refusal", ch.Result, ch.Error)
		}
	}
}

// saveBlindly saves without a look. The error is one of the writer.
func saveBlindly(t testing.TB, s offsetfile.Store) ([]offsets.Change, error) {
	t.Helper()
	w, err := s.Writer(Within(t, patience), "g", []string{"t"})
	if err != nil {
		return nil, err
	}
	defer w.Unlock()
	changes, _ := w.Save(Within(t, patience), offsets.Store{}, changesOf([]put{{"t", 0, 1}}), offsetfile.Facts{Now: now})
	return changes, nil
}

// makeRoot lets a save make the root. A look makes nothing, whatever it was opened with.
func (c *contract) makeRoot(t *testing.T) {
	place, create := c.word(), offsetfile.Options{Create: true}
	s := c.Missing(t, place, create)
	defer s.Close()
	if !s.Can().Creates || c.NotMade {
		c.isMissing(t, place, create)
		return
	}
	if _, _, err := s.Groups(Within(t, patience)); err != nil {
		t.Errorf("groups: %v", err)
	}
	holds(t, s, "g", "", "t")
	holds(t, s, "g", "")
	c.isMissing(t, place, offsetfile.Options{})
	changes, _ := save(t, s, "g", put{"t", 0, 1}, put{"u", 0, 2})
	written(t, changes)
	for n, o := range []offsetfile.Options{{}, create} { // it is missing no more
		s := c.Missing(t, place, o)
		defer s.Close()
		changes, _ = save(t, s, "g", put{"t", 0, int64(n)})
		written(t, changes)
		holds(t, s, "g", fmt.Sprintf("t 0 %d, u 0 2", n))
	}
}

func isNothing(t testing.TB, err error) {
	t.Helper()
	var nothing *offsetfile.NothingError
	if errors.Is(err, offsetfile.ErrNoRoot) {
		return
	}
	if !errors.As(err, &nothing) || nothing.Store == "" || nothing.Looked == "" {
		t.Errorf("got %v, want nothing there, and what was looked at", err)
	}
}

func (c *contract) counts(t *testing.T) {
	last, next, group := c.open(t, Given{Params: "counts=last"}), c.open(t, Given{}), c.group()
	changes, _ := save(t, last, group, put{"t", 0, 42}, put{"t", 1, math.MaxInt64})
	written(t, changes)
	if got := c.Peek(t, group, "t", 0); got != "41" {
		t.Errorf("the last record is 41, the next 42: the store holds %s", got)
	}
	holds(t, last, group, fmt.Sprintf("t 0 42, t 1 %d", int64(math.MaxInt64)))
	holds(t, next, group, fmt.Sprintf("t 0 41, t 1 %d", int64(math.MaxInt64-1)))
	changes, _ = save(t, last, group, put{"t", 0, 42}, put{"t", 1, math.MaxInt64})
	written(t, changes) // a round trip moves nothing
	if got := c.Peek(t, group, "t", 0); got != "41" {
		t.Errorf("after saving what was loaded: the store holds %s", got)
	}
	c.least(t, last) // there is no last record before the first: the store has a number for that, or claims none
}

// A save with a change that cannot be is no save.
func (c *contract) whole(t *testing.T) {
	s, group := c.open(t, Given{}), c.group()
	save(t, s, group, put{"t", 0, 5}, put{"t", 1, 6})
	changes, _ := save(t, s, group, put{"t", 0, 7}, put{"t", 0, 8}, put{"t", 1, 9})
	for _, ch := range changes {
		if ch.Result != offsets.NotTried || ch.Error == "" {
			t.Errorf("%d: got %s (%s), want not tried, with a reason", ch.Partition, ch.Result, ch.Error)
		}
	}
	holds(t, s, group, "t 0 5, t 1 6")
	keep := changesOf([]put{{"t", 0, 7}, {"t", 1, 8}, {"t", 2, 9}})
	keep[0].Verdict, keep[1].Side, keep[2].Result = offsets.Keep, offsets.Committed, offsets.Written
	changes, _ = writer(t, s, group, "t").Save(Within(t, patience), load(t, s, group, "t").Store, keep, offsetfile.Facts{Now: now})
	for i := range changes {
		if changes[i] != keep[i] {
			t.Errorf("what is not to be written: got %+v, want it as it was", changes[i])
		}
	}
	holds(t, s, group, "t 0 5, t 1 6")
}
