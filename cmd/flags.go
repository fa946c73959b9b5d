package cmd

import (
	"slices"

	"github.com/spf13/pflag"
)

// noneEmpty refuses a flag that was given without a value: "$UNSET" must not mean another cluster, another file, or the default. Only the
// name of a group may be empty, as Kafka has known such a group.
func noneEmpty(flags *pflag.FlagSet) error {
	var err error
	flags.Visit(func(f *pflag.Flag) {
		empty := f.Value.String() == ""
		if many, ok := f.Value.(pflag.SliceValue); ok {
			empty = len(many.GetSlice()) == 0 || slices.Contains(many.GetSlice(), "")
		}
		if empty && f.Name != "group" && err == nil {
			err = usage("--"+f.Name+" is empty", "is a variable not set?")
		}
	})
	return err
}
