package cmd

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/pflag"
)

// choice is a flag that takes one of a few words. They are checked before anything is opened, named by the help and by errors, and
// completed by shells.
type choice struct {
	flag  string
	at    *string
	words []string
}

// choose makes such a flag. Its words are the value's name in the help, unless usage has one in backquotes.
func choose(f *pflag.FlagSet, at *string, name, fallback, usage string, words ...string) {
	*at = fallback
	f.Var(&choice{name, at, words}, name, usage)
}

func (c *choice) String() string { return *c.at }
func (c *choice) Type() string   { return strings.Join(c.words, "|") }
func (c *choice) Set(s string) error {
	*c.at = s
	if s == "" { // sound tells of it
		return nil
	}
	return among("--"+c.flag, s, c.words)
}

// among refuses what is none of a flag's words.
func among(flag, given string, words []string) error {
	if slices.Contains(words, given) {
		return nil
	}
	hint := flag + " " + strings.Join(words, ", ")
	if len(words) <= 3 {
		hint = spelled(flag + " " + strings.Join(words, "|"))
	}
	if near := nearest(given, words); near != "" {
		hint = "did you mean " + flag + " " + near + "?"
	}
	return usage(fmt.Sprintf("%s %q is not known", flag, given), hint)
}

// nearest is the name that was probably meant by one that does not exist: at most a third of its letters, and three, are others,
// missing, too many or swapped; or else one that begins so. The third is of what differs: billing-2 is no slip for billing-1. Without one
// it is "".
func nearest(typed string, names []string) string {
	low := strings.ToLower(typed)
	best, begins, least := "", "", min(len(low)/3, 3)+1
	for _, name := range names {
		other := strings.ToLower(name)
		if n := apart(low, other, least); n < least && n <= len(unlike(low, other))/3 {
			best, least = name, n
		} else if begins == "" && len(low) > 1 && strings.HasPrefix(other, low) {
			begins = name
		}
	}
	return cmp.Or(best, begins)
}

// unlike is what is left of a word without the parts that it begins with as the other one does: of orders-eu-1 and orders-us-1 eu-1.
func unlike(word, other string) string {
	rest := word
	for i := 0; i < len(word) && i < len(other) && word[i] == other[i]; i++ {
		if strings.IndexByte("-_.", word[i]) >= 0 {
			rest = word[i+1:]
		}
	}
	return rest
}

// apart counts by how many letters two words differ, two that are swapped as one; up to most, which stands for more as well.
func apart(a, b string, most int) int {
	for a != "" && b != "" && a[0] == b[0] {
		a, b = a[1:], b[1:]
	}
	for a != "" && b != "" && a[len(a)-1] == b[len(b)-1] {
		a, b = a[:len(a)-1], b[:len(b)-1]
	}
	const longest = 32 // what is left of two words that are near is short
	if n := len(a) - len(b); n >= most || -n >= most || len(a) > longest || len(b) > longest {
		return most
	}
	var d [longest + 1][longest + 1]int // of the first i letters of a and the first j of b
	for i := range len(a) + 1 {
		for j := range len(b) + 1 {
			switch {
			case i == 0 || j == 0:
				d[i][j] = i + j
			case a[i-1] == b[j-1]:
				d[i][j] = d[i-1][j-1]
			default:
				d[i][j] = 1 + min(d[i-1][j-1], d[i-1][j], d[i][j-1])
				if i > 1 && j > 1 && a[i-1] == b[j-2] && a[i-2] == b[j-1] {
					d[i][j] = min(d[i][j], 1+d[i-2][j-2])
				}
			}
		}
	}
	return min(d[len(a)][len(b)], most)
}
