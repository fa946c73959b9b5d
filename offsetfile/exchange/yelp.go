package exchange

import (
	"fmt"

	"gtoffset/kafkaops/offsets"
)

// Yelp is an object with groupid and offsets.
const Yelp Format = "yelp"

func yelp() format {
	return format{
		name: Yelp, words: "JSON of Yelp's offset_save",
		shape: func(t *tree) bool { return t.hasText("groupid") }, tree: (*reading).readYelp,
	}
}

// readYelp reads {"groupid":"g","offsets":{"topic":{"0":42}}}, as offset_save writes it.
func (r *reading) readYelp(t *tree) error {
	var at [2]int
	if !r.fields(t, 0, nowhere, true, at[:], "groupid", "offsets") {
		return nil
	}
	if at[0] < 0 || t.nodes[at[0]].kind != kindText {
		r.bad(0, "", "groupid is missing")
		return nil
	}
	if at[1] < 0 {
		r.bad(0, "", "offsets are missing")
		return nil
	}
	group := r.textIn(t, at[0], nowhere, "groupid")
	r.groups[group] = offsets.TypeUnknown
	r.topics(t, at[1], group, nil)
	return nil
}

// topics reads an object of topics, each with an object of partitions and their offsets. hint may say more about a bad offset.
func (r *reading) topics(t *tree, i int, group string, hint func(n int64) string) {
	r.each(t, i, nowhere, func(topic string, _, v int) {
		topic = r.name(topic)
		r.each(t, v, func() string { return fmt.Sprintf("topic %q", topic) }, func(number string, k, v int) {
			where := func() string { return fmt.Sprintf("topic %q, partition %s", topic, clip(number)) }
			partition, why := partitionIn(number)
			if why != "" {
				r.bad(r.pos(t, k), where(), "partition %s", why)
			}
			n, bad := t.numberIn(v)
			if bad == "" && n < 0 {
				if hint != nil {
					bad = hint(n)
				}
				if bad == "" {
					bad = negative(n)
				}
			}
			if bad != "" {
				r.bad(r.pos(t, v), where(), "offset %s", bad)
			}
			if why == "" && bad == "" {
				r.add(r.pos(t, k), where, Row{
					Given:   offsets.Given{Group: group, Key: offsets.Key{Topic: topic, Partition: partition}, Value: offsets.Value{Offset: n, Epoch: offsets.None}},
					Written: offsets.None,
				})
			}
		})
	})
}
