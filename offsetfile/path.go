package offsetfile

import (
	"crypto/sha256"
	"encoding/hex"
	"strings"
	"unicode/utf8"
)

// IsReserved reports whether a file of that name, wherever it is, would be taken for an offset file, or for the lock beside one.
func IsReserved(name string) bool { return name == fileName || name == lockName }

// fileName is the name of every offset file, lockName that of the lock beside it.
const (
	fileName = "gtoffset"
	lockName = "gtoffset.lock"
)

// longest is the longest encoded name in bytes; hashMark comes before the hash of one that would be longer. No other encoded
// name holds it, as after % there are always two hexadecimal digits.
const (
	longest  = 200
	hashMark = "%~"
)

// encode makes a folder's name of a group's or topic's. Distinct names have distinct folders.
func encode(name string) string {
	full := escape(name)
	if len(full) <= longest {
		return full
	}
	sum := sha256.Sum256([]byte(name))
	keep := longest - len(hashMark) - hex.EncodedLen(len(sum))
	if i := strings.LastIndexByte(full[:keep], '%'); i >= keep-2 {
		keep = i // not through the middle of an escape
	}
	return full[:keep] + hashMark + hex.EncodeToString(sum[:])
}

// escape keeps [A-Za-z0-9._-] and writes all other bytes, and a name of dots only, as %XX.
func escape(name string) string {
	const digits = "0123456789ABCDEF"
	dots := strings.Trim(name, ".") == ""
	i := 0
	for !dots && i < len(name) && plainByte(name[i]) {
		i++
	}
	if i == len(name) {
		return name
	}
	b := make([]byte, 0, len(name)+16)
	b = append(b, name[:i]...)
	for ; i < len(name); i++ {
		if c := name[i]; plainByte(c) && !dots {
			b = append(b, c)
		} else {
			b = append(b, '%', digits[c>>4], digits[c&15])
		}
	}
	return string(b)
}

func plainByte(c byte) bool {
	return 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z' || '0' <= c && c <= '9' || c == '.' || c == '_' || c == '-'
}

// decode is the inverse of encode. ok is false for what encode does not make, and for a hashed name, which only the file's
// header tells.
func decode(folder string) (name string, ok bool) {
	name, ok = unescape(folder)
	return name, ok && name != "" && encode(name) == folder
}

// unescape replaces each %XX.
func unescape(text string) (string, bool) {
	if strings.IndexByte(text, '%') < 0 {
		return text, true
	}
	b := make([]byte, 0, len(text))
	for i := 0; i < len(text); i++ {
		if text[i] != '%' {
			b = append(b, text[i])
			continue
		}
		if i+2 >= len(text) {
			return "", false
		}
		one, err := hex.DecodeString(text[i+1 : i+3])
		if err != nil {
			return "", false
		}
		b = append(b, one[0])
		i += 2
	}
	return string(b), true
}

// nameOf returns the name that a folder stands for: the one that it encodes, or of which another program made it. Of a long one only a
// file below it tells, which header looks up. It is "" if that does not tell it either.
func nameOf(folder string, header func() string) string {
	if name, ok := decode(folder); ok {
		return name
	}
	if !hashed(folder) {
		return folder
	}
	if name := header(); encode(name) == folder {
		return name
	}
	return ""
}

// said is what the headers of a file say of a name, however damaged the rest is.
func said(data []byte, of func(*Document) string) string {
	doc, _, err := Salvage(data)
	if err != nil {
		return ""
	}
	return of(doc)
}

// hashed reports whether a folder's name is one that encode makes of a long name.
func hashed(folder string) bool {
	i := strings.LastIndex(folder, hashMark)
	if i < 0 || len(folder) > longest {
		return false
	}
	sum := folder[i+len(hashMark):]
	_, err := hex.DecodeString(sum)
	return err == nil && len(sum) == hex.EncodedLen(sha256.Size) && strings.ToLower(sum) == sum
}

// plain returns the folder that another program may have made of a name without encoding it. ok is false where there is none:
// it is the encoded one, cannot be a folder, or is the encoded name of something else.
func plain(name string) (folder string, ok bool) {
	if name == encode(name) || len(name) > 255 || strings.ContainsAny(name, "/\x00") || strings.Trim(name, ".") == "" || hashed(name) {
		return "", false
	}
	if _, other := decode(name); other {
		return "", false
	}
	return name, true
}

// checkName refuses names that have no place.
func checkName(kind, name string) error {
	switch {
	case name == "":
		return &NameError{kind, name, "it is empty"}
	case !utf8.ValidString(name):
		return &NameError{kind, name, "it is not UTF-8"}
	}
	return nil
}
