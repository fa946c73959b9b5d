package history

import "unicode/utf16"

// Partition is the partition of the offsets topic, which has n, in which Apache Kafka keeps a group: the hash that Java has for strings,
// made positive, modulo n. Others do otherwise.
func Partition(group string, n int32) int32 {
	if n <= 0 {
		return 0
	}
	var h int32
	for _, unit := range utf16.Encode([]rune(group)) {
		h = 31*h + int32(unit)
	}
	if h < 0 {
		h = -h
	}
	if h < 0 { // the smallest number has no opposite; Kafka takes 0
		h = 0
	}
	return h % n
}
