package cmd

import (
	"runtime"
	"runtime/debug"
	"time"

	"github.com/spf13/cobra"

	"gtoffset/output"
)

// version is the release that this code becomes.
const version = "0.1.0"

func newVersion(g *global) *cobra.Command {
	c := &cobra.Command{
		Use: "version",
		Long: `Use it in reports of mistakes. It prints the version, the commit that it was built from and when that was made, the Go that
built it, and the libraries in it.`,
		Example: `  gtoffset version
  gtoffset version -o json`,
		Args: takes(0, 0, "gtoffset version"),
		RunE: func(*cobra.Command, []string) error { return built().Write(g.out(), output.Format(g.format)) },
	}
	formats(c, output.Table, output.JSON, output.YAML)
	return c
}

// built is what Go has noted in the program about itself.
func built() output.Version {
	v := output.Version{Version: version, Go: runtime.Version(), Platform: runtime.GOOS + "/" + runtime.GOARCH}
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return v
	}
	for _, s := range info.Settings {
		switch s.Key {
		case "vcs.revision":
			v.Commit = s.Value
		case "vcs.time":
			v.Committed, _ = time.Parse(time.RFC3339, s.Value) // without it, it is not known
		case "vcs.modified":
			v.Changed = s.Value == "true"
		}
	}
	for _, m := range info.Deps {
		v.Libraries = append(v.Libraries, [2]string{m.Path, m.Version})
	}
	return v
}
