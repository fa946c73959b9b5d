package cmd_test

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"testing"

	"gtoffset/output"
)

// guarded is a Redis that wants a password, and keeps one hash.
type guarded struct {
	addr, password string

	mu     sync.Mutex
	fields map[string]string
	logins int
}

func startGuarded(t *testing.T, password string) *guarded {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	must(t, err)
	s := &guarded{addr: l.Addr().String(), password: password, fields: map[string]string{"0": "100"}}
	t.Cleanup(func() { l.Close() })
	go func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			go s.serve(c)
		}
	}()
	return s
}

func (s *guarded) serve(c net.Conn) {
	defer c.Close()
	in := bufio.NewReader(c)
	for known := false; ; {
		words, err := readCommand(in)
		if err != nil {
			return
		}
		answer := "-NOAUTH Authentication required.\r\n"
		if words[0] == "AUTH" {
			answer = "-WRONGPASS invalid username-password pair or user is disabled.\r\n"
			s.mu.Lock()
			if known = words[len(words)-1] == s.password; known {
				answer = "+OK\r\n"
				s.logins++
			}
			s.mu.Unlock()
		} else if known {
			answer = s.answer(words)
		}
		if _, err := io.WriteString(c, answer); err != nil {
			return
		}
	}
}

func readCommand(in *bufio.Reader) ([]string, error) {
	number := func() (int, error) {
		line, err := in.ReadString('\n')
		if err != nil {
			return 0, err
		}
		return strconv.Atoi(strings.TrimSpace(line[1:]))
	}
	n, err := number()
	words := make([]string, n)
	for i := range words {
		size := 0
		if err == nil {
			size, err = number()
		}
		b := make([]byte, size+2)
		if err == nil {
			_, err = io.ReadFull(in, b)
		}
		words[i] = string(b[:size])
	}
	if err == nil && n == 0 {
		err = errors.New("no command")
	}
	return words, err
}

func (s *guarded) answer(words []string) string {
	s.mu.Lock()
	defer s.mu.Unlock()
	bulk := func(text string) string { return fmt.Sprintf("$%d\r\n%s\r\n", len(text), text) }
	switch words[0] {
	case "HGETALL":
		all := fmt.Sprintf("*%d\r\n", 2*len(s.fields))
		for field, value := range s.fields {
			all += bulk(field) + bulk(value)
		}
		return all
	case "SCAN":
		return "*2\r\n" + bulk("0") + "*1\r\n" + bulk("offset:orders:billing")
	case "PTTL":
		return ":-1\r\n"
	case "INFO":
		return bulk("role:master\r\n")
	case "EVAL": // script, 1, key, then number, field, old and new
		for args := words[4:]; len(args) >= 4; args = args[4:] {
			s.fields[args[1]] = strings.TrimPrefix(args[3], "=")
		}
		return "*0\r\n"
	}
	return "-ERR unknown command\r\n"
}

// The password of a store, wherever it comes from, is nowhere but on the wire: not in what is printed, logged, planned or saved, and an
// undo line that has been saved can be pasted.
func TestSecretsStayWhereTheyAre(t *testing.T) {
	t.Parallel()
	const secret = "Secr3t-Passw0rd"
	for name, from := range map[string]struct {
		url  string // behind the scheme; HOST is the server
		vars map[string]string
		file bool
	}{
		"a variable":      {"ops:$STORE_PW@HOST/0", map[string]string{"STORE_PW": secret}, false},
		"a parameter":     {"HOST/0?password=$STORE_PW", map[string]string{"STORE_PW": secret}, false},
		"the environment": {"HOST/0", map[string]string{"GTOFFSET_STORE_PASSWORD": secret}, false},
		"a file":          {"HOST/0?password-file=FILE", nil, true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := start(t).topic("orders", [2]int64{500, 900}).commit("billing", "orders", 100)
			s := startGuarded(t, secret)
			dir := t.TempDir()
			file := filepath.Join(dir, "password")
			if from.file {
				must(t, os.WriteFile(file, []byte(secret+"\n"), 0o600))
			}
			for k, v := range from.vars {
				w.vars[k] = v
			}
			url := "redis://" + strings.NewReplacer("HOST", s.addr, "FILE", file).Replace(from.url)
			var said strings.Builder
			run := func(code int, args ...string) result {
				t.Helper()
				r := w.run(args...).exits(code)
				said.WriteString(r.out + r.err)
				return r
			}
			for _, format := range names(output.Describe{}.Formats()) {
				run(0, "describe", "-g", "billing", "-s", url, "-v", "-o", format)
			}
			run(0, "clamp", "-g", "billing", "-s", url, "--stored", "--dry-run", "-v")
			r := run(0, "clamp", "-g", "billing", "-s", url, "--stored", "--committed", "--execute", "-v", "--why", "retention")
			undo := r.undo()
			run(0, "export", "-g", "billing", "-s", url, "--stored", "-v")
			run(0, "replay", "-g", "billing", "-t", "orders", "-s", url, "--dry-run", "-v")
			run(0, "backups", "-v")
			run(0, "backups", "-o", "json")
			run(0, append(undo, "-v")...)

			// Refused credentials, a server that is away, and a URL that is wrong.
			s.mu.Lock()
			same(t, "undone", s.fields["0"], "100")
			if s.logins == 0 {
				t.Error("nobody logged in")
			}
			s.password = "another"
			s.mu.Unlock()
			run(5, "describe", "-g", "billing", "-s", url, "-v", "--timeout", "1s").says("GTOFFSET_STORE_PASSWORD has it")
			run(5, "clamp", "-g", "billing", "-s", url, "--stored", "--execute", "--timeout", "1s").says("nothing was written", "GTOFFSET_STORE_PASSWORD has it")
			run(5, "describe", "-g", "billing", "-s", strings.Replace(url, s.addr, "127.0.0.1:1", 1), "-v", "--timeout", "1s")
			run(2, "describe", "-g", "billing", "-s", url+"?nonsense=1", "-v")
			run(2, "describe", "-g", "billing", "-s", "redis://ops:"+secret+"@"+s.addr+"/0", "-v", "-o", "json")
			run(2, "describe", "-g", "billing", "-s", "redis://"+s.addr+"/0?password="+secret, "-v")

			if strings.Contains(said.String(), secret) {
				t.Errorf("the password is printed: %q", around(said.String(), secret))
			}
			files := 0
			for _, root := range []string{w.state, w.store} {
				must(t, filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
					if err != nil || d.IsDir() {
						return err
					}
					files++
					text, err := os.ReadFile(path)
					if strings.Contains(path+string(text), secret) {
						t.Errorf("%s has the password: %q", path, around(string(text), secret))
					}
					return err
				}))
			}
			if files < 2 {
				t.Errorf("%d files were looked at", files)
			}
		})
	}
}

// around is where a text has another.
func around(text, part string) string {
	i := strings.Index(text, part)
	return text[max(0, i-80):min(len(text), i+len(part)+20)]
}

// What is almost a URL is not taken for a path, and so not printed with its password.
func TestSecretOfAMistypedStore(t *testing.T) {
	t.Parallel()
	w := low(t)
	for _, store := range []string{
		"mysql:job:S3cret@127.0.0.1:3306/streams", "redis//:S3cret@127.0.0.1:6379/0", "redis:/:S3cret@h/0", "REDIS:S3cret@h", "webhdfs;//u:S3cret@h/x",
		"redis+sentinel:S3cret@h/m", "hbase:job:S3cret@h/t", "Redis://:S3cret@h/0",
	} {
		for _, args := range [][]string{{"describe", "-g", "billing", "-s", store}, {"clamp", "-g", "billing", "--stored", "--execute", "-o", "json", "-s", store}} {
			w.run(args...).exits(2).says("://").never("S3cret")
		}
		w.vars["GTOFFSET_STORE"] = store
		w.run("describe", "-g", "billing").exits(2).never("S3cret")
		delete(w.vars, "GTOFFSET_STORE")
	}
	dir := t.TempDir()
	must(t, os.MkdirAll(filepath.Join(dir, "redis", "offsets"), 0o755))
	t.Run("a folder of such a name", func(t *testing.T) {
		w.run("describe", "-g", "billing", "-s", filepath.Join(dir, "redis/offsets")).exits(0)
		w.run("describe", "-g", "billing", "-s", "redis/elsewhere").exits(1).says("there is no such folder")
	})
}

// A document does not choose which secret goes where: only to a store that the operator has named as well. The lines that are printed name it.
func TestSecretsAreNotADocumentsToSend(t *testing.T) {
	t.Parallel()
	const secret = "Secr3t"
	s := startGuarded(t, secret)
	w := start(t).topic("orders", [2]int64{500, 900}).commit("billing", "orders", 100)
	w.vars["STORE_PW"], w.vars["AWS_SECRET_ACCESS_KEY"] = secret, "another"
	url := "redis://ops:$STORE_PW@" + s.addr + "/0"
	plan := w.run("clamp", "-g", "billing", "-s", url, "--stored", "--dry-run", "-o", "json").exits(0).out
	for from, to := range map[string]string{
		"$STORE_PW": "$AWS_SECRET_ACCESS_KEY", "ops:$STORE_PW@": "ops:$HOME@", s.addr + "/0": s.addr + "/0?sentinel-password=$STORE_PW",
		"ops:$STORE_PW@" + s.addr + "/0": s.addr + "/0?password-file=/etc/hostname",
	} {
		w.b.Reset()
		r := w.run("import", w.document(strings.ReplaceAll(plan, from, to)), "--execute").exits(4).says("would be sent", "nothing was written", "hint: add -s 'redis://")
		same(t, "requests", w.b.Count(), 0)
		r.never(secret, "another")
	}
	w.vars["GTOFFSET_STORE_PASSWORD"] = secret
	w.run("import", w.document(strings.ReplaceAll(plan, "ops:$STORE_PW@", "")), "--execute").exits(4).says("$GTOFFSET_STORE_PASSWORD would be sent")
	delete(w.vars, "GTOFFSET_STORE_PASSWORD")
	file := w.document(plan)
	w.run("import", file, "--dry-run").exits(4)
	w.vars["GTOFFSET_STORE"] = url
	w.run("import", file, "--dry-run").exits(0)
	delete(w.vars, "GTOFFSET_STORE")
	undo := w.run("import", file, "-s", url, "--execute").exits(0).undo()
	if !strings.Contains(strings.Join(undo, " "), "-s "+url) {
		t.Errorf("the undo line does not name the store: %q", undo)
	}
	w.run(undo...).exits(0)
	same(t, "undone", s.fields["0"], "100")
}
