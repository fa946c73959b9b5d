package exchange

// Ranges is lines of topic, partition, from and until.
const Ranges Format = "ranges"

func ranges() format {
	return format{name: Ranges, words: "lines of topic, partition, from and until", columns: 4, text: (*reading).readRanges}
}

// readRanges reads lines of topic, partition, from and until, as jobs log the range of a batch. A job that has processed the
// batch goes on at until; one that has not, at from. Nobody but the operator knows which.
func (r *reading) readRanges() error {
	if r.Take != From && r.Take != Until {
		return &MissingError{Ranges, MissingTake}
	}
	group, err := r.theGroup()
	if err != nil {
		return err
	}
	r.readLines(4, "topic, partition, from and until", func(line int, columns []string) {
		from, bad := offsetIn(columns[2])
		if bad != "" {
			r.bad(line, "", "from %s", bad)
		}
		until, worse := offsetIn(columns[3])
		if worse != "" {
			r.bad(line, "", "until %s", worse)
		}
		if bad != "" || worse != "" {
			return
		}
		if from > until {
			r.bad(line, "", "from %d is behind until %d", from, until)
			return
		}
		offset := columns[2]
		if r.Take == Until {
			offset = columns[3]
		}
		r.lineRow(line, group, columns[0], columns[1], offset)
	})
	return nil
}
