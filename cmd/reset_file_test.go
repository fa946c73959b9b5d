package cmd_test

import (
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"gtoffset/cmd"
)

// --from-file is an import that is held to the groups and topics that were named.
func TestResetFromFile(t *testing.T) {
	w := start(t).topic("orders", [2]int64{0, 900}, [2]int64{0, 900}).topic("other", [2]int64{0, 50}).
		commit("billing", "orders", 100, 200).commit("billing", "other", 7).commit("second", "orders", 300)
	file := filepath.Join(t.TempDir(), "offsets.csv")
	must(t, os.WriteFile(file, []byte("orders,0,700\norders,1,950\nother,0,9\n"), 0o600))
	reset := []string{"reset", "-g", "billing", "--from-file", file}
	w.run(append(reset, "--execute")...).exits(4).says("orders 1", "line 2", "950 is high", "--clamp")
	w.run(append(reset, "-t", "orders", "--clamp", "--execute")...).exits(0).prints("2 of 2 verified")
	same(t, "orders", w.committed("billing", "orders"), "0=700 1=900")
	same(t, "other", w.committed("billing", "other"), "0=7")
	four := filepath.Join(t.TempDir(), "four.csv")
	must(t, os.WriteFile(four, []byte("billing,orders,0,1\nsecond,orders,0,2\n"), 0o600))
	w.run("reset", "-g", "second", "-g", "billing", "--from-file", four, "--execute").exits(0).prints("2 of 2 verified")
	same(t, "both groups", w.committed("billing", "orders")+" "+w.committed("second", "orders"), "0=1 1=900 0=2")
	w.run("reset", "-g", "nobody", "-g", "billing", "--from-file", four, "--execute").exits(1).says(`nothing of group "nobody"`)
	w.run("reset", "-g", "billing", "--from-file", filepath.Join(t.TempDir(), "none"), "--execute").exits(1)
}

// What --from-file is told of, import is told of in the same way.
func TestResetFromFileAsImport(t *testing.T) {
	t.Parallel()
	w := start(t).topic("orders", [2]int64{0, 900}, [2]int64{0, 900}).commit("billing", "orders", 100, 200).save("billing", "orders", 300, 400)
	bare := w.document("0 700\n1 800\n")
	gone := w.document("orders,0,701\norders,7,1\nother,0,1\n")
	said := w.document(w.run("export", "-g", "billing", "-s", w.store, "--stored", "-o", "json").exits(0).out)
	for _, c := range []struct {
		name, file string
		more       []string
		code       int
		says       string
		committed  string
	}{
		{"a file without a topic needs one", bare, nil, 2, "add -t TOPIC", "0=100 1=200"},
		{"and takes the one that is named", bare, []string{"-t", "orders"}, 0, "", "0=700 1=800"},
		{"what does not exist is refused", gone, nil, 4, "orders 7: line 2: not in the topic", "0=100 1=200"},
		{"and a topic likewise", gone, nil, 4, "other 0: line 3: the topic does not exist", "0=100 1=200"},
		{"and left out", gone, []string{"--partial"}, 3, "left out: orders 7", "0=701 1=200"},
		{"the other side of what it holds", said, nil, 4, "holds stored offsets, and --committed does not name that side", "0=100 1=200"},
	} {
		for _, command := range [][]string{{"import", c.file}, {"reset", "--from-file", c.file}} {
			w.commit("billing", "orders", 100, 200)
			w.run(append(append(command, "-g", "billing", "--committed", "--execute"), c.more...)...).exits(c.code).says(c.says)
			same(t, c.name+", "+command[0], w.committed("billing", "orders"), c.committed)
		}
	}
}

// A file of so many topics that looking for each among all of them would take minutes.
func TestResetFromLargeFile(t *testing.T) {
	t.Parallel()
	w := start(t).topic("orders", [2]int64{0, 900})
	var doc strings.Builder
	for row := range 100_000 {
		fmt.Fprintf(&doc, "topic-%d,%d,0\n", row/5, row%5)
	}
	args := []string{"reset", "-g", "billing", "--committed", "--create", "--dry-run", "-o", "json", "-q", "--from-file", w.document(doc.String())}
	var talk strings.Builder
	same(t, "exit code", cmd.Main(t.Context(), w.env(io.Discard, &talk), args), 4)
	if !strings.Contains(talk.String(), "topic-0 0: line 1: the topic does not exist") {
		t.Errorf("stderr = %.500q", talk.String())
	}
}
