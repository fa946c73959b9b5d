package kafkaops

import (
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/twmb/franz-go/pkg/kmsg"

	"gtoffset/kafkaops/offsets"
)

func assignment(userData []byte) []byte {
	a := kmsg.NewConsumerMemberAssignment()
	a.Version = 3
	for _, name := range []string{"b", "a"} {
		t := kmsg.NewConsumerMemberAssignmentTopic()
		t.Topic, t.Partitions = name, []int32{2, 0}
		a.Topics = append(a.Topics, t)
	}
	a.UserData = userData
	return a.AppendTo(nil)
}

func TestDecodeAssignment(t *testing.T) {
	want := []offsets.Key{{Topic: "a", Partition: 0}, {Topic: "a", Partition: 2}, {Topic: "b", Partition: 0}, {Topic: "b", Partition: 2}}
	for name, b := range map[string][]byte{"plain": assignment(nil), "user data": assignment([]byte("x")), "more behind": append(assignment(nil), 1, 2, 3)} {
		if got := decodeAssignment(b); !slices.Equal(got, want) {
			t.Errorf("%s: %v", name, got)
		}
	}
	whole := assignment(nil)
	for n := range len(whole) - 4 { // the user data's length may be missing
		if got := decodeAssignment(whole[:n]); got != nil {
			t.Errorf("cut at %d: %v", n, got)
		}
	}
	for name, b := range map[string][]byte{
		"nothing": nil, "empty": {}, "negative version": {0xff, 0xff, 0, 0, 0, 0}, "many": {0, 0, 0x7f, 0xff, 0xff, 0xff},
		"connect": {0, 1, 0, 0, 0, 6, 'l', 'e', 'a', 'd', 'e', 'r', 0, 0, 0, 1, 0, 1},
	} {
		if got := decodeAssignment(b); got != nil {
			t.Errorf("%s: %v", name, got)
		}
	}
}

// FuzzDecodeAssignment reads what a member of a group says is assigned to it.
func FuzzDecodeAssignment(f *testing.F) {
	f.Add(assignment(nil))
	f.Add([]byte{0, 0, 0, 0, 0, 1, 0, 1, 'a', 0x7f, 0xff, 0xff, 0xff})
	f.Fuzz(func(t *testing.T, b []byte) {
		if got := decodeAssignment(b); len(got) > len(b)/4 {
			t.Errorf("%d partitions out of %d bytes", len(got), len(b))
		}
	})
}

func TestChunks(t *testing.T) {
	for range 200 {
		sizes := make([]int, rand.IntN(30))
		for i := range sizes {
			sizes[i] = rand.IntN(50)
		}
		var all []int
		for part := range chunks(sizes, 60, func(n int) int { return n }) {
			sum := 0
			for _, n := range part {
				sum += n
			}
			if len(part) == 0 || sum > 60 && len(part) > 1 {
				t.Fatalf("part %v of %v", part, sizes)
			}
			all = append(all, part...)
		}
		if !slices.Equal(all, sizes) {
			t.Fatalf("got %v out of %v", all, sizes)
		}
	}
}
