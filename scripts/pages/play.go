package pages

import (
	"fmt"
	"regexp"
	"strconv"
	"strings"
)

// A Player does what a page says.
type Player interface {
	// File puts down a file that the page shows.
	File(name, text string) error
	// Happen lets something happen that is not typed: what the page calls by this name.
	Happen(event string) error
	// Type runs a command line and returns what it printed. why is what the page says directly above it. A line that ends with another
	// exit code than exit is an error.
	Type(why, line string, exit int) (printed string, err error)
}

var (
	sceneMark = regexp.MustCompile(`(?m)^<!-- scene ([a-z-]+): .*-->$`)
	eventMark = regexp.MustCompile(`^<!-- then: (.*) -->$`)
	fileMark  = regexp.MustCompile(`^<!-- file: (\S+) -->$`)
	exitLine  = regexp.MustCompile(`^exit (\d+)$`)
)

// SceneMark is the line by which a page says in which scene its commands are typed.
func SceneMark(scene string) string {
	return "<!-- scene " + scene + ": what is typed here is run, and what it prints written, by go run ./scripts/demo -write -->"
}

// Scene is the scene in which a page's commands are typed, "" for a page without one.
func Scene(page string) string {
	if m := sceneMark.FindStringSubmatch(page); m != nil {
		return m[1]
	}
	return ""
}

// Play does, from top to bottom, what a page says, and returns the page with what was printed. In it
//
//   - a code block of the language console has commands, each behind "$ ", above it lines behind "# " that say why, below it what it
//     printed, and "exit N" where that is not 0; a blank line is between two of them;
//   - <!-- then: EVENT --> is something that happens;
//   - <!-- file: NAME --> says that the code block below it is a file of that name.
//
// All else stays as it is.
func Play(page string, p Player) (string, error) {
	var fresh strings.Builder
	file := ""
	for rest := page; rest != ""; {
		var line string
		line, rest = cutLine(rest)
		fresh.WriteString(line + "\n")
		if m := eventMark.FindStringSubmatch(line); m != nil {
			if err := p.Happen(m[1]); err != nil {
				return "", fmt.Errorf("%s: %w", m[1], err)
			}
		}
		if m := fileMark.FindStringSubmatch(line); m != nil {
			file = m[1]
		}
		language, fenced := strings.CutPrefix(line, "```")
		if !fenced {
			continue
		}
		block, after, closed := strings.Cut(rest, "```\n")
		if !closed {
			return "", fmt.Errorf("the code block %q has no end", line)
		}
		switch {
		case file != "":
			if err := p.File(file, block); err != nil {
				return "", err
			}
			file = ""
		case language == "console":
			var err error
			if block, err = play(block, p); err != nil {
				return "", err
			}
		}
		fresh.WriteString(block + "```\n")
		rest = after
	}
	return fresh.String(), nil
}

func cutLine(text string) (line, rest string) {
	line, rest, _ = strings.Cut(text, "\n")
	return line, rest
}

// typed is a command of a block.
type typed struct {
	why  []string // the lines, without "# "
	line string
	exit int
}

func play(block string, p Player) (string, error) {
	var fresh strings.Builder
	for i, c := range commands(block) {
		if i > 0 {
			fresh.WriteByte('\n')
		}
		for _, why := range c.why {
			fresh.WriteString("# " + why + "\n")
		}
		fresh.WriteString("$ " + c.line + "\n")
		printed, err := p.Type(strings.Join(c.why, " "), c.line, c.exit)
		if err != nil {
			return "", err
		}
		fresh.WriteString(printed)
		if printed != "" && !strings.HasSuffix(printed, "\n") {
			fresh.WriteByte('\n')
		}
		if c.exit != 0 {
			fmt.Fprintf(&fresh, "exit %d\n", c.exit)
		}
	}
	return fresh.String(), nil
}

// commands takes a block apart.
func commands(block string) []typed {
	var all []typed
	var why []string
	fresh := true // a command may begin: at the start, and behind a blank line
	for line := range strings.Lines(block) {
		line = strings.TrimSuffix(line, "\n")
		switch command, is := strings.CutPrefix(line, "$ "); {
		case is && (fresh || why != nil):
			all = append(all, typed{why: why, line: command})
			why = nil
		case strings.HasPrefix(line, "# ") && (fresh || why != nil):
			why = append(why, strings.TrimPrefix(line, "# "))
		default:
			why = nil
			if m := exitLine.FindStringSubmatch(line); m != nil && len(all) > 0 {
				all[len(all)-1].exit, _ = strconv.Atoi(m[1])
			}
		}
		fresh = line == ""
	}
	return all
}
