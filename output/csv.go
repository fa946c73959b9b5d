package output

import (
	"encoding/csv"
	"io"
)

// writeCSV writes a table: one header line, the same columns in every run, "-" for what is not known, as in the text tables. Fields
// are exact: a name is not cleaned (a terminal is kept safe by Shown), and one that begins with = + - or @ is not changed either,
// though a spreadsheet would take it for a formula: docs/formats.md tells.
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
