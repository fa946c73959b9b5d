package cmd

import (
	"cmp"
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

// strangers are the variables that are set and that gtoffset does not read, sorted: no setting of its own, nor one that a setting named.
func (g *global) strangers() []string {
	if g.env.Environ == nil {
		return nil
	}
	known := append(ownVariables(), forCommands()...)
	var names []string
	for _, variable := range g.env.Environ() {
		name, value, _ := strings.Cut(variable, "=")
		if _, named := g.read.Load(name); value != "" && !named && !slices.Contains(known, name) && len(name) > len("gtoffset") {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	return names
}

// passedOver says of a variable that gtoffset does not read it, and which was meant.
func passedOver(name, meant string) string {
	return name + " is set, and gtoffset reads no variable of that name: " + meant
}

// slip says that a stranger is nearly one of those wanted, "" if it is none.
func (g *global) slip(name string, wanted []string) string {
	wanted = slices.DeleteFunc(slices.Clone(wanted), func(name string) bool { return g.env.Getenv(name) != "" })
	if near := nearest(name, wanted); near != "" {
		return passedOver(name, "did you mean "+near+"?")
	}
	return ""
}

// misspelled says that a variable is set whose name is nearly one of those wanted, "" if there is none.
func (g *global) misspelled(wanted []string) string {
	for _, name := range g.strangers() {
		if said := g.slip(name, wanted); said != "" {
			return said
		}
	}
	return ""
}

// unread says which variables were set for gtoffset, by their names, and do nothing. Of the first it is known what was meant; the others, in
// one line, may be there for another reason, as those of a container are.
func (g *global) unread() (meant []string, others string) {
	ours := func(name string) bool { return strings.HasPrefix(name, "GTOFFSET_") }
	wanted := slices.DeleteFunc(ownVariables(), func(name string) bool { return !ours(name) }) // the others are other programs', too
	var rest []string
	for _, name := range g.strangers() {
		flag := strings.ReplaceAll(strings.ToLower(strings.TrimPrefix(name, "GTOFFSET_")), "_", "-")
		switch said := g.slip(name, wanted); {
		case said != "":
			meant = append(meant, said)
		case !ours(name):
		case g.isFlag != nil && g.isFlag(flag):
			meant = append(meant, passedOver(name, "give --"+flag))
		default:
			rest = append(rest, name)
		}
	}
	if len(rest) > 0 {
		others = "set, and not read by gtoffset: " + list(rest, 3) + " (gtoffset help environment lists what is)"
	}
	return meant, others
}

// noteUnread tells of such variables. With -q, too, where something was meant: a gate that does not look at its store, or not at the cluster
// that was expected, is met too easily, and from cron nobody would ever hear of it.
func (g *global) noteUnread() {
	meant, others := g.unread()
	for _, text := range meant {
		g.say(text)
	}
	if others != "" {
		g.note("%s", others)
	}
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
