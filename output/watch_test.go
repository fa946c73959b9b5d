package output

import (
	"bytes"
	"fmt"
	"strings"
	"testing"
	"time"

	"gtoffset/kafkaops/offsets"
)

// moving is the group of the pages, five seconds after it was looked at before.
func moving() Watch {
	before, now := screens(), screens()
	before.Snapshot.At = noon.Add(-5 * time.Second)
	rows := before.Snapshot.Groups[0].Rows
	rows[0].Range.End, rows[0].Committed = 1750, offsets.At(890)
	rows[1].Range.End, rows[1].Committed, rows[1].Stored = 2000, offsets.At(1200), offsets.At(900)
	rows[2].Stored, rows[2].Committed = offsets.At(1600), offsets.At(1600)
	now.Hint = nil
	now.Snapshot.Pace(before.Snapshot)
	return Watch{Describe: now, Every: 2 * time.Second}
}

func watched(t *testing.T, v Watch, s Stream) string {
	t.Helper()
	var b bytes.Buffer
	s.W = &b
	if err := v.Write(s); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

func TestWatch(t *testing.T) {
	golden(t, "watch.txt", watched(t, moving(), Stream{Width: 150, Gauge: true}))
	golden(t, "watch-80.txt", watched(t, moving(), Stream{Width: 80}))
	golden(t, "watch-color.txt", watched(t, moving(), Stream{Width: 150, Color: true}))
	golden(t, "watch-ascii.txt", watched(t, moving(), Stream{Width: 100, ASCII: true}))
	lost := moving()
	lost.Note = "no new look since 11:59:58 UTC: broker 2 (kafka2:9092) did not answer within 2s"
	golden(t, "watch-lost.txt", watched(t, lost, Stream{Width: 80}))
	several := Watch{Describe: troubled(), Every: time.Second}
	golden(t, "watch-several.txt", watched(t, several, Stream{Width: 100}))
	var lines []string
	for _, v := range []Watch{moving(), several} {
		for _, g := range v.Snapshot.Groups {
			lines = append(lines, v.Line(g)+"\n")
		}
	}
	golden(t, "watch-lines.txt", strings.Join(lines, ""))
}

// No picture has more lines than there are, and what it leaves out is counted.
func TestWatchKeepsToTheHeight(t *testing.T) {
	for _, v := range []Watch{moving(), {Describe: troubled()}, {Describe: many(500)}} {
		for height := 1; height < 40; height++ {
			for _, wide := range []int{40, 80, 200} {
				v.Height = height
				got := watched(t, v, Stream{Width: wide})
				if n := strings.Count(got, "\n"); n > height {
					t.Fatalf("%d lines where there are %d:\n%s", n, height, got)
				}
			}
		}
	}
	v := Watch{Describe: many(500), Height: 40}
	got := watched(t, v, Stream{Width: 200})
	shown := strings.Count(got, "orders-0  ")
	if want := fmt.Sprintf("and %d more, ", 500-shown); shown < 20 || !strings.Contains(got, want) {
		t.Errorf("%d rows, and no %q:\n%s", shown, want, got)
	}
}
