// Package cmd is the command line: one file a command, the one road of every write in apply.go, the look at cluster and store
// in look.go, and in exit.go the map from the errors of other packages to exit codes and hints. What a command refuses itself is a problem,
// with its own code and hint, made where it is found.
//
// What commands share: scope.go, which groups, topics and partitions one is about; side.go, the side that it writes; choice.go, flags of a
// few words; instant.go, points in time; shell.go, command lines as a shell reads them; variables.go, what the environment sets;
// measure.go, what only some looks want to know; idle.go, waiting until nobody works with a group.
package cmd

import (
	"context"
	_ "embed" // for help.txt
	"fmt"
	"io"
	"log/slog"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"gtoffset/output"
)

// Main runs the program with the given arguments and returns its exit code. It writes to env's streams only.
func Main(ctx context.Context, env Env, args []string) int {
	out := &stdout{w: env.Stdout}
	env.Stdout = out
	g := &global{env: env, args: args}
	getenv := env.Getenv
	g.env.Getenv = func(name string) string {
		g.read.Store(name, nil)
		return getenv(name)
	}
	if g.completing() {
		g.env.Stderr = io.Discard // a shell has no place for more than words
	}
	if g.onlyHelp() {
		_, _ = io.WriteString(out, help)
		return g.finish(ctx, out.told(nil))
	}
	root := newRoot(g)
	root.SetArgs(append([]string{}, args...)) // cobra takes nil for os.Args
	root.SetOut(env.Stdout)
	root.SetErr(g.env.Stderr)
	g.soft, g.hard = ctx, ctx
	err := root.ExecuteContext(ctx)
	if err == nil {
		err = g.unheard
	}
	g.close()
	out.noteClosed(g)
	if err != nil && g.format == "" { // the flags were not read up to it
		g.format = givenFormat(args)
	}
	return g.finish(g.soft, out.told(err))
}

// givenFormat is the -o among arguments that are otherwise wrong: a script that asks for documents gets its error as one.
func givenFormat(args []string) string {
	f := pflag.NewFlagSet("", pflag.ContinueOnError)
	f.ParseErrorsAllowlist.UnknownFlags = true
	f.Usage = func() {}
	format := f.StringP("output", "o", "", "")
	_ = f.Parse(args) // what is wrong is told already
	return *format
}

// global holds the flags that every command shares, and what is made from them late.
type global struct {
	env Env

	connecting
	expectCluster string
	store         string
	storeGiven    bool
	createTable   bool // a write makes what the store's entries are kept in
	format        string
	timeout       timeout
	timeoutGiven  bool
	color         string
	quiet         bool
	verbose       bool

	args       []string
	command    string          // as in "gtoffset clamp"
	soft, hard context.Context // see Env.Interrupts
	session    *session
	isFlag     func(name string) bool // of the command
	read       sync.Map               // the variables that were asked for, by name
	unheard    error                  // --help was asked of a command that does not exist
	unwritten  bool                   // it is a command that writes, and has not yet begun to
}

func newRoot(g *global) *cobra.Command {
	root := &cobra.Command{
		Use:   "gtoffset COMMAND [flags]",
		Short: "Inspect and repair Kafka consumer-group offsets",
		Long: `Gtoffset puts side by side what a streaming job stored, what its group committed, and what the cluster still has;
says what a restart would do; and repairs it: plan, consent, backup, write, verify, undo.`,
		Example: `  gtoffset describe -b kafka1:9092 -g billing -s offsets
  gtoffset clamp -b kafka1:9092 -g billing -s offsets --stored --dry-run`,
		Args:          cobra.ArbitraryArgs,
		SilenceUsage:  true,
		SilenceErrors: true,
		RunE: func(c *cobra.Command, args []string) error {
			if len(args) == 0 {
				return c.Help()
			}
			return unknownCommand(c, args[0])
		},
		PersistentPreRunE: g.begin,
	}
	root.SetFlagErrorFunc(func(c *cobra.Command, err error) error {
		if c == root && len(g.args) > 0 && !strings.HasPrefix(g.args[0], "-") {
			return unknownCommand(c, g.args[0])
		}
		if c.Name() == "replay" && !slices.Contains(g.args, "--") {
			return noDashes(wrongFlag(c, err))
		}
		return wrongFlag(c, err)
	})
	g.flags(root.PersistentFlags())
	all := commands(root)
	only := func(c command) bool { return len(g.args) > 0 && c.name == g.args[0] }
	one := slices.ContainsFunc(all, only)
	for _, c := range all {
		if one && !only(c) {
			root.AddCommand(c.nameOnly())
		} else {
			root.AddCommand(c.build(g))
		}
	}
	root.SetHelpCommand(newHelp(g, root))
	root.CompletionOptions.DisableDefaultCmd = true
	if g.completing() {
		g.completions(root)
	}
	g.setHelp(root)
	return root
}

// flags are those that all commands have.
func (g *global) flags(f *pflag.FlagSet) {
	g.timeout = timeout(30 * time.Second)
	f.SortFlags = false
	g.connecting.flags(f)
	f.StringVar(&g.expectCluster, "expect-cluster", "", "refuse (4) unless the cluster has this `ID`")
	f.StringVarP(&g.store, "store", "s", "", "where the job keeps its offsets: the `PATH` of a folder of gtoffset files, or a URL, see help stores (env GTOFFSET_STORE)")
	f.StringVarP(&g.format, "output", "o", "", "`FORMAT` of what goes to stdout; each command lists its own")
	f.Var(&g.timeout, "timeout", "bound of one look at the cluster, or of the write of one group, which has 15s at least: a `DURATION`, or a bare number of milliseconds")
	choose(f, &g.color, "color", string(output.ColorAuto), "when to use colour", string(output.ColorAuto), string(output.ColorAlways), string(output.ColorNever))
	f.BoolVarP(&g.quiet, "quiet", "q", false, "no progress, notes or warnings on stderr, but of a misspelled variable; with a check that is met, no table either")
	f.BoolVarP(&g.verbose, "verbose", "v", false, "each request with its broker and time, on stderr")
}

// begin comes before every command: the flags are held against each other, and interrupts are listened to.
func (g *global) begin(c *cobra.Command, args []string) error {
	if g.completing() {
		return nil // the flags are not read yet
	}
	g.command = c.CommandPath()
	g.isFlag = func(name string) bool { return c.Flags().Lookup(name) != nil }
	if err := sound(c.Flags(), args); err != nil {
		return err
	}
	_, own, _ := c.Root().Find(g.args)
	if err := contradicted(c.Flags(), own); err != nil {
		return err
	}
	if g.env.Interrupts != nil {
		ignoreFileLimit()
		g.soft, g.hard = g.env.Interrupts(c.Context())
		c.SetContext(g.soft)
	}
	g.storeGiven, g.timeoutGiven = c.Flags().Changed("store"), c.Flags().Changed("timeout")
	if err := g.validate(); err != nil {
		return err
	}
	return g.validateTargets(c.Flags())
}

// command is one command of the program: its file is NAME.go.
type command struct {
	name, short string
	status      string // what its exit codes mean, beside those that all have
	make        func(*global) *cobra.Command
}

// written are the exit codes of all that takes the road.
const written = "0 done, or nothing to do; 1 failed, nothing written; 3 a part was not written; 4 refused, nothing written; 10 with --check, there is something to do"

// commands lists all commands.
func commands(root *cobra.Command) []command {
	return []command{
		{"describe", "Show where jobs stand, and what a restart would do", "0 all was read, whatever is wrong with it; 1 no such group, topic or store; 3 something could not be read, the rest is shown; 10 a check is not met", newDescribe},
		{"clamp", "Bring offsets back into what the cluster still has", written, newClamp},
		{"reset", "Move offsets to a place that you name", written, newReset},
		{"export", "Write the commits, or the stored offsets, as a document", "0 all was written; 1 no such group; 3 something could not be read, the rest is written; 4 the FILE exists", newExport},
		{"import", "Write what a backup, a plan or another document says", written, newImport},
		{"delete", "Remove commits, or a whole group, from Kafka", written, newDelete},
		{"replay", "Read records again: to stdout, into a command, or to a topic", "0 all was read; 1 not one batch was accepted; 3 stopped on the way, or something was left out; 4 refused before the first record; 130 interrupted, after the batch that was running", newReplay},
		{"history", "Show what a group committed before, and who moved it", "0 nothing is missing since the time that is said; 1 no such group; 3 something may be missing, and what is said; 4 this cluster does not tell", newHistory},
		{"wait", "Return when groups are empty, or have caught up", "0 the conditions hold; 1 no such group; 10 they did not within --for", newWait},
		{"backups", "List the backups, or remove old ones", "0 done; 1 the folder, or a backup in it, cannot be read", newBackups},
		{"config", "Print how the cluster would be reached, and by which settings", "0 it can be used; 2 a setting is wrong, and the error names its place", newConfig},
		{"completion", "Print the script by which a shell completes commands", "0 printed; 2 a shell that is not known", func(g *global) *cobra.Command { return newCompletion(g, root) }},
		{"version", "Print the version, and what it was built from", "0 printed", newVersion},
	}
}

// nameOnly stands for the command where another one runs: making all flags of all of them takes as long as a look at a small group.
func (c command) nameOnly() *cobra.Command {
	return &cobra.Command{Use: c.name, Short: c.short, Run: func(*cobra.Command, []string) {}}
}

// build makes the command.
func (c command) build(g *global) *cobra.Command {
	made := c.make(g)
	made.Short = c.short
	if made.Annotations == nil {
		made.Annotations = map[string]string{}
	}
	made.Annotations["status"] = c.status
	return made
}

// help is what gtoffset help prints where there is room for it, and --help, which is asked for by programs, too: making all commands
// only to print it takes a tenth of such a run.
//
//go:embed help.txt
var help string

// onlyHelp reports that the program was called for its own help and nothing else, and that help is it.
func (g *global) onlyHelp() bool {
	if w := g.env.StdoutWidth; w > 0 && w < helpMost {
		return false
	}
	return g.args != nil && (len(g.args) == 0 || len(g.args) == 1 && (g.args[0] == "--help" || g.args[0] == "-h"))
}

// validate checks the shared flags and fills them from the environment; it opens nothing.
func (g *global) validate() error {
	if g.store == "" {
		g.store = g.env.Getenv(storeVariable)
	}
	g.store = absolute(g.store)
	g.setTimeout()
	return nil
}

// out and talk are the two streams: stdout is the answer, stderr is the talk.
func (g *global) out() output.Stream {
	return g.stream(g.env.Stdout, g.env.StdoutWidth)
}

func (g *global) talk() output.Stream {
	return g.stream(g.env.Stderr, g.env.StderrWidth)
}

func (g *global) stream(w io.Writer, width int) output.Stream {
	return output.Open(w, width, output.ColorMode(g.color), g.env.Getenv)
}

// typed is a command line of ours with the cluster that was given, for hints.
func (g *global) typed(words ...string) string {
	return commandLine(append(append([]string{"gtoffset"}, words...), g.reach(g.bootstrap)...))
}

// log is nil unless -v is given.
func (g *global) log() *slog.Logger {
	if !g.verbose {
		return nil
	}
	return slog.New(slog.NewTextHandler(g.env.Stderr, &slog.HandlerOptions{Level: slog.LevelDebug}))
}

// note says something on stderr that is neither answer nor error.
func (g *global) note(format string, args ...any) {
	if !g.quiet {
		g.say(fmt.Sprintf(format, args...))
	}
}

// say is note, with -q, too.
func (g *global) say(text string) { fmt.Fprintf(g.env.Stderr, "gtoffset: %s\n", output.Clean(text)) }
