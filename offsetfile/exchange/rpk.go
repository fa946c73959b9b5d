package exchange

import (
	"strings"

	"gtoffset/kafkaops/offsets"
)

// RPK is lines of topic, partition and offset.
const RPK Format = "rpk"

func rpk() format {
	return format{name: RPK, words: "rpk's lines of topic, partition and offset", columns: 3, text: (*reading).readRPK}
}

// readRPK reads lines of topic, partition and offset, as rpk group seek --to-file takes them.
func (r *reading) readRPK() error {
	group, err := r.theGroup()
	if err != nil {
		return err
	}
	r.readLines(3, "topic, partition and offset", func(line int, columns []string) {
		r.lineRow(line, group, columns[0], columns[1], columns[2])
	})
	return nil
}

// readLines splits lines at blanks and takes those that have so many columns.
func (r *reading) readLines(n int, what string, take func(line int, columns []string)) {
	line := 0
	for text := range lines(r.text) {
		line++
		switch columns := strings.Fields(text); len(columns) {
		case 0:
		case n:
			take(line, columns)
		default:
			r.bad(line, "", "%d columns, want %d (%s)", len(columns), n, what)
		}
	}
}

// lineRow takes one partition of such a line.
func (r *reading) lineRow(line int, group, topic, partition, offset string) {
	row := Row{Given: offsets.Given{Group: group, Value: offsets.NoValue}, Written: offsets.None}
	row.Topic = r.name(topic)
	var bad, worse string
	if row.Partition, bad = partitionIn(partition); bad != "" {
		r.bad(line, "", "partition %s", bad)
	}
	if row.Offset, worse = offsetIn(offset); worse != "" {
		r.bad(line, "", "offset %s", worse)
	}
	if bad == "" && worse == "" {
		r.add(line, nowhere, row)
	}
}
