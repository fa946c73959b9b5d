package exchange

import (
	"errors"
	"fmt"
	"strings"
)

// MaxSize is the size in bytes above which a document is refused: more than a million partitions take.
const MaxSize = 256 << 20

// The ways in which there is nothing to read.
var (
	ErrEmpty    = errors.New("it is empty")
	ErrTooLarge = errors.New("it is larger than 256 MiB")
)

// UnknownError is content that is none of the formats.
type UnknownError struct{ What string }

func (e *UnknownError) Error() string { return "the format was not recognised: " + e.What }

// AmbiguousError is content that fits several formats. --as decides.
type AmbiguousError struct {
	Formats []Format
	Why     string
}

func (e *AmbiguousError) Error() string {
	names := make([]string, len(e.Formats))
	for i, f := range e.Formats {
		names[i] = fmt.Sprintf("%s (%s)", f, f.Words())
	}
	return fmt.Sprintf("the format is in doubt: %s; it could be %s", e.Why, strings.Join(names, " or "))
}

// Missing is something that a document does not say and its reader must be told.
type Missing string

// What can be missing.
const (
	MissingGroup Missing = "group"
	MissingTopic Missing = "topic"
	MissingTake  Missing = "take"
)

// MissingError is a format that does not say all.
type MissingError struct {
	Format Format
	What   Missing
}

func (e *MissingError) Error() string {
	switch e.What {
	case MissingGroup:
		return fmt.Sprintf("%s: it names no group, and so exactly one must be given", e.Format.Words())
	case MissingTopic:
		return fmt.Sprintf("%s: this one names no topic, and so exactly one must be given", e.Format.Words())
	}
	return fmt.Sprintf("%s: from or until must be chosen, as each line has both", e.Format.Words())
}

// EncodingError is text in another encoding than UTF-8, or no text at all.
type EncodingError struct{ Encoding string }

func (e *EncodingError) Error() string {
	if e.Encoding == "" {
		return "the text is not UTF-8; save it as UTF-8"
	}
	return fmt.Sprintf("this is %s; save it as text in UTF-8", e.Encoding)
}

// Problem is one thing that is wrong in a document, and where.
type Problem struct {
	Line   int    // counted from 1; 0 for the document as a whole
	Column int    // counted from 1 in characters; 0 for the whole line
	Where  string // the path in a tree, such as groups[0].partitions[2]; "" if there is none
	What   string
}

func (p Problem) String() string {
	s := p.What
	if p.Where != "" {
		s = p.Where + ": " + s
	}
	switch {
	case p.Line > 0 && p.Column > 0:
		return fmt.Sprintf("line %d, column %d: %s", p.Line, p.Column, s)
	case p.Line > 0:
		return fmt.Sprintf("line %d: %s", p.Line, s)
	}
	return s
}

// kept is how many problems, and warnings, are remembered; of the rest only the number.
const kept = 50

// MalformedError is a document that cannot be trusted, with what is wrong in it.
type MalformedError struct {
	Format   Format
	Problems []Problem // the first ones, in the order of the document
	More     int       // how many there are besides
	cause    error
}

func (e *MalformedError) Error() string { return strings.Join(e.Lines(), "\n") }

// Lines is the error, one line for each place.
func (e *MalformedError) Lines() []string {
	if len(e.Problems) == 1 && e.More == 0 {
		return []string{fmt.Sprintf("%s: %s", e.Format.Words(), e.Problems[0])}
	}
	return list(fmt.Sprintf("%s, %d places are wrong:", e.Format.Words(), len(e.Problems)+e.More), e.Problems, e.More)
}

func (e *MalformedError) Unwrap() error { return e.cause }

// InternalError is a document with offsets of Kafka's own topics. Nobody's job reads them.
type InternalError struct {
	Problems []Problem
	More     int
}

func (e *InternalError) Error() string { return strings.Join(e.Lines(), "\n") }

// Lines is the error, one line for each place.
func (e *InternalError) Lines() []string {
	return list("offsets of Kafka's internal topics are not written:", e.Problems, e.More)
}

func list(what string, problems []Problem, more int) []string {
	lines := []string{what}
	for _, p := range problems {
		lines = append(lines, p.String())
	}
	if more > 0 {
		lines = append(lines, fmt.Sprintf("and %d more", more))
	}
	return lines
}

// CannotHoldError is a document that a format has no way to say.
type CannotHoldError struct {
	Format Format
	What   string
}

func (e *CannotHoldError) Error() string {
	return fmt.Sprintf("format %s cannot hold %s", e.Format, e.What)
}
