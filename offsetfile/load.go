package offsetfile

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math"
	"os"
	"path/filepath"
	"slices"
	"sort"
	"strings"
	"time"

	"gtoffset/kafkaops/offsets"
)

// Holding is what a store has of one group.
type Holding struct {
	Store   offsets.Store
	Entries map[offsets.Key]offsets.Entry // those that are present; of a topic that is not whole there are none
}

// tokenAbsent stands for a file that is not there; tokenSalvaged begins the token of one that was read for its whole lines.
const (
	tokenAbsent   = "absent"
	tokenSalvaged = "salvaged:"
)

// Load reads what the store has of a group: of the given topics, or of all that it finds (nil). What cannot be read is told by
// the topic's Presence and Reason, and does not hide the others. With salvage, the whole lines of an empty or damaged file are
// taken, and what was lost is noted. The error is a *NameError, a *ClashError, ErrNoRoot or ErrRootIsFile, or the context's.
func (s *Files) Load(ctx context.Context, group string, topics []string, salvage bool) (Holding, error) {
	h := Holding{Entries: map[offsets.Key]offsets.Entry{}}
	if err := errors.Join(s.checkRoot(), checkName("group", group)); err != nil {
		return h, err
	}
	folder, _, err := findFolder(s.root, group)
	if err != nil {
		return h, err
	}
	h.Store.Path = folder
	found, ignored, err := list(folder)
	if topics == nil {
		switch {
		case err == nil:
		case errors.Is(err, fs.ErrNotExist) && !there(folder):
		default:
			h.Store.Trouble = &offsets.Trouble{Reason: fmt.Sprintf("list %s: %v", folder, withoutPath(err)), Denied: errors.Is(err, fs.ErrPermission)}
		}
		for _, f := range found {
			if !occupied(filepath.Join(folder, f)) {
				if there(filepath.Join(folder, f, lockName)) {
					h.Store.Notes = append(h.Store.Notes, fmt.Sprintf("%s has a lock, but no file: it was taken away, or never written", filepath.Join(folder, f)))
				}
				continue
			}
			if topic := nameOf(f, func() string { return peek(filepath.Join(folder, f, fileName), (*Document).Topic) }); topic != "" {
				topics = append(topics, topic)
			} else {
				h.Store.Notes = append(h.Store.Notes, nameless(filepath.Join(folder, f)))
			}
		}
	}
	topics = slices.Compact(slices.Sorted(slices.Values(topics)))
	h.Store.Notes = append(h.Store.Notes, noteIgnored(folder, ignored)...)
	for _, topic := range topics {
		if err := ctx.Err(); err != nil {
			return h, err
		}
		p, err := s.find(group, topic)
		if err != nil {
			return h, err
		}
		s.loadTopic(&h, p, salvage)
	}
	return h, nil
}

// loadTopic adds one topic to a holding.
func (s *Files) loadTopic(h *Holding, p place, salvage bool) {
	if holder, taken := s.lockHolder(p.lock()); taken {
		h.Store.Holder = cmp.Or(h.Store.Holder, holder)
	}
	r := s.read(p, salvage)
	if r.doc != nil && !r.doc.Headered() { // one with headers says whose it is
		if other := s.linkedTo(p); other != "" {
			h.Store.Notes = append(h.Store.Notes, fmt.Sprintf("%s is a link to %s: what is written for one is the other's, too", p.file(), other))
		}
	}
	h.add(p.topic, p.file(), r, s.o.Counts)
}

// add takes over what came of reading one file.
func (h *Holding) add(topic, path string, r reading, counts Counts) {
	t := offsets.StoredTopic{Topic: topic, Path: path, Presence: r.presence, Reason: r.reason, InTheWay: r.inTheWay, Token: r.token, Highest: offsets.None}
	h.Store.Notes = append(h.Store.Notes, r.notes...)
	if strings.HasPrefix(r.token, tokenSalvaged) {
		h.Store.Damaged = append(h.Store.Damaged, offsets.Remains{Path: path, Content: r.damaged})
	}
	if r.doc != nil {
		if len(h.Entries) == 0 {
			h.Entries = make(map[offsets.Key]offsets.Entry, r.doc.Len())
		}
		t.Whole, t.Salvaged = r.whole, strings.HasPrefix(r.token, tokenSalvaged)
		t.Highest, t.Bare, t.Entries = r.doc.Highest(), !r.doc.Headered(), r.doc.Len()
		topicID, cluster := r.doc.TopicID(), r.doc.Cluster()
		for e := range r.doc.Entries() {
			h.Entries[offsets.Key{Topic: topic, Partition: e.Partition}] = offsets.Entry{
				Presence: offsets.Present,
				Offset:   counts.next(e.Offset),
				Epoch:    e.Epoch,
				TopicID:  cmp.Or(e.TopicID, topicID),
				Cluster:  cmp.Or(e.Cluster, cluster),
				Saved:    r.saved,
				Whole:    r.whole,
			}
		}
	}
	if r.saved.After(h.Store.Saved) {
		h.Store.Saved = r.saved
	}
	h.Store.Topics = append(h.Store.Topics, t)
}

// reading is what came of reading one file.
type reading struct {
	presence offsets.Presence
	reason   string
	inTheWay string
	doc      *Document // nil unless present
	whole    bool      // proven complete: headered, and nothing had to be salvaged
	saved    time.Time
	token    string
	damaged  []byte // all that is in a file that was salvaged
	notes    []string
}

// read looks at one file, and at what lies beside it.
func (s *Files) read(p place, salvage bool) reading {
	r := reading{token: tokenAbsent}
	for _, folder := range []string{p.groupFolder, p.topicFolder} {
		fi, presence, reason := look(folder)
		if presence == offsets.Present && !fi.IsDir() {
			presence, reason = offsets.WrongType, fmt.Sprintf("%s is %s, not a folder", folder, describeMode(fi.Mode()))
			r.inTheWay = folder
		}
		if presence != offsets.Present {
			r.presence, r.reason = presence, reason
			return r
		}
	}
	var ignored []string
	if all, err := os.ReadDir(p.topicFolder); err == nil {
		for _, e := range all {
			if stray(e.Name()) {
				ignored = append(ignored, e.Name())
			}
		}
	}
	r.notes = noteIgnored(p.topicFolder, ignored)

	path := p.file()
	data, saved, presence, reason := readFile(path)
	r.presence, r.reason, r.saved = presence, reason, saved
	if presence == offsets.WrongType {
		r.inTheWay = path
	}
	if presence != offsets.Present {
		return r
	}
	r.take(data, p.group, p.topic, path, s.o.Counts, salvage)
	return r
}

// take makes a document of what a file holds, or says why that cannot be.
func (r *reading) take(data []byte, group, topic, path string, counts Counts, salvage bool) {
	r.token = tokenOf(data)
	doc, problems, err := Salvage(data)
	switch {
	case errors.Is(err, ErrEmpty):
		if !salvage {
			r.presence, r.reason = offsets.Empty, fmt.Sprintf("%s: %v", path, err)
			return
		}
		doc, problems = counts.document(group, topic), []Problem{{Partition: offsets.None, Reason: err.Error()}}
	case err != nil:
		r.presence, r.reason = offsets.Unreadable, fmt.Sprintf("%s: %v", path, err)
		return
	}
	if counts == CountsLast && doc.Headered() { // no conversion would be right for the program that wrote it
		r.presence = offsets.WrongType
		r.reason = path + ": it has headers, so its offsets are the next to read, not the last one processed: leave out ?counts=last"
		return
	}
	if why := misplaced(doc, group, topic); why != "" { // however whole it is, and whatever could be salvaged: it is another's
		r.presence, r.reason, r.inTheWay = offsets.WrongType, fmt.Sprintf("%s %s", path, why), path
		return
	}
	for _, p := range counts.problems(doc) {
		problems = append(problems, p)
		doc.Remove(p.Partition)
	}
	sort.SliceStable(problems, func(i, j int) bool { return problems[i].Line < problems[j].Line })
	if len(problems) > 0 {
		damage := &DamageError{problems}
		if !salvage {
			r.presence, r.reason = offsets.Damaged, fmt.Sprintf("%s: %v", path, damage)
			return
		}
		r.token, r.damaged = tokenSalvaged+r.token, data
		r.notes = append(r.notes, fmt.Sprintf("salvaged %s of %s%s; wrong in it: %v", offsets.Plural(doc.Len(), "entry"), path, lost(doc, problems), damage))
		doc.setHeader(headerGroup, group)
		doc.setHeader(headerTopic, topic)
	}
	r.doc = doc
	r.whole = doc.Headered() && len(problems) == 0
	if t := doc.Saved(); !t.IsZero() {
		r.saved = t
	}
}

// tokenOf stands for the content of a file.
func tokenOf(data []byte) string {
	sum := sha256.Sum256(data)
	return hex.EncodeToString(sum[:])
}

// document is a new one: in a file with headers every offset is the next to read.
func (c Counts) document(group, topic string) *Document {
	if c == CountsLast {
		return newBare()
	}
	return New(group, topic)
}

// problems finds the entry that has no next one.
func (c Counts) problems(doc *Document) []Problem {
	if c == CountsNext {
		return nil
	}
	var problems []Problem
	for e := range doc.Entries() {
		if e.Offset == math.MaxInt64 {
			problems = append(problems, Problem{Partition: e.Partition, Reason: fmt.Sprintf("partition %d: %d has no next one", e.Partition, e.Offset)})
		}
	}
	return problems
}

// misplaced tells of a file that says it belongs elsewhere, since somebody copied or moved it; "" of one that does not.
func misplaced(doc *Document, group, topic string) string {
	var says []string
	for _, h := range []struct{ name, want string }{{headerGroup, group}, {headerTopic, topic}} {
		if i := doc.headerLine(h.name); i >= 0 && doc.lines[i].value != h.want {
			says = append(says, fmt.Sprintf("says that it is for %s %q, but lies in the place of %q", h.name, doc.lines[i].value, h.want))
		}
	}
	return strings.Join(says, ", and ")
}

// lost names the partitions whose entries a salvage could not take.
func lost(doc *Document, problems []Problem) string {
	var partitions []int32
	for _, p := range problems {
		if _, kept := doc.index[p.Partition]; p.Partition >= 0 && !kept {
			partitions = append(partitions, p.Partition)
		}
	}
	if len(partitions) == 0 {
		return ""
	}
	slices.Sort(partitions)
	partitions = slices.Compact(partitions)
	more := ""
	if n := len(partitions) - shown; n > 0 {
		partitions, more = partitions[:shown], fmt.Sprintf(" and %d more", n)
	}
	return ", lost partition " + strings.Trim(strings.ReplaceAll(fmt.Sprint(partitions), " ", ", "), "[]") + more
}

// look tells what is at a path. Links are followed; one that leads nowhere is not the same as nothing.
func look(path string) (fs.FileInfo, offsets.Presence, string) {
	fi, err := os.Stat(path)
	switch {
	case err == nil:
		return fi, offsets.Present, ""
	case errors.Is(err, fs.ErrNotExist):
		if target, err := os.Readlink(path); err == nil {
			return nil, offsets.Unreadable, fmt.Sprintf("%s is a symbolic link to %s, which is not there", path, target)
		}
		return nil, offsets.Absent, ""
	case errors.Is(err, fs.ErrPermission):
		return nil, offsets.Denied, fmt.Sprintf("%s: %v", path, withoutPath(err))
	case errors.Is(err, errNotFolder):
		return nil, offsets.WrongType, fmt.Sprintf("%s: %v", path, withoutPath(err))
	}
	return nil, offsets.Unreadable, fmt.Sprintf("%s: %v", path, withoutPath(err))
}

// readFile reads a regular file of at most MaxSize bytes.
func readFile(path string) (data []byte, modified time.Time, presence offsets.Presence, reason string) {
	fi, presence, reason := look(path)
	if presence != offsets.Present {
		return nil, modified, presence, reason
	}
	modified = fi.ModTime()
	if !fi.Mode().IsRegular() {
		return nil, modified, offsets.WrongType, fmt.Sprintf("%s is %s, not a file", path, describeMode(fi.Mode()))
	}
	f, err := os.OpenFile(path, os.O_RDONLY|noHang, 0)
	if err == nil {
		defer f.Close()
		if fi, err = f.Stat(); err == nil && fi.Size() <= MaxSize {
			modified = fi.ModTime()
			data = make([]byte, 0, fi.Size()+1)
			data, err = readAll(io.LimitReader(f, MaxSize+1), data)
		}
	}
	switch {
	case errors.Is(err, fs.ErrPermission):
		return nil, modified, offsets.Denied, fmt.Sprintf("%s: %v", path, withoutPath(err))
	case errors.Is(err, fs.ErrNotExist):
		return nil, modified, offsets.Unreadable, fmt.Sprintf("%s was taken away while it was read", path)
	case err != nil:
		return nil, modified, offsets.Unreadable, fmt.Sprintf("%s: %v", path, withoutPath(err))
	case fi.Size() > MaxSize || len(data) > MaxSize:
		return nil, modified, offsets.Unreadable, fmt.Sprintf("%s: %v", path, ErrTooLarge)
	}
	return data, modified, offsets.Present, ""
}

// readAll is io.ReadAll into a buffer that has the right size already.
func readAll(r io.Reader, b []byte) ([]byte, error) {
	for {
		n, err := r.Read(b[len(b):cap(b)])
		b = b[:len(b)+n]
		if err == io.EOF {
			return b, nil
		}
		if err != nil {
			return b, err
		}
		if len(b) == cap(b) {
			b = slices.Grow(b, 512)
		}
	}
}
