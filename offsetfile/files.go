package offsetfile

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"gtoffset/kafkaops/offsets"
)

// Files is a store of gtoffset files below one folder. It is safe for concurrent use.
type Files struct {
	name string // as given
	root string
	o    Options
	wait time.Duration // for a lock

	mu   sync.Mutex
	held map[string]bool   // lock files that we hold
	real map[string]string // the files that they guard, without links, and by which path we came to them
}

var _ Store = (*Files)(nil)

// Option changes how Files works.
type Option func(*Options)

// WithHolder sets how this process describes itself in the lock files that it holds, for others to read. It must hold no
// secrets. Process id and host are added.
func WithHolder(text string) Option { return func(o *Options) { o.Holder = text } }

// WithHook sets a function that is called directly before each step of a save (see Steps); its error fails the step. It is
// there for tests of what a crash or a full disk leaves behind.
func WithHook(hook func(step string) error) Option { return func(o *Options) { o.Hook = hook } }

// Open returns the store below an existing folder, given as a path or as a file: URL. The error is ErrNoRoot, ErrRootIsFile,
// ErrRootIsGroup, ErrRootURL or the system's. Neither Open nor any reading makes a file or folder.
func Open(root string, options ...Option) (*Files, error) {
	var o Options
	for _, set := range options {
		set(&o)
	}
	if !strings.HasPrefix(root, "file:") {
		if root == "" || strings.Contains(root, "\x00") {
			return nil, fmt.Errorf("open store %q: %w", root, ErrRootURL)
		}
		return openFolder(root, root, o)
	}
	a, err := ParseAddress(root, nil)
	if err != nil {
		return nil, fmt.Errorf("open store %q: %w: %w", root, ErrRootURL, err)
	}
	return openFiles(a, o)
}

// Folders is the kind of store that Files is.
func Folders() Kind {
	return Kind{
		Schemes: []string{"file"}, Local: true, Form: "PATH, file:PATH",
		Layout: "gtoffset files: PATH/GROUP/TOPIC/gtoffset, one for all partitions of a topic",
		Open: func(a *Address, o Options) (Store, error) {
			files, err := openFiles(a, o)
			if err != nil {
				return nil, err // not a nil *Files, which would be a store
			}
			return files, nil
		},
	}
}

// openFiles is Open for an address that is taken apart already.
func openFiles(a *Address, o Options) (*Files, error) {
	counts, err := a.Counts()
	switch {
	case err != nil:
	case a.User != "" || a.HasHost() && (len(a.Hosts) > 1 || a.Hosts[0] != "localhost"):
		err = a.Errorf("host", "a folder is on this machine")
	case a.Path == "":
		err = a.Errorf("path", "it has none, as in file:/var/lib/offsets")
	default:
		err = a.Unused()
	}
	if err != nil {
		return nil, fmt.Errorf("open store %q: %w: %w", a, ErrRootURL, err)
	}
	o.Counts = counts
	return openFolder(a.String(), a.Path, o)
}

func openFolder(name, path string, o Options) (*Files, error) {
	s := &Files{name: name, root: path, o: o, wait: time.Second, held: map[string]bool{}, real: map[string]string{}}
	if err := s.checkRoot(); err != nil {
		return nil, err
	}
	if err := s.checkLevel(); err != nil {
		return nil, err
	}
	return s, nil
}

// lookedInto is how many folders are looked into to find out that a root is none: enough for any group's topics.
const lookedInto = 1000

// checkLevel refuses a root that is one level too deep: GROUP/TOPIC/gtoffset stands two folders below it, never one.
func (s *Files) checkLevel() error {
	dir, err := os.Open(s.root)
	if err != nil {
		return nil // told by whoever reads it
	}
	defer dir.Close()
	entries, _ := dir.ReadDir(lookedInto)
	for _, e := range entries {
		path := filepath.Join(s.root, e.Name(), fileName)
		if fi, err := os.Lstat(path); e.IsDir() && err == nil && fi.Mode().IsRegular() {
			return fmt.Errorf("open store %q: %w: it has %s/%s", s.name, ErrRootIsGroup, e.Name(), fileName)
		}
	}
	return nil
}

func (s *Files) checkRoot() error {
	fi, err := os.Stat(s.root)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return fmt.Errorf("open store %q: %w", s.name, ErrNoRoot)
	case errors.Is(err, errNotFolder):
		return fmt.Errorf("open store %q: %w", s.name, ErrRootIsFile)
	case err != nil:
		return fmt.Errorf("open store %q: %w", s.name, err)
	case !fi.IsDir():
		return fmt.Errorf("open store %q: %w", s.name, ErrRootIsFile)
	}
	return nil
}

// Name returns the store's root as it was given.
func (s *Files) Name() string { return s.name }

// Can says that a file is replaced whole, under a lock, and keeps all that is known of an offset.
func (s *Files) Can() Abilities {
	return Abilities{Write: true, CompareAndSet: true, Atomic: OneTopic, Locks: true, Epochs: true, Identity: true, Times: true, Least: s.o.Counts.leastInFile()}
}

// Writer takes the locks of the topics' files: see Lock.
func (s *Files) Writer(ctx context.Context, group string, topics []string) (Writer, error) {
	l, err := s.Lock(ctx, group, topics)
	if err != nil {
		return nil, err
	}
	return l, nil
}

// Close does nothing: a folder is no connection.
func (s *Files) Close() error { return nil }

// Groups lists the groups that have a file, or a folder that cannot be looked into, and notes what was ignored.
func (s *Files) Groups(ctx context.Context) (groups, notes []string, err error) {
	if err := s.checkRoot(); err != nil {
		return nil, nil, err
	}
	folders, ignored, err := list(s.root)
	if err != nil {
		return nil, nil, fmt.Errorf("list store %q: %w", s.name, err)
	}
	var found foundGroups
	for _, folder := range folders {
		if err := ctx.Err(); err != nil {
			return nil, nil, err
		}
		path := filepath.Join(s.root, folder)
		topics, _, err := list(path)
		if err == nil {
			topics = slices.DeleteFunc(topics, func(topic string) bool { return !occupied(filepath.Join(path, topic)) })
			if len(topics) == 0 {
				continue
			}
		}
		found.add(path, nameOf(folder, func() (name string) {
			for i := 0; encode(name) != folder && i < len(topics); i++ {
				name = peek(filepath.Join(path, topics[i], fileName), (*Document).Group)
			}
			return name
		}))
	}
	groups, notes = found.sorted()
	return groups, append(notes, noteIgnored(s.root, ignored)...), nil
}

// list returns the names of folders, and of links that may lead to one, and the stray files.
func list(path string) (folders, ignored []string, err error) {
	all, err := os.ReadDir(path)
	if err != nil {
		return nil, nil, err
	}
	for _, e := range all {
		switch {
		case e.IsDir() || e.Type()&fs.ModeSymlink != 0:
			folders = append(folders, e.Name())
		case stray(e.Name()):
			ignored = append(ignored, e.Name())
		}
	}
	return folders, ignored, nil
}

// occupied reports whether a folder has, or may have, an offset file.
func occupied(topicFolder string) bool {
	_, err := os.Lstat(filepath.Join(topicFolder, fileName))
	if err == nil {
		return true
	}
	if errors.Is(err, fs.ErrNotExist) {
		fi, err := os.Lstat(topicFolder)
		if err != nil || fi.Mode()&fs.ModeSymlink == 0 {
			return false
		}
		_, err = os.Stat(topicFolder)
		return errors.Is(err, fs.ErrNotExist) // a link to nowhere: something that should be there is not
	}
	return !errors.Is(err, errNotFolder)
}

// foundGroups is the groups below a root, each with its folder, and what was noted on the way.
type foundGroups struct {
	folders map[string]string
	notes   []string
}

// add takes a folder whose name is for that group; "" is one whose name nothing tells.
func (f *foundGroups) add(folder, group string) {
	switch other, again := f.folders[group]; {
	case group == "":
		f.notes = append(f.notes, fmt.Sprintf("ignored %s: no file in it tells the group's whole name", folder))
	case again:
		f.notes = append(f.notes, (&ClashError{group, []string{other, folder}, "two folders are for one group"}).Error())
	default:
		if f.folders == nil {
			f.folders = map[string]string{}
		}
		f.folders[group] = folder
	}
}

func (f *foundGroups) sorted() (groups, notes []string) {
	return slices.Sorted(maps.Keys(f.folders)), f.notes
}

// nameless notes a topic's folder whose name nothing tells.
func nameless(topicFolder string) string {
	return fmt.Sprintf("ignored %s: its file does not tell the topic's whole name", topicFolder)
}

// peek reads what the headers of a file say of a name, "" if that is not possible.
func peek(path string, of func(*Document) string) string {
	data, _, presence, _ := readFile(path)
	if presence != offsets.Present {
		return ""
	}
	return said(data, of)
}

func noteIgnored(path string, names []string) []string {
	if len(names) == 0 {
		return nil
	}
	return []string{fmt.Sprintf("ignored in %s, as temporary or checksum files: %s", path, strings.Join(names, ", "))}
}

// place is where a topic's file is, or would be.
type place struct {
	group, topic                   string
	groupFolder, topicFolder       string // paths
	newGroupFolder, newTopicFolder bool   // not there yet
}

func (p place) file() string { return filepath.Join(p.topicFolder, fileName) }
func (p place) lock() string { return filepath.Join(p.topicFolder, lockName) }

// find returns the place of a topic, whether there is something or not. The error is a *NameError or a *ClashError.
func (s *Files) find(group, topic string) (place, error) {
	p := place{group: group, topic: topic}
	err := errors.Join(checkName("group", group), checkName("topic", topic))
	if err == nil {
		p.groupFolder, p.newGroupFolder, err = findFolder(s.root, group)
	}
	if err == nil {
		p.topicFolder, p.newTopicFolder, err = findFolder(p.groupFolder, topic)
	}
	return p, err
}

// linkedTo is the place in this store that a topic's place is a link to, in whichever part of its path; "" of one that is its own.
func (s *Files) linkedTo(p place) string {
	for _, path := range []string{p.groupFolder, p.topicFolder, p.file()} {
		if fi, err := os.Lstat(path); err != nil || fi.Mode()&fs.ModeSymlink == 0 {
			continue
		}
		rel, err := filepath.Rel(realPath(s.root), realPath(p.file()))
		if err != nil || !filepath.IsLocal(rel) {
			return ""
		}
		return filepath.Join(s.root, rel)
	}
	return ""
}

// findFolder returns the folder for a name: the encoded one, or the one that another program made of the plain name.
func findFolder(parent, name string) (path string, isNew bool, err error) {
	encoded := filepath.Join(parent, encode(name))
	isNew = !there(encoded)
	if other, ok := plain(name); ok {
		path := filepath.Join(parent, other)
		if _, err := os.Lstat(path); err == nil {
			if !isNew {
				return "", false, &ClashError{name, []string{encoded, path}, "two folders are for one name"}
			}
			return path, false, foldedClash(parent, other)
		}
	}
	if isNew {
		return encoded, true, nil
	}
	return encoded, false, foldedClash(parent, encode(name))
}

// there reports whether a path exists, or may exist: what we may not look at is told apart when it is read.
func there(path string) bool {
	_, err := os.Lstat(path)
	return !errors.Is(err, fs.ErrNotExist) && !errors.Is(err, errNotFolder)
}

// foldedClash finds out whether a folder that can be opened by a name has another name, as on a disk that is blind to case.
func foldedClash(parent, folder string) error {
	fi, err := os.Lstat(filepath.Join(parent, folder))
	if err != nil {
		return nil // it cannot be opened either, and that is told then
	}
	other, err := os.Lstat(filepath.Join(parent, swapCase(folder)))
	if err != nil || !os.SameFile(fi, other) {
		return nil
	}
	d, err := os.Open(parent)
	if err != nil {
		return nil
	}
	defer d.Close()
	names, err := d.Readdirnames(-1)
	if err != nil {
		return nil
	}
	if n, folded := inOtherCase(names, folder); folded {
		return &ClashError{folder, []string{filepath.Join(parent, n)}, "the disk does not tell upper from lower case, and this is another name's folder"}
	}
	return nil
}

// inOtherCase finds the name that a disk took for another, which is not in its list.
func inOtherCase(names []string, folder string) (string, bool) {
	if slices.Contains(names, folder) {
		return "", false
	}
	i := slices.IndexFunc(names, func(n string) bool { return strings.EqualFold(n, folder) })
	if i < 0 {
		return "", false
	}
	return names[i], true
}

func swapCase(s string) string {
	b := []byte(s)
	for i, c := range b {
		if 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z' {
			b[i] = c ^ 0x20
		}
	}
	return string(b)
}
