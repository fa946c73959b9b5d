package cmd

import (
	"fmt"
	"runtime/debug"

	"github.com/spf13/cobra"
)

// version is the release that this code becomes.
const version = "0.1.0"

func newVersion(g *global) *cobra.Command {
	return &cobra.Command{
		Use: "version",
		Long: `Prints the version of gtoffset, of the Go that built it, and the commit that it was built from.

Exit status: 0.`,
		Example: "  gtoffset version",
		Args:    takes(0, 0, "gtoffset version"),
		RunE: func(*cobra.Command, []string) error {
			line := "gtoffset " + version
			if info, ok := debug.ReadBuildInfo(); ok {
				line += " " + info.GoVersion
				for _, s := range info.Settings {
					if s.Key == "vcs.revision" {
						line += " " + s.Value
					}
				}
			}
			_, err := fmt.Fprintln(g.env.Stdout, line)
			return err
		},
	}
}
