package clientconfig

import (
	"bytes"
	"strings"
)

const utf8Mark = "\xef\xbb\xbf"

// otherKinds are what a file may be that is no text of properties, by how it begins.
var otherKinds = []struct{ begins, is string }{
	{"\x1f\x8b", "is compressed with gzip"},
	{"\xff\xfe", "is in UTF-16"},
	{"\xfe\xff", "is in UTF-16"},
	{"\x00\x00\xfe\xff", "is in UTF-32"},
	{"PK\x03\x04", "is a zip archive"},
	{"\xfe\xed\xfe\xed", "is a Java key store"},
}

// otherTexts are the same for what follows blanks.
var otherTexts = []struct{ begins, is string }{
	{"{", "is JSON"},
	{"<", "is XML"},
	{"-----BEGIN ", "is PEM, a key or a certificate"},
}

// otherKind says what a file is that no Java program would find its settings in, "" if it can be a .properties file. Java itself takes
// any bytes, and none of the keys of such a file is one of Kafka's: it would connect without what the file says.
func otherKind(text []byte) string {
	for _, k := range otherKinds {
		if bytes.HasPrefix(text, []byte(k.begins)) {
			return k.is
		}
	}
	start := bytes.TrimLeft(bytes.TrimPrefix(text, []byte(utf8Mark)), " \t\r\n\f")
	for _, k := range otherTexts {
		if bytes.HasPrefix(start, []byte(k.begins)) {
			return k.is
		}
	}
	switch control := bytes.IndexFunc(text, func(r rune) bool { return r < ' ' && !strings.ContainsRune("\t\n\r\f", r) }); {
	case control < 0:
		return ""
	case text[control] == 0 && 2*bytes.Count(text, []byte{0}) >= len(text)-1:
		return "is in UTF-16"
	}
	return "is binary"
}
