package terminal

import (
	"os"
	"strings"
	"testing"

	"gtoffset/scripts/needs"
)

// What is typed arrives, and what is shown can be read.
func TestTerminal(t *testing.T) {
	needs.Programs(t, "tmux")
	dir, err := os.MkdirTemp("", "gts-")
	if err != nil {
		t.Fatal(err)
	}
	defer os.RemoveAll(dir)
	term, err := Open(t.Context(), dir, 40, 10, `printf "$GREETING\n"; exec cat`, "GREETING=hello")
	if err != nil {
		t.Fatal(err)
	}
	defer term.Close()
	if err := term.Write("-l $HOME"); err != nil {
		t.Fatal(err)
	}
	if err := term.Type("Enter"); err != nil {
		t.Fatal(err)
	}
	if screen, err := term.Wait(false, func(s string) bool { return strings.Count(s, "-l $HOME\n") == 2 }); err != nil || !strings.HasPrefix(screen, "hello\n") {
		t.Errorf("%v\n%s", err, screen)
	}
}
