package offsetfile_test

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"gtoffset/kafkaops/offsets"
	"gtoffset/offsetfile"
	"gtoffset/offsetfile/storetest"
)

// folder opens a folder of gtoffset files.
func folder(t testing.TB, root, params string, o offsetfile.Options) offsetfile.Store {
	t.Helper()
	a, err := offsetfile.ParseAddress("file:"+root+"?"+params, nil)
	if err != nil {
		t.Fatal(err)
	}
	s, err := offsetfile.Folders().Open(a, o)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func TestFilesContract(t *testing.T) {
	dir := storetest.Folder(t)
	root := filepath.Join(dir, "offsets")
	if err := os.MkdirAll(root, 0o755); err != nil {
		t.Fatal(err)
	}
	at := func(group, topic string) string { return filepath.Join(root, group, topic, "gtoffset") }
	service := storetest.Service{
		Folder:    dir,
		OneBadAll: true,
		Open: func(t testing.TB, g storetest.Given) offsetfile.Store {
			t.Helper()
			return folder(t, root, g.Params, g.Options)
		},
		Peek: func(t testing.TB, group, topic string, partition int32) string {
			t.Helper()
			data, err := os.ReadFile(at(group, topic))
			if err != nil {
				t.Fatal(err)
			}
			for line := range strings.Lines(string(data)) {
				if words := strings.Fields(line); words[0] == strconv.Itoa(int(partition)) {
					return words[1]
				}
			}
			return ""
		},
		Poke: func(t testing.TB, group, topic string, partition int32, text string) {
			t.Helper()
			data, err := os.ReadFile(at(group, topic))
			if err != nil {
				t.Fatal(err)
			}
			lines := strings.SplitAfter(string(data), "\n")
			i := len(lines) - 2 // before the count
			lines[i] = fmt.Sprintf("%d %s\n%s", partition, text, lines[i])
			if err := os.WriteFile(at(group, topic), []byte(strings.Join(lines, "")), 0o644); err != nil {
				t.Fatal(err)
			}
		},
		Missing: func(t testing.TB, place string, o offsetfile.Options) offsetfile.Store {
			t.Helper()
			gone := filepath.Join(root, "..", place)
			if err := os.Mkdir(gone, 0o755); err != nil {
				t.Fatal(err)
			}
			s := folder(t, gone, "", o)
			if err := os.Remove(gone); err != nil {
				t.Fatal(err)
			}
			return s
		},
		Unreadable: map[string]func(testing.TB, string, string) func(){
			"a file in the way":   storetest.InTheWay(root),
			storetest.Replaceable: storetest.TooLarge(at),
		},
		Others: func(t testing.TB, group, topic string) func() string {
			t.Helper()
			path := at(group, topic)
			data, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			text, count, _ := strings.Cut(string(data), "# entries ")
			text += "# of another\n\n# another: header\n0099 5 key=of-another\n# entries " + strings.Replace(count, "2", "3", 1)
			if err := errors.Join(os.Remove(path), os.WriteFile(path+".real", []byte(text), 0o640), os.Symlink("gtoffset.real", path)); err != nil {
				t.Fatal(err)
			}
			return func() string {
				t.Helper()
				data, err := os.ReadFile(path)
				link, err2 := os.Lstat(path)
				to, err3 := os.Stat(path)
				if err := errors.Join(err, err2, err3); err != nil {
					t.Fatal(err)
				}
				_, after, _ := strings.Cut(string(data), "# of another\n")
				after, _, _ = strings.Cut(after, "of-another\n")
				return fmt.Sprint(link.Mode().Type(), to.Mode(), after)
			}
		},
		Broken: map[offsets.Presence]func(testing.TB, string, string){
			offsets.WrongType: func(t testing.TB, group, topic string) {
				t.Helper()
				if err := os.MkdirAll(at(group, topic), 0o755); err != nil {
					t.Fatal(err)
				}
			},
			offsets.Unreadable: func(t testing.TB, group, topic string) {
				t.Helper()
				if err := errors.Join(os.MkdirAll(filepath.Dir(at(group, topic)), 0o755), os.Symlink("nowhere", at(group, topic))); err != nil {
					t.Fatal(err)
				}
			},
			offsets.Empty: func(t testing.TB, group, topic string) {
				t.Helper()
				if err := errors.Join(os.MkdirAll(filepath.Dir(at(group, topic)), 0o755), os.WriteFile(at(group, topic), nil, fs.FileMode(0o644))); err != nil {
					t.Fatal(err)
				}
			},
		},
	}
	storetest.Run(t, service)
}
