package hbase

import (
	"encoding/base64"
	"encoding/binary"
	"fmt"
	"strconv"
	"strings"

	"gtoffset/offsetfile"
)

const (
	usualRow       = offsetfile.GroupPlace + ":" + offsetfile.TopicPlace
	partitionPlace = "{partition}"
)

// layout is how a table is used: a row for each topic of a group, a column for each partition.
type layout struct {
	table          string
	row            rowForm
	family         string
	before, after  string // of the partition in a column's qualifier
	binary         bool   // values are 8 bytes, big-endian, as Bytes.toBytes(long) makes them; else decimal digits
	prefix, scheme string // of the gateway's URL
}

func newLayout(a *offsetfile.Address) (layout, error) {
	l := layout{scheme: "http", family: param(a, "family", "offsets")}
	if a.Scheme == "hbase+https" {
		l.scheme = "https"
	}
	path := strings.Trim(a.Path, "/")
	if i := strings.LastIndexByte(path, '/'); i >= 0 {
		l.prefix, path = "/"+path[:i], path[i+1:]
	}
	l.table = path
	if !isTable(l.table) {
		return l, a.Errorf("path", "%q is no table's name: TABLE or NAMESPACE:TABLE", l.table)
	}
	if l.family == "" || strings.Contains(l.family, ":") {
		return l, a.Errorf("parameter family", "%q is no column family", l.family)
	}
	var err error
	if l.row, err = parseRowForm(param(a, "row", usualRow)); err != nil {
		return l, a.Errorf("parameter row", "%w", err)
	}
	column := param(a, "column", partitionPlace)
	if strings.Count(column, partitionPlace) != 1 {
		return l, a.Errorf("parameter column", "%q does not have %s once", column, partitionPlace)
	}
	l.before, l.after, _ = strings.Cut(column, partitionPlace)
	switch values := param(a, "values", "text"); values {
	case "text":
	case "binary":
		l.binary = true
	default:
		return l, a.Errorf("parameter values", "%q is not known; text (decimal digits, the default) or binary (8 bytes, big-endian)", values)
	}
	return l, nil
}

func param(a *offsetfile.Address, name, otherwise string) string {
	if v := a.Param(name); v != "" {
		return v
	}
	return otherwise
}

func isTable(name string) bool {
	for i := range len(name) {
		c := name[i]
		letter := c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9'
		if !letter && !strings.ContainsRune("_-.:", rune(c)) {
			return false
		}
	}
	return name != "" && strings.Count(name, ":") <= 1 && strings.Trim(name, ":") == name
}

// column is the full name of a partition's column.
func (l layout) column(partition int32) string {
	return l.family + ":" + l.before + strconv.FormatInt(int64(partition), 10) + l.after
}

// partition is the inverse of column.
func (l layout) partition(column string) (int32, bool) {
	rest, ok := strings.CutPrefix(column, l.family+":"+l.before)
	if ok {
		rest, ok = strings.CutSuffix(rest, l.after)
	}
	if !ok {
		return 0, false
	}
	return offsetfile.ParsePartition(rest)
}

// value is the bytes of a number in decimal.
func (l layout) value(text string) ([]byte, error) {
	if !l.binary {
		return []byte(text), nil
	}
	n, err := strconv.ParseInt(text, 10, 64)
	if err != nil {
		return nil, err
	}
	return binary.BigEndian.AppendUint64(nil, uint64(n)), nil
}

// text is the number in decimal of a value's bytes; of bytes that are none, a text that is none.
func (l layout) text(value []byte) string {
	switch {
	case !l.binary:
		return string(value)
	case len(value) == 0:
		return ""
	case len(value) != 8:
		return fmt.Sprintf("%d bytes, not 8: %q", len(value), value[:min(len(value), 20)])
	}
	return strconv.FormatInt(int64(binary.BigEndian.Uint64(value)), 10)
}

// version is what a compare-and-set compares: the value's bytes.
func version(value []byte) string { return base64.StdEncoding.EncodeToString(value) }

// rowForm is how the names of a group and a topic make a row's key.
type rowForm struct{ offsetfile.KeyForm }

func parseRowForm(text string) (rowForm, error) {
	f, err := offsetfile.ParseKeyForm(text, usualRow)
	return rowForm{f}, err
}

func (f rowForm) key(group, topic string) string { return f.Key(topic, group) }

// names is the inverse of key. Where what stands between is found more than once, the topic is what it is found in last: the names that
// Kafka allows to topics have no colon.
func (f rowForm) names(key string) (group, topic string, ok bool) {
	middle, ok := f.Names(key)
	if !ok {
		return "", "", false
	}
	if f.GroupFirst {
		i := strings.LastIndex(middle, f.Between)
		if i < 0 {
			return "", "", false
		}
		return middle[:i], middle[i+len(f.Between):], true
	}
	topic, group, ok = strings.Cut(middle, f.Between)
	return group, topic, ok
}

// check refuses names whose row would be read as that of others.
func (f rowForm) check(group, topic string) error {
	switch g, t, ok := f.names(f.key(group, topic)); {
	case group == "":
		return &offsetfile.NameError{Kind: "group", Name: group, Reason: "it is empty"}
	case topic == "":
		return &offsetfile.NameError{Kind: "topic", Name: topic, Reason: "it is empty"}
	case !ok || g != group || t != topic:
		return &offsetfile.NameError{Kind: "topic", Name: topic, Reason: fmt.Sprintf("row %q would be topic %q of group %q", f.key(group, topic), t, g)}
	}
	return nil
}

// rows is where the keys of a group lie, of all groups if it is "": from and up to, each "" for no limit. Others may lie there as well.
func (f rowForm) rows(group string) (from, to string) {
	from = f.Before
	if group != "" && f.GroupFirst {
		from += group + f.Between
	}
	if from == "" || from[len(from)-1] >= 0x7f { // what comes after it is no UTF-8
		return from, ""
	}
	last := len(from) - 1
	return from, from[:last] + string(rune(from[last]+1))
}
