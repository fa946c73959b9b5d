package output

import (
	"encoding/csv"
	"io"
)

// table of CSV: one header line, the same columns in every run, "-" for what is not known, as in the text tables. Fields are
// exact: a name is not cleaned, and one that begins with = + - or @ is not changed either, though a spreadsheet would take it
// for a formula. Numbers are ours; open names from others in a spreadsheet as text.
func writeCSV(w io.Writer, header []string, rows func(write func([]string))) error {
	out := csv.NewWriter(w)
	var err error
	write := func(row []string) {
		if err == nil {
			err = out.Write(row)
		}
	}
	write(header)
	rows(write)
	out.Flush()
	if err != nil {
		return err
	}
	return out.Error()
}
