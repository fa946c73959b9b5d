package cmd

import (
	"bytes"
	"io"
	"strings"

	"github.com/spf13/cobra"
)

func newCompletion(g *global, root *cobra.Command) *cobra.Command {
	shells := []string{"bash", "zsh", "fish", "powershell"}
	return &cobra.Command{
		Use: "completion SHELL",
		Long: `Use it once for a shell, which then completes commands, flags and their values; also groups, topics and partitions, as the
cluster has them that -b or the environment names. A cluster that does not answer leaves nothing to choose from, after two
seconds at most.`,
		Example: `  . <(gtoffset completion bash)
  gtoffset completion zsh > "${fpath[1]}/_gtoffset"
  gtoffset completion fish > ~/.config/fish/completions/gtoffset.fish`,
		ValidArgs: shells,
		Args:      takes(1, 1, "gtoffset completion bash, zsh, fish or powershell"),
		RunE: func(_ *cobra.Command, args []string) error {
			switch args[0] {
			case "bash":
				return bashScript(g.env.Stdout, root)
			case "zsh":
				return root.GenZshCompletion(g.env.Stdout)
			case "fish":
				return root.GenFishCompletion(g.env.Stdout, true)
			case "powershell":
				return root.GenPowerShellCompletionWithDesc(g.env.Stdout)
			}
			return among("gtoffset completion", args[0], shells)
		},
	}
}

// bashScript is cobra's, for a bash with and without the package bash-completion. printf %q, by which it quotes, escapes commas, too, and so
// would find nothing that goes on behind one.
func bashScript(w io.Writer, root *cobra.Command) error {
	var script bytes.Buffer
	if err := root.GenBashCompletionV2(&script, true); err != nil {
		return err
	}
	_, err := strings.NewReplacer(
		`[[ $comp == "$cur"* ]] || continue`, `comp=${comp//\\,/,}; [[ $comp == "$cur"* ]] || continue`,
		`COMPREPLY[0]=$(printf "%q" "${COMPREPLY[0]%%$tab*}")`, `COMPREPLY[0]=$(printf "%q" "${COMPREPLY[0]%%$tab*}"); COMPREPLY[0]=${COMPREPLY[0]//\\,/,}`,
	).WriteString(w, bareBash+script.String())
	return err
}

// bareBash is the one function that cobra's script needs of the package bash-completion: the words of the line up to the cursor, those
// with = and : in one piece.
const bareBash = `declare -F _get_comp_words_by_ref >/dev/null || _get_comp_words_by_ref() {
    local line=${COMP_LINE:0:COMP_POINT}
    read -ra words <<<"$line"
    [[ $line == *[[:space:]] ]] && words+=("")
    cword=$((${#words[@]} - 1)) cur=${words[cword]} prev=${words[cword - 1]-}
}
`
