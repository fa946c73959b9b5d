package offsetfile

import (
	"errors"
	"fmt"
	"math"
	"strconv"

	"gtoffset/kafkaops/offsets"
)

// Counts is what the numbers in a store mean. They are converted in [Counts.Read] and [Counts.Text] and nowhere else: outside of
// the stores every offset is the next record to read.
type Counts int

// Some jobs keep the offset of the last record that they processed, which is one less.
const (
	CountsNext Counts = iota // ?counts=next, the default
	CountsLast               // ?counts=last
)

func (c Counts) String() string {
	if c == CountsLast {
		return "last"
	}
	return "next"
}

func parseCounts(text string) (Counts, error) {
	switch text {
	case "", "next":
		return CountsNext, nil
	case "last":
		return CountsLast, nil
	}
	return CountsNext, fmt.Errorf("%q is not known; next (the next record to read, the default) or last (the last one that was processed)", text)
}

// ErrEmptyValue is the error of a value without a single character.
var ErrEmptyValue = errors.New("it is empty")

// Read makes the next offset to read of a number as a store holds it: decimal digits and nothing else. In a store that counts the
// last record, -1 stands for "none processed yet", which is 0.
func (c Counts) Read(text string) (int64, error) {
	if text == "" {
		return offsets.None, ErrEmptyValue
	}
	digits := text
	if c == CountsLast && text == "-1" {
		return 0, nil
	}
	if digits[0] == '-' {
		digits = digits[1:]
	}
	for i := range len(digits) {
		if digits[i] < '0' || digits[i] > '9' {
			return offsets.None, fmt.Errorf("%q is no number", clip(text))
		}
	}
	n, err := strconv.ParseInt(text, 10, 64)
	switch {
	case err != nil && digits != "":
		return offsets.None, fmt.Errorf("%q is more than 64 bits", clip(text))
	case err != nil:
		return offsets.None, fmt.Errorf("%q is no number", clip(text))
	case n < 0:
		return offsets.None, fmt.Errorf("%s is negative", text)
	case c == CountsLast && n == math.MaxInt64:
		return offsets.None, fmt.Errorf("%s has no next one", text)
	}
	return c.next(n), nil
}

// leastInFile is the smallest next offset that a file has a number for: none in it is negative.
func (c Counts) leastInFile() int64 { return c.next(0) }

// Text is the number that a store holds for the next offset to read.
func (c Counts) Text(next int64) string { return strconv.FormatInt(c.held(next), 10) }

func (c Counts) next(held int64) int64 {
	if c == CountsLast {
		return held + 1
	}
	return held
}

func (c Counts) held(next int64) int64 {
	if c == CountsLast {
		return next - 1
	}
	return next
}

// ParsePartition reads a partition's number as Kafka writes it: without sign and leading zeros.
func ParsePartition(text string) (int32, bool) {
	n, err := strconv.ParseInt(text, 10, 32)
	if err != nil || n < 0 || strconv.FormatInt(n, 10) != text {
		return 0, false
	}
	return int32(n), true
}
