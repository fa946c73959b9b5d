//go:build live

package webhdfs_test

import (
	"context"
	"fmt"
	"net/http"
	"os"
	"path"
	"strconv"
	"strings"
	"testing"

	"gtoffset/kafkaops/offsets"
	"gtoffset/offsetfile"
	"gtoffset/offsetfile/storetest"
	"gtoffset/offsetfile/webhdfs"
	"gtoffset/scripts/live"
)

var hdfs *live.HDFS

func TestMain(m *testing.M) {
	os.Exit(func() int {
		h, err := live.StartHDFS(context.Background())
		if err != nil {
			fmt.Fprintln(os.Stderr, err)
			return 1
		}
		defer h.Stop()
		hdfs = h
		return m.Run()
	}())
}

// open opens the store at a path; rest is what follows the path in its URL.
func open(t testing.TB, addr, rest string, o offsetfile.Options) offsetfile.Store {
	t.Helper()
	a, err := offsetfile.ParseAddress("webhdfs://"+addr+rest, nil)
	if err != nil {
		t.Fatal(err)
	}
	s, err := webhdfs.Open(a, o)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func must(t testing.TB, _ []byte, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func mkdir(t testing.TB, dir string, params ...string) {
	t.Helper()
	data, err := hdfs.Ask(t.Context(), http.MethodPut, dir, "MKDIRS", nil, params...)
	must(t, data, err)
}

func TestContract(t *testing.T) {
	const root = "/contract"
	mkdir(t, root)
	at := func(group, topic string) string { return path.Join(root, group, topic, "gtoffset") }
	read := func(t testing.TB, group, topic string) string {
		t.Helper()
		data, err := hdfs.Get(t.Context(), at(group, topic))
		must(t, data, err)
		return string(data)
	}
	storetest.Run(t, storetest.Service{
		Addr:      hdfs.Addr,
		Turns:     8, // with the namenode; a read and a write each go to a datanode besides
		OneBadAll: true,
		Open: func(t testing.TB, g storetest.Given) offsetfile.Store {
			t.Helper()
			return open(t, g.Addr, root+"?user.name="+hdfs.User+"&"+g.Params, g.Options)
		},
		Peek: func(t testing.TB, group, topic string, partition int32) string {
			t.Helper()
			for line := range strings.Lines(read(t, group, topic)) {
				if words := strings.Fields(line); words[0] == strconv.Itoa(int(partition)) {
					return words[1]
				}
			}
			return ""
		},
		Poke: func(t testing.TB, group, topic string, partition int32, text string) {
			t.Helper()
			lines := strings.SplitAfter(read(t, group, topic), "\n")
			i := len(lines) - 2 // before the count
			lines[i] = fmt.Sprintf("%d %s\n%s", partition, text, lines[i])
			must(t, nil, hdfs.Put(t.Context(), at(group, topic), []byte(strings.Join(lines, ""))))
		},
		Missing: func(t testing.TB, place string, o offsetfile.Options) offsetfile.Store {
			t.Helper()
			return open(t, hdfs.Addr, "/not/there/"+place+"?user.name="+hdfs.User, o)
		},
		Broken: map[offsets.Presence]func(testing.TB, string, string){
			offsets.WrongType: func(t testing.TB, group, topic string) { t.Helper(); mkdir(t, at(group, topic)) },
			offsets.Empty: func(t testing.TB, group, topic string) {
				t.Helper()
				must(t, nil, hdfs.Put(t.Context(), at(group, topic), nil))
			},
		},
		Kill: func(testing.TB) { hdfs.Kill() },
		Start: func(t testing.TB) {
			t.Helper()
			if err := hdfs.Start(t.Context()); err != nil {
				t.Fatal(err)
			}
		},
	})
}

// Owner, group and mode stay, or nothing is written.
func TestRights(t *testing.T) {
	const file = "/rights/g/t/gtoffset"
	ask := func(op, path string, params ...string) string {
		t.Helper()
		method := http.MethodPut
		if strings.HasPrefix(op, "GET") || strings.HasPrefix(op, "LIST") {
			method = http.MethodGet
		}
		data, err := hdfs.Ask(t.Context(), method, path, op, nil, params...)
		must(t, data, err)
		return string(data)
	}
	save := func(user string, offset int64) offsets.Change {
		t.Helper()
		s := open(t, hdfs.Addr, "/rights?user.name="+user, offsetfile.Options{})
		defer s.Close()
		w, err := s.Writer(t.Context(), "g", []string{"t"})
		must(t, nil, err)
		h, err := s.Load(t.Context(), "g", []string{"t"}, false)
		must(t, nil, err)
		change := offsets.Change{Key: offsets.Key{Topic: "t"}, Side: offsets.Stored, Verdict: offsets.Write, New: offsets.Value{Offset: offset, Epoch: offsets.None}}
		saved, _ := w.Save(t.Context(), h.Store, []offsets.Change{change}, offsetfile.Facts{})
		return saved[0]
	}
	refused := func(user, why string) {
		t.Helper()
		before, err := hdfs.Get(t.Context(), file)
		must(t, nil, err)
		if c := save(user, 99); c.Result != offsets.Failed && c.Result != offsets.NotTried || !strings.Contains(c.Error, why) {
			t.Errorf("as %s: got %s (%s), want a refusal: %s", user, c.Result, c.Error, why)
		}
		after, err := hdfs.Get(t.Context(), file)
		must(t, nil, err)
		if string(before) != string(after) {
			t.Errorf("as %s: the file was changed:\n%s", user, after)
		}
		if list := ask("LISTSTATUS", "/rights/g/t"); strings.Contains(list, "tmp") {
			t.Errorf("as %s: something is left behind: %s", user, list)
		}
	}
	mkdir(t, "/rights")
	if c := save(hdfs.User, 1); c.Result != offsets.Written {
		t.Fatalf("got %+v", c)
	}
	ask("SETOWNER", file, "owner", "alice", "group", "staff")
	ask("SETPERMISSION", file, "permission", "640")
	if c := save(hdfs.User, 2); c.Result != offsets.Written {
		t.Errorf("as the superuser: got %+v", c)
	}
	for _, want := range []string{`"owner":"alice"`, `"group":"staff"`, `"permission":"640"`} {
		if got := ask("GETFILESTATUS", file); !strings.Contains(got, want) {
			t.Errorf("after a save: got %s, want %s", got, want)
		}
	}

	s := open(t, hdfs.Addr, "/rights?user.name=bob", offsetfile.Options{})
	defer s.Close()
	h, err := s.Load(t.Context(), "g", nil, false)
	must(t, nil, err)
	if topic, _ := h.Store.Topic("t"); topic.Presence != offsets.Denied || topic.Reason == "" {
		t.Errorf("as bob: got %+v, want it denied, with the reason", topic)
	}
	refused("bob", "Permission denied")
	ask("SETPERMISSION", file, "permission", "666")
	refused("bob", "Permission denied") // he may not make a file beside it
	for _, dir := range []string{"/rights", "/rights/g", "/rights/g/t"} {
		ask("SETPERMISSION", dir, "permission", "777")
	}
	refused("bob", "keep the owner alice:staff")
	ask("SETACL", file, "aclspec", "user::rw-,user:carol:r--,group::r--,other::rw-")
	refused(hdfs.User, "has an access list")
	ask("REMOVEACL", file)
	refused("alice", "keep the owner alice:staff") // a group that she is not in

	ask("SETPERMISSION", "/rights", "permission", "700")
	if _, _, err := s.Groups(t.Context()); err == nil {
		t.Error("groups that bob may not list: got no error")
	}
}
