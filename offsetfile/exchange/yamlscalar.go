package exchange

import (
	"bytes"
	"strconv"
	"strings"
	"unicode/utf8"
)

// scalarStart refuses what cannot begin a text without quotes.
func (p *yamlParser) scalarStart(flow bool) {
	switch c := p.text[p.at]; {
	case c >= '0' && c <= '9', c >= 'A' && c <= 'Z', c >= 'a' && c <= 'z':
	case c == '&' || c == '*':
		p.fail(p.at, "anchors and aliases are not taken")
	case c == '!':
		p.fail(p.at, "tags are not taken")
	case strings.IndexByte("-?:", c) >= 0 && (p.blank(p.at+1) || flow && c != '-'), strings.IndexByte(",[]{}#|>%@`", c) >= 0:
		p.fail(p.at, clip(untilBreak(p.text[p.at:]))+" where a value is expected: a text that begins so needs quotes")
	}
}

// plainEnd is where a text without quotes ends in its line.
func (p *yamlParser) plainEnd(from int, flow bool) int {
	end := from
	for i := from; i < len(p.text); i++ {
		switch c := p.text[i]; {
		case c >= 'a' && c <= 'z' || c >= '0' && c <= '9':
		case c == ' ' || c == '\t':
			continue
		case c == '\n', c == ':' && p.blank(i+1), c == '#' && (i == from || p.blank(i-1)), flow && strings.IndexByte(",?[]{}", c) >= 0:
			return end
		}
		end = i + 1
	}
	return end
}

// plain reads a text without quotes in a block at column outer. It goes on in lines that are indented further.
func (p *yamlParser) plain(outer int) {
	if p.scalarStart(false); p.why != "" {
		return
	}
	from := p.at
	p.at = p.plainEnd(from, false)
	first := p.at
	start := len(p.more)
	for {
		next, line, breaks := p.at, p.line, 0
		for p.blank(next) && next < len(p.text) {
			if p.text[next] == '\n' {
				breaks++
				line = next + 1
			}
			if p.text[next] == '\t' && breaks > 0 {
				p.fail(next, "a tab where only blanks may stand")
				return
			}
			next++
		}
		if next == len(p.text) || breaks == 0 || next-line <= outer || p.text[next] == '#' || next == line && p.markerAt(next) {
			break
		}
		if len(p.more) == start {
			p.more = append(p.more, p.text[from:first]...)
		}
		p.fold(breaks)
		p.at, p.line = p.plainEnd(next, false), line
		p.more = append(p.more, p.text[next:p.at]...)
	}
	if len(p.more) > start {
		p.push(p.written(from, start))
		return
	}
	p.word(from, first)
}

// fold puts in what stands for ends of lines inside of a text: a blank for one, else one less.
func (p *yamlParser) fold(breaks int) {
	if breaks == 1 {
		p.more = append(p.more, ' ')
	}
	for range breaks - 1 {
		p.more = append(p.more, '\n')
	}
}

// written is the node of a text that was written out from there.
func (p *yamlParser) written(pos, start int) node {
	n := len(p.text)
	return node{kind: kindText, pos: uint32(pos), start: uint32(n + start), end: uint32(n + len(p.more))}
}

// word takes a text without quotes for what it looks like.
func (p *yamlParser) word(from, to int) {
	if p.text[from:to] == "<<" {
		p.fail(from, "merging (<<) is not taken")
	}
	p.push(node{kind: yamlKind(p.text[from:to]), pos: uint32(from), start: uint32(from), end: uint32(to)})
}

// yamlKind tells what a text without quotes is.
func yamlKind(s string) nodeKind {
	switch s {
	case "~", "null", "Null", "NULL":
		return kindNull
	case "true", "True", "TRUE", "false", "False", "FALSE":
		return kindBool
	}
	if yamlNumber(s) {
		return kindNumber
	}
	return kindText
}

// yamlNumber tells whether some reader takes that for a number, in whatever notation.
func yamlNumber(s string) bool {
	if c := s[0]; c > '9' || c < '0' && c != '-' && c != '+' && c != '.' {
		return false
	}
	digits := 0
	for digits < len(s) && s[digits] >= '0' && s[digits] <= '9' {
		digits++
	}
	if digits == len(s) {
		return true
	}
	switch strings.TrimLeft(s, "+-") {
	case ".inf", ".Inf", ".INF", ".nan", ".NaN", ".NAN":
		return true
	}
	if s[0] != '.' {
		s = strings.ReplaceAll(s, "_", "")
	}
	if _, err := strconv.ParseInt(s, 0, 64); err == nil {
		return true
	}
	if _, err := strconv.ParseUint(s, 0, 64); err == nil {
		return true
	}
	_, err := strconv.ParseFloat(s, 64)
	return err == nil && strings.Trim(s, "0123456789+-.eE") == ""
}

// quoted reads a text in quotes.
func (p *yamlParser) quoted() {
	from, quote := p.at, p.text[p.at]
	p.at++
	end := p.at
	for end < len(p.text) && p.text[end] != quote && p.text[end] != '\\' && p.text[end] != '\n' {
		end++
	}
	if p.is(end, quote) && (quote == '"' || !p.is(end+1, quote)) { // it is written as it is meant
		p.push(node{kind: kindText, pos: uint32(from), start: uint32(p.at), end: uint32(end)})
		p.at = end + 1
		return
	}
	start := len(p.more)
	kept := start // blanks before that stay at the end of a line
	for p.at < len(p.text) {
		c := p.text[p.at]
		switch {
		case c == '\n':
			p.more = append(p.more[:kept], bytes.TrimRight(p.more[kept:], " \t")...)
			p.fold(p.breaks())
			kept = len(p.more)
		case c == quote && quote == '\'' && p.is(p.at+1, quote):
			p.more = append(p.more, quote)
			p.at += 2
		case c == quote:
			p.at++
			p.push(p.written(from, start))
			return
		case c == '\\' && quote == '"' && p.is(p.at+1, '\n'):
			p.at++
			for range p.breaks() - 1 {
				p.more = append(p.more, '\n')
			}
			kept = len(p.more)
		case c == '\\' && quote == '"':
			p.escape()
			kept = len(p.more)
		default:
			p.more = append(p.more, c)
			p.at++
		}
	}
	p.fail(from, "this text has no closing quote")
}

// breaks passes over the ends of lines inside of quotes, and all blanks behind them, and counts them.
func (p *yamlParser) breaks() int {
	n := 0
	for ; p.at < len(p.text) && p.blank(p.at); p.at++ {
		if p.text[p.at] == '\n' {
			n++
			p.line = p.at + 1
		}
	}
	if p.at < len(p.text) && p.marker() {
		p.fail(p.at, "the document ends inside of a text in quotes")
	}
	return n
}

// escape reads an escape in double quotes.
func (p *yamlParser) escape() {
	const names, mean = "0abtnvfre \"\\N_LP", "\x00\a\b\t\n\v\f\r\x1b \"\\\u0085\u00a0\u2028\u2029"
	s := p.text[p.at+1:]
	if s == "" {
		p.at++
		return
	}
	if i := strings.IndexByte(names, s[0]); i >= 0 {
		p.more = utf8.AppendRune(p.more, []rune(mean)[i])
		p.at += 2
		return
	}
	digits := map[byte]int{'x': 2, 'u': 4, 'U': 8}[s[0]]
	if digits > 0 && len(s) > digits {
		if n, err := strconv.ParseUint(s[1:1+digits], 16, 32); err == nil && n <= utf8.MaxRune && utf8.ValidRune(rune(n)) {
			p.more = utf8.AppendRune(p.more, rune(n))
			p.at += 2 + digits
			return
		}
	}
	p.fail(p.at, "an escape that does not exist")
}

// literal reads a text that stands in lines of its own, | as they are, > folded, in a block at column outer.
func (p *yamlParser) literal(outer int) {
	from := p.at
	chomp, indent := p.literalHead(outer)
	start := len(p.more)
	breaks := max(p.indentation(&indent, outer)-1, 0) // ends of lines that are not written yet, but for that of the line before them
	ended, wasBlank := false, false                   // the line before: it has an end; it begins with a blank, and is not folded
	for p.at < len(p.text) && p.column() == indent {
		isBlank := p.blank(p.at)
		switch {
		case !ended:
		case p.text[from] == '|' || wasBlank || isBlank:
			p.more = append(p.more, '\n')
		case breaks == 0:
			p.more = append(p.more, ' ')
		}
		p.more = append(p.more, strings.Repeat("\n", breaks)...)
		line := untilBreak(p.text[p.at:])
		p.more = append(p.more, line...)
		p.at += len(line)
		ended, wasBlank = p.at < len(p.text), isBlank
		breaks = max(p.indentation(&indent, outer)-1, 0)
	}
	if chomp != '-' && ended {
		p.more = append(p.more, '\n')
	}
	if chomp == '+' {
		p.more = append(p.more, strings.Repeat("\n", breaks)...)
	}
	p.push(p.written(from, start))
}

// literalHead reads | or > with its line: what becomes of the ends of lines at the end (+ all, - none), and the indentation, 0 if
// the lines tell.
func (p *yamlParser) literalHead(outer int) (chomp byte, indent int) {
	from := p.at
	for p.at++; p.at < len(p.text); p.at++ {
		c := p.text[p.at]
		if (c == '+' || c == '-') && chomp == 0 {
			chomp = c
		} else if c >= '1' && c <= '9' && indent == 0 {
			indent = max(outer, 0) + int(c-'0')
		} else {
			break
		}
	}
	blank := p.blank(p.at)
	p.blanks()
	if p.is(p.at, '#') && blank {
		p.at += len(untilBreak(p.text[p.at:]))
	}
	if !blank || p.at < len(p.text) && !p.is(p.at, '\n') {
		p.fail(from, clip(untilBreak(p.text[from:]))+": behind | and > the line ends")
	}
	return chomp, indent
}

// indentation passes over ends of lines and the blanks that indent, and counts the ends. If indent is not known yet, it is that of
// the first line that says something.
func (p *yamlParser) indentation(indent *int, outer int) (breaks int) {
	deepest := 0
	for ; p.at < len(p.text); p.at++ {
		short := *indent == 0 || p.column() < *indent
		switch c := p.text[p.at]; {
		case c == '\n':
			breaks++
			p.line = p.at + 1
		case c == ' ' && short:
			deepest = max(deepest, p.column()+1)
		case c == '\t' && short:
			p.fail(p.at, "a tab where only blanks may stand")
			return breaks
		default:
			if *indent == 0 {
				*indent = max(deepest, outer+1, 1)
			}
			return breaks
		}
	}
	return breaks
}
