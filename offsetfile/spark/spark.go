// Package spark reads where a query of Spark's Structured Streaming stands, out of its checkpoint: spark:PATH, or over WebHDFS
// spark:webhdfs://NAMENODE:9870/PATH. It only reads: a checkpoint belongs to its query, and to start elsewhere a query is given
// startingOffsets and a new checkpoint.
//
// A checkpoint has a folder offsets with a file for each batch, written before the batch, and a folder commits with one for each,
// written after it. What counts is the newest batch that is in both. The offsets are where the batch ended, so they are the next to be
// read. A checkpoint names no group: what it has is of whichever group is named.
//
// Checkpoints of Spark Streaming (DStreams) are Java objects, which only the program that wrote them can read. They are named as such.
package spark

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path"
	"slices"
	"strconv"
	"strings"

	"gtoffset/kafkaops/offsets"
	"gtoffset/offsetfile"
	"gtoffset/offsetfile/webhdfs"
)

// Kind is this kind of store.
func Kind() offsetfile.Kind {
	return offsetfile.Kind{
		Schemes: []string{"spark"}, Local: true,
		Form:   "spark:PATH, spark:webhdfs://NAMENODE[:PORT]/PATH",
		Layout: "the checkpoint of a Structured Streaming query, read only: its newest committed batch, or ?batch=N; ?source=N of several",
		Open:   Open,
	}
}

// Open returns the checkpoint at an address. It makes no connection.
//
//	spark:PATH[?batch=N][&source=N]    spark:webhdfs://…/PATH[?…]
func Open(a *offsetfile.Address, o offsetfile.Options) (offsetfile.Store, error) {
	c := &checkpoint{name: a.String(), root: a.Path, files: local{}, o: o, batch: latest, source: every}
	switch a.Via {
	case "":
		if a.Path == "" || a.HasHost() {
			return nil, a.Errorf("path", "it has none, as in spark:/checkpoints/query or spark:webhdfs://namenode:9870/checkpoints/query")
		}
	case "webhdfs", "swebhdfs":
		client, err := webhdfs.New(a, o)
		if err != nil {
			return nil, err
		}
		c.files = client
	default:
		return nil, a.Errorf("scheme", "a checkpoint is at a path of this machine, or at webhdfs://; not at %s://", a.Via)
	}
	for _, p := range []struct {
		name string
		into *int64
	}{{"batch", &c.batch}, {"source", &c.source}} {
		if text := a.Param(p.name); text != "" {
			n, ok := number(text)
			if !ok {
				return nil, a.Errorf("parameter "+p.name, "%q is no number", text)
			}
			*p.into = n
		}
	}
	return c, nil
}

// What batch and source are without a choice.
const (
	latest = -1 // the newest batch that is committed
	every  = -1 // all sources
)

// files is what a checkpoint is read with.
type files interface {
	List(ctx context.Context, path string) ([]offsetfile.RemoteFile, error)
	Read(ctx context.Context, path string, most int64) ([]byte, error)
	Close() error
}

// most is the size in bytes above which a file of a checkpoint is not read: it would be for a million partitions.
const most = 64 << 20

type checkpoint struct {
	name   string
	root   string
	files  files
	o      offsetfile.Options
	batch  int64
	source int64
}

func (c *checkpoint) Name() string { return c.name }
func (c *checkpoint) Close() error { return c.files.Close() }

// Can says that a checkpoint is only read, and names no group.
func (c *checkpoint) Can() offsetfile.Abilities {
	return offsetfile.Abilities{Times: true, Nameless: true, Instead: "gtoffset export -o spark prints what a new query can start from"}
}

// Writer refuses.
func (c *checkpoint) Writer(context.Context, string, []string) (offsetfile.Writer, error) {
	return nil, fmt.Errorf("%s: %w", c.name, offsetfile.ErrReadOnly)
}

// Groups lists none, of a checkpoint that is there.
func (c *checkpoint) Groups(ctx context.Context) (groups, notes []string, err error) {
	_, _, err = c.batches(ctx)
	if trouble := (*troubleError)(nil); errors.As(err, &trouble) {
		err = nil // told by Load
	}
	return nil, nil, err
}

func (c *checkpoint) list(ctx context.Context, folder string) (all []offsetfile.RemoteFile, err error) {
	err = offsetfile.Retry(ctx, c.name, c.o, "list "+folder, func(ctx context.Context) error {
		all, err = c.files.List(ctx, folder)
		return err
	})
	return all, err
}

func (c *checkpoint) read(ctx context.Context, file string) (data []byte, err error) {
	err = offsetfile.Retry(ctx, c.name, c.o, "read "+file, func(ctx context.Context) error {
		data, err = c.files.Read(ctx, file, most)
		return err
	})
	return data, err
}

// troubleError is why a checkpoint that is there tells no offsets.
type troubleError struct {
	reason string
	denied bool
}

func (e *troubleError) Error() string { return e.reason }

// number reads the name of a batch's file: digits only.
func number(name string) (int64, bool) {
	n, err := strconv.ParseInt(name, 10, 64)
	return n, err == nil && n >= 0 && strconv.FormatInt(n, 10) == name
}

// batches finds the batches that were planned (offsets) and those that were done (commits), sorted.
func (c *checkpoint) batches(ctx context.Context) (planned, done []int64, err error) {
	root, err := c.list(ctx, c.root)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil, nil, &offsetfile.NothingError{Store: c.name, Looked: "folder " + c.root, Hint: "check the path: it is the query's checkpointLocation"}
	case errors.Is(err, fs.ErrPermission):
		return nil, nil, &troubleError{fmt.Sprintf("list %s: %v", c.root, err), true}
	case err != nil:
		return nil, nil, fmt.Errorf("list %s: %w", c.root, err)
	}
	if file, ok := serialised(root); ok {
		return nil, nil, &troubleError{reason: fmt.Sprintf("%s is a checkpoint of Spark Streaming (DStreams): serialised Java objects, which only the program that wrote them can read (%s); name the store or the commits where the job keeps its offsets beside it", c.root, file)}
	}
	if planned, err = c.numbered(ctx, "offsets"); err != nil {
		return nil, nil, err
	}
	done, err = c.numbered(ctx, "commits")
	return planned, done, err
}

// serialised finds what Spark Streaming writes into a checkpoint: checkpoint-MILLISECONDS, receivedBlockMetadata.
func serialised(root []offsetfile.RemoteFile) (string, bool) {
	for _, f := range root {
		digits, ok := strings.CutPrefix(f.Name, "checkpoint-")
		if _, isNumber := number(strings.TrimSuffix(digits, ".bk")); ok && isNumber && !f.Folder || f.Name == "receivedBlockMetadata" {
			return f.Name, true
		}
	}
	return "", false
}

// numbered lists the batches in a folder of the checkpoint. Whatever else is there, checksums and temporary files, is not looked at.
func (c *checkpoint) numbered(ctx context.Context, folder string) ([]int64, error) {
	dir := path.Join(c.root, folder)
	all, err := c.list(ctx, dir)
	switch {
	case errors.Is(err, fs.ErrNotExist) && folder == "commits":
		return nil, nil // a query that never ended a batch
	case errors.Is(err, fs.ErrNotExist) || errors.Is(err, offsetfile.ErrNotFolder):
		return nil, &offsetfile.NothingError{
			Store: c.name, Looked: "folder " + dir,
			Hint: "a checkpoint of Structured Streaming has a folder " + folder + "; check that the path is the query's checkpointLocation itself",
		}
	case errors.Is(err, fs.ErrPermission):
		return nil, &troubleError{fmt.Sprintf("list %s: %v", dir, err), true}
	case err != nil:
		return nil, fmt.Errorf("list %s: %w", dir, err)
	}
	var batches []int64
	for _, f := range all {
		if n, ok := number(f.Name); ok && !f.Folder {
			batches = append(batches, n)
		}
	}
	slices.Sort(batches)
	return batches, nil
}

// Load reads the newest batch that is committed, or the one that ?batch= names, for whatever group is named.
func (c *checkpoint) Load(ctx context.Context, _ string, topics []string, _ bool) (offsetfile.Holding, error) {
	h := offsetfile.Holding{Entries: map[offsets.Key]offsets.Entry{}}
	h.Store.Path = c.root
	err := c.load(ctx, &h, topics)
	if trouble := (*troubleError)(nil); errors.As(err, &trouble) {
		h.Store.Trouble = &offsets.Trouble{Reason: trouble.reason, Denied: trouble.denied}
		err = nil
	}
	return h, err
}

func (c *checkpoint) load(ctx context.Context, h *offsetfile.Holding, topics []string) error {
	planned, done, err := c.batches(ctx)
	if err != nil {
		return err
	}
	n, notes, err := choose(c.batch, planned, done)
	h.Store.Notes = notes
	if err != nil {
		return err
	}
	var all []source
	if n == latest {
		all, err = c.initial(ctx, h)
	} else {
		h.Store.Path = path.Join(c.root, "offsets", strconv.FormatInt(n, 10))
		all, err = c.ends(ctx, h)
	}
	if err != nil {
		return err
	}
	if c.source != every {
		if c.source >= int64(len(all)) {
			return &troubleError{reason: fmt.Sprintf("%s has no source %d: it has %s, counted from 0", h.Store.Path, c.source, offsets.Plural(len(all), "source"))}
		}
		all = all[c.source : c.source+1]
	}
	fill(h, all, topics)
	return nil
}

// choose finds the batch whose ends are where the query stands, latest if none is committed yet. It never takes an older one in the place
// of one that is not there: a query would not start from it either.
func choose(wanted int64, planned, done []int64) (n int64, notes []string, err error) {
	if gap := missing(planned); gap != "" {
		notes = append(notes, "offsets of batch "+gap+" are missing between those that are there: the query itself cannot start over such a gap")
	}
	have := func(n int64) bool { _, ok := slices.BinarySearch(planned, n); return ok }
	committed := func(n int64) bool { _, ok := slices.BinarySearch(done, n); return ok }
	if wanted != latest {
		switch {
		case !have(wanted):
			return wanted, notes, &troubleError{reason: fmt.Sprintf("there are no offsets of batch %d; %s", wanted, span(planned))}
		case !committed(wanted):
			notes = append(notes, fmt.Sprintf("batch %d, which was asked for, is not committed: its records may have been processed only in part", wanted))
		}
		return wanted, notes, nil
	}
	if len(planned) == 0 && len(done) == 0 {
		return latest, notes, &troubleError{reason: "the checkpoint has no batch yet"}
	}
	n = latest
	if len(done) > 0 {
		n = done[len(done)-1]
	}
	if len(planned) > 0 && planned[len(planned)-1] > n {
		last := planned[len(planned)-1]
		notes = append(notes, fmt.Sprintf("the newest batch is %d, the last committed is %s: what came after it is read again when the query restarts", last, named(n)))
	}
	switch {
	case n == latest && !have(0):
		return n, notes, &troubleError{reason: fmt.Sprintf("no batch is committed, and the first is not there; %s", span(planned))}
	case n != latest && !have(n):
		usable := slices.DeleteFunc(slices.Clone(done), func(n int64) bool { return !have(n) })
		text := fmt.Sprintf("batch %d is committed, but its offsets are missing; %s", n, span(planned))
		if len(usable) > 0 {
			text += fmt.Sprintf("; ?batch=%d is the newest that is committed and there", usable[len(usable)-1])
		}
		return n, notes, &troubleError{reason: text}
	}
	return n, notes, nil
}

func named(n int64) string {
	if n == latest {
		return "none"
	}
	return strconv.FormatInt(n, 10)
}

// span says which batches there are.
func span(planned []int64) string {
	if len(planned) == 0 {
		return "offsets has no batch"
	}
	text := fmt.Sprintf("offsets has %d to %d", planned[0], planned[len(planned)-1])
	if gap := missing(planned); gap != "" {
		text += " without " + gap
	}
	return text
}

// missing names the batches that are not there between the first and the last, at most a few.
func missing(planned []int64) string {
	var names []string
	for i := 1; i < len(planned); i++ {
		for n := planned[i-1] + 1; n < planned[i]; n++ {
			if len(names) == 5 {
				return strings.Join(names, ", ") + " and others"
			}
			names = append(names, strconv.FormatInt(n, 10))
		}
	}
	return strings.Join(names, ", ")
}
