package cmd

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"gtoffset/kafkaops/clientconfig"
	"gtoffset/kafkaops/offsets"
	"gtoffset/offsetfile/exchange"
	"gtoffset/output"
)

// completeWait is how long a person waits at a shell for what could be typed next: no more than two seconds, with the start and all.
const completeWait = 1500 * time.Millisecond

// What a shell does beside offering the words.
const (
	onlyWords = cobra.ShellCompDirectiveNoFileComp
	openWords = cobra.ShellCompDirectiveNoFileComp | cobra.ShellCompDirectiveNoSpace // more may follow without a blank
	files     = cobra.ShellCompDirectiveDefault
	inOrder   = cobra.ShellCompDirectiveKeepOrder
)

// completing reports that a shell asks what could be typed next.
func (g *global) completing() bool {
	return len(g.args) > 0 && strings.HasPrefix(g.args[0], cobra.ShellCompRequestCmd)
}

// completions tells cobra what each flag of each command can be. What nothing is said of is no file.
func (g *global) completions(root *cobra.Command) {
	root.CompletionOptions.SetDefaultShellCompDirective(onlyWords)
	for _, c := range append(slices.Clone(root.Commands()), root) {
		c.LocalFlags().VisitAll(func(f *pflag.Flag) {
			_, f.Usage = pflag.UnquoteUsage(f) // it stands beside the flag
			_ = c.RegisterFlagCompletionFunc(f.Name, func(c *cobra.Command, _ []string, typed string) ([]string, cobra.ShellCompDirective) {
				all, then := g.candidates(c, f, typed)
				return fitting(all, typed), then
			})
		})
	}
}

// filesToo is for arguments that are files, or commands.
func filesToo(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
	return nil, files
}

// mostBackups is how many backups are offered, the newest.
const mostBackups = 20

// backupsToo offers the backups, newest first; what is typed otherwise is a file.
func (g *global) backupsToo(_ *cobra.Command, args []string, typed string) ([]string, cobra.ShellCompDirective) {
	dir, err := backupDir(g.env, "")
	if err != nil || len(args) > 0 {
		return nil, files
	}
	names, _ := savedIn(dir)
	slices.Reverse(names)
	var all []string
	for _, name := range names {
		if !strings.HasSuffix(name, planSuffix) && len(all) < mostBackups {
			all = append(all, filepath.Join(dir, name))
		}
	}
	return fitting(all, typed), files | inOrder
}

// candidates are what a flag can be, each with a tab and a few words behind it where there are any, and what the shell is to do.
func (g *global) candidates(c *cobra.Command, f *pflag.Flag, typed string) ([]string, cobra.ShellCompDirective) {
	switch f.Name {
	case "group", "from-group", "save-as":
		return g.live(c, (*session).groupNames), onlyWords
	case "topic":
		return g.topicsOrPartitions(c, typed)
	case "to-topic":
		return g.live(c, (*session).topicNames), onlyWords
	case "expect-cluster":
		return g.live(c, func(s *session, _ context.Context) []string { return []string{s.origin.Cluster} }), onlyWords
	case "store":
		return storeBeginnings(typed)
	case "command-property":
		return properties(typed), openWords
	case "output":
		return formatWords(strings.Split(c.Annotations["formats"], "|")), onlyWords
	case "type":
		return listed(groupTypes(), typed), openWords
	case "from":
		return []string{"stored", "committed", "earliest"}, onlyWords
	case "until":
		if c.Name() == "replay" {
			return []string{"end", "committed"}, onlyWords
		}
	case "command-config", "from-file", "output-file", "summary", "backup-dir":
		return nil, files
	}
	if of, ok := f.Value.(*choice); ok {
		return of.words, onlyWords
	}
	return nil, onlyWords
}

// fitting are the candidates that begin as typed. Names are other people's: one that a shell would not take as it stands is left out.
func fitting(all []string, typed string) []string {
	return slices.DeleteFunc(slices.Clone(all), func(s string) bool {
		word, _, _ := strings.Cut(s, "\t")
		return !strings.HasPrefix(word, typed) || quote(word) != word
	})
}

// told puts some words behind a candidate.
func told(word, words string) string { return word + "\t" + output.Clean(words) }

// listed are the words that can follow in a list with commas.
func listed(words []string, typed string) []string {
	head := typed[:strings.LastIndexByte(typed, ',')+1]
	given := strings.Split(head, ",")
	var all []string
	for _, w := range words {
		if !slices.Contains(given, w) {
			all = append(all, head+w)
		}
	}
	return all
}

// live asks cluster and store. Whatever goes wrong, or takes too long, leaves nothing to choose from: a shell has no place for errors.
func (g *global) live(c *cobra.Command, find func(*session, context.Context) []string) []string {
	ctx, cancel := context.WithTimeout(c.Context(), completeWait)
	defer cancel()
	if g.validate() != nil {
		return nil
	}
	g.timeout = timeout(completeWait)
	s, err := g.connect(ctx)
	if err != nil && g.session == nil && g.store != "" { // a store that cannot be opened has nothing to offer; the cluster has
		g.store = ""
		s, err = g.connect(ctx)
	}
	if err != nil {
		return nil
	}
	s.note = nil
	return find(s, ctx)
}

// groupNames are the groups that cluster or store know.
func (s *session) groupNames(ctx context.Context) []string {
	groups, _, _ := s.cluster.ListGroups(ctx)
	groups, _ = withStored(ctx, s, groups, false, itself)
	all := make([]string, len(groups))
	for i, grp := range groups {
		what := "only in the store"
		if grp.Existence == offsets.Exists {
			what = strings.TrimSuffix(fmt.Sprintf("%s group, %s", grp.Type, grp.State), ", ")
		}
		all[i] = told(grp.ID, what)
	}
	return all
}

// topicNames are the topics of the cluster.
func (s *session) topicNames(ctx context.Context) []string {
	topics, _ := s.cluster.Topics(ctx)
	var all []string
	for name, n := range topics {
		if !offsets.Internal(name) {
			all = append(all, told(name, offsets.Plural(n, "partition")))
		}
	}
	slices.Sort(all)
	return all
}

// topicsOrPartitions are the topics of the groups that are named, or of the cluster; behind a colon, partitions.
func (g *global) topicsOrPartitions(c *cobra.Command, typed string) ([]string, cobra.ShellCompDirective) {
	sc := &scope{}
	switch v := c.Flags().Lookup("group"); many := v.Value.(type) {
	case pflag.SliceValue:
		sc.groups = many.GetSlice()
	default:
		if v.Changed {
			sc.groups = []string{v.Value.String()}
		}
	}
	sc.settle()
	topic, _, ofPartitions := strings.Cut(typed, ":")
	find := func(s *session, ctx context.Context) []string {
		if len(sc.groups) > 0 {
			shot, err := g.look(ctx, sc, lookOptions{})
			if err != nil && s.store != nil { // likewise one that cannot be read
				_ = s.store.Close()
				s.store = nil
				shot, err = g.look(ctx, sc, lookOptions{})
			}
			if err == nil {
				if all := rowsToChoose(shot, topic, ofPartitions); len(fitting(all, topic)) > 0 {
					return all
				}
			}
		}
		if !ofPartitions {
			return s.topicNames(ctx)
		}
		topics, _ := s.cluster.Topics(ctx)
		var all []string
		for p := range topics[topic] {
			all = append(all, topic+":"+strconv.Itoa(p))
		}
		return all
	}
	all := g.live(c, find)
	if !ofPartitions {
		return all, openWords // partitions may follow, behind a colon
	}
	return withHead(all, typed), openWords | inOrder
}

// rowsToChoose are the topics of a look, or the partitions of one of them, with what is to be known of each.
func rowsToChoose(shot offsets.Snapshot, topic string, ofPartitions bool) []string {
	var all []string
	count, bad := map[string]int{}, map[string]int{}
	for _, grp := range shot.Groups {
		for _, r := range grp.Rows {
			if ofPartitions && r.Topic == topic {
				all = append(all, told(fmt.Sprintf("%s:%d", topic, r.Partition), r.Words(shot.Origin.Cluster, grp.Store != nil)))
			}
			count[r.Topic]++
			if j := offsets.JudgeRow(&r, shot.Origin.Cluster, grp.Store != nil); !j.Healthy() {
				bad[r.Topic]++
			}
		}
	}
	if ofPartitions {
		return all
	}
	for name, n := range count {
		words := offsets.Plural(n, "partition")
		if bad[name] > 0 {
			words += fmt.Sprintf(", %d not ok", bad[name])
		}
		all = append(all, told(name, words))
	}
	slices.Sort(all)
	return all
}

// withHead puts TOPIC:0,1, in front of the partitions that can follow.
func withHead(all []string, typed string) []string {
	head := typed[:strings.LastIndexAny(typed, ",:")+1]
	topic, parts, _ := strings.Cut(head, ":")
	given := strings.Split(parts, ",")
	var rest []string
	for _, s := range all {
		number, words, _ := strings.Cut(strings.TrimPrefix(s, topic+":"), "\t")
		if !slices.Contains(given, number) {
			rest = append(rest, head+number+"\t"+words)
		}
	}
	return rest
}

// storeBeginnings are how the address of a store begins: one of its kinds, or a folder here. What has a slash is a path, which a shell
// knows better.
func storeBeginnings(typed string) ([]string, cobra.ShellCompDirective) {
	var all []string
	for _, kind := range storeKinds() {
		for _, scheme := range kind.Schemes {
			opening := "://"
			if kind.Local {
				opening = ":"
			}
			all = append(all, told(scheme+opening, kind.Layout))
		}
	}
	here, _ := os.ReadDir(".")
	for _, e := range here {
		if e.IsDir() && !strings.HasPrefix(e.Name(), ".") {
			all = append(all, e.Name()+"/")
		}
	}
	if len(fitting(all, typed)) == 0 {
		return nil, files
	}
	return all, openWords
}

// properties are the keys of -X; behind one of a few values, those.
func properties(typed string) []string {
	var all []string
	for _, k := range clientconfig.Keys() {
		if len(k.Values) == 0 || !strings.HasPrefix(typed, k.Name+"=") {
			all = append(all, told(k.Name+"=", k.Text))
			continue
		}
		for _, value := range k.Values {
			all = append(all, k.Name+"="+value)
		}
	}
	return all
}

// formatWords are the formats of -o, with what they are.
func formatWords(names []string) []string {
	all := make([]string, len(names))
	for i, name := range names {
		words := formatOf(name)
		if words == "" {
			words = exchange.Format(name).Words()
		}
		all[i] = told(name, words)
	}
	return all
}
