// Package scenes has what the commands of the pages are run on: for each kind of trouble a cluster inside the process and a store,
// prepared as the page says that it is, and the real program. The demo, the README, the runbooks and the tests of all command lines
// share it.
package scenes

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"time"

	"github.com/twmb/franz-go/pkg/kfake"

	"gtoffset/kafkaops/kafkatest"
	"gtoffset/scripts/pages"
)

// Noon is when every scene begins, by the clock of the program.
var Noon = time.Date(2026, 11, 29, 12, 0, 0, 0, time.UTC)

// Where things are in the pages. On the stage the folders lie in its own folder, and the addresses lead to its clusters.
const (
	Kafka    = "kafka1:9092"
	NewKafka = "kafka-new:9092"
	Store    = "/var/lib/billing/offsets"
	home     = "/home/ops"

	cluster    = "MkU3OEVBNTcwNTJENDM2Qg"
	newCluster = "Tjg0Rk1XcUVRbGFfM1Y5eA"
)

// folders are where files of a page may lie.
var folders = []string{"/var/lib", home, "/checkpoints"}

// A Stage is a scene that is set up.
type Stage struct {
	Broker *kafkatest.Broker
	dir    string
	typed  atomic.Int64 // lines so far
	env    []string
	person bool        // sits at the terminal, and answers yes
	names  [][2]string // what stands in a page, and what it is here
	events map[string]func() error
	ends   []func()
}

// Option changes how a scene is set up.
type Option func(*Stage)

// Person lets somebody sit at the terminal who answers every question with yes.
func Person() Option { return func(s *Stage) { s.person = true } }

// Names lists the scenes.
func Names() []string { return slices.Sorted(maps.Keys(scenes())) }

// Open sets a scene up. Close takes all of it away again.
func Open(scene string, options ...Option) (_ *Stage, err error) {
	set := scenes()[scene]
	if set == nil {
		return nil, fmt.Errorf("there is no scene %q, but: %s", scene, strings.Join(Names(), ", "))
	}
	s := &Stage{events: map[string]func() error{}}
	if s.dir, err = os.MkdirTemp("", "gtoffset-scene-"); err != nil {
		return nil, err
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, s.Close())
		}
	}()
	if err := s.furnish(); err != nil {
		return nil, err
	}
	if s.Broker, err = s.cluster(Kafka, cluster); err != nil {
		return nil, err
	}
	s.env = append(s.env, "GTOFFSET_BOOTSTRAP_SERVER="+s.Broker.Bootstrap())
	for _, change := range options {
		change(s)
	}
	if err := set(s); err != nil {
		return nil, fmt.Errorf("set up the scene %s: %w", scene, err)
	}
	return s, nil
}

// furnish makes the folders, puts the program into the path, and keeps out of the environment what would lead it elsewhere.
func (s *Stage) furnish() error {
	bin := filepath.Join(s.dir, "bin")
	for _, dir := range []string{bin, s.path(home), s.path(Store)} {
		if err := os.MkdirAll(dir, 0o755); err != nil {
			return err
		}
	}
	for _, f := range folders {
		s.known(f, s.path(f))
	}
	self, err := os.Executable()
	if err != nil {
		return err
	}
	if err := os.Symlink(self, filepath.Join(bin, program)); err != nil {
		return err
	}
	for _, v := range os.Environ() {
		name, _, _ := strings.Cut(v, "=")
		if !strings.HasPrefix(name, "GTOFFSET_") && !strings.HasPrefix(name, "KAFKA_") && name != "CI" {
			s.env = append(s.env, v)
		}
	}
	s.env = append(s.env, "PATH="+bin+string(os.PathListSeparator)+os.Getenv("PATH"), "HOME="+s.path(home), "XDG_STATE_HOME="+s.path(home+"/.local/state"))
	return nil
}

// path is where a path of the pages is on the stage.
func (s *Stage) path(shown string) string { return filepath.Join(s.dir, filepath.FromSlash(shown)) }

// cluster starts a cluster that the pages know by an address and an id.
func (s *Stage) cluster(address, id string) (*kafkatest.Broker, error) {
	b, err := kafkatest.New(kafkatest.Options{Brokers: 1, Extra: []kfake.Opt{kfake.ClusterID(id)}})
	if err != nil {
		return nil, fmt.Errorf("start the in-process cluster: %w", err)
	}
	s.ends = append(s.ends, b.Close)
	s.known(address, b.Bootstrap())
	return b, nil
}

// Close ends the clusters and removes the files.
func (s *Stage) Close() error {
	for _, end := range slices.Backward(s.ends) {
		end()
	}
	return os.RemoveAll(s.dir)
}

// Here is a text of a page as it has to be typed on the stage.
func (s *Stage) Here(text string) string { return s.replace(text, 0, 1) }

// Shown is what was printed on the stage as a page shows it.
func (s *Stage) Shown(text string) string { return s.replace(text, 1, 0) }

func (s *Stage) replace(text string, from, to int) string {
	var pairs []string
	for _, n := range s.names {
		pairs = append(pairs, n[from], n[to])
	}
	return strings.NewReplacer(pairs...).Replace(text)
}

// known says what a page shows in place of what differs from run to run.
func (s *Stage) known(shown, here string) { s.names = append(s.names, [2]string{shown, here}) }

// Happen lets an event of the scene happen.
func (s *Stage) Happen(event string) error {
	f := s.events[event]
	if f == nil {
		return fmt.Errorf("nothing of that name happens in this scene, but: %s", strings.Join(slices.Sorted(maps.Keys(s.events)), ", "))
	}
	return f()
}

// File puts a file of a page into the folder in which commands are typed. It can be run.
func (s *Stage) File(name, text string) error {
	return os.WriteFile(filepath.Join(s.path(home), name), []byte(s.Here(text)), 0o755)
}

// now is the time by the clock of the program.
func (s *Stage) now() time.Time { return Noon.Add(time.Duration(s.typed.Load()) * time.Minute) }

// Run runs a line of a page in a shell, and returns its exit code. By the clock of the program it takes a minute. stderr goes where
// stdout goes.
func (s *Stage) Run(ctx context.Context, line string, out io.Writer) (exit int, err error) {
	c := exec.CommandContext(ctx, "sh", "-c", s.Here(line))
	c.WaitDelay = 5 * time.Second
	c.Cancel = func() error { // so that it can clean up
		if err := c.Process.Signal(os.Interrupt); err == nil || errors.Is(err, os.ErrProcessDone) {
			return err
		}
		return c.Process.Kill() // a system without interrupts
	}
	c.Dir, c.Stdout, c.Stderr = s.path(home), out, out
	c.Env = append(slices.Clone(s.env), clock+"="+s.now().Format(time.RFC3339))
	if s.person {
		c.Env = append(c.Env, person+"=1", "NO_COLOR=1")
	}
	s.typed.Add(1)
	err = c.Run()
	if ctx.Err() != nil {
		return 0, ctx.Err()
	}
	if failed := (*exec.ExitError)(nil); err != nil && !errors.As(err, &failed) {
		return 0, fmt.Errorf("run %s: %w", line, err)
	}
	return c.ProcessState.ExitCode(), nil
}

// writer plays a page for what it prints.
type writer struct {
	*Stage
	ctx context.Context
}

func (w writer) Type(_, line string, exit int) (string, error) {
	var printed bytes.Buffer
	got, err := w.Run(w.ctx, line, &printed)
	if err == nil && got != exit {
		err = fmt.Errorf("$ %s\n%sexit %d, want %d", line, w.Shown(printed.String()), got, exit)
	}
	return w.Shown(printed.String()), err
}

// Fresh is a page with what its commands print now, in its scene.
func Fresh(ctx context.Context, page string) (_ string, err error) {
	s, err := Open(pages.Scene(page))
	if err != nil {
		return "", err
	}
	defer func() { err = errors.Join(err, s.Close()) }()
	return pages.Play(page, writer{s, ctx})
}
