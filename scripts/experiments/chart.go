package main

import (
	"fmt"
	"strings"
)

// chart draws the records that each graceful stop of experiments 1 to 3 lost and repeated, one bar a run.
func chart(r results) string {
	const left, width, line, top = 230, 520, 18, 46
	var bars strings.Builder
	y, most := top, 1
	for _, number := range []string{"1", "2", "3"} {
		for _, t := range gracefully(r[number].Trials) {
			most = max(most, t.Happened.Lost, t.Happened.Repeated)
		}
	}
	for _, group := range []struct{ number, name string }{{"1", "enable.auto.commit"}, {"2", "commitAsync"}, {"3", "gtoffset file"}} {
		fmt.Fprintf(&bars, `<text x="10" y="%d" class="name">%s</text>`+"\n", y+13, group.name)
		y += line + 2
		for _, t := range gracefully(r[group.number].Trials) {
			kind, n, what := "lost", t.Happened.Lost, grouped(t.Happened.Lost)+" lost"
			if t.Happened.Lost == 0 {
				kind, n, what = "repeated", t.Happened.Repeated, grouped(t.Happened.Repeated)+" repeated"
			}
			if t.Happened.Lost == 0 && t.Happened.Repeated == 0 {
				what = "0 lost, 0 repeated"
			}
			long := n * width / most
			fmt.Fprintf(&bars, `<text x="%d" y="%d" class="label">%s × %s/s</text>`+"\n", left-8, y+13, seconds(t.Interval), grouped(t.Rate))
			fmt.Fprintf(&bars, `<rect x="%d" y="%d" width="%d" height="%d" class="%s"/>`+"\n", left, y+2, max(long, 1), line-4, kind)
			fmt.Fprintf(&bars, `<text x="%d" y="%d">%s</text>`+"\n", left+max(long, 1)+6, y+13, what)
			y += line
		}
		y += line / 2
	}
	return fmt.Sprintf(`<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 %d %d" font-family="sans-serif" font-size="12">
<style>.name,.title{font-weight:bold}.label{text-anchor:end}.lost{fill:#c0392b}.repeated{fill:#e0a030}</style>
<rect width="100%%" height="100%%" fill="#fff"/>
<text x="10" y="24" class="title" font-size="14">One graceful stop and a restart, over 100,000 records</text>
%s</svg>
`, left+width+130, y, bars.String())
}

func gracefully(all []row) []row {
	var some []row
	for _, t := range all {
		if t.Stop == graceful {
			some = append(some, t)
		}
	}
	return some
}
