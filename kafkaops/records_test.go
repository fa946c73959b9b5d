package kafkaops_test

import (
	"fmt"
	"io"
	"testing"

	"gtoffset/kafkaops/kafkatest"
	"gtoffset/kafkaops/records"
	"gtoffset/kafkaops/wire"
)

// Leaders that the look has found are not looked for again, unless they have moved, or the topic is another one by now.
func TestReadAfterALook(t *testing.T) {
	t.Parallel()
	for _, x := range []struct {
		name     string
		between  func(*testing.T, *kafkatest.Broker)
		metadata int
		gone     bool
	}{
		{"nothing changed", func(*testing.T, *kafkatest.Broker) {}, 0, false},
		{"a leader moved", func(t *testing.T, b *kafkatest.Broker) { must(t, b.Fake.MoveTopicPartition("orders", 1, 2)) }, 1, false},
		{"recreated", func(t *testing.T, b *kafkatest.Broker) { must(t, b.Recreate("orders")) }, 1, true},
	} {
		t.Run(x.name, func(t *testing.T) {
			t.Parallel()
			b := kafkatest.Start(t, kafkatest.Options{Topics: map[string]int32{"orders": 3}})
			must(t, b.Spread("orders"))
			for p := range int32(3) {
				must(t, b.Produce("orders", p, "a", "b", "c"))
			}
			c := connect(t, b, 0)
			ctx := within(t)
			found, err := c.Ranges(ctx, []string{"orders"}, false)
			must(t, err)
			var ranges []records.Range
			for p, r := range found.Topics["orders"].Ranges {
				ranges = append(ranges, records.Range{Topic: "orders", TopicID: r.TopicID, Partition: int32(p), From: r.Earliest, Until: r.End})
			}
			x.between(t, b)
			b.Reset()
			r := c.Read(ctx, ranges, records.Options{})
			defer r.Close()
			var w records.Walker
			read := ""
			for err == nil {
				var chunk *records.Chunk
				if chunk, err = r.Next(ctx); err == nil {
					n := 0
					for w.Reset(chunk); w.Next(); n++ {
					}
					read += fmt.Sprint(n)
					chunk.Release()
				}
			}
			if x.gone {
				if _, ok := err.(*records.GoneError); !ok {
					t.Errorf("%v", err)
				}
			} else if err != io.EOF || read != "333" {
				t.Errorf("read %q, %v", read, err)
			}
			if n := b.Count(wire.Metadata); x.metadata == 0 && n != 0 || n < x.metadata {
				t.Errorf("%d Metadata, want %d", n, x.metadata)
			}
		})
	}
}
