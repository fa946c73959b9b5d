package docs_test

import (
	"bytes"
	"io"
	"strings"
	"testing"

	"gtoffset/kafkaops/clientconfig"
)

// TestConnectionKeys holds the page about connections, and its help topic, to the keys that are read.
func TestConnectionKeys(t *testing.T) {
	var got, want []string
	for _, row := range table(t, read(t, "docs/connection.md"), "## Keys") {
		got = append(got, strings.ReplaceAll(strings.Join(row, " | "), "`", ""))
	}
	var help bytes.Buffer
	if code := program(t, &help, io.Discard, "help", "connection"); code != 0 {
		t.Fatalf("help connection: exit %d", code)
	}
	for _, k := range clientconfig.Keys() {
		want = append(want, k.Name+" | "+strings.Join(k.Also, ", ")+" | "+k.Text)
		if !strings.Contains(help.String(), "\n  "+k.Name) {
			t.Errorf("help connection lacks %s", k.Name)
		}
	}
	compare(t, "keys", got, want)
}
