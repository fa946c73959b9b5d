package cmd

import (
	"fmt"

	"github.com/spf13/cobra"
)

func newCompletion(g *global, root *cobra.Command) *cobra.Command {
	shells := []string{"bash", "zsh", "fish", "powershell"}
	return &cobra.Command{
		Use: "completion SHELL",
		Long: `Prints a script for the shell to read, which then completes commands and flags.

Exit status: 0; 2 for a shell that is not known.`,
		Example: `  . <(gtoffset completion bash)
  gtoffset completion zsh > "${fpath[1]}/_gtoffset"
  gtoffset completion fish > ~/.config/fish/completions/gtoffset.fish`,
		ValidArgs: shells,
		Args:      takes(1, 1, "gtoffset completion bash, zsh, fish or powershell"),
		RunE: func(_ *cobra.Command, args []string) error {
			switch args[0] {
			case "bash":
				return root.GenBashCompletionV2(g.env.Stdout, true)
			case "zsh":
				return root.GenZshCompletion(g.env.Stdout)
			case "fish":
				return root.GenFishCompletion(g.env.Stdout, true)
			case "powershell":
				return root.GenPowerShellCompletionWithDesc(g.env.Stdout)
			}
			return usage(fmt.Sprintf("there is no completion for %q", args[0]), "gtoffset completion bash, zsh, fish or powershell")
		},
	}
}
