package offsetfile

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"gtoffset/kafkaops/offsets"
)

// put makes a file below root, with its folders.
func put(t testing.TB, root, path, content string) string {
	t.Helper()
	path = filepath.Join(root, path)
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(content), 0o644); err != nil {
		t.Fatal(err)
	}
	return path
}

func open(t testing.TB, root string, options ...Option) *Files {
	t.Helper()
	s, err := Open(root, options...)
	if err != nil {
		t.Fatal(err)
	}
	s.wait = time.Millisecond
	return s
}

func load(t testing.TB, s *Files, group string, topics []string, salvage bool) Holding {
	t.Helper()
	h, err := s.Load(t.Context(), group, topics, salvage)
	if err != nil {
		t.Fatal(err)
	}
	return h
}

func read(t testing.TB, path string) string {
	t.Helper()
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

// tree lists all files and folders below root.
func tree(t testing.TB, root string) []string {
	t.Helper()
	var all []string
	err := filepath.WalkDir(root, func(path string, _ fs.DirEntry, err error) error {
		if path != root {
			rel, _ := filepath.Rel(root, path)
			all = append(all, rel)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return all
}

func TestOpen(t *testing.T) {
	dir := t.TempDir()
	spaced := filepath.Join(dir, "a b")
	if err := os.Mkdir(spaced, 0o755); err != nil {
		t.Fatal(err)
	}
	file := put(t, dir, "file", "")
	for root, want := range map[string]error{
		dir: nil, dir + "/": nil, "file:" + dir: nil, "file://" + dir: nil, "file://localhost" + dir: nil, spaced: nil,
		"file:" + dir + "/a%20b":  nil,
		filepath.Join(dir, "no"):  ErrNoRoot,
		"file:" + dir + "/no":     ErrNoRoot,
		file:                      ErrRootIsFile,
		filepath.Join(file, "x"):  ErrRootIsFile,
		"":                        ErrRootURL,
		"file:":                   ErrRootURL,
		"file://elsewhere" + dir:  ErrRootURL,
		"file:" + dir + "?counts": ErrRootURL,
		"file:/%zz":               ErrRootURL,
	} {
		s, err := Open(root)
		if !errors.Is(err, want) || (err == nil) != (want == nil) {
			t.Errorf("open %q: got %v, want %v", root, err, want)
		}
		if err == nil && s.Name() != root {
			t.Errorf("name: got %q, want %q", s.Name(), root)
		}
	}
	if got := tree(t, dir); !slices.Equal(got, []string{"a b", "file"}) {
		t.Errorf("opening made %q", got)
	}
}

func TestLoadStates(t *testing.T) {
	for name, tt := range map[string]struct {
		make     func(t *testing.T, root string)
		presence offsets.Presence
		reason   string
	}{
		"missing root entry": {func(t *testing.T, root string) {}, offsets.Absent, ""},
		"missing topic":      {func(t *testing.T, root string) { put(t, root, "g/other/gtoffset", "0 5\n") }, offsets.Absent, ""},
		"missing file":       {func(t *testing.T, root string) { put(t, root, "g/t/gtoffset.tmp", "0 5\n") }, offsets.Absent, ""},
		"there":              {func(t *testing.T, root string) { put(t, root, "g/t/gtoffset", "0 5\n") }, offsets.Present, ""},
		"empty":              {func(t *testing.T, root string) { put(t, root, "g/t/gtoffset", "") }, offsets.Empty, "0 bytes"},
		"damaged":            {func(t *testing.T, root string) { put(t, root, "g/t/gtoffset", "0 5\n1 x\n2 -1\n") }, offsets.Damaged, `line 2: offset "x" of partition 1 is not a number; line 3: `},
		"another group's":    {func(t *testing.T, root string) { put(t, root, "g/t/gtoffset", string(New("h", "t").Bytes())) }, offsets.WrongType, `for group "h"`},
		"another topic's":    {func(t *testing.T, root string) { put(t, root, "g/t/gtoffset", string(New("g", "u").Bytes())) }, offsets.WrongType, `for topic "u"`},
		"another version":    {func(t *testing.T, root string) { put(t, root, "g/t/gtoffset", "# gtoffset 2\n") }, offsets.Unreadable, `version "2"`},
		"a folder":           {func(t *testing.T, root string) { put(t, root, "g/t/gtoffset/x", "") }, offsets.WrongType, "a folder, not a file"},
		"topic is a file":    {func(t *testing.T, root string) { put(t, root, "g/t", "") }, offsets.WrongType, "a file, not a folder"},
		"group is a file":    {func(t *testing.T, root string) { put(t, root, "g", "") }, offsets.WrongType, "a file, not a folder"},
		"link to nowhere": {func(t *testing.T, root string) {
			put(t, root, "g/t/x", "")
			symlink(t, "nowhere", filepath.Join(root, "g/t/gtoffset"))
		}, offsets.Unreadable, "symbolic link to nowhere"},
		"group links to nowhere": {func(t *testing.T, root string) { symlink(t, "nowhere", filepath.Join(root, "g")) }, offsets.Unreadable, "symbolic link to nowhere"},
		"too large": {func(t *testing.T, root string) {
			if err := os.Truncate(put(t, root, "g/t/gtoffset", "0 5\n"), MaxSize+1); err != nil {
				t.Fatal(err)
			}
		}, offsets.Unreadable, "larger than 64 MiB"},
	} {
		t.Run(name, func(t *testing.T) {
			root := t.TempDir()
			tt.make(t, root)
			before := tree(t, root)
			h := load(t, open(t, root), "g", []string{"t"}, false)
			topic, ok := h.Store.Topic("t")
			if !ok || topic.Presence != tt.presence || !strings.Contains(topic.Reason, tt.reason) || (topic.Reason == "") != (tt.reason == "") {
				t.Errorf("got %v %q, want %v %q", topic.Presence, topic.Reason, tt.presence, tt.reason)
			}
			if want := filepath.Join(root, "g/t/gtoffset"); topic.Path != want {
				t.Errorf("path: got %q, want %q", topic.Path, want)
			}
			if tt.presence != offsets.Present && len(h.Entries) > 0 {
				t.Errorf("entries: got %v, want none", h.Entries)
			}
			if tt.reason != "" && !strings.Contains(topic.Reason, root) {
				t.Errorf("reason %q does not name the path", topic.Reason)
			}
			if after := tree(t, root); !slices.Equal(after, before) {
				t.Errorf("reading made %q of %q", after, before)
			}
		})
	}
}

func symlink(t testing.TB, target, path string) {
	t.Helper()
	if err := os.Symlink(target, path); err != nil {
		t.Fatal(err)
	}
}

func TestLoad(t *testing.T) {
	root := t.TempDir()
	put(t, root, "billing/orders/gtoffset", good)
	bare := put(t, root, "billing/a_b/gtoffset", "3 99\n1 7\n")
	put(t, root, "billing/a.b/gtoffset", "0 10\n")
	put(t, root, "billing/bad/gtoffset", "x\n")
	put(t, root, "billing/orders.tmp", "half")
	put(t, root, "billing/.orders.crc", "crc")
	put(t, root, "billing/orders/gtoffset.tmp", "half")
	put(t, root, "billing/no-file/readme", "")
	put(t, root, "other/orders/gtoffset", "0 1\n")
	at := time.Date(2027, 1, 2, 3, 4, 5, 0, time.UTC)
	if err := os.Chtimes(bare, at, at); err != nil {
		t.Fatal(err)
	}
	h := load(t, open(t, root), "billing", nil, false)
	var topics []string
	for _, topic := range h.Store.Topics {
		topics = append(topics, topic.Topic)
	}
	if want := []string{"a.b", "a_b", "bad", "orders"}; !slices.Equal(topics, want) {
		t.Errorf("topics: got %q, want %q", topics, want)
	}
	saved := time.Date(2026, 11, 29, 12, 0, 0, 123e6, time.UTC)
	for key, want := range map[offsets.Key]offsets.Entry{
		{Topic: "orders", Partition: 0}: {Presence: offsets.Present, Offset: 1500, Epoch: 4, TopicID: "5Qx0", Cluster: "MkU3", Saved: saved, Whole: true},
		{Topic: "orders", Partition: 1}: {Presence: offsets.Present, Offset: 1498, Epoch: -1, TopicID: "5Qx0", Cluster: "MkU3", Saved: saved, Whole: true},
		{Topic: "a_b", Partition: 3}:    {Presence: offsets.Present, Offset: 99, Epoch: -1, Saved: at},
	} {
		got := h.Entries[key]
		if !got.Saved.Equal(want.Saved) {
			t.Errorf("%v saved: got %v, want %v", key, got.Saved, want.Saved)
		}
		got.Saved = want.Saved
		if got != want {
			t.Errorf("%v: got %+v, want %+v", key, got, want)
		}
	}
	if len(h.Entries) != 5 {
		t.Errorf("entries: got %d, want 5", len(h.Entries))
	}
	if topic, _ := h.Store.Topic("a_b"); topic.Highest != 3 || topic.Whole {
		t.Errorf("a_b: got %+v", topic)
	}
	if topic, _ := h.Store.Topic("orders"); topic.Highest != 1 || !topic.Whole {
		t.Errorf("orders: got %+v", topic)
	}
	notes := strings.Join(h.Store.Notes, "\n")
	for _, want := range []string{"orders.tmp", ".orders.crc", "gtoffset.tmp"} {
		if strings.Count(notes, want) != 1 {
			t.Errorf("notes %q: want %s once", notes, want)
		}
	}
}

func TestSalvage(t *testing.T) {
	root := t.TempDir()
	put(t, root, "g/cut/gtoffset", "# gtoffset 1\n0 5\n7 x\n2 6\n3 1")
	put(t, root, "g/empty/gtoffset", "")
	put(t, root, "g/newer/gtoffset", "# gtoffset 2\n")
	h := load(t, open(t, root), "g", nil, true)
	if got := len(h.Entries); got != 2 || h.Entries[offsets.Key{Topic: "cut", Partition: 2}].Offset != 6 {
		t.Errorf("entries: got %v", h.Entries)
	}
	for name, want := range map[string]offsets.Presence{"cut": offsets.Present, "empty": offsets.Present, "newer": offsets.Unreadable} {
		if topic, _ := h.Store.Topic(name); topic.Presence != want || topic.Whole {
			t.Errorf("%s: got %+v, want presence %v", name, topic, want)
		}
	}
	notes := strings.Join(h.Store.Notes, "\n")
	for _, want := range []string{"salvaged 2 entries", "lost partition 3, 7", "line 3: ", "line 5: ", "0 bytes"} {
		if !strings.Contains(notes, want) {
			t.Errorf("notes %q: want %q", notes, want)
		}
	}
}

func TestNames(t *testing.T) {
	root := t.TempDir()
	long := strings.Repeat("é", 100)
	groups := []string{"team/job:forward", "a b", "a+b", "a&b", "a#b", `a"b`, "a,b", "😀", "a\nb", "a:b", "a@b", "a%3Ab", "..", "DATA", "data", long}
	s := open(t, root)
	for i, g := range groups {
		save(t, s, g, "t", map[int32]int64{0: int64(i)})
	}
	for i, g := range groups {
		h := load(t, s, g, nil, false)
		if got := h.Entries[offsets.Key{Topic: "t"}]; len(h.Entries) != 1 || got.Offset != int64(i) {
			t.Errorf("group %q: got %v, want %d", g, h.Entries, i)
		}
	}
	got, notes, err := s.Groups(t.Context())
	if err != nil || len(notes) > 0 {
		t.Fatal(notes, err)
	}
	slices.Sort(groups)
	if !slices.Equal(got, groups) {
		t.Errorf("groups: got %q, want %q", got, groups)
	}
	for _, name := range []string{"", "\xff"} {
		var bad *NameError
		if _, err := s.Load(t.Context(), name, nil, false); !errors.As(err, &bad) {
			t.Errorf("load group %q: got %v, want a NameError", name, err)
		}
		if _, err := s.Lock(t.Context(), name, []string{"t"}); !errors.As(err, &bad) {
			t.Errorf("lock group %q: got %v, want a NameError", name, err)
		}
	}
}

func TestNamesRoundTrip(t *testing.T) {
	root := t.TempDir()
	s := open(t, root)
	rapid.Check(t, func(r *rapid.T) {
		group, topic := anyName.Draw(r, "group"), anyName.Draw(r, "topic")
		offset := rapid.Int64Range(0, 1<<62).Draw(r, "offset")
		save(t, s, group, topic, map[int32]int64{3: offset})
		h, err := s.Load(t.Context(), group, nil, false)
		if err != nil {
			r.Fatal(err)
		}
		if got := h.Entries[offsets.Key{Topic: topic, Partition: 3}].Offset; got != offset {
			r.Fatalf("group %q topic %q: got %d, want %d", group, topic, got, offset)
		}
	})
}

func TestForeignFolders(t *testing.T) {
	root := t.TempDir()
	put(t, root, "a b/x y/gtoffset", "0 5\n")
	s := open(t, root)
	if got := load(t, s, "a b", nil, false); got.Entries[offsets.Key{Topic: "x y"}].Offset != 5 {
		t.Errorf("plain folders: got %v", got.Entries)
	}
	save(t, s, "a b", "x y", map[int32]int64{0: 6})
	if got := read(t, filepath.Join(root, "a b/x y/gtoffset")); got != "0 6\n" {
		t.Errorf("saved: got %q", got)
	}
	groups, _, err := s.Groups(t.Context())
	if err != nil || !slices.Equal(groups, []string{"a b"}) {
		t.Errorf("groups: got %q, %v", groups, err)
	}

	put(t, root, "a%20b/x/gtoffset", "0 5\n")
	var clash *ClashError
	if _, err := s.Load(t.Context(), "a b", nil, false); !errors.As(err, &clash) || len(clash.Paths) != 2 {
		t.Errorf("two forms of one name: got %v, want a ClashError", err)
	}
	if _, err := s.Lock(t.Context(), "a b", []string{"t"}); !errors.As(err, &clash) {
		t.Errorf("two forms of one name: lock got %v, want a ClashError", err)
	}
	groups, notes, err := s.Groups(t.Context())
	if err != nil || !slices.Equal(groups, []string{"a b"}) || len(notes) != 1 {
		t.Errorf("groups: got %q, %q, %v", groups, notes, err)
	}
}

func TestInOtherCase(t *testing.T) {
	for _, tt := range []struct {
		names  []string
		folder string
		want   string
	}{
		{[]string{"DATA", "x"}, "data", "DATA"},
		{[]string{"DATA", "data"}, "data", ""},
		{[]string{"x"}, "data", ""},
	} {
		if got, found := inOtherCase(tt.names, tt.folder); got != tt.want || found != (tt.want != "") {
			t.Errorf("%q in %q: got %q, %v", tt.folder, tt.names, got, found)
		}
	}
}

func TestGroups(t *testing.T) {
	root := t.TempDir()
	put(t, root, "b/t/gtoffset", "0 1\n")
	put(t, root, "a/t/gtoffset", "")
	put(t, root, "no-file/t/readme", "")
	put(t, root, "no-topic/readme", "")
	put(t, root, "left.tmp", "")
	put(t, root, "other-file", "")
	put(t, root, encode(strings.Repeat("x", 300))+"/t/gtoffset", "0 1\n") // bare: who knows whose it is?
	groups, notes, err := open(t, root).Groups(t.Context())
	if err != nil || !slices.Equal(groups, []string{"a", "b"}) {
		t.Errorf("got %q, %v", groups, err)
	}
	if len(notes) != 2 || !strings.Contains(notes[0], "whole name") || !strings.Contains(notes[1], "left.tmp") {
		t.Errorf("notes: got %q", notes)
	}
	if err := os.RemoveAll(root); err != nil {
		t.Fatal(err)
	}
}

func TestRootTakenAway(t *testing.T) {
	root := filepath.Join(t.TempDir(), "store")
	put(t, root, "g/t/gtoffset", "0 1\n")
	s := open(t, root)
	l, err := s.Lock(t.Context(), "g", []string{"t"})
	if err != nil {
		t.Fatal(err)
	}
	defer l.Unlock()
	if err := os.RemoveAll(root); err != nil {
		t.Fatal(err)
	}
	if _, err := s.Load(t.Context(), "g", nil, false); !errors.Is(err, ErrNoRoot) {
		t.Errorf("load: got %v, want ErrNoRoot", err)
	}
	if _, _, err := s.Groups(t.Context()); !errors.Is(err, ErrNoRoot) {
		t.Errorf("groups: got %v, want ErrNoRoot", err)
	}
	if _, err := s.Lock(t.Context(), "g", []string{"u"}); !errors.Is(err, ErrNoRoot) {
		t.Errorf("lock: got %v, want ErrNoRoot", err)
	}
	if err := l.Put(t.Context(), "t", map[int32]offsets.Value{0: {Offset: 5, Epoch: -1}}, Facts{}); err == nil {
		t.Error("put: got no error")
	}
	if _, err := os.Lstat(root); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("the root was made again: %v", err)
	}
}
