package cmd

import (
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"
)

// newHelp is the command that explains commands and topics.
func newHelp(g *global, root *cobra.Command) *cobra.Command {
	names := topicNames()
	return &cobra.Command{
		Use:   "help [COMMAND|TOPIC]",
		Short: "Explain a command, or one of: " + strings.Join(names, ", "),
		ValidArgsFunction: func(c *cobra.Command, args []string, typed string) ([]string, cobra.ShellCompDirective) {
			if len(args) > 0 {
				return nil, onlyWords
			}
			var all []string
			for _, sub := range root.Commands() {
				if sub.IsAvailableCommand() {
					all = append(all, told(sub.Name(), sub.Short))
				}
			}
			return fitting(append(all, names...), typed), onlyWords
		},
		RunE: func(c *cobra.Command, args []string) error {
			if len(args) == 0 {
				return root.Help()
			}
			for _, t := range helpTopics() {
				if t.name == args[0] {
					_, err := io.WriteString(g.env.Stdout, t.text())
					return err
				}
			}
			found, rest, err := root.Find(args)
			if err != nil || len(rest) > 0 || found == root {
				hint := "gtoffset help lists the commands; topics: " + strings.Join(names, ", ")
				if near := nearest(strings.Join(args, " "), append(commandNames(root), names...)); near != "" {
					hint = "gtoffset help " + near
				}
				return usage(fmt.Sprintf("there is no command and no topic %q", strings.Join(args, " ")), hint)
			}
			return found.Help()
		},
	}
}

type helpTopic struct {
	name string
	text func() string // made when it is asked for: names are needed at each start
}

func helpTopics() []helpTopic {
	return []helpTopic{
		{"connection", connectionTopic},
		{"environment", func() string { return environmentTopic }},
		{"exit-codes", func() string { return exitCodesTopic }},
		{"formats", formatsTopic},
		{"stores", storesTopic},
	}
}

func topicNames() (names []string) {
	for _, t := range helpTopics() {
		names = append(names, t.name)
	}
	return names
}

const exitCodesTopic = `Exit codes

    0  done, or nothing to do; an offset that was clamped is no failure
    1  failed, nothing written; also an unknown group or topic, or a store that
       is not there
    2  usage: flags that do not fit, a time that is malformed or ahead, nobody
       to ask
    3  partly failed: the error names what; also a read-back that differs
    4  refused for safety, nothing written: the error names the flag that
       decides
    5  cluster or store not reached, or its credentials refused
   10  a check or a wait is not met
  130  interrupted
  141  written, but whoever read stdout went away before it was told: the error
       on stderr has it, with the way back

Where several apply, 5 comes before 4 before 3 before 10; with -o json the error
lists all, and its cause says why in one word, as unreachable or authentication.
A plan of which a part is refused, and another not reached, is 4.
`

const environmentTopic = `Environment

  GTOFFSET_BOOTSTRAP_SERVER  brokers to start from, if -b is not given; then
                             KAFKA_BOOTSTRAP_SERVERS
  GTOFFSET_COMMAND_CONFIG    the file of --command-config
  GTOFFSET_SASL_PASSWORD, …  any key of help connection, in capitals and with _
                             for each dot; taken as it is, without quoting
  KAFKA_SECURITY_PROTOCOL, KAFKA_SASL_MECHANISM, KAFKA_SASL_JAAS_CONFIG,
  KAFKA_SASL_USERNAME, KAFKA_SASL_PASSWORD
                             likewise
  KRB5_CONFIG, KRB5CCNAME    Kerberos: its krb5.conf, the credential cache
                             (FILE:)
  GTOFFSET_STORE             the store, if -s is not given, of commands that
                             look at one
  GTOFFSET_STORE_PASSWORD    the password of a store whose URL has none
  XDG_STATE_HOME             backups and plans go to its folder gtoffset
                             (default ~/.local/state)
  NO_COLOR, TERM=dumb        no colour, unless --color always
  CI                         nobody is asked: a write needs --execute or
                             --dry-run

A command of replay finds in its own: GTOFFSET_GROUP, GTOFFSET_BATCH (number of
the batch), GTOFFSET_RANGES (a line for each partition: topic, partition, from,
until).

Of other variables GTOFFSET_… a note says that they do nothing.

A flag comes before -X, that before the file of --command-config, that before
GTOFFSET_…, and that before KAFKA_….
`

// formatOf is what a format of -o is; "" for those that exchange names.
func formatOf(name string) string {
	for _, f := range knownFormats() {
		if f[0] == name {
			return f[1]
		}
	}
	return ""
}

func knownFormats() [][2]string {
	return [][2]string{
		{"table", "for people; the same with and without a terminal, but for colour, gauge and width"},
		{"wide", "everything that is known"},
		{"json", "one document with a schema name; fields are added, never renamed"},
		{"yaml", "the same document"},
		{"csv", "one line a row, with a header"},
		{"prom", "metrics for Prometheus"},
		{"jsonl", "one JSON object a record"},
		{"raw", "the value of each record, and nothing else"},
	}
}

// formatsTopic is what gtoffset help formats prints.
func formatsTopic() string {
	h := newHelpText(helpMost)
	h.lines("Formats", "")
	for _, f := range knownFormats() {
		h.item(8, "-o "+f[0], f[1])
	}
	h.WriteByte('\n')
	h.text(`replay takes --format, too, a template of kcat's; export has formats of other programs, which import reads.

Unknown is - in text and null in documents; never 0, never -1. Offsets are the next record to read.`)
	return h.String()
}
