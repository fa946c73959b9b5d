package exchange

import (
	"fmt"
	"io"
)

// Spark is the startingOffsets of a Spark source.
const Spark Format = "spark"

func spark() format {
	return format{
		name: Spark, words: "Spark's startingOffsets",
		holds: holds{instead: " (startingOffsets wants one for each: -2 is its earliest, -1 its latest)"},
		shape: (*tree).nested, tree: (*reading).readSpark, write: Document.writeSpark,
	}
}

// nested reports whether each member of an object is an object, and there are some.
func (t *tree) nested() bool {
	if t.nodes[0].kind != kindObject || len(t.nodes) == 1 {
		return false
	}
	for _, v := range t.members(0) {
		if t.nodes[v].kind != kindObject {
			return false
		}
	}
	return true
}

// readSpark reads {"topic":{"0":42}}, the startingOffsets of a Spark source. Its numbers are the next to be read.
func (r *reading) readSpark(t *tree) error {
	group, err := r.theGroup()
	if err != nil {
		return err
	}
	if len(t.nodes) == 1 && t.nodes[0].kind == kindObject {
		r.bad(r.pos(t, 0), "", noTopic)
	}
	r.topics(t, 0, group, func(n int64) string {
		switch n {
		case -1:
			return "-1 is Spark's marker for latest, no offset; use reset --to-latest"
		case -2:
			return "-2 is Spark's marker for earliest, no offset; use reset --to-earliest"
		}
		return ""
	})
	return nil
}

// writeSpark writes startingOffsets on one line, as an option of a query takes them.
func (d Document) writeSpark(w io.Writer, _ WriteOptions) error {
	j := &jsonWriter{w: w}
	j.open("", false)
	topic, inside := "", false
	for r := range d.held {
		if !inside || topic != r.Topic {
			if inside {
				j.close()
			}
			if err := utf8Only(Spark, r.Topic); err != nil {
				return err
			}
			key := quoted(nil, r.Topic, false)
			j.open(string(key[1:len(key)-1]), false)
			topic, inside = r.Topic, true
		}
		j.number(fmt.Sprint(r.Partition), r.Offset)
	}
	if !inside {
		return &CannotHoldError{Spark, "nothing: no partition has an offset, and an empty object says nothing"}
	}
	j.close()
	j.close()
	return j.end()
}
