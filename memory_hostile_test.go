//go:build !race && linux

package main

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"gtoffset/kafkaops/kafkatest"
)

// gigabyte is more than any file of offsets has.
const gigabyte = 1 << 30

// refused runs the program on something hostile, and checks that it ends with a code, says why, and takes no more than 64 MB.
func refused(t *testing.T, env []string, in io.Reader, code int, why string, args ...string) {
	t.Helper()
	bin, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	c := exec.CommandContext(t.Context(), bin, args...)
	c.Env = append([]string{"TEST_PROGRAM=1", "TMPDIR=" + t.TempDir()}, env...)
	var out, talk bytes.Buffer
	c.Stdout, c.Stderr = &out, &talk
	if file, ok := in.(*os.File); ok {
		c.Stdin = file
	} else if in != nil {
		pipe, err := c.StdinPipe()
		if err != nil {
			t.Fatal(err)
		}
		go func() {
			_, _ = io.Copy(pipe, in) // the program hangs up as soon as it has seen enough
			pipe.Close()
		}()
	}
	_ = c.Run() // the code says it all
	peak := c.ProcessState.SysUsage().(*syscall.Rusage).Maxrss << 10
	t.Logf("%d MB, exit %d: %v", peak/1e6, c.ProcessState.ExitCode(), args)
	if got := c.ProcessState.ExitCode(); got != code || !strings.Contains(out.String()+talk.String(), why) {
		t.Errorf("%v: exit %d, want %d and %q\n%.2000s%.2000s", args, got, code, why, &out, &talk)
	}
	if peak > 64e6 {
		t.Errorf("%v: peak of %d MB, want at most 64", args, peak/1e6)
	}
	if n := out.Len() + talk.Len(); n > 16<<10 {
		t.Errorf("%v: it said %d bytes", args, n)
	}
}

// repeating is a text again and again, of a gigabyte in all.
func repeating(text string) io.Reader {
	block := []byte(strings.Repeat(text, max(1, 1<<16/len(text))))
	var all []io.Reader
	for n := 0; n < gigabyte; n += len(block) {
		all = append(all, bytes.NewReader(block))
	}
	return io.MultiReader(all...)
}

// sparse makes a file of a gigabyte that begins with a text, and takes next to no room on the disk.
func sparse(t *testing.T, path, text string) string {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
	if err := os.Truncate(path, gigabyte); err != nil {
		t.Fatal(err)
	}
	return path
}

// Whatever is handed to the program in place of offsets, by whichever way it reads them, is refused with its reason and in 64 MB.
func TestMemoryOfHostileInput(t *testing.T) {
	b := kafkatest.Start(t, kafkatest.Options{Brokers: 1, Topics: map[string]int32{"orders": 2}})
	if err := b.Commit("billing", "orders", 0, 0, -1, ""); err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	env := []string{"GTOFFSET_BOOTSTRAP_SERVER=" + b.Bootstrap(), "HOME=" + t.TempDir()}

	store := filepath.Join(dir, "store")
	sparse(t, filepath.Join(store, "billing", "orders", "gtoffset"), "# gtoffset 1\n0 5\n")
	const tooLarge = "larger than 64 MiB"
	refused(t, env, nil, 3, tooLarge, "describe", "-g", "billing", "-s", store)
	refused(t, env, nil, 4, tooLarge, "clamp", "-g", "billing", "-t", "orders", "-s", store, "--stored", "--execute")
	refused(t, env, nil, 4, tooLarge, "clamp", "-g", "billing", "-t", "orders", "-s", store, "--stored", "--salvage", "--execute")
	refused(t, env, nil, 4, tooLarge, "reset", "-g", "billing", "-t", "orders", "-s", store, "--stored", "--to-earliest", "--execute")
	refused(t, env, nil, 3, tooLarge, "export", "-g", "billing", "-s", store, "--stored")
	refused(t, env, nil, 1, tooLarge, "import", store, "--committed", "--execute")
	refused(t, env, nil, 5, tooLarge, "replay", "-g", "billing", "-t", "orders", "-s", store)
	spark := filepath.Join(dir, "spark")
	sparse(t, filepath.Join(spark, "offsets", "0"), "v1\n{}\n")
	sparse(t, filepath.Join(spark, "commits", "0"), "v1\n{}\n")
	refused(t, env, nil, 3, tooLarge, "describe", "-g", "billing", "-s", "spark:"+spark)
	password := sparse(t, filepath.Join(dir, "password"), "secret")
	refused(t, env, nil, 2, "more than any such file has", "describe", "-g", "billing", "-s", "redis://127.0.0.1:1/0?password-file="+password)

	const tooLong = "larger than 256 MiB"
	for name, text := range map[string]string{
		"offsets.json": `{"schema":"gtoffset.offsets/1","groups":[`, "offsets.yaml": "schema: gtoffset.offsets/1\n", "offsets.csv": "orders,0,1\n", "offsets.txt": "0 1\n",
	} {
		path := sparse(t, filepath.Join(dir, name), text)
		refused(t, env, nil, 1, tooLong, "import", path, "-g", "billing", "--committed", "--execute")
		refused(t, env, nil, 1, tooLong, "reset", "-g", "billing", "--from-file", path, "--committed", "--execute")
		in, err := os.Open(path)
		if err != nil {
			t.Fatal(err)
		}
		defer in.Close()
		refused(t, env, in, 1, tooLong, "import", "-", "-g", "billing", "--committed", "--execute")
	}
	state := filepath.Join(dir, "backups")
	sparse(t, filepath.Join(state, "20261129T120000Z-clamp-billing.json"), "{")
	refused(t, env, nil, 1, tooLong, "backups", "--backup-dir", state)

	for _, text := range []string{"0", "[", "orders,0,1\n", "a: ", `{"a":`, "\x00", "0 1\n", "\"", "schema: gtoffset.offsets/1\n"} {
		refused(t, env, repeating(text), 1, tooLong, "import", "-", "-g", "billing", "--committed", "--execute")
	}
	for name, text := range map[string]string{
		"nested.json": strings.Repeat("[", 1<<20), "nested.yaml": "schema: gtoffset.offsets/1\na: " + strings.Repeat("{b: ", 1<<18), "nested2.yaml": "schema: gtoffset.offsets/1\na:\n" + strings.Repeat("- ", 1<<18),
	} {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
		refused(t, env, nil, 1, "too deep", "import", path, "-g", "billing", "--committed", "--execute")
	}
}

// What is small enough to be read is refused in bounded memory, too, whatever is in it. The content is written line by line: what this
// process holds would count as the program's.
func TestMemoryOfHostileLines(t *testing.T) {
	store := t.TempDir()
	path := filepath.Join(store, "billing", "orders", "gtoffset")
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	b := kafkatest.Start(t, kafkatest.Options{Brokers: 1, Topics: map[string]int32{"orders": 2}})
	env := []string{"TEST_PROGRAM=1", "GTOFFSET_BOOTSTRAP_SERVER=" + b.Bootstrap(), "HOME=" + t.TempDir()}
	for _, tt := range []struct {
		name string
		line func(i int) string
		n    int
		says string
		most int64 // MB
	}{
		{"blank lines", func(int) string { return "\n" }, 60 << 20, "more than 1,048,640 lines", 220},
		{"one line", func(int) string { return "0000000000000000" }, 60 << 16, "damaged", 220},
		{"a million bad lines", func(i int) string { return fmt.Sprintf("%d -%d a=b c=d\n", i, i) }, 1_000_000, "and more in lines 51-1000000", 450},
		{"a million entries", func(i int) string { return fmt.Sprintf("%d %d\n", i, i) }, 1_000_000, "billing,orders,999999,999999", 750},
	} {
		f, err := os.Create(path)
		if err != nil {
			t.Fatal(err)
		}
		w := bufio.NewWriter(f)
		for i := range tt.n {
			w.WriteString(tt.line(i))
		}
		if err := errors.Join(w.Flush(), f.Close()); err != nil {
			t.Fatal(err)
		}
		bin, err := os.Executable()
		if err != nil {
			t.Fatal(err)
		}
		c := exec.CommandContext(t.Context(), bin, "export", "-g", "billing", "-s", store, "--stored", "-o", "csv", "--timeout", "10m")
		c.Env = env
		said := &end{}
		c.Stdout, c.Stderr = said, said
		_ = c.Run() // what is wrong is told
		peak := c.ProcessState.SysUsage().(*syscall.Rusage).Maxrss << 10 / 1e6
		t.Logf("%s: %d MB, exit %d", tt.name, peak, c.ProcessState.ExitCode())
		if !strings.Contains(string(said.text), tt.says) || peak > tt.most {
			t.Errorf("%s: peak of %d MB, want at most %d, and %q\n%s", tt.name, peak, tt.most, tt.says, said.text)
		}
	}
}

// end keeps the last of what is written to it.
type end struct{ text []byte }

func (e *end) Write(p []byte) (int, error) {
	e.text = append(e.text, p...)
	if over := len(e.text) - 8<<10; over > 0 {
		e.text = append(e.text[:0], e.text[over:]...)
	}
	return len(p), nil
}
