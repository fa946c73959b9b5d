package output

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"strconv"
	"strings"

	"gtoffset/kafkaops/offsets"
)

// writeYAML writes a JSON document as YAML: the same names in the same order, numbers to the last digit, and in quotes every
// string that some YAML reader could take for something else (12, yes, null, a date).
func writeYAML(w io.Writer, document []byte) error {
	y := yamlWriter{dec: json.NewDecoder(bytes.NewReader(document))}
	y.dec.UseNumber()
	if err := y.value(0, "", ""); err != nil {
		return fmt.Errorf("write as YAML: %w", err)
	}
	_, err := w.Write(append(y.b, '\n'))
	return err
}

// yamlWriter writes blocks, two blanks a level.
type yamlWriter struct {
	dec *json.Decoder
	b   []byte
}

// value writes the next value. In front of it stands scalar where it fits into the line, else block.
func (y *yamlWriter) value(depth int, scalar, block string) error {
	token, err := y.dec.Token()
	if err != nil {
		return err
	}
	if open, is := token.(json.Delim); is && y.dec.More() {
		err = y.members(depth, open == '[', block)
	} else {
		y.b = append(y.b, scalar...)
		switch t := token.(type) {
		case json.Delim:
			y.b = append(y.b, byte(t), byte(t)+2) // in ASCII the closing bracket is two further
		case string:
			y.b = appendYAML(y.b, t)
		case json.Number:
			y.b = append(y.b, t...)
		case bool:
			y.b = strconv.AppendBool(y.b, t)
		default:
			y.b = append(y.b, "null"...)
		}
	}
	if _, is := token.(json.Delim); is && err == nil {
		_, err = y.dec.Token() // its end
	}
	return err
}

// members writes what is in a list or an object; first stands in front of the first one.
func (y *yamlWriter) members(depth int, list bool, first string) error {
	indent := "\n" + strings.Repeat("  ", depth)
	for lead := first; y.dec.More(); lead = indent {
		y.b = append(y.b, lead...)
		block := " " // behind a dash
		if list {
			y.b = append(y.b, '-')
		} else {
			name, err := y.dec.Token()
			if err != nil {
				return err
			}
			y.b = append(appendYAML(y.b, name.(string)), ':')
			block = indent + "  "
		}
		if err := y.value(depth+1, " ", block); err != nil {
			return err
		}
	}
	return nil
}

// appendYAML writes a text, in double quotes unless it is plain. They mean what JSON's mean, but for a character above U+FFFF,
// which is one escape and not two.
func appendYAML(b []byte, s string) []byte {
	if offsets.PlainYAML(s) {
		return append(b, s...)
	}
	return appendQuoted(b, s, func(b []byte, r rune) []byte {
		if r >= 0x10000 {
			return appendHex(append(b, `\U`...), uint32(r), 8)
		}
		return appendEscape(b, r)
	})
}

// asYAML writes as YAML what a view writes as JSON.
func asYAML(w io.Writer, json func(io.Writer) error) error {
	var b bytes.Buffer
	if err := json(&b); err != nil {
		return err
	}
	return writeYAML(w, b.Bytes())
}
