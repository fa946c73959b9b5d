package spark

import (
	"testing"

	"gtoffset/kafkaops/offsets"
	"gtoffset/offsetfile"
)

// FuzzBatch reads the file of a batch of Structured Streaming, and what its sources say.
func FuzzBatch(f *testing.F) {
	for _, s := range []string{
		"v1\n{\"batchTimestampMs\":1795958046849}\n{\"orders\":{\"0\":42,\"1\":7}}", "v1\n\n-", "v1\n{}\n{\"logOffset\":3}\n-\n", "v2\n{}\n{}", "v1\n{", "",
		"v1\n{}\n{\"orders\":{\"0\":-1}}", "v1\n{}\n{\"orders\":{\"00\":1}}", "v1\n{}\n{\"orders\":{\"0\":1e3}}", "v1\n{}\n{\"o\":{\"0\":9223372036854775808}}", "v1\n{}\n{\"a\":{\"0\":1},\"a\":{\"1\":2}}",
	} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		all, _, err := parseBatch(data)
		if err != nil {
			return
		}
		h := offsetfile.Holding{Entries: map[offsets.Key]offsets.Entry{}}
		fill(&h, all, nil)
		for k, e := range h.Entries {
			if k.Partition < 0 || e.Presence != offsets.Present || e.Offset < 0 {
				t.Fatalf("%v: %+v", k, e)
			}
		}
	})
}
