package cmd

import (
	"fmt"
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
			script := scripts()[args[0]]
			if script.make == nil {
				return among("gtoffset completion", args[0], shells)
			}
			text, err := script.text(root)
			if err != nil {
				return err
			}
			_, err = io.WriteString(g.env.Stdout, text)
			return err
		},
	}
}

// A completionScript is cobra's, with some of its lines replaced: cobra lets the shell evaluate the words of the line, and so a Tab would
// run a command that stands in them.
type completionScript struct {
	make   func(root *cobra.Command, w io.Writer) error
	before string   // what is put above it
	lines  []string // each with what it becomes; all are there, once
}

func scripts() map[string]completionScript {
	return map[string]completionScript{
		"bash": {
			func(root *cobra.Command, w io.Writer) error { return root.GenBashCompletionV2(w, true) },
			bareBash + plainWords,
			[]string{
				"# Use eval to handle any environment variables and such\n    out=$(eval \"${requestComp}\" 2>/dev/null)", runPlain,
				// printf %q, by which it quotes, escapes commas, too, and so would find nothing that goes on behind one
				`[[ $comp == "$cur"* ]] || continue`, `comp=${comp//\\,/,}; [[ $comp == "$cur"* ]] || continue`,
				`COMPREPLY[0]=$(printf "%q" "${COMPREPLY[0]%%$tab*}")`, `COMPREPLY[0]=$(printf "%q" "${COMPREPLY[0]%%$tab*}"); COMPREPLY[0]=${COMPREPLY[0]//\\,/,}`,
			},
		},
		"zsh": {
			func(root *cobra.Command, w io.Writer) error { return root.GenZshCompletion(w) },
			"",
			[]string{
				"compdef _gtoffset gtoffset\n", "compdef _gtoffset gtoffset\n\n" + plainWords, // #compdef is the first line
				"# Use eval to handle any environment variables and such\n    out=$(eval ${requestComp} 2>/dev/null)", runPlain,
				`flagPrefix="-P ${BASH_REMATCH}"`, `flagPrefix="-P ${(q)BASH_REMATCH}"`, // is evaluated
			},
		},
		"fish": {
			func(root *cobra.Command, w io.Writer) error { return root.GenFishCompletion(w, true) },
			"",
			[]string{
				`set -l lastArg (string escape -- (commandline -ct))`, `set -l lastArg (commandline -ct)`,
				`set -l results (eval $requestComp 2> /dev/null)`, plainFish,
			},
		},
		"powershell": {
			func(root *cobra.Command, w io.Writer) error { return root.GenPowerShellCompletionWithDesc(w) },
			"",
			[]string{
				"$RequestComp=\"$RequestComp\" + ' `\"`\"'", `$Empty = @('""')`,
				`$RequestComp="$RequestComp" + ' ""'`, `$Empty = @('')`,
				`Invoke-Expression -OutVariable out "$RequestComp" 2>&1 | Out-Null`, plainPowerShell,
				`$ShellCompDirectiveError=1` + "\n", `$ShellCompDirectiveError=1; $Empty = @()` + "\n",
			},
		},
	}
}

// text is the script. A line that is to be replaced, and is not there, is a fault of the program.
func (s completionScript) text(root *cobra.Command) (string, error) {
	var made strings.Builder
	if err := s.make(root, &made); err != nil {
		return "", err
	}
	text := made.String()
	for i := 0; i < len(s.lines); i += 2 {
		if n := strings.Count(text, s.lines[i]); n != 1 {
			return "", fmt.Errorf("the script for completion has %d lines %q, not 1", n, s.lines[i])
		}
		text = strings.Replace(text, s.lines[i], s.lines[i+1], 1)
	}
	return s.before + text, nil
}

// runPlain asks the program, by a name that may be an alias; the words reach it as they are.
const runPlain = `local typed
    __gtoffset_words "${requestComp}"
    out=$(eval "$(printf %q "${typed[@]:0:1}")"' "${typed[@]:1}"' 2>/dev/null)`

// plainWords is for bash and zsh.
const plainWords = `# Splits a line into the words of the array typed, as the shell does: quotes and backslashes are taken off, a variable
# becomes its value, ~ the home folder. Nothing else is expanded, and nothing is run.
__gtoffset_words()
{
    [[ -n ${ZSH_VERSION-} ]] && emulate -L ksh
    local line=$1 word="" begun="" quote="" char next rest name raw i
    typed=()
    for ((i = 0; i < ${#line}; i++)); do
        char=${line:$i:1}
        next=${line:$((i + 1)):1}
        if [[ $quote == '$' ]]; then
            if [[ $char == "'" ]]; then
                printf -v raw %b "$raw"
                word+=$raw quote=""
            elif [[ $char == "\\" && $next == "'" ]]; then
                raw+=$next i=$((i + 1))
            elif [[ $char == "\\" ]]; then
                raw+=$char$next i=$((i + 1))
            else
                raw+=$char
            fi
        elif [[ $quote == "'" && $char != "'" ]]; then
            word+=$char
        elif [[ -n $quote && $char == "$quote" ]]; then
            quote=""
        elif [[ $char == "\\" ]]; then
            begun=yes
            if [[ -z $quote || $next == '"' || $next == '$' || $next == "\\" || $next == '` + "`" + `' ]]; then
                word+=$next i=$((i + 1))
            else
                word+=$char
            fi
        elif [[ -z $quote && $char == [[:space:]] ]]; then
            [[ -n $begun ]] && typed+=("$word")
            word="" begun=""
        elif [[ -z $quote && ( $char == "'" || $char == '"' ) ]]; then
            begun=yes quote=$char
        elif [[ -z $quote && $char == '$' && $next == "'" ]]; then
            begun=yes quote='$' raw="" i=$((i + 1))
        elif [[ -z $begun && $char == '~' && ( -z $next || $next == [/[:space:]] ) ]]; then
            begun=yes word=${HOME-}
        else
            begun=yes rest=""
            [[ $char == '$' ]] && rest=${line:$((i + 1))}
            name=${rest#"{"}
            name=${name%%[!A-Za-z0-9_]*}
            if [[ $name == [A-Za-z_]* && $rest == "$name"* ]]; then
                eval "word+=\${$name-}"
                i=$((i + ${#name}))
            elif [[ $name == [A-Za-z_]* && $rest == "{$name}"* ]]; then
                eval "word+=\${$name-}"
                i=$((i + ${#name} + 2))
            else
                word+=$char
            fi
        fi
    done
    [[ -n $begun ]] && typed+=("$word")
    return 0
}

`

// plainFish takes the words that fish has split already; what stands for a variable or the home folder is replaced.
const plainFish = `set -l typed
    for word in $args[2..-1]
        if string match -qr '^\$[A-Za-z_][A-Za-z0-9_]*$' -- $word
            set -l name (string sub -s 2 -- $word)
            set typed $typed $$name
        else if string match -qr '^~(/|$)' -- $word
            set typed $typed $HOME(string sub -s 2 -- $word)
        else
            set typed $typed $word
        end
    end
    set -lx GTOFFSET_ACTIVE_HELP 0
    set -l results ($args[1] __complete $typed "$lastArg" 2> /dev/null)`

// plainPowerShell lets the line be parsed, which runs nothing; a variable or a command in it stays the text that it is.
const plainPowerShell = `$Parsed = [System.Management.Automation.Language.Parser]::ParseInput($Command, [ref]$null, [ref]$null)
    $Typed = @($Parsed.Find({ $args[0] -is [System.Management.Automation.Language.CommandAst] }, $false).CommandElements | ForEach-Object {
        if ($_ -is [System.Management.Automation.Language.StringConstantExpressionAst]) { $_.Value } else { $_.Extent.Text }
    })
    $Program = $Typed[0]
    $Typed = @($Typed | Select-Object -Skip 1) + $Empty
    $Out = @(& $Program __complete @Typed 2>$null)`

// bareBash is the one function that cobra's script needs of the package bash-completion: the words of the line up to the cursor, those
// with = and : in one piece.
const bareBash = `declare -F _get_comp_words_by_ref >/dev/null || _get_comp_words_by_ref() {
    local line=${COMP_LINE:0:COMP_POINT}
    read -ra words <<<"$line"
    [[ $line == *[[:space:]] ]] && words+=("")
    cword=$((${#words[@]} - 1)) cur=${words[cword]} prev=${words[cword - 1]-}
}
`
