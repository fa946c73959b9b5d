// Package mysql keeps offsets in a table of MySQL or MariaDB, as jobs do: one row for each topic, group and partition.
//
//	mysql://USER[:$VARIABLE]@HOST[:PORT]/DATABASE
//
// The names are parameters: ?table=, ?topic=, ?group=, ?partition=, ?offset= and ?timestamp=, which is - for a table without one; else
// they are offsets, topic, group_id, partition, offset and timestamp. ?tls=true, or any of tls-ca, tls-cert, tls-key and tls-server-name,
// encrypts the connection. A save is one transaction: it locks the rows, compares all of them, and changes all or none.
package mysql

import (
	"cmp"
	"database/sql"
	"fmt"
	"strings"
	"sync"
	"time"
	"unicode/utf8"

	driver "github.com/go-sql-driver/mysql"

	"gtoffset/offsetfile"
)

const defaultPort = "3306"

// How long reaching a server may take, and one request if its context has no deadline.
const (
	mostDial    = 10 * time.Second
	mostRequest = time.Minute
)

// lockWait is how many seconds a save waits for another's locks before it begins anew.
const lockWait = "5"

// noColumn is the name of the timestamp's column in a table without one.
const noColumn = "-"

// Kind is this kind of store.
func Kind() offsetfile.Kind {
	return offsetfile.Kind{
		Schemes: []string{"mysql"},
		Form:    "mysql://USER@HOST[:PORT]/DATABASE",
		Layout:  "the table offsets (topic, group_id, partition, offset, timestamp); ?table=, ?topic=, ?group=, … name others; --create-table makes it",
		Open:    Open,
	}
}

// Open reads the address and opens the store. It connects with the first request. The error is a *offsetfile.URLError.
func Open(a *offsetfile.Address, o offsetfile.Options) (offsetfile.Store, error) {
	config, err := configOf(a)
	if err != nil {
		return nil, err
	}
	t := &table{o: o, database: config.DBName, inTheClear: config.TLS == nil, name: cmp.Or(a.Param("table"), "offsets")}
	if err := checkIdentifier(t.name); err != nil {
		return nil, a.Errorf("parameter table", "%w", err)
	}
	if t.columns, err = columnsOf(a); err != nil {
		return nil, err
	}
	connector, err := driver.NewConnector(config)
	if err != nil {
		return nil, a.Errorf("address", "%w", err)
	}
	t.db = sql.OpenDB(connector)
	return offsetfile.Over(a, t, o)
}

func configOf(a *offsetfile.Address) (*driver.Config, error) {
	hosts, err := a.HostPorts(defaultPort, 1)
	if err != nil {
		return nil, err
	}
	database := strings.TrimPrefix(a.Path, "/")
	if err := checkIdentifier(database); err != nil {
		return nil, a.Errorf("path", "it names no database, as mysql://USER@HOST/DATABASE does: %w", err)
	}
	if a.User == "" {
		return nil, a.Errorf("user", "it has none, as in mysql://USER@HOST/DATABASE")
	}
	c := driver.NewConfig()
	c.Net, c.Addr, c.User, c.Passwd, c.DBName = "tcp", hosts[0], a.User, a.Password, database
	c.Timeout, c.ReadTimeout, c.WriteTimeout = mostDial, mostRequest, mostRequest
	c.ClientFoundRows = true       // a row that has the value already counts
	c.Logger = &driver.NopLogger{} // it writes to stderr
	c.Params = map[string]string{
		"autocommit":               "1",
		"sql_mode":                 "'STRICT_ALL_TABLES'", // what does not fit is an error, not cut
		"innodb_lock_wait_timeout": lockWait,
	}
	on := a.Param("tls")
	if on != "" && on != "true" {
		return nil, a.Errorf("parameter tls", "%q is not known; true encrypts the connection", on)
	}
	encrypted, err := a.TLS()
	if err != nil {
		return nil, err
	}
	for _, name := range []string{"tls-ca", "tls-cert", "tls-key", "tls-server-name"} {
		on += a.Param(name)
	}
	if on != "" {
		c.TLS = encrypted
	}
	return c, nil
}

// columns are the names of a table's columns. timestamp is "" if it has none.
type columns struct{ topic, group, partition, offset, timestamp string }

func columnsOf(a *offsetfile.Address) (columns, error) {
	c := columns{"topic", "group_id", "partition", "offset", "timestamp"}
	seen := map[string]bool{}
	for _, p := range []struct {
		param  string
		column *string
	}{{"topic", &c.topic}, {"group", &c.group}, {"partition", &c.partition}, {"offset", &c.offset}, {"timestamp", &c.timestamp}} {
		*p.column = cmp.Or(a.Param(p.param), *p.column)
		if err := checkIdentifier(*p.column); err != nil {
			return c, a.Errorf("parameter "+p.param, "%w", err)
		}
		folded := strings.ToLower(*p.column) // as the server compares columns
		if seen[folded] {
			return c, a.Errorf("parameter "+p.param, "the column %q is named twice", *p.column)
		}
		seen[folded] = true
	}
	if c.timestamp == noColumn {
		c.timestamp = ""
	}
	return c, nil
}

// checkIdentifier refuses what no database, table or column can be called.
func checkIdentifier(name string) error {
	switch {
	case name == "":
		return fmt.Errorf("the name is empty")
	case !utf8.ValidString(name) || strings.ContainsAny(name, "\x00/\\"):
		return fmt.Errorf("%q has characters that no name has", name)
	case utf8.RuneCountInString(name) > 64:
		return fmt.Errorf("%q has more than 64 characters", name)
	case strings.HasSuffix(name, " "):
		return fmt.Errorf("%q ends in a blank", name)
	}
	return nil
}

// quote makes an identifier of any name.
func quote(name string) string { return "`" + strings.ReplaceAll(name, "`", "``") + "`" }

// table is the store itself.
type table struct {
	o          offsetfile.Options
	db         *sql.DB
	database   string
	name       string
	columns    columns
	inTheClear bool // without TLS

	mu    sync.Mutex
	shape *shape // as it was found; nil before
}

func (t *table) Can() offsetfile.Abilities {
	return offsetfile.Abilities{Write: true, CompareAndSet: true, Atomic: offsetfile.OneGroup, Times: t.columns.timestamp != "", Creates: true}
}

func (t *table) Close() error { return t.db.Close() }

// place is the table for people.
func (t *table) place() string {
	return fmt.Sprintf("table %s of database %s", quote(t.name), quote(t.database))
}

// done logs a request.
func (t *table) done(what string, began time.Time, err error) {
	if t.o.Log != nil {
		t.o.Log.Debug("mysql", "request", what, "took", time.Since(began), "error", err)
	}
}
