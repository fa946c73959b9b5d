package offsetfile

import (
	"bytes"
	"encoding/json"
	"strings"
	"unicode"
	"unicode/utf8"
)

// headerText writes a header's line. A value stands verbatim if that can be read back, else as a JSON string.
func headerText(name, value string) string {
	if !verbatim(value) {
		value = jsonString(value)
	}
	return "# " + name + " " + value
}

// verbatim reports whether a value is not empty, printable UTF-8, without outer blanks and without a leading quote.
func verbatim(value string) bool {
	if value == "" || value[0] == '"' || isBlank(value[0]) || isBlank(value[len(value)-1]) || !utf8.ValidString(value) {
		return false
	}
	for _, r := range value {
		if !unicode.IsPrint(r) {
			return false
		}
	}
	return true
}

func jsonString(value string) string {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(value); err != nil {
		panic(err) // a string always has a JSON form
	}
	return strings.TrimSuffix(b.String(), "\n")
}

// headerValue reads a value back. ok is false for a broken JSON string.
func headerValue(text string) (value string, ok bool) {
	if !strings.HasPrefix(text, `"`) {
		return text, true
	}
	err := json.Unmarshal([]byte(text), &value)
	return value, err == nil
}
