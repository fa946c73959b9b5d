package cmd

import (
	"fmt"
	"strings"

	"gtoffset/output"
)

// commandLine writes arguments as a shell reads them back.
func commandLine(args []string) string {
	quoted := make([]string, len(args))
	for i, a := range args {
		quoted[i] = quote(a)
	}
	return strings.Join(quoted, " ")
}

// quote writes one argument so.
func quote(s string) string {
	plain := func(r rune) bool {
		return r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || strings.ContainsRune("@%+=:,./_-", r)
	}
	control := func(r rune) bool { return r < ' ' || r == 0x7f || r == 0xfffd || output.Clean(string(r)) != string(r) }
	switch {
	case s != "" && s[0] != '=' && strings.IndexFunc(s, func(r rune) bool { return !plain(r) }) < 0: // zsh looks for a command =NAME
		return s
	case strings.IndexFunc(s, control) < 0:
		return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'"
	}
	var b strings.Builder // a terminal would not show these characters as they are
	b.WriteString("$'")
	for i := range len(s) {
		switch c := s[i]; {
		case c == '\\' || c == '\'':
			b.WriteByte('\\')
			b.WriteByte(c)
		case c >= ' ' && c < 0x7f:
			b.WriteByte(c)
		default:
			fmt.Fprintf(&b, `\x%02x`, c)
		}
	}
	b.WriteString("'")
	return b.String()
}
