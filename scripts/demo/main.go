// Demo shows gtoffset at work on a machine that has nothing but Go. It starts a Kafka cluster inside its own process, lets a
// consumer group break in every way that a clamp mends, and runs the program on it, step by step, as docs/tour.md tells:
//
//	go run ./scripts/demo
//	go run ./scripts/demo docs/runbooks/a-poison-record.md   # the steps of another page
//	go run ./scripts/demo -write                             # what the commands of all pages print now, into the pages
//
// It ends by itself, leaves nothing behind, and fails when a step does not end with the exit code that the page says.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"strings"
	"syscall"

	"gtoffset/cmd"
	"gtoffset/output"
	"gtoffset/scripts/pages"
	"gtoffset/scripts/scenes"
)

const tour = "docs/tour.md"

func main() {
	scenes.Program()
	os.Exit(run())
}

func run() int {
	write := flag.Bool("write", false, "write what is printed into the page; without a page, into all")
	flag.Usage = func() {
		fmt.Fprintf(flag.CommandLine.Output(), "usage: go run ./scripts/demo [-write] [PAGE]\n\nRuns the commands of a page on a cluster in its own process, and prints what they print; without a page, those of %s.\n\n", tour)
		flag.PrintDefaults()
	}
	flag.Parse()
	if flag.NArg() > 1 {
		fmt.Fprintf(os.Stderr, "demo: one page at a time, not %q\n", flag.Args())
		return 2
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM, syscall.SIGHUP, syscall.SIGPIPE)
	defer stop()

	var err error
	if *write {
		err = writePages(ctx, flag.Arg(0))
	} else {
		err = show(ctx, os.Stdout, output.Open(os.Stdout, cmd.System(nil).StdoutWidth, output.ColorAuto, os.Getenv).Color, flag.Arg(0))
	}
	switch {
	case err == nil:
		return 0
	case ctx.Err() != nil && errors.Is(err, ctx.Err()):
		fmt.Fprintln(os.Stderr, "demo: interrupted; nothing is left behind")
		return 130
	default:
		fmt.Fprintln(os.Stderr, "demo:", err)
		return 1
	}
}

// root is the folder of the repository, wherever below it this runs.
func root(ctx context.Context) (string, error) {
	said, err := exec.CommandContext(ctx, "go", "env", "GOMOD").Output()
	if err != nil {
		return "", fmt.Errorf("find the repository: %w", err)
	}
	return filepath.Dir(strings.TrimSpace(string(said))), nil
}

// read returns a page; "" is the tour.
func read(ctx context.Context, page string) (string, error) {
	if page == "" {
		dir, err := root(ctx)
		if err != nil {
			return "", err
		}
		page = filepath.Join(dir, filepath.FromSlash(tour))
	}
	text, err := os.ReadFile(page)
	if err == nil && pages.Scene(string(text)) == "" {
		err = fmt.Errorf("%s has no scene", page)
	}
	return string(text), err
}

// writePages writes one page anew, or with "" all.
func writePages(ctx context.Context, page string) error {
	all := []string{page}
	if page == "" {
		dir, err := root(ctx)
		if err != nil {
			return err
		}
		if all, err = scenes.Pages(dir); err != nil {
			return err
		}
		for i := range all {
			all[i] = filepath.Join(dir, all[i])
		}
	}
	for _, path := range all {
		text, err := read(ctx, path)
		if err != nil {
			return err
		}
		fresh, err := scenes.Fresh(ctx, text)
		if err != nil {
			return fmt.Errorf("%s: %w", path, err)
		}
		if fresh == text {
			continue
		}
		if err := os.WriteFile(path, []byte(fresh), 0o644); err != nil {
			return err
		}
		fmt.Printf("%s: written\n", path)
	}
	return nil
}

// show plays a page on the terminal.
func show(ctx context.Context, out io.Writer, color bool, page string) (err error) {
	text, err := read(ctx, page)
	if err != nil {
		return err
	}
	p := player{ctx: ctx, out: out}
	if color {
		p.why, p.typed, p.dim, p.plain = "\x1b[1;36m", "\x1b[1m", "\x1b[2m", "\x1b[0m"
	}
	p.say(p.dim, "Starting a Kafka cluster inside this process.")
	if p.Stage, err = scenes.Open(pages.Scene(text)); err != nil {
		return err
	}
	defer func() { err = errors.Join(err, p.Close()) }()
	if _, err := pages.Play(text, &p); err != nil {
		return err
	}
	fmt.Fprintln(out)
	p.say(p.dim, "That was all of it: the cluster ends with this process, and the files are removed.")
	return nil
}

// player shows the steps of a page while they run.
type player struct {
	*scenes.Stage
	ctx                    context.Context
	out                    io.Writer
	why, typed, dim, plain string // escape sequences
	steps                  int
}

func (p *player) say(how, text string) { fmt.Fprintf(p.out, "%s%s%s\n", how, text, p.plain) }

func (p *player) Happen(event string) error {
	fmt.Fprintln(p.out)
	p.say(p.dim, "Meanwhile: "+event+".")
	return p.Stage.Happen(event)
}

func (p *player) Type(why, line string, exit int) (string, error) {
	p.steps++
	fmt.Fprintln(p.out)
	if why != "" {
		p.say(p.why, fmt.Sprintf("%d. %s", p.steps, why))
		fmt.Fprintln(p.out)
	}
	p.say(p.typed, "$ "+p.Here(line))
	got, err := p.Run(p.ctx, line, p.out)
	if err != nil {
		return "", err
	}
	p.say(p.dim, fmt.Sprintf("exit %d", got))
	if got != exit {
		return "", fmt.Errorf("%s: exit %d, want %d", line, got, exit)
	}
	return "", nil
}
