package mysql

import (
	"context"
	"database/sql"
	"fmt"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"gtoffset/offsetfile"
)

// shape is what a table is like.
type shape struct {
	there   bool
	engine  string
	columns map[string]column // by name in lower case, as the server compares them
}

type column struct {
	name string
	kind string        // as the server calls it: bigint, varchar, timestamp
	most sql.NullInt64 // characters, or bytes of a binary one
}

var (
	names      = []string{"varchar", "char", "tinytext", "text", "mediumtext", "longtext", "varbinary", "enum"}
	numbers    = []string{"tinyint", "smallint", "mediumint", "int", "bigint", "decimal", "varchar", "char", "text", "varbinary"}
	times      = []string{"timestamp", "datetime"}
	wholeTimes = []string{"bigint"} // milliseconds since 1970
)

// withoutTransactions are the engines that a save cannot be made whole in.
var withoutTransactions = []string{"MyISAM", "Aria", "MEMORY", "CSV", "ARCHIVE", "MRG_MyISAM"}

// look finds out what the table is like, once. The error is a *offsetfile.NothingError if it is not there, or not such that it can hold
// offsets; with Options.Create a table that is not there is none.
func (t *table) look(ctx context.Context) (*shape, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.shape != nil {
		return t.shape, nil
	}
	s, err := t.find(ctx)
	if err != nil {
		return nil, t.explain(err)
	}
	if !s.there {
		if t.o.Create {
			return s, nil
		}
		return nil, t.noTable()
	}
	if err := t.fits(s); err != nil {
		return nil, err
	}
	t.shape = s
	return s, nil
}

func (t *table) noTable() error {
	return &offsetfile.NothingError{Looked: t.place() + ", which is not there, or not for this user", Hint: "a write with --create-table makes it, if this is the right place"}
}

func (t *table) find(ctx context.Context) (*shape, error) {
	began := time.Now()
	rows, err := t.db.QueryContext(ctx, `SELECT t.TABLE_NAME, COALESCE(t.ENGINE, ''), c.COLUMN_NAME, c.DATA_TYPE, c.CHARACTER_MAXIMUM_LENGTH
		FROM information_schema.TABLES t JOIN information_schema.COLUMNS c ON c.TABLE_SCHEMA = t.TABLE_SCHEMA AND c.TABLE_NAME = t.TABLE_NAME
		WHERE t.TABLE_SCHEMA = DATABASE() AND t.TABLE_NAME = ? ORDER BY c.ORDINAL_POSITION`, t.name)
	defer func() { t.done("look at "+t.place(), began, err) }()
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	s := &shape{columns: map[string]column{}}
	exact := false
	for rows.Next() {
		var name, engine string
		var c column
		if err = rows.Scan(&name, &engine, &c.name, &c.kind, &c.most); err != nil {
			return nil, err
		}
		if exact && name != t.name { // another table, if letters' cases count for the server
			continue
		}
		if name == t.name && !exact {
			exact = true
			clear(s.columns)
		}
		s.there, s.engine = true, engine
		s.columns[strings.ToLower(c.name)] = c
	}
	err = rows.Err()
	return s, err
}

// fits looks whether the columns are there and can hold what belongs there.
func (t *table) fits(s *shape) error {
	for _, want := range []struct {
		column string
		kinds  []string
		what   string
	}{
		{t.columns.topic, names, "names"},
		{t.columns.group, names, "names"},
		{t.columns.partition, numbers, "whole numbers"},
		{t.columns.offset, numbers, "whole numbers"},
		{t.columns.timestamp, append(slices.Clone(times), wholeTimes...), "times"},
	} {
		if want.column == "" {
			continue
		}
		c, ok := s.columns[strings.ToLower(want.column)]
		if !ok {
			return t.noColumn(want.column, s)
		}
		if !slices.Contains(want.kinds, strings.ToLower(c.kind)) {
			return &offsetfile.NothingError{Looked: fmt.Sprintf("column %s of %s, which is of type %s and holds no %s", quote(c.name), t.place(), c.kind, want.what)}
		}
	}
	return nil
}

func (t *table) noColumn(name string, s *shape) error {
	var there []string
	for _, c := range s.columns {
		there = append(there, c.name)
	}
	slices.Sort(there)
	hint := "?topic=, ?group=, ?partition=, ?offset= and ?timestamp= name the columns"
	if name == t.columns.timestamp {
		hint = "?timestamp= names it; ?timestamp=- if there is none"
	}
	return &offsetfile.NothingError{Looked: fmt.Sprintf("column %s of %s, which has %s", quote(name), t.place(), strings.Join(there, ", ")), Hint: hint}
}

// checkName refuses a name that has no place in a column.
func (s *shape) checkName(kind, name, in string) error {
	c := s.columns[strings.ToLower(in)]
	most := int64(ownLength) // of a table that is to be made
	if s.there {
		most = c.most.Int64
		if !c.most.Valid {
			most = 1 << 32
		}
	}
	length := utf8.RuneCountInString(name)
	if c.kind == "varbinary" {
		length = len(name)
	}
	switch {
	case !utf8.ValidString(name):
		return &offsetfile.NameError{Kind: kind, Name: name, Reason: "it is not UTF-8"}
	case int64(length) > most:
		return &offsetfile.NameError{Kind: kind, Name: name, Reason: fmt.Sprintf("it is longer than the column %s, which takes %d", quote(in), most)}
	}
	return nil
}

// ownLength is how many characters of a name a table of our own takes. Kafka's topics have 249 at most.
const ownLength = 255

// create makes the table. Its collation tells all names apart, also those that end in blanks.
func (t *table) create(ctx context.Context) error {
	began := time.Now()
	collation := "utf8mb4_bin"
	err := t.db.QueryRowContext(ctx, `SELECT COLLATION_NAME FROM information_schema.COLLATIONS
		WHERE COLLATION_NAME IN ('utf8mb4_nopad_bin', 'utf8mb4_0900_bin') LIMIT 1`).Scan(&collation)
	if err == nil || err == sql.ErrNoRows {
		c := t.columns
		lines := []string{
			fmt.Sprintf("%s VARCHAR(%d) NOT NULL", quote(c.topic), ownLength),
			fmt.Sprintf("%s VARCHAR(%d) NOT NULL", quote(c.group), ownLength),
			quote(c.partition) + " INT NOT NULL",
			quote(c.offset) + " BIGINT NOT NULL",
		}
		if c.timestamp != "" {
			lines = append(lines, quote(c.timestamp)+" TIMESTAMP(3) NOT NULL DEFAULT CURRENT_TIMESTAMP(3) ON UPDATE CURRENT_TIMESTAMP(3)")
		}
		lines = append(lines, fmt.Sprintf("PRIMARY KEY (%s, %s, %s)", quote(c.group), quote(c.topic), quote(c.partition)))
		_, err = t.db.ExecContext(ctx, fmt.Sprintf("CREATE TABLE IF NOT EXISTS %s (%s) ENGINE=InnoDB DEFAULT CHARACTER SET utf8mb4 COLLATE %s",
			quote(t.name), strings.Join(lines, ", "), collation))
	}
	t.done("create "+t.place(), began, err)
	return err
}
