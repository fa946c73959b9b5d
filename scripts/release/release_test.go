//go:build !race

// Under the race detector packing takes many times as long, and it sees nothing of the programs that are run here: scripts/test runs this
// without it.

package main

import (
	"bytes"
	"crypto/sha256"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"

	"go.yaml.in/yaml/v3"

	"gtoffset/scripts/needs"
)

const repository = "../.."

// A package of this machine's kind is the same however often it is built, and what it installs runs, and can be read.
func TestDebianPackage(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("packages are for linux")
	}
	host := runtime.GOOS + "/" + runtime.GOARCH
	if !slices.Contains(platforms, host) {
		t.Skip("packages are for amd64 and arm64")
	}
	out, again := t.TempDir(), t.TempDir()
	names, err := release(t.Context(), repository, out, []string{host})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := release(t.Context(), repository, again, []string{host}); err != nil {
		t.Fatal(err)
	}
	sums := string(read(t, filepath.Join(out, "checksums.txt")))
	deb := ""
	for _, name := range names {
		content := read(t, filepath.Join(out, name))
		if !bytes.Equal(content, read(t, filepath.Join(again, name))) {
			t.Errorf("%s is another one the second time", name)
		}
		if line := fmt.Sprintf("%x  %s\n", sha256.Sum256(content), name); name != "checksums.txt" && !strings.Contains(sums, line) {
			t.Errorf("checksums.txt lacks %s", line)
		}
		if strings.HasSuffix(name, ".deb") {
			deb = filepath.Join(out, name)
		}
	}
	if deb == "" {
		t.Fatalf("there is no package among %q", names)
	}
	root := installed(t, deb)
	program := filepath.Join(root, "usr/bin/gtoffset")
	head := run(t, "git", "-C", repository, "rev-parse", "HEAD")
	version := run(t, program, "version")
	for _, want := range []string{"gtoffset 0.", "commit   " + strings.TrimSpace(head), "date     20", "built by go", "github.com/segmentio/kafka-go", "LIBRARY"} {
		if !strings.Contains(version, want) {
			t.Errorf("version lacks %q:\n%s", want, version)
		}
	}
	for path, want := range map[string]string{
		"usr/share/bash-completion/completions/gtoffset":    "complete",
		"usr/share/zsh/vendor-completions/_gtoffset":        "#compdef gtoffset",
		"usr/share/fish/vendor_completions.d/gtoffset.fish": "complete -c gtoffset",
		"usr/share/doc/gtoffset/copyright":                  "Apache License",
	} {
		if !bytes.Contains(read(t, filepath.Join(root, path)), []byte(want)) {
			t.Errorf("%s lacks %q", path, want)
		}
	}
	needs.Programs(t, "man")
	commands := run(t, program, "--help")
	_, commands, _ = strings.Cut(commands, "\nCommands\n")
	commands, _, _ = strings.Cut(commands, "\n\n")
	for line := range strings.Lines(commands) {
		if !strings.HasPrefix(line, "   ") {
			manual(t, root, "gtoffset-"+strings.Fields(line)[0])
		}
	}
	manual(t, root, "gtoffset")
}

// installed puts a package into a folder as if that were the root of a machine.
func installed(t *testing.T, deb string) string {
	t.Helper()
	needs.Programs(t, "dpkg")
	if said := run(t, "dpkg-deb", "--info", deb); !strings.Contains(said, "Package: gtoffset") {
		t.Errorf("dpkg-deb --info says\n%s", said)
	}
	root := t.TempDir()
	for _, dir := range []string{"var/lib/dpkg/info", "var/lib/dpkg/updates", "var/lib/dpkg/triggers"} {
		if err := os.MkdirAll(filepath.Join(root, dir), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	for _, name := range []string{"status", "available"} {
		if err := os.WriteFile(filepath.Join(root, "var/lib/dpkg", name), nil, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	install := []string{"dpkg", "--root=" + root, "--log=" + filepath.Join(root, "dpkg.log"), "--force-not-root", "--force-architecture", "--install", deb}
	if os.Getuid() != 0 { // the files are root's
		needs.Programs(t, "fakeroot")
		install = append([]string{"fakeroot"}, install...)
	}
	run(t, install[0], install[1:]...)
	if said := run(t, "dpkg", "--root="+root, "--status", "gtoffset"); !strings.Contains(said, "Status: install ok installed") {
		t.Errorf("dpkg --status says\n%s", said)
	}
	if _, err := exec.LookPath("debsums"); err == nil {
		run(t, "debsums", "--root="+root, "gtoffset")
	}
	return root
}

// manual reads an installed manual page as man does.
func manual(t *testing.T, root, name string) {
	t.Helper()
	path := filepath.Join(root, "usr/share/man/man1", name+".1.gz")
	if _, err := os.Stat(path); err != nil {
		t.Error(err)
		return
	}
	c := exec.Command("man", "--warnings=all", "-l", path)
	c.Env = append(os.Environ(), "LC_ALL=C.UTF-8", "MANWIDTH=80", "MANPAGER=cat")
	var out, talk bytes.Buffer
	c.Stdout, c.Stderr = &out, &talk
	if err := c.Run(); err != nil || talk.Len() > 0 {
		t.Errorf("man %s: %v\n%s", name, err, &talk)
	}
	for _, want := range []string{"NAME", "SYNOPSIS", "OPTIONS", "EXAMPLES"} {
		if !strings.Contains(out.String(), want) && (want != "OPTIONS" || name == "gtoffset") {
			t.Errorf("man %s lacks %s:\n%s", name, want, &out)
		}
	}
}

func read(t *testing.T, path string) []byte {
	t.Helper()
	content, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return content
}

func run(t *testing.T, name string, args ...string) string {
	t.Helper()
	said, err := exec.Command(name, args...).CombinedOutput()
	if err != nil {
		t.Fatalf("%s %s: %v\n%s", name, strings.Join(args, " "), err, said)
	}
	return string(said)
}

// goreleaser is what .goreleaser.yaml may say: the fields of goreleaser 2.15 that we use. Where goreleaser itself is installed it looks, too.
type goreleaser struct {
	Version int
	Project string `yaml:"project_name"`
	Before  struct{ Hooks []string }
	Builds  []struct {
		Main, ID            string
		Env, Flags, Ldflags []string
		Goos, Goarch        []string
		Timestamp           string `yaml:"mod_timestamp"`
	}
	Archives []struct {
		Formats   []string
		Name      string `yaml:"name_template"`
		Wrap      bool   `yaml:"wrap_in_directory"`
		Overrides []struct {
			Goos    string
			Formats []string
		} `yaml:"format_overrides"`
		Files []yaml.Node
	}
	Packages []struct {
		Formats                      []string
		Name                         string `yaml:"file_name_template"`
		Maintainer, License, Section string
		Priority, Description        string
		Contents                     []struct{ Src, Dst string }
	} `yaml:"nfpms"`
	Checksum struct {
		Name string `yaml:"name_template"`
	}
	Changelog struct{ Disable bool }
}

func TestGoreleaser(t *testing.T) {
	d := yaml.NewDecoder(bytes.NewReader(read(t, filepath.Join(repository, ".goreleaser.yaml"))))
	d.KnownFields(true)
	var c goreleaser
	if err := d.Decode(&c); err != nil {
		t.Fatal(err)
	}
	if c.Version != 2 || c.Project != "gtoffset" || len(c.Builds) != 1 || len(c.Archives) != 1 || len(c.Packages) != 1 || c.Checksum.Name != "checksums.txt" {
		t.Fatalf("%+v", c)
	}
	b := c.Builds[0]
	var all []string
	for _, goos := range b.Goos {
		for _, arch := range b.Goarch {
			all = append(all, goos+"/"+arch)
		}
	}
	if !slices.Equal(all, platforms) {
		t.Errorf("goreleaser builds for %q, and scripts/release for %q", all, platforms)
	}
	if !slices.Equal(b.Flags, []string{"-trimpath"}) || !slices.Equal(b.Env, []string{"CGO_ENABLED=0"}) || !slices.Equal(b.Ldflags, []string{"-s -w -funcalign=8 -buildid="}) {
		t.Errorf("goreleaser builds otherwise: %+v", b)
	}
	for _, content := range c.Packages[0].Contents { // what is made on the way is not there yet
		if found, _ := filepath.Glob(filepath.Join(repository, content.Src)); len(found) == 0 && !strings.HasPrefix(content.Src, "dist-completions/") {
			t.Errorf("%s is not there", content.Src)
		}
	}
	if tool, err := exec.LookPath("goreleaser"); err == nil {
		c := exec.Command(tool, "check")
		c.Dir = repository
		if said, err := c.CombinedOutput(); err != nil {
			t.Errorf("goreleaser check: %v\n%s", err, said)
		}
	}
}
