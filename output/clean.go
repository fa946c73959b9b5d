package output

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// Clean makes a name safe for one line of a terminal: what would move the cursor, hide, reorder or look like something else
// is written as an escape (\n, \x1b, \u202e; \xff for a byte that is no UTF-8), and a backslash as \\, so that two different
// names never look the same. Letters of all scripts, emoji and blanks stay.
func Clean(s string) string { return escape(s, true) }

// cleanText is Clean for sentences of our own in which names are quoted already: backslashes stay as they are.
func cleanText(s string) string { return escape(s, false) }

func escape(s string, backslash bool) string {
	if plainASCII(s) && !(backslash && strings.IndexByte(s, '\\') >= 0) {
		return s
	}
	b := make([]byte, 0, len(s)+16)
	before := rune(-1)
	for i := 0; i < len(s); {
		r, n := utf8.DecodeRuneInString(s[i:])
		switch {
		case r == utf8.RuneError && n == 1:
			b = appendHex(append(b, `\x`...), uint32(s[i]), 2)
		case r == '\\' && backslash:
			b = append(b, `\\`...)
		case visible(r) || joins(before, r, s[i+n:]):
			b = append(b, s[i:i+n]...)
		case r == '\n':
			b = append(b, `\n`...)
		case r == '\t':
			b = append(b, `\t`...)
		case r == '\r':
			b = append(b, `\r`...)
		case r < 0x80:
			b = appendHex(append(b, `\x`...), uint32(r), 2)
		case r < 0x10000:
			b = appendHex(append(b, `\u`...), uint32(r), 4)
		default:
			b = appendHex(append(b, `\U`...), uint32(r), 8)
		}
		before = r
		i += n
	}
	return string(b)
}

func plainASCII(s string) bool {
	for i := 0; i < len(s); i++ {
		if s[i] < 0x20 || s[i] >= 0x7f {
			return false
		}
	}
	return true
}

// visible tells whether a rune leaves a mark of its own on the screen. Blanks other than the ASCII one do not: they look like it.
func visible(r rune) bool {
	switch {
	case r == 0x034f, r == 0x115f, r == 0x1160, r == 0x17b4, r == 0x17b5, r == 0x2800, r == 0x3164, r == 0xffa0: // empty letters and marks
		return false
	case unicode.Is(unicode.Variation_Selector, r):
		return false
	}
	return unicode.IsPrint(r)
}

// joins lets the invisible parts of an emoji stay: the joiner between two pictures, and the selector that asks for colour.
func joins(before, r rune, after string) bool {
	switch r {
	case 0x200d:
		next, _ := utf8.DecodeRuneInString(after)
		return (picture(before) || before == 0xfe0f) && picture(next)
	case 0xfe0f:
		return picture(before)
	}
	return false
}

func picture(r rune) bool {
	return unicode.IsPrint(r) && (r >= 0x1f000 && r < 0x1fb00) || r >= 0x2190 && r < 0x2c00 && unicode.Is(unicode.So, r) || r == 0x2642 || r == 0x2640
}

func appendHex(b []byte, v uint32, digits int) []byte {
	for i := digits - 1; i >= 0; i-- {
		b = append(b, "0123456789abcdef"[v>>(4*i)&15])
	}
	return b
}

// verb picks the form that agrees with n.
func verb(n int, one, many string) string {
	if n == 1 {
		return one
	}
	return many
}
