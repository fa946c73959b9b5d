package cmd

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"gtoffset/kafkaops/clientconfig"
	"gtoffset/offsetfile"
)

const (
	storeVariable  = "GTOFFSET_STORE"
	configVariable = "GTOFFSET_COMMAND_CONFIG"
)

// ownVariables lists the names that gtoffset reads, but for those that other programs have, too.
func ownVariables() []string {
	return append(clientconfig.Variables(), storeVariable, configVariable, offsetfile.PasswordVariable)
}

// forCommands are the variables that a command of replay's finds: they may be set where it runs gtoffset itself.
func forCommands() []string { return []string{"GTOFFSET_GROUP", "GTOFFSET_BATCH", "GTOFFSET_RANGES"} }

// misspelled says that a variable is set whose name is nearly one of those wanted, "" if there is none. It is asked where a setting is
// missing, not in every run: what is set and not needed harms nobody.
func (g *global) misspelled(wanted []string) string {
	if g.env.Environ == nil {
		return ""
	}
	known := append(ownVariables(), forCommands()...)
	var names []string
	for _, variable := range g.env.Environ() {
		name, value, _ := strings.Cut(variable, "=")
		if value != "" && !slices.Contains(known, name) && len(name) >= len("gtoffset") {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	wanted = slices.DeleteFunc(slices.Clone(wanted), func(name string) bool { return g.env.Getenv(name) != "" })
	for _, name := range names {
		if near := nearest(name, wanted); near != "" {
			return fmt.Sprintf("%s is set, and gtoffset reads no variable of that name: did you mean %s?", name, near)
		}
	}
	return ""
}

// needStore is the error of a flag that makes no sense without a store. or is what could be typed instead, "" for nothing.
func needStore(what, or string) error {
	return &problem{code: exitUsage, wants: []string{storeVariable}, text: what + " needs a store", hint: "add -s PATH" + or}
}

// withoutStore drops the store of the environment where the command has nothing to do with it: one that is away must not stand in the
// way. One that is named with -s is opened all the same.
func (g *global) withoutStore() {
	if !g.storeGiven {
		g.store = ""
	}
}

// orMisspelled puts in front of a hint that a variable may be misspelled.
func (g *global) orMisspelled(p *problem) string {
	wanted := p.wants
	if len(wanted) == 0 && slices.ContainsFunc(p.causes, func(c cause) bool { return c == causeSetting || c == causeAuthentication }) {
		wanted = ownVariables()
	}
	if len(wanted) == 0 {
		return p.hint
	}
	said := g.misspelled(wanted)
	if said == "" || p.hint == "" {
		return cmp.Or(said, p.hint)
	}
	return said + " else " + p.hint
}
