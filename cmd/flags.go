package cmd

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/spf13/pflag"

	"gtoffset/kafkaops/offsets"
)

// named are the flags that take names of Kafka's, or a path that a backup names.
var named = []string{"group", "topic", "store", "from-group", "save-as", "to-topic"}

// sound refuses a flag or an argument that was given without a value: "$UNSET" must not mean another cluster, another file, stdout, or
// the default. Only the name of a group may be empty, as Kafka has known such a group; and what stands behind -- is for another program.
// And it refuses names that are no UTF-8, or too long: none in Kafka is, and the documents in which a path is kept cannot hold it.
func sound(flags *pflag.FlagSet, args []string) error {
	if own := flags.ArgsLenAtDash(); own >= 0 {
		args = args[:own]
	}
	if slices.Contains(args, "") {
		return usage("an argument is empty", "is a variable not set?")
	}
	var err error
	flags.Visit(func(f *pflag.Flag) {
		values := []string{f.Value.String()}
		if many, ok := f.Value.(pflag.SliceValue); ok {
			values = many.GetSlice()
		}
		broken := slices.IndexFunc(values, func(v string) bool { return !utf8.ValidString(v) })
		long := slices.IndexFunc(values, func(v string) bool {
			name, _, _ := strings.Cut(v, ":") // partitions of a topic may be many
			return len(v) > offsets.LongestName && (f.Name != "topic" || len(name) > offsets.LongestName)
		})
		switch {
		case err != nil:
		case f.Name != "group" && (len(values) == 0 || slices.Contains(values, "")):
			err = usage("--"+f.Name+" is empty", "is a variable not set?")
		case broken >= 0 && slices.Contains(named, f.Name):
			err = usage(fmt.Sprintf("--%s is not UTF-8: %q", f.Name, values[broken]), "names in Kafka are UTF-8, and so must paths be that a backup names")
		case long >= 0 && f.Name != "store" && slices.Contains(named, f.Name):
			err = usage(fmt.Sprintf("--%s %.20q… is longer than the %s bytes that a name in Kafka can have", f.Name, values[long], offsets.Thousands(offsets.LongestName)), "is it the content of a file?")
		}
	})
	return err
}

// contradicted refuses a flag that takes one value and was given two: the last one must not push the other out unseen. args are those of
// the command, in which all flags are known already.
func contradicted(flags *pflag.FlagSet, args []string) error {
	given := map[string]string{}
	return flags.ParseAll(args, func(f *pflag.Flag, value string) error {
		first, twice := given[f.Name]
		_, many := f.Value.(pflag.SliceValue)
		switch {
		case many || twice && first == value:
			return nil
		case twice && f.Name == "group":
			return usage(fmt.Sprintf("--group is %q already, and this command is about one group: %q is another", first, value), "one run for each")
		case twice:
			return usage(fmt.Sprintf("--%s is %q already: %q is another", f.Name, first, value), "leave one of them out")
		}
		given[f.Name] = value
		return nil
	})
}

// isGiven reports whether a flag was given. One that only switches something on, and says =false, was not.
func isGiven(f *pflag.FlagSet, name string) bool {
	return f.Changed(name) && !switchedOff(f, name)
}

// switchedOff reports whether a flag that takes no value says =false.
func switchedOff(f *pflag.FlagSet, name string) bool {
	v := f.Lookup(name).Value
	return f.Changed(name) && v.Type() == "bool" && v.String() == "false"
}

// number is a count or an offset on the command line. It is decimal, with zeroes in front or without, as in the names of Kafka's segment
// files: what Go reads as octal would be another offset.
type number[N int | int64] struct{ n *N }

// numberVar adds a flag that takes a number.
func numberVar[N int | int64](f *pflag.FlagSet, n *N, name string, unset N, text string) {
	*n = unset
	f.Var(number[N]{n}, name, text)
}

func (n number[N]) Set(s string) error {
	v, err := strconv.ParseInt(s, 10, 64)
	switch {
	case errors.Is(err, strconv.ErrRange), int64(N(v)) != v:
		return errors.New("it is out of range")
	case err != nil:
		return errors.New("want a whole number, in decimal digits")
	}
	*n.n = N(v)
	return nil
}

func (n number[N]) Type() string { return "int64" }

func (n number[N]) String() string {
	if n.n == nil { // as pflag asks of a zero value
		return "0"
	}
	return strconv.FormatInt(int64(*n.n), 10)
}
