package cmd_test

import (
	"bytes"
	"encoding/json"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
)

const module = "gtoffset"

// listed is a package as go list tells of it.
type listed struct {
	ImportPath string
	Standard   bool
	Imports    []string
}

func golist(t *testing.T, args ...string) []listed {
	t.Helper()
	c := exec.Command("go", append([]string{"list", "-json=ImportPath,Standard,Imports"}, args...)...)
	c.Dir = ".."
	var talk bytes.Buffer
	c.Stderr = &talk
	out, err := c.Output()
	if err != nil {
		t.Fatalf("go list: %v\n%s", err, talk.String())
	}
	var all []listed
	for d := json.NewDecoder(bytes.NewReader(out)); ; {
		var p listed
		if err := d.Decode(&p); err == io.EOF {
			return all
		} else if err != nil {
			t.Fatal(err)
		}
		all = append(all, p)
	}
}

// below says that a package is path, or lies below it.
func below(pkg string, paths ...string) bool {
	return slices.ContainsFunc(paths, func(p string) bool { return pkg == p || strings.HasPrefix(pkg, p+"/") })
}

// Imports run one way: main → cmd → {kafkaops, offsetfile, output} → kafkaops/offsets → the standard library.
func TestImportsRunOneWay(t *testing.T) {
	t.Parallel()
	all := golist(t, "-deps", "./...")
	standard := map[string]bool{"C": true}
	for _, p := range all {
		standard[p.ImportPath] = standard[p.ImportPath] || p.Standard
	}
	const (
		main, cmd, kafkaops, offsets = module, module + "/cmd", module + "/kafkaops", module + "/kafkaops/offsets"
		offsetfile, output           = module + "/offsetfile", module + "/output"
	)
	free := []string{kafkaops + "/kafkatest", offsetfile + "/storetest", module + "/scripts", module + "/docs/examples"}
	layer := func(pkg string) string {
		switch {
		case below(pkg, free...):
			return "free"
		case pkg == main:
			return "main"
		case below(pkg, cmd):
			return "cmd"
		case below(pkg, offsets):
			return "offsets"
		case below(pkg, kafkaops):
			return "kafkaops"
		case below(pkg, offsetfile):
			return "offsetfile"
		case below(pkg, output):
			return "output"
		}
		return "nowhere"
	}
	may := map[string][]string{
		"main": {"cmd"}, "cmd": {"cmd", "kafkaops", "offsetfile", "output", "offsets"},
		"kafkaops": {"kafkaops", "offsets"}, "offsetfile": {"offsetfile", "offsets"}, "output": {"output", "offsets"},
		"offsets": nil,
	}
	// Where a library of others may be imported. Libraries that are in no line are for one package only, and found in review.
	home := map[string][]string{
		"github.com/segmentio/kafka-go":     {kafkaops},
		"github.com/twmb/franz-go":          {kafkaops},
		"github.com/olekukonko/tablewriter": {output},
		"github.com/fatih/color":            {output},
		"github.com/spf13":                  {cmd},
		"github.com/gofrs/flock":            {offsetfile},
		"go.yaml.in/yaml":                   {"no place"}, // but in tests: it costs at every start, and reads 100,000 partitions in 600 MB
	}
	ours := 0
	for _, p := range all {
		if !below(p.ImportPath, module) || p.Standard {
			continue
		}
		ours++
		from := layer(p.ImportPath)
		if from == "nowhere" {
			t.Errorf("%s has no place in the layout", p.ImportPath)
		}
		if from == "free" {
			continue
		}
		for _, imported := range p.Imports {
			switch {
			case standard[imported]:
			case below(imported, module):
				if to := layer(imported); !slices.Contains(may[from], to) {
					t.Errorf("%s imports %s", p.ImportPath, imported)
				}
			case from == "offsets" || from == "main":
				t.Errorf("%s imports %s: it is to rest on the standard library alone", p.ImportPath, imported)
			default:
				for library, homes := range home {
					if below(imported, library) && !below(p.ImportPath, homes...) {
						t.Errorf("%s imports %s, which belongs into %v", p.ImportPath, imported, homes)
					}
				}
				if imported == "github.com/segmentio/kafka-go" || below(imported, "github.com/twmb/franz-go/pkg/kfake", "github.com/twmb/franz-go/pkg/kgo") {
					t.Errorf("%s imports %s", p.ImportPath, imported)
				}
			}
		}
	}
	if ours < 6 {
		t.Errorf("only %d packages of ours were looked at", ours)
	}
}

// What the binary is made of: neither kafka-go's root package nor the test broker, and no template is ever executed.
func TestBinaryIsLean(t *testing.T) {
	t.Parallel()
	for _, p := range golist(t, "-deps", ".") {
		if p.ImportPath == "github.com/segmentio/kafka-go" || p.ImportPath == "html/template" || p.ImportPath == "testing" ||
			below(p.ImportPath, "github.com/twmb/franz-go/pkg/kfake", "github.com/twmb/franz-go/pkg/kgo", module+"/kafkaops/kafkatest", module+"/scripts") {
			t.Errorf("the binary has %s", p.ImportPath)
		}
	}
	if testing.Short() {
		t.Skip("building the binary takes a while")
	}
	bin := filepath.Join(t.TempDir(), "gtoffset")
	build := exec.Command("go", "build", "-o", bin, ".")
	build.Dir = ".."
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("build: %v\n%s", err, out)
	}
	run := exec.Command(bin, "--help")
	run.Env = append(os.Environ(), "GODEBUG=inittrace=1")
	var traced strings.Builder
	run.Stderr = &traced
	must(t, run.Run())
	traces := regexp.MustCompile(`(?m)^init (\S+) @.* (\d+) bytes, \d+ allocs$`).FindAllStringSubmatch(traced.String(), -1)
	if len(traces) < 20 {
		t.Errorf("only %d packages were seen to begin: %s", len(traces), traced.String())
	}
	for _, m := range traces { // what is made before main is made for --help, too
		if n, err := strconv.Atoi(m[2]); below(m[1], module) && (err != nil || n > 1024) {
			t.Errorf("%s makes %s bytes before main: no regular expressions, maps or formatted errors in package variables", m[1], m[2])
		}
	}
	symbols, err := exec.Command("go", "tool", "nm", bin).Output()
	must(t, err)
	for _, s := range []string{"text/template.(*Template).Execute", "text/template.(*state)", "github.com/segmentio/kafka-go.(*Client)"} {
		if bytes.Contains(symbols, []byte(s)) {
			t.Errorf("the binary has %s", s)
		}
	}
}
