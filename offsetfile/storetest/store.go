package storetest

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"gtoffset/kafkaops/offsets"
	"gtoffset/offsetfile"
)

// Store is a store with what the tests of one kind ask of it beside the contract.
type Store struct {
	offsetfile.Store
	T testing.TB
}

// Within is a context for what is expected to end by itself.
func Within(t testing.TB, d time.Duration) context.Context {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), d)
	t.Cleanup(cancel)
	return ctx
}

// Look loads the topics of a group, or all.
func (s Store) Look(group string, topics ...string) (offsetfile.Holding, error) {
	s.T.Helper()
	return s.Load(Within(s.T, time.Minute), group, topics, false)
}

// Holds compares what the store has of a group: "topic partition offset" of what is present, else its presence; and topics that could
// not be read.
func (s Store) Holds(group, want string, topics ...string) offsetfile.Holding {
	s.T.Helper()
	h, err := s.Look(group, topics...)
	if err != nil {
		s.T.Fatal(err)
	}
	if !slices.IsSortedFunc(h.Store.Topics, func(a, b offsets.StoredTopic) int { return strings.Compare(a.Topic, b.Topic) }) {
		s.T.Errorf("group %q: its topics are not sorted: %v", group, h.Store.Topics)
	}
	if got := held(h); got != want {
		s.T.Errorf("group %q: got %q, want %q", group, got, want)
	}
	return h
}

// SaveOn saves, within a time and on what a look has seen, offsets for the partitions of each topic from 0 on.
func (s Store) SaveOn(d time.Duration, h offsetfile.Holding, group string, topics []string, saved ...int64) []offsets.Change {
	s.T.Helper()
	w, err := s.Writer(s.T.Context(), group, topics)
	if err != nil {
		s.T.Fatal(err)
	}
	var changes []offsets.Change
	for _, topic := range topics {
		for p, offset := range saved {
			changes = append(changes, offsets.Change{
				Key: offsets.Key{Topic: topic, Partition: int32(p)}, Side: offsets.Stored, Verdict: offsets.Write,
				New: offsets.Value{Offset: offset, Epoch: offsets.None},
			})
		}
	}
	changes, _ = w.Save(Within(s.T, d), h.Store, changes, offsetfile.Facts{Now: time.Now()})
	return changes
}

// Results wants one result of all changes, with some words in its error.
func Results(t testing.TB, changes []offsets.Change, want offsets.Result, words string) {
	t.Helper()
	for _, c := range changes {
		if c.Result != want || !strings.Contains(c.Error, words) {
			t.Errorf("%s %d: got %s (%s), want %s (%s)", c.Topic, c.Partition, c.Result, c.Error, want, words)
		}
	}
}

// Fails wants an error of some type that says something.
func Fails[E error](t testing.TB, err error, words ...string) {
	t.Helper()
	var e E
	if !errors.As(err, &e) {
		t.Errorf("got %v (%T), want a %T", err, err, e)
		return
	}
	for _, w := range words {
		if !strings.Contains(err.Error(), w) {
			t.Errorf("got %q, want it to say %q", err, w)
		}
	}
}

// Notes wants something noted of what was read.
func Notes(t testing.TB, h offsetfile.Holding, words string) {
	t.Helper()
	if all := strings.Join(h.Store.Notes, "\n"); !strings.Contains(all, words) {
		t.Errorf("notes: got %q, want %q", all, words)
	}
}

// Opens opens a kind of store.
type Opens = func(*offsetfile.Address, offsetfile.Options) (offsetfile.Store, error)

// Opened is the store at a URL, of whose variables $PW is "secret" and $OTHER "other". Whoever wants it closes it.
func Opened(t testing.TB, open Opens, url string, o offsetfile.Options) offsetfile.Store {
	t.Helper()
	s, err := opened(open, url, o)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func opened(open Opens, url string, o offsetfile.Options) (offsetfile.Store, error) {
	a, err := offsetfile.ParseAddress(url, func(name string) string { return map[string]string{"PW": "secret", "OTHER": "other"}[name] })
	if err != nil {
		return nil, err
	}
	s, err := open(a, o)
	if err != nil {
		return nil, err
	}
	return s, a.Unused()
}

// Open is Opened, or why it is not; the test closes it. A parameter that the store does not know is an error, as every wrong part of the
// URL is.
func Open(t testing.TB, open Opens, url string, o offsetfile.Options) (offsetfile.Store, error) {
	t.Helper()
	s, err := opened(open, url, o)
	if s == nil {
		return nil, err
	}
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Errorf("close: %v", err)
		}
	})
	return s, err
}

// Refused wants an error about each of the URLs, with the words that belong to it.
func Refused(t testing.TB, open Opens, urls map[string]string) {
	t.Helper()
	for url, words := range urls {
		_, err := Open(t, open, url, offsetfile.Options{})
		var wrong *offsetfile.URLError
		if !errors.As(err, &wrong) || !strings.Contains(err.Error(), words) {
			t.Errorf("%s: got %v, want it to say %q", url, err, words)
		}
	}
}
