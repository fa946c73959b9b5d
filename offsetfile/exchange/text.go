package exchange

import (
	"fmt"
	"iter"
	"slices"
	"strings"
	"unicode/utf8"
)

// lines yields the lines of a text without their ends: LF, CRLF, or CR where there is no LF at all.
func lines(text string) iter.Seq[string] {
	end := "\n"
	if !strings.Contains(text, "\n") {
		end = "\r"
	}
	return func(yield func(string) bool) {
		for text != "" {
			line, rest, _ := strings.Cut(text, end)
			if !yield(strings.TrimSuffix(line, "\r")) {
				return
			}
			text = rest
		}
	}
}

// readText reads every format that is not a tree.
func (r *reading) readText() error {
	f := r.As
	if f == "" {
		var err error
		if f, err = recognise(r.text); err != nil {
			return err
		}
	}
	r.format = f
	if read := f.as().text; read != nil {
		return read(r)
	}
	return &UnknownError{fmt.Sprintf("%q is no format that can be read", f)}
}

// columns splits a line at blanks. Columns of the form key=value behind the second belong to a gtoffset file and do not count.
func columns(line string) []string {
	all := strings.Fields(line)
	for len(all) > 2 && strings.Contains(all[len(all)-1], "=") {
		all = all[:len(all)-1]
	}
	return all
}

// begun is the format of which the beginning of a text says enough, "" if there is none. It is asked before anything else.
func begun(text string) Format {
	for _, f := range formats() {
		if f.begins != nil && f.begins(text) {
			return f.name
		}
	}
	return ""
}

// recognise finds the format of a text that is not JSON. Bad lines do not matter as long as most are good.
func recognise(text string) (Format, error) {
	if f := begun(text); f != "" {
		return f, nil
	}
	if sources, found := checkpoint(text); found {
		return "", &UnknownError{fmt.Sprintf("an offsets file of a Spark checkpoint (%d source lines); name the checkpoint's folder as a store, "+
			"which also knows whether the batch was committed: --store spark:PATH, with ?source=N for one of several", sources)}
	}
	var commas, semicolons, all int
	var by [5]int // lines by their number of columns
	numeric := 0  // those of three columns that begin with a number
	for line := range lines(text) {
		if strings.TrimSpace(line) == "" {
			continue
		}
		all++
		if strings.Contains(line, ",") {
			commas++
			continue
		}
		if parts := strings.Split(line, ";"); len(parts) > 2 && (isNumber(strings.TrimSpace(parts[2])) || slices.Contains(header, column(cell{text: parts[2]}))) {
			semicolons++ // a partition or an offset stands third, or its name
		}
		columns := columns(line)
		n := len(columns)
		if n < 2 || n > 4 || !isNumber(columns[n-1]) || !isNumber(columns[n-2]) {
			continue
		}
		by[n]++
		if _, why := partitionIn(columns[0]); n == 3 && why == "" {
			numeric++
		}
	}
	blanks := by[2] + by[3] + by[4]
	switch {
	case commas > blanks:
		return recogniseCSV(text)
	case blanks == 0 && semicolons*2 > all:
		return "", &UnknownError{"the columns are separated by semicolons; commas are wanted"}
	case blanks == 0:
		return "", &UnknownError{"neither JSON, nor YAML of gtoffset, nor CSV, nor lines of numbers as one of the formats has them"}
	}
	var fit []Format
	for _, f := range formats() {
		if f.columns > 0 && by[f.columns] == max(by[2], by[3], by[4]) {
			fit = append(fit, f.name)
		}
	}
	slices.Sort(fit)
	switch {
	case len(fit) > 1:
		return "", &AmbiguousError{fit, "its lines have different numbers of columns"}
	case fit[0] == RPK && numeric == by[3]:
		return "", &AmbiguousError{[]Format{RPK, File}, "each line has three columns, of which the first is a number too"}
	}
	return fit[0], nil
}

func isNumber(s string) bool {
	_, why := whole(s)
	return why == "" || strings.HasSuffix(why, "64 bits")
}

// checkpoint recognises the file that Spark keeps of one batch, and counts its sources.
func checkpoint(text string) (sources int, found bool) {
	n := 0
	for line := range lines(text) {
		switch {
		case n == 0 && line != "v1", n == 1 && !strings.HasPrefix(line, "{"):
			return 0, false
		case n > 1 && line != "":
			sources++
		}
		n++
	}
	return sources, n > 2
}

// utf8Only refuses a name for which a text has no bytes.
func utf8Only(f Format, name string) error {
	if !utf8.ValidString(name) {
		return &CannotHoldError{f, fmt.Sprintf("%q, which is not UTF-8", name)}
	}
	return nil
}
