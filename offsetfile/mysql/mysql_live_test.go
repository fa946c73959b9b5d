//go:build live

package mysql_test

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"log/slog"
	"math"
	"net"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"gtoffset/kafkaops/offsets"
	"gtoffset/offsetfile"
	"gtoffset/offsetfile/storetest"
	"gtoffset/scripts/live"
)

// store is a store with what the tests ask of it.
type store struct{ storetest.Store }

func opened(t *testing.T, o offsetfile.Options, url string, args ...any) store {
	t.Helper()
	s := open(t, fmt.Sprintf(url, args...), o)
	t.Cleanup(func() { s.Close() })
	return store{storetest.Store{Store: s, T: t}}
}

// save saves one offset for each partition of a topic, on what the store has now.
func (s store) save(group, topic string, saved ...int64) []offsets.Change {
	s.T.Helper()
	h, err := s.Look(group, topic)
	must(s.T, err)
	return s.saveOn(h, group, topic, saved...)
}

// salvage is save, over what is damaged.
func (s store) salvage(group, topic string, saved ...int64) []offsets.Change {
	s.T.Helper()
	h, err := s.Load(storetest.Within(s.T, time.Minute), group, []string{topic}, true)
	must(s.T, err)
	return s.saveOn(h, group, topic, saved...)
}

func (s store) saveOn(h offsetfile.Holding, group, topic string, saved ...int64) []offsets.Change {
	s.T.Helper()
	return s.SaveOn(time.Minute, h, group, []string{topic}, saved...)
}

// dropped is a server with an empty database.
func dropped(t *testing.T, m *live.MariaDB) {
	t.Helper()
	do(t, m, "DROP DATABASE jobs; CREATE DATABASE jobs")
}

// One server for all tests that leave it as it was: each begins with an empty database.
func TestTable(t *testing.T) {
	m := start(t)
	for name, test := range map[string]func(*testing.T, *live.MariaDB){
		"a table of our own": ownTable, "other names": otherNames, "nothing there": nothingThere, "bad rows": badRows, "two rows": twoRows, "one row stays": oneRowStays,
		"names alike": namesAlike, "times": savedTimes, "what does not fit": doesNotFit, "other columns": otherColumns, "no transactions": noTransactions,
		"locked rows": lockedRows, "locks in a ring": lockedInARing, "rows added at once": addedAtOnce, "who may not": whoMayNot,
		"no more connections": noMoreConnections, "read-only": readOnly, "cancelled midway": cancelledMidway, "something else answers": somethingElse,
	} {
		t.Run(name, func(t *testing.T) { dropped(t, m); test(t, m) })
	}
}

func ownTable(t *testing.T, m *live.MariaDB) {
	const url = "mysql://alice:$PW@%s/jobs"
	_, err := opened(t, offsetfile.Options{}, url, m.Addr()).Look("billing", "orders")
	storetest.Fails[*offsetfile.NothingError](t, err, "nothing at mysql://alice:$PW@", "table `offsets` of database `jobs`")
	made := opened(t, offsetfile.Options{Create: true}, url, m.Addr())
	storetest.Notes(t, made.Holds("billing", "", "orders"), "not there yet")
	if said := do(t, m, "SHOW TABLES"); said != "" {
		t.Errorf("a look made %q", said)
	}
	storetest.Results(t, made.save("billing", "orders", 5, 6), offsets.Written, "")
	s := opened(t, offsetfile.Options{}, url, m.Addr())
	s.Holds("billing", "orders 0 5, orders 1 6")
	for _, name := range []string{"Billing", "billing ", "bílling", "日本", strings.Repeat("x", 255)} { // all are told apart
		storetest.Results(t, s.save(name, "orders", 7), offsets.Written, "")
		s.Holds(name, "orders 0 7")
	}
	s.Holds("billing", "orders 0 5, orders 1 6")
	storetest.Results(t, made.save("billing", "orders", 8, 9), offsets.Written, "") // again, with --create-table
	_, err = s.Look(strings.Repeat("x", 256), "orders")
	storetest.Fails[*offsetfile.NameError](t, err, "longer than the column `group_id`, which takes 255")
}

func otherNames(t *testing.T, m *live.MariaDB) {
	do(t, m, "CREATE TABLE `kafka``s offsets` (t VARCHAR(249), `consumer group` VARCHAR(200), p SMALLINT UNSIGNED, `end` DECIMAL(19,0), PRIMARY KEY (t, `consumer group`, p))")
	s := opened(t, offsetfile.Options{}, "mysql://alice:$PW@%s/jobs?table=kafka%%60s+offsets&topic=t&group=consumer+group&partition=p&offset=end&timestamp=-&counts=last", m.Addr())
	storetest.Results(t, s.save("billing", "orders", 42, math.MaxInt64), offsets.Written, "")
	s.Holds("billing", fmt.Sprintf("orders 0 42, orders 1 %d", int64(math.MaxInt64)))
	if got := do(t, m, "SELECT `end` FROM `kafka``s offsets` WHERE p = 0"); got != "41" {
		t.Errorf("the table holds %s, want 41", got)
	}
	groups, _, err := s.Groups(t.Context())
	must(t, err)
	if !slices.Equal(groups, []string{"billing"}) {
		t.Errorf("groups: got %q", groups)
	}
}

// A wrong database, table, column or type is never a first run.
func nothingThere(t *testing.T, m *live.MariaDB) {
	do(t, m, "CREATE TABLE offsets (topic VARCHAR(99), group_id VARCHAR(99), `partition` INT, `offset` DATE, `number` DOUBLE, good BIGINT)")
	do(t, m, "CREATE DATABASE others; GRANT SELECT ON others.* TO alice@'%%'")
	for path, words := range map[string]string{
		"nowhere":                              "", // the user may not even know
		"others":                               "table `offsets` of database `others`",
		"jobs?table=Offsets":                   "table `Offsets`",
		"jobs?group=consumer":                  "column `consumer` of table `offsets` of database `jobs`, which has good, group_id, number, offset, partition, topic",
		"jobs?timestamp=-":                     "column `offset` of table `offsets` of database `jobs`, which is of type date and holds no whole numbers",
		"jobs?timestamp=-&offset=number":       "type double",
		"jobs?offset=good":                     "column `timestamp` of table `offsets`",
		"jobs?offset=good&timestamp=offset":    "type date and holds no times",
		"jobs?topic=partition&partition=topic": "type int and holds no names",
	} {
		s := opened(t, offsetfile.Options{Create: true}, "mysql://alice:$PW@%s/%s", m.Addr(), path)
		if path == "others" || path == "jobs?table=Offsets" {
			s = opened(t, offsetfile.Options{}, "mysql://alice:$PW@%s/%s", m.Addr(), path)
		}
		for _, topics := range [][]string{nil, {"orders"}} {
			_, err := s.Look("billing", topics...)
			if words == "" {
				storetest.Fails[*offsetfile.CredentialsError](t, err, "Access denied")
			} else {
				storetest.Fails[*offsetfile.NothingError](t, err, words)
			}
		}
		if _, _, err := s.Groups(t.Context()); err == nil {
			t.Errorf("%s: groups are listed", path)
		}
	}
	do(t, m, "GRANT ALL ON *.* TO bob@'%%' IDENTIFIED BY 'secret'")
	_, err := opened(t, offsetfile.Options{}, "mysql://bob:$PW@%s/nowhere", m.Addr()).Look("billing")
	storetest.Fails[*offsetfile.NothingError](t, err, "database `nowhere`, which is not there")
	do(t, m, "DROP DATABASE others; DROP USER bob@'%%'")
}

func badRows(t *testing.T, m *live.MariaDB) {
	do(t, m, "CREATE TABLE offsets (topic VARCHAR(99), group_id VARCHAR(99), `partition` VARCHAR(9), `offset` VARCHAR(30), `timestamp` DATETIME)")
	do(t, m, "INSERT INTO offsets VALUES ('orders', 'billing', '0', '5', NOW()), ('orders', 'billing', '1', NULL, NULL), ('orders', 'billing', '2', '-1', NULL), "+
		"('orders', 'billing', '3', '1.5', NULL), ('orders', 'billing', '4', '', NULL), ('orders', 'billing', '05', '1', NULL), ('orders', 'billing', NULL, '1', NULL), "+
		"(NULL, 'billing', '0', '1', NULL), ('orders', NULL, '0', '1', NULL)")
	s := opened(t, offsetfile.Options{}, "mysql://alice:$PW@%s/jobs", m.Addr())
	h := s.Holds("billing", "orders 0 5, orders 1 damaged, orders 2 damaged, orders 3 damaged, orders 4 empty")
	storetest.Notes(t, h, "3 rows without a topic or a partition passed over")
	if e := h.Entries[offsets.Key{Topic: "orders", Partition: 1}]; !strings.Contains(e.Reason, `partition 1: "NULL" is no number`) {
		t.Errorf("NULL: got %q", e.Reason)
	}
	_, ignored, err := s.Groups(t.Context())
	must(t, err)
	if len(ignored) != 1 || !strings.Contains(ignored[0], "rows without a group") {
		t.Errorf("groups: noted %q", ignored)
	}
	storetest.Results(t, s.save("billing", "orders", 7, 7), offsets.NotTried, "")
	storetest.Results(t, s.salvage("billing", "orders", 7, 7, 7, 7, 7), offsets.Written, "")
	s.Holds("billing", "orders 0 7, orders 1 7, orders 2 7, orders 3 7, orders 4 7")
}

func twoRows(t *testing.T, m *live.MariaDB) {
	do(t, m, "CREATE TABLE offsets (topic VARCHAR(99), group_id VARCHAR(99), `partition` INT, `offset` BIGINT)")
	do(t, m, "INSERT INTO offsets VALUES ('orders', 'billing', 0, 5), ('orders', 'billing', 1, 6), ('orders', 'billing', 1, 7)")
	s := opened(t, offsetfile.Options{}, "mysql://alice:$PW@%s/jobs?timestamp=-", m.Addr())
	h := s.Holds("billing", "orders 0 5, orders 1 damaged")
	if e := h.Entries[offsets.Key{Topic: "orders", Partition: 1}]; !strings.Contains(e.Reason, "there are 2 rows (6, 7)") {
		t.Errorf("got %q", e.Reason)
	}
	storetest.Results(t, s.save("billing", "orders", 8, 8)[1:], offsets.NotTried, "there are 2 rows")
	s.Holds("billing", "orders 0 5, orders 1 damaged")
	storetest.Results(t, s.salvage("billing", "orders", 8, 8), offsets.Written, "")
	s.Holds("billing", "orders 0 8, orders 1 8")
	if got := do(t, m, "SELECT COUNT(*) FROM offsets WHERE `partition` = 1"); got != "1" {
		t.Errorf("got %s rows of partition 1, want one", got)
	}
}

// Of several rows the one that was saved last stays, with what else is in it; none stays of a partition that is removed.
func oneRowStays(t *testing.T, m *live.MariaDB) {
	do(t, m, "CREATE TABLE offsets (topic VARCHAR(99), group_id VARCHAR(99), `partition` INT, `offset` BIGINT, `timestamp` BIGINT, note TEXT)")
	do(t, m, "INSERT INTO offsets VALUES ('orders', 'billing', 0, 5, 100, 'old'), ('orders', 'billing', 0, NULL, 300, 'new'), ('orders', 'billing', 0, 6, NULL, 'never'), "+
		"('orders', 'billing', 1, 7, 1, ''), ('orders', 'billing', 1, 7, 1, ''), ('orders', 'other', 0, 5, 1, ''), ('orders', 'other', 0, 5, 1, '')")
	s := opened(t, offsetfile.Options{}, "mysql://alice:$PW@%s/jobs", m.Addr())
	s.Holds("billing", "orders 0 damaged, orders 1 damaged")
	storetest.Results(t, s.salvage("billing", "orders", 8, offsets.None), offsets.Written, "")
	s.Holds("billing", "orders 0 8")
	s.Holds("other", "orders 0 damaged")
	if got := do(t, m, "SELECT note FROM offsets WHERE group_id = 'billing'"); got != "new" {
		t.Errorf("got the row %q, want the newest", got)
	}
}

// A collation that takes different names for the same must not mix groups up.
func namesAlike(t *testing.T, m *live.MariaDB) {
	do(t, m, "CREATE TABLE offsets (topic VARCHAR(99), group_id VARCHAR(99), `partition` INT, `offset` BIGINT, PRIMARY KEY (topic, group_id, `partition`)) COLLATE utf8mb4_general_ci")
	do(t, m, "INSERT INTO offsets VALUES ('orders', 'Billing', 0, 5), ('ORDERS', 'billing', 1, 6)")
	s := opened(t, offsetfile.Options{}, "mysql://alice:$PW@%s/jobs?timestamp=-", m.Addr())
	s.Holds("Billing", "orders 0 5")
	s.Holds("billing", "ORDERS 1 6")
	s.Holds("billing", "", "orders")
	groups, _, err := s.Groups(t.Context())
	must(t, err)
	if !slices.Equal(groups, []string{"Billing", "billing"}) {
		t.Errorf("groups: got %q", groups)
	}
	storetest.Results(t, s.save("billing", "orders", 9), offsets.Failed, "collation may not tell the names apart")
	s.Holds("Billing", "orders 0 5")
	do(t, m, "ALTER TABLE offsets DROP PRIMARY KEY")
	storetest.Results(t, s.save("billing", "orders", 9), offsets.Written, "")
	storetest.Results(t, s.save("billing", "orders", 10), offsets.Written, "")
	s.Holds("billing", "ORDERS 1 6, orders 0 10")
	s.Holds("Billing", "orders 0 5")
	storetest.Results(t, s.save("billing", "orders", offsets.None), offsets.Written, "")
	s.Holds("billing", "ORDERS 1 6")
	s.Holds("Billing", "orders 0 5")
}

func savedTimes(t *testing.T, m *live.MariaDB) {
	do(t, m, "SET GLOBAL time_zone = '+05:00'")
	defer do(t, m, "SET GLOBAL time_zone = SYSTEM")
	for _, kind := range []string{"TIMESTAMP(3) NULL", "TIMESTAMP", "DATETIME(3)", "DATETIME", "BIGINT"} {
		do(t, m, "CREATE OR REPLACE TABLE offsets (topic VARCHAR(99), group_id VARCHAR(99), `partition` INT, `offset` BIGINT, `timestamp` %s)", kind)
		s := opened(t, offsetfile.Options{}, "mysql://alice:$PW@%s/jobs", m.Addr())
		before := time.Now().Add(-2 * time.Second) // a column of seconds cuts
		storetest.Results(t, s.save("billing", "orders", 5), offsets.Written, "")
		if got := s.Holds("billing", "orders 0 5").Store.Saved; got.Before(before) || got.After(time.Now().Add(time.Second)) {
			t.Errorf("%s: saved at %v, want about %v", kind, got, time.Now())
		}
	}
}

func doesNotFit(t *testing.T, m *live.MariaDB) {
	do(t, m, "SET GLOBAL sql_mode = ''; CREATE TABLE offsets (topic VARCHAR(99), group_id VARCHAR(99), `partition` INT, `offset` INT)")
	defer do(t, m, "SET GLOBAL sql_mode = DEFAULT")
	s := opened(t, offsetfile.Options{}, "mysql://alice:$PW@%s/jobs?timestamp=-", m.Addr())
	storetest.Results(t, s.save("billing", "orders", 5, 6), offsets.Written, "")
	storetest.Results(t, s.save("billing", "orders", 7, 1<<31), offsets.Failed, "Out of range value")
	s.Holds("billing", "orders 0 5, orders 1 6")
}

// What a job keeps beside the offset stays.
func otherColumns(t *testing.T, m *live.MariaDB) {
	do(t, m, "CREATE TABLE offsets (id BIGINT AUTO_INCREMENT PRIMARY KEY, topic VARCHAR(99), group_id VARCHAR(99), `partition` INT, `offset` BIGINT, note VARCHAR(99) DEFAULT 'new')")
	do(t, m, "INSERT INTO offsets VALUES (7, 'orders', 'billing', 0, 5, 'mine')")
	s := opened(t, offsetfile.Options{}, "mysql://alice:$PW@%s/jobs?timestamp=-", m.Addr())
	storetest.Results(t, s.save("billing", "orders", 6, 1), offsets.Written, "")
	if got, want := do(t, m, "SELECT * FROM offsets ORDER BY id"), "7\torders\tbilling\t0\t6\tmine\n8\torders\tbilling\t1\t1\tnew"; got != want {
		t.Errorf("rows: got %q, want %q", got, want)
	}
}

func noTransactions(t *testing.T, m *live.MariaDB) {
	do(t, m, "CREATE TABLE offsets (topic VARCHAR(99), group_id VARCHAR(99), `partition` INT, `offset` BIGINT) ENGINE=MyISAM")
	do(t, m, "INSERT INTO offsets VALUES ('orders', 'billing', 0, 5)")
	s := opened(t, offsetfile.Options{}, "mysql://alice:$PW@%s/jobs?timestamp=-", m.Addr())
	storetest.Notes(t, s.Holds("billing", "orders 0 5"), "engine MyISAM, which has no transactions")
	storetest.Results(t, s.save("billing", "orders", 6), offsets.Failed, "ALTER TABLE `offsets` ENGINE=InnoDB")
	s.Holds("billing", "orders 0 5")
}

const ownColumns = "topic VARCHAR(99), group_id VARCHAR(99), `partition` INT, `offset` BIGINT, PRIMARY KEY (group_id, topic, `partition`)"

// another is a session of another program, in a transaction.
func another(t *testing.T, m *live.MariaDB, statements ...string) *sql.Tx {
	t.Helper()
	db, err := sql.Open("mysql", fmt.Sprintf("alice:secret@tcp(%s)/jobs", m.Addr()))
	must(t, err)
	t.Cleanup(func() { db.Close() })
	tx, err := db.Begin()
	must(t, err)
	t.Cleanup(func() { _ = tx.Rollback() })
	for _, s := range statements {
		_, err := tx.Exec(s)
		must(t, err)
	}
	return tx
}

// heard calls f with the error of each request that fails.
func heard(f func(string)) *slog.Logger {
	return slog.New(slog.NewTextHandler(writer(func(b []byte) { f(string(b)) }), &slog.HandlerOptions{Level: slog.LevelDebug}))
}

type writer func([]byte)

func (w writer) Write(b []byte) (int, error) { w(b); return len(b), nil }

// Rows that another has locked are waited for, as long as there is time, and then compared.
func lockedRows(t *testing.T, m *live.MariaDB) {
	do(t, m, "CREATE TABLE offsets (%s); INSERT INTO offsets VALUES ('orders', 'billing', 0, 5)", ownColumns)
	for name, tt := range map[string]struct {
		end  func(*sql.Tx) error
		want offsets.Result
		then string
	}{
		"taken back": {(*sql.Tx).Rollback, offsets.Written, "orders 0 7"},
		"committed":  {(*sql.Tx).Commit, offsets.Failed, "orders 0 6"},
	} {
		t.Run(name, func(t *testing.T) {
			do(t, m, "UPDATE offsets SET `offset` = 5")
			waited := make(chan bool, 100)
			s := opened(t, offsetfile.Options{Log: heard(func(said string) {
				if strings.Contains(said, "Lock wait timeout") {
					waited <- true
				}
			})}, "mysql://alice:$PW@%s/jobs?timestamp=-", m.Addr())
			h, err := s.Look("billing", "orders")
			must(t, err)
			tx := another(t, m, "UPDATE offsets SET `offset` = 6")
			done := make(chan []offsets.Change)
			go func() { done <- s.saveOn(h, "billing", "orders", 7) }()
			select { // the server gives up once
			case <-waited:
			case c := <-done:
				t.Fatalf("done while the row is locked: %+v", c)
			}
			must(t, tt.end(tx))
			storetest.Results(t, <-done, tt.want, map[offsets.Result]string{offsets.Failed: "another program"}[tt.want])
			s.Holds("billing", tt.then)
		})
	}
}

func lockedInARing(t *testing.T, m *live.MariaDB) {
	do(t, m, "CREATE TABLE offsets (%s); INSERT INTO offsets VALUES ('orders', 'billing', 0, 5), ('orders', 'billing', 1, 5)", ownColumns)
	failed := make(chan string, 100)
	s := opened(t, offsetfile.Options{Log: heard(func(said string) {
		if strings.Contains(said, "Deadlock") {
			failed <- said
		}
	})}, "mysql://alice:$PW@%s/jobs?timestamp=-", m.Addr())
	h, err := s.Look("billing", "orders")
	must(t, err)
	// It has more at stake than we, so that the server chooses us to fail.
	do(t, m, "CREATE TABLE more (n INT)")
	many := "INSERT INTO more VALUES (1)" + strings.Repeat(", (1)", 500)
	tx := another(t, m, many, "UPDATE offsets SET `offset` = 5 WHERE `partition` = 1 AND group_id = 'billing' AND topic = 'orders'")
	done := make(chan []offsets.Change)
	go func() { done <- s.saveOn(h, "billing", "orders", 7, 7) }()
	must(t, live.Eventually(t.Context(), "the save waits for the row", func(context.Context) (bool, error) {
		return do(t, m, "SELECT COUNT(*) FROM information_schema.INNODB_TRX WHERE trx_state = 'LOCK WAIT'") == "1", nil
	}))
	_, err = tx.Exec("UPDATE offsets SET `offset` = 5 WHERE `partition` = 0 AND group_id = 'billing' AND topic = 'orders'")
	must(t, err)
	<-failed
	must(t, tx.Commit())
	storetest.Results(t, <-done, offsets.Written, "")
	s.Holds("billing", "orders 0 7, orders 1 7")
}

// Two that add the same row at once: one is made, the other told; also where no unique key keeps it.
func addedAtOnce(t *testing.T, m *live.MariaDB) {
	do(t, m, "CREATE TABLE offsets (topic VARCHAR(99), group_id VARCHAR(99), `partition` INT, `offset` BIGINT)")
	first := opened(t, offsetfile.Options{}, "mysql://alice:$PW@%s/jobs?timestamp=-", m.Addr())
	h, err := first.Look("billing", "orders")
	must(t, err)
	storetest.Results(t, first.save("shipping", "orders", 1), offsets.Written, "")
	const writers = 6
	done := make(chan []offsets.Change, writers)
	for i := range int64(writers) {
		s := opened(t, offsetfile.Options{}, "mysql://alice:$PW@%s/jobs?timestamp=-", m.Addr())
		go func() { done <- s.saveOn(h, "billing", "orders", 10+i, 20+i) }()
	}
	won := 0
	for range writers {
		for _, c := range <-done {
			if c.Result == offsets.Written {
				won++
			} else if c.Result != offsets.Failed || !c.Refused {
				t.Errorf("got %s (%s), want it refused", c.Result, c.Error)
			}
		}
	}
	if rows := do(t, m, "SELECT COUNT(*) FROM offsets WHERE group_id = 'billing'"); rows != "2" || won != 2 {
		t.Errorf("%d changes won, and there are %s rows; want 2 of each", won, rows)
	}
}

func whoMayNot(t *testing.T, m *live.MariaDB) {
	do(t, m, "CREATE TABLE offsets (%s); INSERT INTO offsets VALUES ('orders', 'billing', 0, 5), ('orders', 'billing', 1, 5)", ownColumns)
	for user, words := range map[string]string{"alice": "Access denied", "alice:$OTHER": "Access denied", "nobody:$PW": "Access denied"} {
		_, err := opened(t, offsetfile.Options{}, "mysql://%s@%s/jobs?timestamp=-", user, m.Addr()).Look("billing")
		storetest.Fails[*offsetfile.CredentialsError](t, err, words)
		if strings.Contains(fmt.Sprint(err), "secret") {
			t.Errorf("the password is told: %v", err)
		}
	}
	do(t, m, "CREATE USER carol@'%%' IDENTIFIED BY 'secret'; GRANT SELECT, INSERT, UPDATE ON jobs.offsets TO carol@'%%'")
	defer do(t, m, "DROP USER carol@'%%'")
	s := opened(t, offsetfile.Options{}, "mysql://carol:$PW@%s/jobs?timestamp=-", m.Addr())
	storetest.Results(t, s.save("billing", "orders", 6, offsets.None), offsets.Failed, "DELETE command denied")
	s.Holds("billing", "orders 0 5, orders 1 5")
	storetest.Results(t, s.save("billing", "orders", 6, 6), offsets.Written, "")
}

func noMoreConnections(t *testing.T, m *live.MariaDB) {
	do(t, m, "CREATE TABLE offsets (%s); INSERT INTO offsets VALUES ('orders', 'billing', 0, 5); ALTER USER alice@'%%' WITH MAX_USER_CONNECTIONS 1", ownColumns)
	defer do(t, m, "ALTER USER alice@'%%' WITH MAX_USER_CONNECTIONS 0")
	tx := another(t, m)
	s := opened(t, offsetfile.Options{}, "mysql://alice:$PW@%s/jobs?timestamp=-", m.Addr())
	_, err := s.Load(storetest.Within(t, time.Second), "billing", nil, false)
	storetest.Fails[*offsetfile.AwayError](t, err, "max_user_connections")
	must(t, tx.Rollback())
	do(t, m, "ALTER USER alice@'%%' WITH MAX_USER_CONNECTIONS 2")
	s.Holds("billing", "orders 0 5")
}

func readOnly(t *testing.T, m *live.MariaDB) {
	do(t, m, "CREATE TABLE offsets (%s); INSERT INTO offsets VALUES ('orders', 'billing', 0, 5)", ownColumns)
	do(t, m, "SET GLOBAL read_only = 1")
	defer do(t, m, "SET GLOBAL read_only = 0")
	s := opened(t, offsetfile.Options{}, "mysql://alice:$PW@%s/jobs?timestamp=-", m.Addr())
	storetest.Results(t, s.save("billing", "orders", 6), offsets.Failed, "name its master")
	s.Holds("billing", "orders 0 5")
}

func somethingElse(t *testing.T, _ *live.MariaDB) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	must(t, err)
	t.Cleanup(func() { l.Close() })
	go http.Serve(l, nil) // it waits for us to speak, as we do for it
	_, err = opened(t, offsetfile.Options{}, "mysql://alice:$PW@%s/jobs", l.Addr()).Load(storetest.Within(t, time.Second), "billing", nil, false)
	storetest.Fails[*offsetfile.AwayError](t, err)
	_, err = opened(t, offsetfile.Options{}, "mysql://alice:$PW@127.0.0.1:1/jobs").Load(storetest.Within(t, time.Second), "billing", nil, false)
	storetest.Fails[*offsetfile.AwayError](t, err, "connection refused")
}

func TestTransport(t *testing.T) {
	certs, err := live.NewCerts(t.TempDir())
	must(t, err)
	others, err := live.NewCerts(t.TempDir())
	must(t, err)
	plain, secure := start(t), start(t, live.MariaDBTLS(certs)...)
	for _, m := range []*live.MariaDB{plain, secure} {
		do(t, m, "CREATE TABLE offsets (%s); INSERT INTO offsets VALUES ('orders', 'billing', 0, 5)", ownColumns)
	}
	do(t, secure, "ALTER USER alice@'%%' REQUIRE X509")
	do(t, secure, "CREATE USER bob@'%%' IDENTIFIED BY 'secret'; GRANT SELECT ON jobs.* TO bob@'%%'")
	ca := "timestamp=-&tls-ca=" + certs.CA
	opened(t, offsetfile.Options{}, "mysql://bob:$PW@%s/jobs?%s", secure.Addr(), ca).Holds("billing", "orders 0 5")
	opened(t, offsetfile.Options{}, "mysql://bob:$PW@localhost:%d/jobs?%s", secure.Port, ca).Holds("billing", "orders 0 5")
	opened(t, offsetfile.Options{}, "mysql://alice:$PW@%s/jobs?%s&tls-cert=%s&tls-key=%s", secure.Addr(), ca, certs.ClientCert, certs.ClientKey).Holds("billing", "orders 0 5")
	for name, tt := range map[string]struct{ url, words string }{
		"no authority":        {"mysql://bob:$PW@" + secure.Addr() + "/jobs?tls=true", "certificate signed by unknown authority"},
		"another's authority": {"mysql://bob:$PW@" + secure.Addr() + "/jobs?tls-ca=" + others.CA, "certificate signed by unknown authority"},
		"another's name":      {"mysql://bob:$PW@" + secure.Addr() + "/jobs?tls-server-name=example.org&" + ca, "not example.org"},
		"no certificate":      {"mysql://alice:$PW@" + secure.Addr() + "/jobs?" + ca, "Access denied"},
		"TLS to plain":        {"mysql://alice:$PW@" + plain.Addr() + "/jobs?" + ca, "does not speak TLS"},
		"plain to TLS":        {"mysql://bob:$PW@" + secure.Addr() + "/jobs", "tls=true"},
	} {
		t.Run(name, func(t *testing.T) {
			ctx := storetest.Within(t, 20*time.Second)
			_, err := opened(t, offsetfile.Options{}, "%s", tt.url).Load(ctx, "billing", []string{"orders"}, false)
			if err == nil || !strings.Contains(err.Error(), tt.words) {
				t.Errorf("got %v, want it to say %q", err, tt.words)
			}
			if ctx.Err() != nil {
				t.Errorf("it was tried until the time was up: %v", err)
			}
		})
	}
}

// A server that says nothing does not hold up who gives up, wherever a save is, and what was sent is not said to have failed.
func cancelledMidway(t *testing.T, m *live.MariaDB) {
	do(t, m, "CREATE TABLE offsets (%s); INSERT INTO offsets VALUES ('orders', 'billing', 0, 5)", ownColumns)
	p := storetest.Proxy(t, m.Addr())
	ctx, cancel := context.WithCancel(t.Context())
	freeze := func(step string) error {
		if step == "commit" {
			p.Freeze()
			time.AfterFunc(100*time.Millisecond, cancel)
		}
		return nil
	}
	s := opened(t, offsetfile.Options{Hook: freeze}, "mysql://alice:$PW@%s/jobs?timestamp=-", p.Addr())
	h, err := s.Look("billing", "orders")
	must(t, err)
	w, err := s.Writer(t.Context(), "billing", []string{"orders"})
	must(t, err)
	change := offsets.Change{Key: offsets.Key{Topic: "orders"}, Side: offsets.Stored, Verdict: offsets.Write, New: offsets.Value{Offset: 6, Epoch: offsets.None}}
	changes, _ := w.Save(ctx, h.Store, []offsets.Change{change}, offsetfile.Facts{Now: time.Now()})
	storetest.Results(t, changes, offsets.Unverified, "canceled")
	ctx, cancel = context.WithCancel(t.Context())
	defer time.AfterFunc(100*time.Millisecond, cancel).Stop()
	if _, err := s.Load(ctx, "billing", nil, false); !errors.Is(err, context.Canceled) {
		t.Errorf("load: got %v, want cancelled", err)
	}
	p.Thaw()
	if h, err := s.Look("billing", "orders"); err != nil || len(h.Entries) != 1 {
		t.Errorf("after that: got %v, %v", h.Entries, err)
	}
}
