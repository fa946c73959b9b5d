package cmd

import (
	"context"
	"strings"
	"testing"

	"gtoffset/kafkaops/offsets"
	"gtoffset/offsetfile"
)

// drawer is a store on this machine that has one place for the entries of all groups.
type drawer struct{ offsetfile.Table }

func (drawer) Read(context.Context, string, []string) (offsetfile.Found, error) {
	cells := map[int32]offsetfile.Cell{0: {Text: "5"}, 1: {Text: "6"}}
	return offsetfile.Found{Topics: []offsetfile.FoundTopic{{Topic: "dropped", Path: "/srv/offsets.db", Presence: offsets.Present, Cells: cells}}}, nil
}

// Only a file that cannot be empty is moved away for what is gone from the cluster. Of any other place the entries are removed: it may have
// those of other groups, too.
func TestGoneEntriesOfASharedPlace(t *testing.T) {
	a, err := offsetfile.ParseAddress("file:/srv/offsets.db", nil) // of a scheme that is on this machine
	if err != nil {
		t.Fatal(err)
	}
	store, err := offsetfile.Over(a, drawer{}, offsetfile.Options{})
	if err != nil {
		t.Fatal(err)
	}
	held, err := store.Load(t.Context(), "billing", nil, false)
	if err != nil {
		t.Fatal(err)
	}
	grp := offsets.Group{ID: "billing", Store: &held.Store}
	for p := range int32(2) {
		key := offsets.Key{Topic: "dropped", Partition: p}
		grp.Rows = append(grp.Rows, offsets.Row{Key: key, Stored: held.Entries[key], Range: offsets.Range{State: offsets.TopicGone}})
	}
	g := &global{}
	g.store = a.String()
	got := g.tidying(offsets.Snapshot{Origin: offsets.Origin{Store: a.String()}}, grp, &scope{})
	if !strings.Contains(got, "clamp -g billing -t dropped -s "+g.store+" --stored --gone remove") || strings.Contains(got, "mv ") {
		t.Errorf("got %q, want the entries removed, and nothing moved", got)
	}
}
