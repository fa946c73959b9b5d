package output

import (
	"fmt"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"gtoffset/kafkaops/offsets"
)

// drawGroup draws a group with offsets below, in and above the range, and with none.
func drawGroup(t *rapid.T) offsets.Group {
	entry := func(name string) offsets.Entry {
		if rapid.IntRange(0, 3).Draw(t, name+" there") == 0 {
			return offsets.Entry{}
		}
		return offsets.At(rapid.Int64Range(0, 130).Draw(t, name))
	}
	g := offsets.Group{ID: "g", Existence: offsets.Exists, Type: offsets.Consumer, State: "Empty"}
	if rapid.Bool().Draw(t, "store") {
		g.Store = &offsets.Store{Path: "/s"}
	}
	for p := range rapid.Int32Range(1, 6).Draw(t, "partitions") {
		lo := rapid.Int64Range(0, 50).Draw(t, "earliest")
		r := offsets.Row{Key: offsets.Key{Topic: "t", Partition: p}, Range: known(lo, lo+rapid.Int64Range(0, 50).Draw(t, "length")), Committed: entry("committed")}
		if rapid.IntRange(0, 5).Draw(t, "unknown") == 0 {
			r.Range = offsets.Range{Reason: "away", Stable: offsets.None, Leader: offsets.None}
		}
		if g.Store != nil {
			r.Stored = entry("stored")
		}
		g.Rows = append(g.Rows, r)
	}
	return g
}

var (
	placeText    = regexp.MustCompile(`A restart (from the store|from the commits|as a new group) `)
	headText     = regexp.MustCompile(`^ *(?:loses|leaves it to auto.offset.reset, beside losing|has no offset to restart from, beside losing) ([\d,]+)`)
	repeatsText  = regexp.MustCompile(`^[^:·]*?, repeats (?:up to )?([\d,]+), reads`)
	readsText    = regexp.MustCompile(`^[^:·]*?, reads ([\d,]+)`)
	earliestText = regexp.MustCompile(`earliest +repeats (?:up to )?([\d,]+), reads ([\d,]+)`)
	latestText   = regexp.MustCompile(`latest +loses (?:up to )?([\d,]+)(?: more)?(?:, repeats ([\d,]+) fewer)?(?:, reads ([\d,]+) fewer)?`)
)

// number is the n-th number that an expression finds, 0 if there is none.
func number(e *regexp.Regexp, text string, n int) int64 {
	found := e.FindStringSubmatch(text)
	if found == nil {
		return 0
	}
	v, _ := strconv.ParseInt(strings.ReplaceAll(found[n], ",", ""), 10, 64)
	return v
}

// What the text says of a place, and of a policy there, adds up to what the document says of that policy.
func TestRestartAddsUp(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		g := drawGroup(t)
		d := Describe{Snapshot: offsets.Snapshot{Origin: origin(), At: noon, Groups: []offsets.Group{g}}, Now: noon}
		var b strings.Builder
		p := &printer{w: &b}
		d.forecast(p, g)
		text := strings.Join(strings.Fields(b.String()), " ")
		said := map[string]string{}
		places := placeText.FindAllStringSubmatchIndex(text, -1)
		for i, at := range places {
			end := len(text)
			if i+1 < len(places) {
				end = places[i+1][0]
			}
			said[text[at[2]:at[3]]] = text[at[1]:end]
		}
		for _, o := range offsets.Forecast(g, origin().Cluster) {
			place := map[offsets.Place]string{offsets.FromStore: "from the store", offsets.FromCommits: "from the commits", offsets.FromNewGroup: "as a new group"}[o.From]
			words := said[place]
			if words == "" || strings.HasPrefix(words, "cannot be told") || o.Policy == offsets.PolicyNone {
				continue
			}
			head, _, _ := strings.Cut(words, "earliest repeats")
			loses, repeats, reads := number(headText, head, 1), number(repeatsText, head, 1), number(readsText, head, 1)
			switch o.Policy {
			case offsets.PolicyEarliest:
				repeats, reads = repeats+number(earliestText, words, 1), reads+number(earliestText, words, 2)
			case offsets.PolicyLatest:
				loses += number(latestText, words, 1)
				repeats, reads = repeats-number(latestText, words, 2), reads-number(latestText, words, 3)
			}
			got := fmt.Sprintf("loses %d, repeats %d, reads %d", loses, repeats, reads)
			want := fmt.Sprintf("loses %d, repeats %d, reads %d", o.Expired+o.Unprocessed+o.Readable, o.Repeats, o.Reads)
			if got != want {
				t.Fatalf("%s, policy %q: the text says %s; the document %s\n%s", place, o.Policy, got, want, words)
			}
		}
	})
}
