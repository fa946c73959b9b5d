package kafkaops

import (
	"strings"
	"testing"

	"gtoffset/kafkaops/wire"
)

// A code says that members are in the group to the program if it says so to people, and no other does.
func TestCodesOfActiveGroups(t *testing.T) {
	found := 0
	for code := range int16(200) {
		told := strings.HasPrefix(wire.CodeText(code), "the group is active")
		if told {
			found++
		}
		if active(code) != told {
			t.Errorf("%s: active is %v", wire.CodeText(code), active(code))
		}
	}
	if found == 0 {
		t.Error("no code says that a group is active")
	}
}
