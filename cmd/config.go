package cmd

import (
	"slices"

	"github.com/spf13/cobra"

	"gtoffset/kafkaops/clientconfig"
	"gtoffset/offsetfile"
	"gtoffset/output"
)

func newConfig(g *global) *cobra.Command {
	c := &cobra.Command{
		Use: "config",
		Long: `Use it when a cluster is not reached, or to check a configuration. It prints how the cluster would be reached, and with what:
each setting that is in force, where it comes from (a flag, -X, a line of the file, a variable), and where else it was set and
did not count. It reads the files that the settings name, key stores and keytabs too, and connects to nothing.

Dangers: passwords are hidden; users, hosts and paths are not.`,
		Example: `  gtoffset config
  gtoffset config --command-config client.properties
  gtoffset config -X client.id=ops -X request.timeout.ms=5000 -o json`,
		Args: takes(0, 0, "gtoffset config --help"),
		RunE: func(*cobra.Command, []string) error { return runConfig(g) },
	}
	formats(c, output.Table, output.JSON, output.YAML)
	return c
}

func runConfig(g *global) error {
	settings, err := g.settings()
	if err != nil {
		return err
	}
	c, err := g.connectBy(settings)
	if err != nil {
		return err
	}
	view := output.Config{Notes: append(c.Notes, c.Remarks...)}
	meant, others := g.unread()
	if len(meant) == 0 { // it may be one that other programs have, too
		meant = []string{g.misspelled(ownVariables())}
	}
	meant = append(meant, others)
	view.Notes = append(view.Notes, slices.DeleteFunc(meant, func(said string) bool { return said == "" })...)
	named := map[string]bool{}
	for _, s := range settings.InForce() {
		named[s.Key] = true
		view.Settings = append(view.Settings, output.ConfigSetting{Key: s.Key, Value: s.Value, Source: s.Source, Secret: s.Secret, Over: s.Over})
	}
	usual := func(key, value string) {
		if !named[key] {
			view.Settings = append(view.Settings, output.ConfigSetting{Key: key, Value: value, Source: "default"})
		}
	}
	usual("security.protocol", c.Protocol)
	if c.Mechanism != "" {
		usual("sasl.mechanism", c.Mechanism)
	}
	usual("request.timeout.ms", "2000")
	view.Settings = append(view.Settings, g.ownSettings(settings)...)
	view.User = c.User
	for _, s := range settings.Unused() {
		view.Unused = append(view.Unused, output.ConfigSetting{Key: s.Key, Source: s.Source})
	}
	return view.Write(g.out(), output.Format(g.format))
}

// ownSettings are those that no Kafka client has.
func (g *global) ownSettings(settings *clientconfig.Settings) []output.ConfigSetting {
	limit := output.ConfigSetting{Key: "timeout", Value: g.timeout.String(), Source: "default"}
	switch {
	case g.timeoutGiven:
		limit.Source = "--timeout"
	case settings.Timeout() > 0:
		limit.Source = "default.api.timeout.ms"
	}
	all := []output.ConfigSetting{limit}
	if g.store != "" {
		source := "--store"
		if !g.storeGiven {
			source = storeVariable
		}
		all = append(all, output.ConfigSetting{Key: "store", Value: offsetfile.HidePassword(g.store), Source: source})
	}
	if dir := g.env.stateDir(); dir != "" {
		source := "HOME"
		if g.env.Getenv("XDG_STATE_HOME") != "" {
			source = "XDG_STATE_HOME"
		}
		all = append(all, output.ConfigSetting{Key: "backup-dir", Value: dir, Source: source})
	}
	return all
}
