package clientconfig

import (
	"errors"
	"fmt"
	"strings"
)

// login is the one entry of a sasl.jaas.config: which module logs in, and its options.
type login struct {
	module  string // full class name
	options map[string]string
}

// kind is the module's name without its package.
func (l login) kind() string {
	return l.module[strings.LastIndexByte(l.module, '.')+1:]
}

// parseJAAS reads the value of sasl.jaas.config as Kafka's JaasConfig does, which leaves words, quotes, escapes and comments to
// java.io.StreamTokenizer. Its errors never hold a value, nor what may be the rest of one that was badly quoted.
func parseJAAS(text string) (login, error) {
	t := &jaasTokens{text: text}
	module := t.next()
	if module.kind != jaasWord {
		return login{}, t.fail("it does not begin with the name of a login module")
	}
	l := login{module: module.text, options: map[string]string{}}
	flag := t.next()
	switch strings.ToLower(flag.text) {
	case "required", "requisite", "sufficient", "optional":
	default:
		return login{}, t.fail("the login module's name is not followed by required, requisite, sufficient or optional")
	}
	after := "the control flag"
	for {
		name := t.next()
		switch {
		case t.broken != nil:
			return login{}, t.broken
		case name.is(';'):
			if t.next().kind != jaasEnd {
				return login{}, t.fail("there is more than one login module, or something else after the semicolon")
			}
			return l, nil
		case name.kind == jaasEnd:
			return login{}, t.fail("it does not end with a semicolon")
		case name.kind != jaasWord:
			return login{}, fmt.Errorf(`what follows %s is no NAME="VALUE"; %s`, after, jaasQuoting)
		}
		if !t.next().is('=') {
			return login{}, fmt.Errorf(`what follows %s is no NAME="VALUE"; %s`, after, jaasQuoting)
		}
		after = called(name.text)
		value := t.next()
		switch {
		case t.broken != nil:
			return login{}, t.broken
		case value.kind != jaasWord && value.kind != jaasQuoted:
			return login{}, fmt.Errorf("%s has no value, or one that must stand in double quotes", after)
		}
		l.options[name.text] = value.text
	}
}

// called names an option in an error, if it is one: else it may be what is left of a password with a quote in it.
func called(option string) string {
	const known = " username password tokenauth serviceName principal keyTab useKeyTab storeKey useTicketCache ticketCache clientId clientSecret scope "
	if strings.Contains(known, " "+option+" ") {
		return "option " + option
	}
	return "an option"
}

// jaasQuoting is what most often goes wrong in a file of properties, where a backslash is taken away first.
const jaasQuoting = `a quote within a value is written \" (in a .properties file \\"), a backslash \\ (there \\\\)`

type jaasKind byte

const (
	jaasEnd    jaasKind = iota
	jaasWord            // text
	jaasQuoted          // text, without the quotes
	jaasOther           // one character: "=", ";", or one that has no place
	jaasNumber          // a number without quotes, which no option takes
)

type jaasToken struct {
	kind jaasKind
	text string
}

func (t jaasToken) is(c byte) bool { return t.kind == jaasOther && t.text == string(c) }

type jaasTokens struct {
	text   string
	at     int
	broken error // a quote or a comment that does not end
}

func (t *jaasTokens) fail(reason string) error {
	if t.broken != nil {
		return t.broken
	}
	return errors.New(reason)
}

func (t *jaasTokens) peek(ahead int) byte {
	if t.at+ahead < len(t.text) {
		return t.text[t.at+ahead]
	}
	return 0
}

// next reads one token. Words are letters, digits, "." "-" "_" "$" and everything beyond ASCII; one that begins like a number is a number.
func (t *jaasTokens) next() jaasToken {
	t.skip()
	if t.at >= len(t.text) || t.broken != nil {
		return jaasToken{kind: jaasEnd}
	}
	c := t.text[t.at]
	switch {
	case c == '"' || c == '\'':
		return t.quoted(c)
	case jaasDigit(c) || c == '.' || c == '-' && (jaasDigit(t.peek(1)) || t.peek(1) == '.'):
		t.word()
		return jaasToken{kind: jaasNumber}
	case jaasLetter(c):
		return jaasToken{jaasWord, t.word()}
	}
	t.at++
	return jaasToken{jaasOther, string(c)}
}

// skip passes blanks and comments over: // and /* */, and, as StreamTokenizer has it, "/" alone up to the end of the line.
func (t *jaasTokens) skip() {
	for t.at < len(t.text) {
		switch {
		case t.text[t.at] <= ' ':
			t.at++
		case strings.HasPrefix(t.text[t.at:], "/*"):
			end := strings.Index(t.text[t.at+2:], "*/")
			if end < 0 {
				t.broken = errors.New("a comment does not end; a value with a slash stands in double quotes")
				return
			}
			t.at += 2 + end + 2
		case t.text[t.at] == '/':
			end := strings.IndexAny(t.text[t.at:], "\r\n")
			if end < 0 {
				end = len(t.text) - t.at
			}
			t.at += end
		default:
			return
		}
	}
}

func (t *jaasTokens) word() string {
	from := t.at
	for t.at < len(t.text) && (jaasLetter(t.text[t.at]) || jaasDigit(t.text[t.at]) || t.text[t.at] == '.') {
		t.at++
	}
	return t.text[from:t.at]
}

func (t *jaasTokens) quoted(quote byte) jaasToken {
	var b strings.Builder
	for t.at++; ; t.at++ {
		switch c := t.peek(0); {
		case t.at >= len(t.text) || c == '\n' || c == '\r':
			t.broken = errors.New("a quote is not closed; " + jaasQuoting)
			return jaasToken{kind: jaasEnd}
		case c == quote:
			t.at++
			return jaasToken{jaasQuoted, b.String()}
		case c == '\\' && t.at+1 < len(t.text):
			t.at++
			t.escaped(&b)
		default:
			b.WriteByte(c)
		}
	}
}

// escaped writes what follows a backslash; t.at stays on its last character.
func (t *jaasTokens) escaped(b *strings.Builder) {
	c := t.peek(0)
	if c >= '0' && c <= '7' { // up to three octal digits, at most \377
		n := rune(c - '0')
		for more := 0; more < 2 && (c <= '3' || more < 1) && t.peek(1) >= '0' && t.peek(1) <= '7'; more++ {
			t.at++
			n = n*8 + rune(t.peek(0)-'0')
		}
		b.WriteRune(n)
		return
	}
	if i := strings.IndexByte("abfnrtv", c); i >= 0 {
		c = "\a\b\f\n\r\t\v"[i]
	}
	b.WriteByte(c)
}

func jaasDigit(c byte) bool { return c >= '0' && c <= '9' }

func jaasLetter(c byte) bool {
	return c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c == '-' || c == '_' || c == '$' || c >= 0x80
}
