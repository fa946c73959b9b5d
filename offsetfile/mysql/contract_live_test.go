//go:build live

package mysql_test

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"gtoffset/offsetfile"
	"gtoffset/offsetfile/mysql"
	"gtoffset/offsetfile/storetest"
	"gtoffset/scripts/live"
)

// must ends the test at once: what it wanted to look at could not be set up.
func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// start starts a server with a user alice, whose password is secret.
func start(t testing.TB, args ...string) *live.MariaDB {
	t.Helper()
	m, err := live.StartMariaDB(context.Background(), args...)
	must(t, err)
	t.Cleanup(m.Stop)
	do(t, m, "CREATE USER alice@'%%' IDENTIFIED BY 'secret'; GRANT SELECT, INSERT, UPDATE, DELETE, CREATE ON jobs.* TO alice@'%%'")
	return m
}

// do runs statements as root.
func do(t testing.TB, m *live.MariaDB, format string, args ...any) string {
	t.Helper()
	said, err := m.Do(context.Background(), "jobs", fmt.Sprintf(format, args...))
	must(t, err)
	return said
}

// open opens a store. The environment has $PW, which is alice's password.
func open(t testing.TB, url string, o offsetfile.Options) offsetfile.Store {
	t.Helper()
	return storetest.Opened(t, mysql.Open, url, o)
}

func text(s string) string { return fmt.Sprintf("_utf8mb4 X'%X'", s) }

// contract is the service of storetest for a table that exists, with the columns' usual names.
func contract(m *live.MariaDB, table, params string) storetest.Service {
	url := func(addr, table, more string) string {
		return fmt.Sprintf("mysql://alice:$PW@%s/jobs?table=%s&%s&%s", addr, table, params, more)
	}
	return storetest.Service{
		Addr: m.Addr(),
		Open: func(t testing.TB, g storetest.Given) offsetfile.Store {
			t.Helper()
			return open(t, url(g.Addr, table, g.Params), g.Options)
		},
		Peek: func(t testing.TB, group, topic string, partition int32) string {
			t.Helper()
			return do(t, m, "SELECT `offset` FROM `%s` WHERE group_id = %s AND topic = %s AND `partition` = %d", table, text(group), text(topic), partition)
		},
		Poke: func(t testing.TB, group, topic string, partition int32, value string) {
			t.Helper()
			do(t, m, "REPLACE INTO `%s` (topic, group_id, `partition`, `offset`) VALUES (%s, %s, %d, %s)", table, text(topic), text(group), partition, text(value))
		},
		Missing: func(t testing.TB, place string, o offsetfile.Options) offsetfile.Store {
			t.Helper()
			return open(t, url(m.Addr(), place, ""), o)
		},
		Others: func(t testing.TB, group, topic string) func() string {
			t.Helper()
			do(t, m, "ALTER TABLE `%s` ADD COLUMN IF NOT EXISTS note VARCHAR(40)", table)
			do(t, m, "UPDATE `%s` SET note = 'of another' WHERE group_id = %s AND topic = %s AND `partition` IN (0, 9)", table, text(group), text(topic))
			return func() string { // the row of partition 0 goes in the end, and its note with it
				t.Helper()
				return do(t, m, "SELECT note FROM `%s` WHERE group_id = %s AND topic = %[3]s AND `partition` = 9; "+
					"SELECT COUNT(*) FROM `%[1]s` WHERE group_id = %[2]s AND topic = %[3]s AND `partition` = 0 AND note IS NULL", table, text(group), text(topic))
			}
		},
		Unbroken: "a topic has no place of its own: its rows are in the table of all, and rights are those of the table",
		TextOnly: true,
		Kill:     func(testing.TB) { m.Kill() },
		Start:    func(t testing.TB) { t.Helper(); must(t, m.Start(context.Background())) },
		Turns:    7, // SET TRANSACTION, START, prepare, SELECT … FOR UPDATE, prepare, UPDATE, COMMIT
	}
}

// In a table whose offsets are text, any bad value can stand.
func TestContract(t *testing.T) {
	m := start(t)
	do(t, m, "CREATE TABLE texts (topic VARCHAR(300), group_id VARCHAR(300), `partition` INT, `offset` VARCHAR(40), `timestamp` DATETIME(3), "+
		"PRIMARY KEY (group_id, topic, `partition`)) CHARACTER SET utf8mb4 COLLATE utf8mb4_nopad_bin")
	storetest.Run(t, contract(m, "texts", ""))
}

// A table without a key may have several rows of one partition.
func TestContractWithoutKey(t *testing.T) {
	m := start(t)
	do(t, m, "CREATE TABLE loose (topic VARCHAR(300), group_id VARCHAR(300), `partition` INT, `offset` VARCHAR(40), `timestamp` BIGINT) "+
		"CHARACTER SET utf8mb4 COLLATE utf8mb4_nopad_bin")
	s := contract(m, "loose", "")
	insert := func(values ...string) func(testing.TB, string, string, int32) {
		return func(t testing.TB, group, topic string, partition int32) {
			t.Helper()
			for _, v := range values {
				do(t, m, "INSERT INTO loose (topic, group_id, `partition`, `offset`) VALUES (%s, %s, %d, %s)", text(topic), text(group), partition, v)
			}
		}
	}
	s.Spoil = map[string]func(testing.TB, string, string, int32){
		"two rows": insert("'5'", "'6'"), "the same row twice": insert("'9'", "'9'"), "a row without a number, and one with": insert("NULL", "'9'"), "no number": insert("NULL"),
	}
	s.NoProxy, s.Kill, s.Start = "what can happen on the way is tried with a key", nil, nil
	s.Unreadable = map[string]func(testing.TB, string, string) func(){
		"no table": func(t testing.TB, _, _ string) func() {
			t.Helper()
			do(t, m, "RENAME TABLE loose TO elsewhere")
			return func() { do(t, m, "RENAME TABLE elsewhere TO loose") }
		},
	}
	storetest.Run(t, s)
}

func TestContractTLS(t *testing.T) {
	certs, err := live.NewCerts(t.TempDir())
	must(t, err)
	m := start(t, live.MariaDBTLS(certs)...)
	do(t, m, "CREATE TABLE `texts` (topic VARCHAR(300), group_id VARCHAR(300), `partition` INT, `offset` VARCHAR(40), "+
		"UNIQUE KEY (group_id, topic, `partition`)) CHARACTER SET utf8mb4 COLLATE utf8mb4_nopad_bin")
	storetest.Run(t, contract(m, "texts", strings.Join([]string{"timestamp=-", "tls-ca=" + certs.CA}, "&")))
}
