package pages_test

import (
	"errors"
	"fmt"
	"slices"
	"testing"

	"gtoffset/scripts/pages"
)

// player notes what it is told. Each command prints its number.
type player struct {
	told []string
	fail error
}

func (p *player) File(name, text string) error {
	p.told = append(p.told, fmt.Sprintf("file %s: %q", name, text))
	return nil
}

func (p *player) Happen(event string) error {
	p.told = append(p.told, "then "+event)
	return nil
}

func (p *player) Type(why, line string, exit int) (string, error) {
	p.told = append(p.told, fmt.Sprintf("%s | %s | %d", why, line, exit))
	return fmt.Sprintf("printed %d", len(p.told)), p.fail
}

const played = `# Page
<!-- scene night: any words -->
` + "```console\n$ one\n$ what it printed\n# entries 2\nexit 4\n\n# why,\n# and why not\n$ two --flag\n```" + `
Text, then
<!-- then: the job stops -->
<!-- file: load -->
` + "```sh\n$ not typed\n```\n```console\n$ three\nold\n```\n```json\n{}\n```" + `
end
`

func TestPlay(t *testing.T) {
	p := &player{}
	got, err := pages.Play(played, p)
	if err != nil {
		t.Fatal(err)
	}
	told := []string{" | one | 4", "why, and why not | two --flag | 0", "then the job stops", `file load: "$ not typed\n"`, " | three | 0"}
	if !slices.Equal(p.told, told) {
		t.Errorf("got %q, want %q", p.told, told)
	}
	want := `# Page
<!-- scene night: any words -->
` + "```console\n$ one\nprinted 1\nexit 4\n\n# why,\n# and why not\n$ two --flag\nprinted 2\n```" + `
Text, then
<!-- then: the job stops -->
<!-- file: load -->
` + "```sh\n$ not typed\n```\n```console\n$ three\nprinted 5\n```\n```json\n{}\n```" + `
end
`
	if got != want {
		t.Errorf("got %s\nwant %s", got, want)
	}
	if again, err := pages.Play(got, &player{}); err != nil || again != want {
		t.Errorf("once more: got %s, %v; want what stands there", again, err)
	}
}

func TestPlayFails(t *testing.T) {
	p := &player{fail: errors.New("exit 3, want 4")}
	if _, err := pages.Play(played, p); !errors.Is(err, p.fail) || len(p.told) != 1 {
		t.Errorf("got %v after %q, want it to end with the first command", err, p.told)
	}
	if _, err := pages.Play("```console\n$ one\n", &player{}); err == nil {
		t.Error("a block without an end: got no error")
	}
}

func TestScene(t *testing.T) {
	if got := pages.Scene(played); got != "night" {
		t.Errorf("got %q", got)
	}
	if got := pages.Scene("# Page\n" + pages.SceneMark("two-clusters") + "\n"); got != "two-clusters" {
		t.Errorf("got %q", got)
	}
	if got := pages.Scene("# Page\n"); got != "" {
		t.Errorf("no scene: got %q", got)
	}
}
