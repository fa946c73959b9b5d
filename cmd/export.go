package cmd

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"gtoffset/kafkaops/offsets"
	"gtoffset/offsetfile"
	"gtoffset/offsetfile/exchange"
	"gtoffset/output"
)

type exportOptions struct {
	scope
	sideFlags
	target string
}

func newExport(g *global) *cobra.Command {
	o := &exportOptions{}
	var have []output.Format
	for _, f := range exchange.Writable() {
		have = append(have, output.Format(f))
	}
	c := &cobra.Command{
		Use: "export [FILE|FOLDER]",
		Long: `Use it before a risky change, and to give offsets to another group or program. It writes those of one side as one document,
to stdout or to a FILE that does not exist yet. The json document loses nothing: side, group, type, topic, topic id,
partition, offset or null, leader epoch, metadata, cluster, time. -o kafka-csv is what Kafka's own reset tool reads, -o spark
a startingOffsets option, -o gtoffset a gtoffset file, or a FOLDER of them. It reads only, and never replaces a file.
To take a write back there is its own backup, which brings back offsets that are out of range, too.

Dangers: in another cluster the same numbers are other records.`,
		Example: `  gtoffset export -g billing > billing.json
  gtoffset export --all-groups -o kafka-csv all.csv
  gtoffset export -g billing -s offsets --stored -o yaml
  gtoffset export -g billing -t orders -o spark
  gtoffset export -g billing -o gtoffset new-offsets`,
		Args:              takes(0, 1, "name one file or folder, or none for stdout"),
		ValidArgsFunction: filesToo,
		RunE: func(c *cobra.Command, args []string) error {
			if len(args) == 1 {
				o.target = args[0]
			}
			if err := o.validate(g); err != nil {
				return err
			}
			return runExport(c.Context(), g, o)
		},
	}
	o.scope.flags(c)
	o.sideFlags.flags(c)
	formats(c, have...)
	return c
}

func (o *exportOptions) validate(g *global) error {
	if err := o.scope.validate(); err != nil {
		return err
	}
	if err := o.needGroup(); err != nil {
		return err
	}
	if err := o.sideFlags.validate(g); err != nil {
		return err
	}
	if o.stored && o.committed {
		return usage("a document is of one side", "give --stored or --committed, and export twice for both")
	}
	if o.committed {
		g.withoutStore()
	}
	if o.target == "-" {
		o.target = ""
	}
	if o.target == "" {
		return g.nowhere("the document", "name a FILE, or send stdout to one")
	}
	return nil
}

func runExport(ctx context.Context, g *global, o *exportOptions) error {
	format := exchange.Format(g.format)
	if format == "" {
		format = exchange.JSON
	}
	if o.target != "" {
		if _, err := os.Lstat(o.target); err == nil && format != exchange.File {
			return exists(o.target, anotherFile)
		}
	}
	shot, err := g.look(ctx, &o.scope, lookOptions{firsts: !o.stored})
	if err != nil {
		return err
	}
	sides, err := o.choose(shot)
	if err != nil {
		return err
	}
	troubles := g.troubles(shot, &o.scope)
	if o.target != "" && troubles != nil && g.judge(ctx, troubles).code() == exitFailed {
		return troubles // a name that is wrong: a file of what is left would stand in the way of the right one
	}
	doc, earlier, left := exportOf(shot, sides[0], format)
	if len(earlier) > 0 {
		g.note("stored before the topic was recreated, as the document says (to import it takes --recreated keep): %s", list(earlier, 3))
	}
	doc.Tool = "gtoffset " + version
	if sides[0] == offsets.Committed {
		g.noteOfCommits(shot)
	}
	if format == exchange.File && o.target != "" {
		doc.Rows = g.withPlace(doc.Rows, shot, &o.scope)
		err = g.exportFolder(ctx, o.target, doc)
	} else {
		err = g.exportFile(o.target, doc, format, len(o.groups) != 1)
	}
	var held *exchange.CannotHoldError
	if wrong := errors.Join(troubles, left); wrong != nil && errors.As(err, &held) && !slices.ContainsFunc(doc.Rows, func(r exchange.Row) bool { return r.Offset != offsets.None }) {
		return wrong // there is nothing to be written, as it could not be read
	}
	if err != nil {
		return errors.Join(err, left)
	}
	if losses := doc.Losses(format); len(losses) > 0 {
		g.note("left out, as the format %s has no place for it: %s", format, strings.Join(losses, "; "))
	}
	return errors.Join(troubles, left)
}

// noteOfCommits says what a document of commits does not have.
func (g *global) noteOfCommits(shot offsets.Snapshot) {
	var pending []string
	for _, grp := range shot.Groups {
		for i := range grp.Rows {
			if grp.Rows[i].Committed.Pending {
				pending = append(pending, fmt.Sprintf("group %q %s", grp.ID, grp.Rows[i].Key))
			}
		}
		if grp.Type == offsets.Share {
			g.note("group %q is a share group, which commits no offsets: there are none of it to export; describe shows where it starts", grp.ID)
		}
	}
	if len(pending) > 0 {
		g.note("an open transaction is going to commit something else than the document has, of: %s", list(pending, 3))
	}
}

// withPlace leaves out the topics of which a group has no offset, and no place that says so: it would get an empty one in the folder, by
// which it would be judged from then on. Of the commits, a topic that was named has such a place.
func (g *global) withPlace(rows []exchange.Row, shot offsets.Snapshot, sc *scope) []exchange.Row {
	type place struct{ group, topic string }
	kept := map[place]bool{}
	for i := range rows {
		r := &rows[i]
		kept[place{r.Group, r.Topic}] = kept[place{r.Group, r.Topic}] || r.Offset != offsets.None || r.Side == offsets.Committed && len(sc.selections) > 0
	}
	without := map[string]bool{}
	for p, keep := range kept {
		if keep {
			continue
		}
		grp, _ := shot.Group(p.group)
		at, _ := grp.Store.Topic(p.topic)
		if kept[p] = at.Presence == offsets.Present; !kept[p] {
			without[p.group] = true
		}
	}
	if names := slices.Sorted(maps.Keys(without)); len(names) > 0 {
		g.note("no file is written for topics without any offset, of %s: %s", offsets.Plural(len(names), "group"), list(names, 3))
	}
	return slices.DeleteFunc(rows, func(r exchange.Row) bool { return !kept[place{r.Group, r.Topic}] })
}

// exportOf is the document of one side, what in it was stored for an earlier topic of the name, and what had to be left out of it: that
// too, of a format that cannot say so, since there it would be a number of the topic of now. A gtoffset file says for which topic id an
// offset was recorded: of a commit that is known only if it is in range of that topic now. In the other formats the id is the topic's.
func exportOf(shot offsets.Snapshot, side offsets.Side, format exchange.Format) (_ exchange.Document, earlier []string, err error) {
	doc := exchange.Document{Format: exchange.JSON, Kind: exchange.Export, Side: side, Taken: shot.At, Origin: shot.Origin}
	var left []string
	told := map[string]bool{} // one file is the reason of many partitions
	total := 0
	for _, grp := range shot.Groups {
		total += len(grp.Rows)
	}
	doc.Rows = make([]exchange.Row, 0, total)
	for _, grp := range shot.Groups {
		doc.Groups = append(doc.Groups, exchange.Group{Name: grp.ID, Type: grp.Type})
		for i := range grp.Rows {
			r := &grp.Rows[i]
			e := r.Entry(side)
			row := exchange.Row{Given: offsets.Given{Group: grp.ID, Key: r.Key, Value: offsets.ValueOf(e), TopicID: r.Range.TopicID}, Side: side}
			if side == offsets.Stored {
				row.TopicID = e.TopicID // what the store does not say is not known
			}
			state := offsets.Judge(e, r.Range, shot.Origin.Cluster)
			if format == exchange.File && row.Offset != offsets.None && state.Condition != offsets.OK {
				row.TopicID = e.TopicID
			}
			switch {
			case state.Foreign:
				left = append(left, fmt.Sprintf("group %q %s was stored for cluster %s", grp.ID, r.Key, e.Cluster))
			case state.Identity == offsets.Recreated && !format.HoldsTopicIDs():
				left = append(left, fmt.Sprintf("group %q %s was stored before the topic was recreated, which %s cannot say", grp.ID, r.Key, format))
			case !e.Problem():
				if state.Identity == offsets.Recreated {
					earlier = append(earlier, fmt.Sprintf("group %q %s", grp.ID, r.Key))
				}
				doc.Rows = append(doc.Rows, row)
			case e.Reason != "" && !told[e.Reason]:
				told[e.Reason] = true
				left = append(left, fmt.Sprintf("group %q %s: %s %s", grp.ID, r.Key, e.Presence, e.Reason))
			}
		}
	}
	if len(left) == 0 {
		return doc.Sorted(), earlier, nil
	}
	return doc.Sorted(), earlier, &problem{code: exitPartly, text: "left out: " + list(left, 3)}
}

func exists(path, hint string) error {
	return &problem{code: exitRefused, causes: []cause{causeExists}, text: fmt.Sprintf("%s exists; nothing was written", path), hint: hint}
}

const anotherFile = "name a new file, or write to stdout"

// anotherFolder is what to do where there are entries in the folder already, which an export never replaces.
func (g *global) anotherFolder(path string, doc exchange.Document) string {
	if doc.Side != offsets.Committed || len(doc.Groups) > 3 {
		return "name a new folder"
	}
	words := []string{"reset"}
	for _, grp := range doc.Groups {
		words = append(words, "-g", grp.Name)
	}
	return "name a new folder; to bring the entries of this one to what is committed: " + g.typed(append(words, "--all-topics", "-s", path, "--stored", "--to-committed")...)
}

// exportFile writes the document to a new file, or to stdout.
func (g *global) exportFile(path string, doc exchange.Document, format exchange.Format, groupColumn bool) error {
	o := exchange.WriteOptions{GroupColumn: groupColumn}
	var held *exchange.CannotHoldError
	if path == "" {
		err := doc.Write(g.exact(), format, o)
		if errors.As(err, &held) {
			return cannotHold(held)
		}
		return err
	}
	err := writeNew(path, func(w io.Writer) error { return doc.Write(w, format, o) })
	switch {
	case errors.As(err, &held):
		return cannotHold(held)
	case errors.Is(err, fs.ErrExist):
		return exists(path, anotherFile)
	case errors.Is(err, fs.ErrNotExist):
		return noFolder("write "+path, filepath.Dir(path), err)
	case err != nil:
		return &problem{code: exitFailed, text: fmt.Sprintf("%v; nothing was written", err), err: err}
	}
	return nil
}

// cannotHold is the usage error of a document that the format has no way to say.
func cannotHold(err *exchange.CannotHoldError) error {
	p := &problem{code: exitUsage, text: err.Error(), hint: "-o json holds everything", err: err}
	if err.Format == exchange.File {
		p.hint += "; a FOLDER gets a file for each group and topic"
	}
	return p
}

// noFolder is the problem of a file whose folder is not there.
func noFolder(what, folder string, err error) error {
	return &problem{
		code: exitFailed, text: fmt.Sprintf("%s: there is no folder %s; nothing was written", what, folder), err: err,
		hint: commandLine([]string{"mkdir", "-p", folder}) + " makes it",
	}
}

// exportFolder writes one gtoffset file for each group and topic below a folder, which is made if only it is missing.
func (g *global) exportFolder(ctx context.Context, path string, doc exchange.Document) error {
	err := os.Mkdir(path, 0o755)
	made := err == nil
	fi, _ := os.Stat(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return noFolder("make "+path, filepath.Dir(path), err)
	case errors.Is(err, fs.ErrExist) && fi != nil && !fi.IsDir():
		return usage(fmt.Sprintf("%s is a file, and -o %s writes a folder; nothing was written", path, exchange.File), "name a new folder, or leave it out for stdout")
	case err != nil && !errors.Is(err, fs.ErrExist):
		return &problem{code: exitFailed, text: fmt.Sprintf("make %s: %v; nothing was written", path, err), err: err}
	}
	files, err := offsetfile.Open(path, offsetfile.WithHolder(g.command))
	if err != nil {
		return err
	}
	byGroup := map[string]map[string]map[int32]offsets.Value{}
	for _, r := range doc.Rows {
		topics := byGroup[r.Group]
		if topics == nil {
			topics = map[string]map[int32]offsets.Value{}
			byGroup[r.Group] = topics
		}
		if topics[r.Topic] == nil {
			topics[r.Topic] = map[int32]offsets.Value{}
		}
		if r.Offset != offsets.None {
			v := r.Value
			v.TopicID = r.TopicID
			topics[r.Topic][r.Partition] = v
		}
	}
	for _, grp := range doc.Groups { // all are looked at before the first is written
		held, err := files.Load(ctx, grp.Name, nil, false)
		if err != nil {
			return err
		}
		for _, t := range held.Store.Topics {
			if _, wanted := byGroup[grp.Name][t.Topic]; wanted {
				return exists(t.Path, g.anotherFolder(path, doc))
			}
		}
	}
	written := 0
	for _, grp := range doc.Groups {
		var names []string
		for topic := range byGroup[grp.Name] {
			names = append(names, topic)
		}
		if len(names) == 0 {
			continue
		}
		slices.Sort(names)
		n, err := createAll(ctx, files, grp.Name, names, byGroup[grp.Name], g.anotherFolder(path, doc), offsetfile.Facts{Cluster: doc.Origin.Cluster, Now: g.env.Now()})
		written += n
		if err != nil {
			p := explain(ctx, err)
			p.text = fmt.Sprintf("%s; %s is incomplete: %d of %s written", strings.TrimSuffix(p.text, nothingWritten), path, written, offsets.Plural(countFiles(byGroup), "gtoffset file"))
			p.hint = "name a new folder"
			if made {
				p.hint = outOfTheWay(path) + "; or " + p.hint
			}
			return &p
		}
	}
	g.note("%s in %s", offsets.Plural(countFiles(byGroup), "gtoffset file"), filepath.Clean(path))
	return nil
}

func countFiles(byGroup map[string]map[string]map[int32]offsets.Value) int {
	n := 0
	for _, topics := range byGroup {
		n += len(topics)
	}
	return n
}

// createAll writes the files of one group under their locks, and says how many there are then.
func createAll(ctx context.Context, files *offsetfile.Files, group string, topics []string, values map[string]map[int32]offsets.Value, hint string, facts offsetfile.Facts) (n int, err error) {
	held, err := files.Lock(ctx, group, topics)
	if err != nil {
		return 0, err
	}
	defer func() { err = errors.Join(err, held.Unlock()) }()
	for _, topic := range topics {
		if err := held.Create(ctx, topic, values[topic], facts); err != nil {
			if errors.Is(err, fs.ErrExist) {
				return n, exists(strings.TrimSuffix(err.Error(), ": "+fs.ErrExist.Error()), hint)
			}
			return n, err
		}
		n++
	}
	return n, nil
}
