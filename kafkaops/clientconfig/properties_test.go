package clientconfig

import (
	"errors"
	"fmt"
	"strings"
	"testing"
)

// What java.util.Properties.load makes of the same bytes.
func TestProperties(t *testing.T) {
	for text, want := range map[string]string{
		"a=b":                       "a=b@1",
		"a:b":                       "a=b@1",
		"a b":                       "a=b@1",
		"a  =  b ":                  "a=b @1",
		`a\=b=c`:                    "a=b=c@1",
		`a\:b:c`:                    "a:b=c@1",
		`\ a=b`:                     " a=b@1",
		"a==b":                      "a==b@1",
		"a = = b":                   "a== b@1",
		"k":                         "k=@1",
		"=v":                        "=v@1",
		" k\t:\tv":                  "k=v@1",
		"a=1\na=2":                  "a=1@1 a=2@2",
		"#c\n!d\n\n  \na=1":         "a=1@5",
		"a=#x":                      "a=#x@1",
		"a=b\r\nc=d\re=f":           "a=b@1 c=d@2 e=f@3",
		"a=b\\\n   c\nd=e":          "a=bc@1 d=e@3",
		"a=b\\\r\n\tc\r\nd=e":       "a=bc@1 d=e@3",
		"a=b \\\n#c\nd=e":           "a=b #c@1 d=e@3",
		"\\\n#c\nd=e":               "d=e@3",
		"a=b\\":                     "a=b@1",
		`a\`:                        "a=@1",
		`a=\q\\\t\n`:                "a=q\\\t\n@1",
		`a=\u00e9`:                  "a=é@1",
		`a=\ud83d\ude00`:            "a=😀@1",
		"a=\xe9":                    "a=é@1",
		"a=\xc3\xa9":                "a=Ã©@1",
		"p=${q}":                    "p=${q}@1",
		"\xef\xbb\xbfa=b":           "a=b@1",
		"p=\" ,;$+@'\\\\ \tx":       "p=\" ,;$+@'\\ \tx@1",
		"a=\t\\\tb":                 "a=\tb@1",
		"":                          "",
		"a=1\n \t \n\f\nb=2\n\n\n#": "a=1@1 b=2@4",
	} {
		pairs, err := parseProperties([]byte(text))
		var got []string
		for _, p := range pairs {
			got = append(got, fmt.Sprintf("%s=%s@%d", p.key, p.value, p.line))
		}
		if err != nil || strings.Join(got, " ") != want {
			t.Errorf("%q: got %q, %v, want %q", text, got, err, want)
		}
	}
	for text, line := range map[string]int{`a=\u12`: 1, "b=1\na=\\u00G1": 2, "b=1\nc=2\\\n  3\na=\\u+123": 4, `a=\u`: 1} {
		_, err := parseProperties([]byte(text))
		var bad *malformed
		if !errors.As(err, &bad) || bad.line != line {
			t.Errorf("%q: got %v, want an error in line %d", text, err, line)
		}
	}
}

func TestJAAS(t *testing.T) {
	const plain = "org.apache.kafka.common.security.plain.PlainLoginModule"
	for text, want := range map[string]string{
		plain + ` required username="alice" password="secret";`:                      "password=secret username=alice",
		plain + " REQUIRED\n\tusername = 'alice'\n password=\"a'b\" ;":               "password=a'b username=alice",
		plain + ` required password="q\"\\ ,;$+@#//x/*y*/ ";`:                        `password=q"\ ,;$+@#//x/*y*/ `,
		plain + ` required password="\101\t\12\7\400";`:                              "password=A\t\n\a 0",
		plain + ` required username=alice.b-c_$1 /* two */ password="x"; // the end`: "password=x username=alice.b-c_$1",
		plain + ` required;`: "",
		plain + ` required username="ünï" password="pw½";`:     "password=pw½ username=ünï",
		plain + ` required username="a" username="b";`:         "username=b",
		"com.x.Krb5LoginModule required useKeyTab=true;":       "useKeyTab=true",
		plain + ` optional password=" leading and trailing ";`: "password= leading and trailing ",
	} {
		l, err := parseJAAS(text)
		var got []string
		for _, name := range []string{"password", "useKeyTab", "username"} {
			if v, ok := l.options[name]; ok {
				got = append(got, name+"="+v)
			}
		}
		if err != nil || strings.Join(got, " ") != want {
			t.Errorf("%q: got %q, %v, want %q", text, got, err, want)
		}
	}
	for text, want := range map[string]string{
		"":                                 "does not begin with the name",
		plain:                              "is not followed by required",
		plain + " needed x=y;":             "is not followed by required",
		plain + ` required username="a"`:   "does not end with a semicolon",
		plain + ` required username=;`:     "option username has no value",
		plain + ` required username;`:      "what follows the control flag is no NAME",
		plain + ` required password=12ab;`: "option password has no value, or one that must stand in double quotes",
		plain + ` required password=/tmp;`: "option password has no value",
		plain + ` required password="hush` + "\n" + `x";`:                         "a quote is not closed",
		plain + ` required password="hush"hush" username="a";`:                    "what follows option password is no NAME",
		plain + ` required password="hush"hush"hush" username="a";`:               "what follows option password is no NAME",
		plain + ` required password="hush /* hush;`:                               "a quote is not closed",
		plain + ` required password=hush@hush;`:                                   "what follows option password is no NAME",
		plain + ` required /* username="a";`:                                      "a comment does not end",
		plain + ` required username="a"; ` + plain + ` required password="hush";`: "more than one login module",
	} {
		_, err := parseJAAS(text)
		if err == nil || !strings.Contains(err.Error(), want) || strings.Contains(err.Error(), "hush") {
			t.Errorf("%q: got %v, want %q", text, err, want)
		}
	}
}
