package cmd

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	"github.com/spf13/pflag"

	"gtoffset/offsetfile"
	"gtoffset/output"
)

// write lets a view write to stdout, or to a file that is replaced as a whole: whoever reads it meanwhile, as a collector of metrics
// does, sees the old one or the new.
func (g *global) write(path string, view func(output.Stream) error) error {
	if path == "" {
		out := g.out()
		b := bufio.NewWriterSize(out.W, 64<<10) // many groups are many small pieces
		out.W = b
		return errors.Join(view(out), b.Flush())
	}
	var b bytes.Buffer
	if err := view(output.Plain(&b)); err != nil {
		return err
	}
	if err := replaceFile(path, b.Bytes()); err != nil {
		return &problem{code: exitFailed, text: fmt.Sprintf("write %s: %v", path, err), hint: "check the path, and the rights on its folder", err: err}
	}
	return nil
}

// exact is stdout for what holds names and values as they are: on a terminal, where nothing reads them, what would move its cursor
// is shown as an escape.
func (g *global) exact() io.Writer {
	return g.out().Exact()
}

// replaceFile writes a file beside the old one and puts it in its place. A new one may be read by all, an old one keeps its mode. A pipe, or a
// device, stays what it is.
func replaceFile(path string, content []byte) (err error) {
	mode := fs.FileMode(0o644)
	switch info, err := os.Stat(path); {
	case err == nil && info.IsDir():
		return errors.New("it is a folder")
	case err == nil && info.Mode()&(fs.ModeDevice|fs.ModeCharDevice) == fs.ModeDevice:
		return errors.New("it is a disk")
	case err == nil && !info.Mode().IsRegular():
		return overwrite(path, content)
	case err == nil:
		mode = info.Mode().Perm()
	case !errors.Is(err, fs.ErrNotExist):
		return unwrapPath(err)
	}
	path = resolved(path) // a link stays, also one whose file is yet to be made
	tidy(path)
	f, err := os.CreateTemp(filepath.Dir(path), "."+filepath.Base(path)+".*.tmp")
	if err != nil {
		return unwrapPath(err)
	}
	defer func() {
		if err != nil {
			err = errors.Join(unwrapPath(err), os.Remove(f.Name()))
		}
	}()
	_, err = f.Write(content)
	if err := errors.Join(err, f.Chmod(mode), f.Sync(), f.Close()); err != nil {
		return err
	}
	return os.Rename(f.Name(), path)
}

// overwrite writes to what is there. A pipe that nobody reads is an error, and does not block.
func overwrite(path string, content []byte) error {
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_TRUNC|syscall.O_NONBLOCK, 0)
	if err != nil {
		return unwrapPath(err)
	}
	_, err = f.Write(content)
	return unwrapPath(errors.Join(err, f.Close()))
}

// tidy removes what runs that were killed have left of this one file: temporaries of an hour ago, by their names.
func tidy(path string) {
	folder := filepath.Dir(path)
	all, _ := os.ReadDir(folder) // without a right to list they stay
	for _, e := range all {
		n, ours := strings.CutPrefix(e.Name(), "."+filepath.Base(path)+".")
		n, temp := strings.CutSuffix(n, ".tmp")
		if !ours || !temp || n == "" || strings.Trim(n, "0123456789") != "" || !e.Type().IsRegular() {
			continue
		}
		if info, err := e.Info(); err == nil && time.Since(info.ModTime()) > time.Hour {
			_ = os.Remove(filepath.Join(folder, e.Name()))
		}
	}
}

// unwrapPath leaves out the name of the temporary file, which says nothing to anybody.
func unwrapPath(err error) error {
	if p := (*fs.PathError)(nil); errors.As(err, &p) {
		return p.Err
	}
	if l := (*os.LinkError)(nil); errors.As(err, &l) {
		return l.Err
	}
	return err
}

// validateTargets refuses, before anything is read, to write what is only told to a place where offsets are kept, and a summary that
// could not be written in the end.
func (g *global) validateTargets(flags *pflag.FlagSet) error {
	for _, name := range []string{"output-file", "summary"} {
		f := flags.Lookup(name)
		if f == nil || !f.Changed {
			continue
		}
		path := f.Value.String()
		flag := "--" + name
		switch real := resolved(path); {
		case path == "-":
			return usage(flag+" - is no file", "leave it out for stdout; a file of that name is ./-")
		case offsetfile.IsReserved(filepath.Base(path)), offsetfile.IsReserved(filepath.Base(real)):
			return usage(fmt.Sprintf("%s %s is the name of a gtoffset file, in which a job keeps its offsets", flag, path), "name another file")
		case ofOthers(path):
			return usage(fmt.Sprintf("%s %s is a file that this process was given, and would be replaced with all that is in it", flag, path), map[string]string{"output-file": "leave the flag out for stdout, or "}[name]+"name another file")
		case g.commandConfig != "" && real == resolved(g.commandConfig):
			return usage(fmt.Sprintf("%s %s is the file of --command-config", flag, path), "name another file")
		case g.holds(real):
			return usage(fmt.Sprintf("%s %s is inside the store %s", flag, path, g.store), "name a file elsewhere")
		}
		if name == "summary" { // it is written last, when all is read
			if err := writable(path); err != nil {
				return &problem{code: exitFailed, text: fmt.Sprintf("write %s: %v; nothing was read", path, unwrapPath(err)), hint: "check the path, and the rights on its folder", err: err}
			}
		}
	}
	return nil
}

// ofOthers reports that this process was given the file open, by whatever name: the log of a script, say, that its stderr goes to.
func ofOthers(path string) bool {
	const open = "/dev/fd"
	info, err := os.Stat(path)
	if err != nil || !info.Mode().IsRegular() {
		return false
	}
	given, _ := os.ReadDir(open)
	for _, e := range given {
		if other, err := os.Stat(filepath.Join(open, e.Name())); err == nil && os.SameFile(info, other) {
			return true
		}
	}
	return false
}

// holds reports whether a resolved path is in the store, if that is a folder.
func (g *global) holds(path string) bool {
	_, root, _ := localPath(g.store)
	if root == "" {
		return false
	}
	rel, err := filepath.Rel(resolved(root), path)
	return err == nil && filepath.IsLocal(rel)
}

// resolved is an absolute path without symbolic links, as far as it is there. A link may lead to what is yet to be made.
func resolved(path string) string {
	path = absolutePath(path)
	for range 40 {
		if real, err := filepath.EvalSymlinks(path); err == nil {
			return real
		}
		dir, err := filepath.EvalSymlinks(filepath.Dir(path))
		if err != nil {
			break
		}
		to, err := os.Readlink(path)
		if err != nil {
			break
		}
		if !filepath.IsAbs(to) {
			to = filepath.Join(dir, to)
		}
		path = to
	}
	return followed(path)
}

// followed is a path without the links of those of its folders that are there.
func followed(path string) string {
	if real, err := filepath.EvalSymlinks(path); err == nil {
		return real
	}
	if dir := filepath.Dir(path); dir != path {
		return filepath.Join(followed(dir), filepath.Base(path))
	}
	return path
}

// writable reports why a file cannot be written, and leaves everything as it is. Of a pipe nobody can tell: who reads it takes its
// being closed again for the end.
func writable(path string) error {
	switch info, err := os.Stat(path); {
	case err == nil && info.Mode()&fs.ModeNamedPipe != 0:
		return nil
	case err == nil:
		f, err := os.OpenFile(path, os.O_WRONLY, 0)
		if err != nil {
			return err
		}
		return f.Close()
	}
	path = resolved(path)
	f, err := os.CreateTemp(filepath.Dir(path), "."+filepath.Base(path)+".*.tmp")
	if err != nil {
		return err
	}
	return errors.Join(f.Close(), os.Remove(f.Name()))
}
