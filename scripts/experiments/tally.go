package main

import "fmt"

// An outcome is what a restart did, or would do, in records.
type outcome struct {
	Lost     int `json:"lost"`     // never processed by either run
	Repeated int `json:"repeated"` // processed by both
	Read     int `json:"read"`     // by the second run
}

// tally counts what two runs over a topic of n records processed, by the records' numbers. A record that is not of the topic, or
// that one run processed twice, is an error.
func tally(n int, first, second []record) (outcome, error) {
	before, err := numbered(n, first)
	if err != nil {
		return outcome{}, err
	}
	after, err := numbered(n, second)
	if err != nil {
		return outcome{}, err
	}
	o := outcome{Read: len(second)}
	for number := range n {
		switch {
		case before[number] && after[number]:
			o.Repeated++
		case !before[number] && !after[number]:
			o.Lost++
		}
	}
	return o, nil
}

// numbered marks the numbers of the records.
func numbered(n int, records []record) ([]bool, error) {
	seen := make([]bool, n)
	for _, r := range records {
		if r.number < 0 || r.number >= n || r != at(r.number) {
			return nil, fmt.Errorf("partition %d, offset %d: number %d is of another record", r.partition, r.offset, r.number)
		}
		if seen[r.number] {
			return nil, fmt.Errorf("one run processed partition %d, offset %d twice", r.partition, r.offset)
		}
		seen[r.number] = true
	}
	return seen, nil
}

// next returns, by partition, the record after the last one processed. The records of a partition must follow each other from 0.
func next(records []record) (map[int32]int64, error) {
	next := map[int32]int64{}
	for p := range int32(partitions) {
		next[p] = 0
	}
	for _, r := range records {
		if r.offset != next[r.partition] {
			return nil, fmt.Errorf("partition %d: offset %d was processed where %d comes next", r.partition, r.offset, next[r.partition])
		}
		next[r.partition]++
	}
	return next, nil
}
