package output

import (
	"io"
	"strings"
	"unicode/utf8"
)

// Shown makes a terminal safe for what holds names and values exactly, such as CSV and records: what [Clean] would write as an escape
// is written as one, but for line ends and tabs. Elsewhere these bytes go on as they are. A character of which only the beginning has
// come waits for the rest.
func Shown(w io.Writer) io.Writer { return &shown{w: w} }

type shown struct {
	w    io.Writer
	rest []byte
}

func (s *shown) Write(p []byte) (int, error) {
	all := append(s.rest, p...)
	whole := len(all) - cutOff(all)
	s.rest = append([]byte(nil), all[whole:]...)
	var b strings.Builder
	for text := string(all[:whole]); text != ""; {
		i := strings.IndexAny(text, "\n\t")
		if i < 0 {
			b.WriteString(cleanText(text))
			break
		}
		b.WriteString(cleanText(text[:i]))
		b.WriteByte(text[i])
		text = text[i+1:]
	}
	if _, err := io.WriteString(s.w, b.String()); err != nil {
		return 0, err
	}
	return len(p), nil
}

// cutOff is how many bytes at the end begin a character that is not whole.
func cutOff(b []byte) int {
	for n := 1; n < utf8.UTFMax && n <= len(b); n++ {
		if tail := b[len(b)-n:]; utf8.RuneStart(tail[0]) {
			if utf8.FullRune(tail) {
				return 0
			}
			return n
		}
	}
	return 0
}

// Exact is where a document goes that holds names as they are.
func (s Stream) Exact() io.Writer {
	if s.Width > 0 {
		return Shown(s.W)
	}
	return s.W
}
