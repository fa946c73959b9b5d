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
		Missing: func(t testing.TB) offsetfile.Store {
			t.Helper()
			return open(t, hdfs.Addr, "/not/there?user.name="+hdfs.User, offsetfile.Options{})
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
