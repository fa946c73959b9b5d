package mysql

import (
	"strings"
	"testing"

	"github.com/go-sql-driver/mysql"

	"gtoffset/offsetfile"
	"gtoffset/offsetfile/storetest"
)

func TestOpenErrors(t *testing.T) {
	long := strings.Repeat("x", 65)
	storetest.Refused(t, Open, map[string]string{
		"mysql://bob@/jobs":                 "host: it has none",
		"mysql://bob@a,b/jobs":              "host: it has 2, and 1 can be used",
		"mysql://bob@a":                     "path: it names no database",
		"mysql://bob@a/":                    "path: it names no database",
		"mysql://bob@a/jobs/offsets":        "path: it names no database",
		"mysql://a/jobs":                    "user: it has none",
		"mysql://bob:pw@a/jobs":             "password: it stands in the URL itself",
		"mysql://bob@a/jobs?table=a%00b":    "parameter table",
		"mysql://bob@a/jobs?table=a+":       "parameter table",
		"mysql://bob@a/jobs?offset=" + long: "parameter offset",
		"mysql://bob@a/jobs?offset=Topic":   `the column "Topic" is named twice`,
		"mysql://bob@a/jobs?tls=yes":        "parameter tls",
		"mysql://bob@a/jobs?tls-cert=a":     "tls-cert and tls-key",
		"mysql://bob@a/jobs?column=offset":  "parameter column: it is not known",
	})
}

func TestStatements(t *testing.T) {
	cell := func(text string) *offsetfile.Cell { return &offsetfile.Cell{Text: text} }
	edits := []*offsetfile.Edit{{Partition: 0, New: cell("5")}, {Partition: 7, New: cell("-1")}}
	tb := &table{name: "of`f", columns: columns{"to`pic", "grp", "partition", "offset", "at"}}
	s := &shape{columns: map[string]column{"at": {name: "at", kind: "datetime"}}}
	const same = "`grp` = ? AND `to``pic` = ? AND CAST(CONVERT(`grp` USING utf8mb4) AS BINARY) = ? AND CAST(CONVERT(`to``pic` USING utf8mb4) AS BINARY) = ?"
	for want, build := range map[string]func(*shape, string, string, []*offsetfile.Edit) (string, []any, error){
		"DELETE FROM `of``f` WHERE " + same + " AND `partition` IN (0, 7)":                                                                                          tb.deletion,
		"UPDATE `of``f` SET `offset` = CASE `partition` WHEN 0 THEN 5 WHEN 7 THEN -1 END, `at` = CURRENT_TIMESTAMP(3) WHERE " + same + " AND `partition` IN (0, 7)": tb.update,
		"INSERT INTO `of``f` (`to``pic`, `grp`, `partition`, `offset`, `at`) VALUES (?, ?, 0, 5, CURRENT_TIMESTAMP(3)), (?, ?, 7, -1, CURRENT_TIMESTAMP(3))":        tb.insertion,
	} {
		got, args, err := build(s, "g", "t", edits)
		if err != nil {
			t.Fatal(err)
		}
		if got != want {
			t.Errorf("got  %s\nwant %s", got, want)
		}
		if n := strings.Count(got, "?"); n != len(args) {
			t.Errorf("%d places for %d arguments", n, len(args))
		}
	}
	// Text that is no number never becomes part of a statement.
	edits[0].New.Text = "0); DROP TABLE offsets; --"
	if got, _, err := tb.update(s, "g", "t", edits); err == nil {
		t.Errorf("got %s", got)
	}
	if got, _, err := tb.insertion(s, "g", "t", edits); err == nil {
		t.Errorf("got %s", got)
	}
}

// A name that the columns cannot hold is told with the table, the columns, and what changes it.
func TestNamesThatTheTableCannotHold(t *testing.T) {
	tb := &table{name: "offsets", database: "jobs", columns: columns{"topic", "group_id", "partition", "offset", "timestamp"}}
	for _, number := range []uint16{1267, 1366, 3988} {
		err := tb.explain(&mysql.MySQLError{Number: number, Message: "Illegal mix of collations"})
		for _, want := range []string{"`group_id` and `topic`", "table `offsets` of database `jobs`", "ALTER TABLE `offsets` CONVERT TO CHARACTER SET utf8mb4", "Illegal mix"} {
			if !strings.Contains(err.Error(), want) {
				t.Errorf("%d: %v lacks %q", number, err, want)
			}
		}
	}
}
