package cmd

import (
	"cmp"
	"errors"
	"path/filepath"
	"strings"

	"github.com/spf13/pflag"

	"gtoffset/kafkaops/clientconfig"
	"gtoffset/kafkaops/offsets"
)

// connecting is what the command line says of how to reach the cluster.
type connecting struct {
	bootstrap     string
	commandConfig string
	properties    []string // KEY=VALUE

	merged *clientconfig.Settings // once they were read: a file may be a pipe
	wrong  error
}

func (c *connecting) flags(f *pflag.FlagSet) {
	f.StringVarP(&c.bootstrap, "bootstrap-server", "b", "", "brokers to start from, `HOST:PORT`[,HOST:PORT…] (env GTOFFSET_BOOTSTRAP_SERVER, KAFKA_BOOTSTRAP_SERVERS)")
	f.StringVar(&c.commandConfig, "command-config", "", "how to reach them: a `FILE` as Java clients and Kafka's tools take it, see help connection (env GTOFFSET_COMMAND_CONFIG)")
	f.StringArrayVarP(&c.properties, "command-property", "X", nil, "one `KEY=VALUE` of such a file, before those in it; a secret as '$VARIABLE' or @FILE; repeatable")
}

// settings gathers what is set: a flag before -X, before the file, before GTOFFSET_…, before KAFKA_….
func (g *global) settings() (*clientconfig.Settings, error) {
	if g.merged == nil && g.wrong == nil {
		g.merged, g.wrong = interruptible(g.soft, g.mergeSettings)
	}
	return g.merged, g.wrong
}

func (g *global) mergeSettings() (*clientconfig.Settings, error) {
	var flags, overrides, file []clientconfig.Setting
	if g.bootstrap != "" {
		flags = append(flags, clientconfig.Setting{Key: "bootstrap.servers", Value: g.bootstrap, Source: "--bootstrap-server"})
	}
	for _, text := range g.properties {
		s, err := clientconfig.Override(text, g.env.Getenv)
		if err != nil {
			return nil, err
		}
		overrides = append(overrides, s)
	}
	if path := cmp.Or(g.commandConfig, g.env.Getenv(configVariable)); path != "" {
		var err error
		if file, err = clientconfig.ReadFile(path); err != nil {
			return nil, err
		}
	}
	ours, kafkas := clientconfig.Environment(g.env.Getenv)
	return clientconfig.Merge(flags, overrides, file, ours, kafkas)
}

// connection is how the cluster is reached; it opens files, and no connection. What the settings say of themselves is told once.
func (g *global) connection() (clientconfig.Connection, error) {
	settings, err := g.settings()
	if err != nil {
		return clientconfig.Connection{}, err
	}
	c, err := g.connectBy(settings)
	if err != nil {
		return c, err
	}
	if len(c.Bootstrap) == 0 {
		return c, &problem{
			code: exitUsage, wants: []string{"GTOFFSET_BOOTSTRAP_SERVER", "KAFKA_BOOTSTRAP_SERVERS", configVariable},
			text: "no cluster is named", hint: "add -b HOST:PORT, or set GTOFFSET_BOOTSTRAP_SERVER",
		}
	}
	for _, n := range c.Notes {
		g.note("%s", n)
	}
	if unused := unusedKeys(settings.Unused()); g.verbose && unused != "" {
		g.note("not used: %s", unused)
	}
	c.Wire.Log = g.log()
	return c, nil
}

// connectBy reads the files that the settings name.
func (g *global) connectBy(settings *clientconfig.Settings) (clientconfig.Connection, error) {
	return interruptible(g.soft, func() (clientconfig.Connection, error) { return settings.Connect(g.env.Getenv) })
}

// unusedKeys names settings that mean nothing here.
func unusedKeys(all []clientconfig.Setting) string {
	names := make([]string, len(all))
	for i, s := range all {
		names[i] = s.Key + " (" + s.Source + ")"
	}
	return strings.Join(names, ", ")
}

// setTimeout takes default.api.timeout.ms for --timeout, unless that is given. What is wrong with the settings is told by whoever
// needs them.
func (g *global) setTimeout() {
	if g.timeoutGiven || len(g.properties) == 0 && g.commandConfig == "" && g.env.Getenv(configVariable) == "" && g.env.Getenv("GTOFFSET_DEFAULT_API_TIMEOUT_MS") == "" {
		return
	}
	if settings, err := g.settings(); err == nil {
		if d := settings.Timeout(); d > 0 {
			g.timeout = timeout(d)
		}
	}
}

// reach is how the cluster was named, as words of a command line of ours. A secret that stood on the command line is not repeated.
func (g *global) reach(bootstrap string) []string {
	var words []string
	if bootstrap != "" {
		words = append(words, "-b", bootstrap)
	}
	if g.commandConfig != "" {
		words = append(words, "--command-config", absolutePath(g.commandConfig))
	}
	for _, text := range g.properties {
		words = append(words, "-X", clientconfig.Shown(text, absolutePath))
	}
	return words
}

// afterRight is the hint where a right is missing: what gives it, and what else there is to be done.
func (g *global) afterRight(r offsets.Right, hint string) string {
	between := "; then "
	switch {
	case hint == "":
		between = ""
	case hint == writesTheRest:
		between = "; or "
	case strings.HasPrefix(hint, "gtoffset "): // to be typed as it stands
		between = "\n"
	}
	return g.allowing(r) + between + hint
}

// allowing is the command by which who may do so gives us a right that is missing.
func (g *global) allowing(r offsets.Right) string {
	bootstrap, user := "HOST:PORT", "NAME"
	if g.session != nil {
		bootstrap = g.session.origin.Bootstrap
		user, _, _ = strings.Cut(cmp.Or(g.session.user, user), "@") // of a Kerberos principal
	}
	words := []string{"kafka-acls.sh", "--bootstrap-server", bootstrap, "--add", "--allow-principal", "User:" + user, "--operation", r.Operation[:1] + strings.ToLower(r.Operation[1:]), "--" + r.On}
	if r.Name != "" {
		words = append(words, r.Name)
	}
	return commandLine(words)
}

// kafkaTool is a line of one of Kafka's own tools, for this cluster and with these settings.
func (g *global) kafkaTool(name string, words ...string) string {
	line := []string{name, "--bootstrap-server", g.session.origin.Bootstrap}
	if g.commandConfig != "" {
		line = append(line, "--command-config", absolutePath(g.commandConfig))
	}
	return commandLine(append(line, words...))
}

// absolutePath makes a line mean the same in another folder.
func absolutePath(path string) string {
	if abs, err := filepath.Abs(path); err == nil {
		return abs
	}
	return path
}

// ofSettings is the part of exit.go's map that is about settings; nil for anything else.
func ofSettings(err error) *problem {
	var bad *clientconfig.Error
	if errors.As(err, &bad) {
		return &problem{code: exitUsage, causes: []cause{causeSetting}, text: err.Error(), hint: cmp.Or(bad.Hint, "gtoffset help connection lists the keys")}
	}
	return nil
}

// connectionTopic is what gtoffset help connection prints.
func connectionTopic() string {
	h := newHelpText(helpMost)
	h.lines("Connection", "")
	h.text(`--command-config takes the .properties file that Java clients and Kafka's own tools take; -X one of its keys. Names of librdkafka
are taken, too. What decides is the first of: a flag, -X, the file, GTOFFSET_…, KAFKA_…. gtoffset config shows what is in force.

A secret of -X is '$VARIABLE' or @FILE; as it stands, everybody on the machine can read it in the list of processes.

  -X security.protocol=SASL_SSL -X ssl.truststore.location=ca.pem
  -X sasl.mechanism=SCRAM-SHA-512 -X sasl.username=alice -X 'sasl.password=$PW'`)
	h.WriteByte('\n')
	h.text("Keys, in brackets other names for the same; after a semicolon what holds without it:")
	h.WriteByte('\n')
	for _, k := range clientconfig.Keys() {
		name := k.Name
		if len(k.Also) > 0 {
			name += " (" + strings.Join(k.Also, ", ") + ")"
		}
		h.WriteString("  ")
		h.fold(name, helpMost-2, func() { h.blanks(4) })
		h.WriteString("      ")
		h.fold(k.Text, helpMost-6, func() { h.blanks(6) })
	}
	h.lines("", "docs/connection.md has an example for each mechanism.")
	return h.String()
}
