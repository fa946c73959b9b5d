package exchange

import (
	"fmt"

	"gtoffset/kafkaops/offsets"
)

// KCL is a list of objects with topic, partition and offset.
const KCL Format = "kcl"

func kcl() format {
	return format{name: KCL, words: "kcl's JSON list", shape: (*tree).listsObjects, tree: (*reading).readKCL}
}

// listsObjects reports whether this is a list of nothing else.
func (t *tree) listsObjects() bool {
	if t.nodes[0].kind != kindArray {
		return false
	}
	for i := range t.items(0) {
		if t.nodes[i].kind != kindObject {
			return false
		}
	}
	return true
}

// readKCL reads [{"topic":"t","partition":0,"offset":42}].
func (r *reading) readKCL(t *tree) error {
	group, err := r.theGroup()
	if err != nil {
		return err
	}
	if t.nodes[0].kind != kindArray {
		r.bad(0, "", "this is %s, not a list", t.nodes[0].kind)
		return nil
	}
	n := -1
	for v := range t.items(0) {
		n++
		var at [3]int
		where := func() string { return fmt.Sprintf("[%d]", n) }
		if !r.fields(t, v, where, true, at[:], "topic", "partition", "offset") {
			continue
		}
		row := Row{Given: offsets.Given{Group: group, Value: offsets.NoValue}, Written: offsets.None}
		good := true
		wrong := func(i int, name, why string) {
			good = false
			r.bad(r.pos(t, max(i, v)), where(), "%s %s", name, why)
		}
		row.Topic = r.textIn(t, at[0], where, "topic")
		var why string
		if at[1] < 0 {
			wrong(v, "partition", "is missing")
		} else if row.Partition, why = t.partitionAt(at[1]); why != "" {
			wrong(at[1], "partition", why)
		}
		if at[2] < 0 {
			wrong(v, "offset", "is missing")
		} else if row.Offset, why = t.offsetAt(at[2]); why != "" {
			wrong(at[2], "offset", why)
		}
		if good {
			r.add(r.pos(t, v), where, row)
		}
	}
	return nil
}
