//go:build live

package live_test

import (
	"fmt"
	"testing"

	"gtoffset/scripts/live"
)

// startMariaDB starts a server with a user job, whose password is open-sesame.
func startMariaDB(t *testing.T, args ...string) *live.MariaDB {
	t.Helper()
	m, err := live.StartMariaDB(t.Context(), args...)
	must(t, err)
	t.Cleanup(m.Stop)
	sqlDo(t, m, "CREATE USER job@'%' IDENTIFIED BY 'open-sesame'; GRANT ALL ON jobs.* TO job@'%'")
	return m
}

// sqlDo runs statements as root.
func sqlDo(t *testing.T, m *live.MariaDB, statements string) string {
	t.Helper()
	said, err := m.Do(t.Context(), "jobs", statements)
	must(t, err)
	return said
}

func TestMariaDBCommands(t *testing.T) {
	certs, err := live.NewCerts(t.TempDir())
	must(t, err)
	m := startMariaDB(t, live.MariaDBTLS(certs)...)
	sqlDo(t, m, "CREATE TABLE offsets (topic VARCHAR(249), group_id VARCHAR(255), `partition` INT, `offset` BIGINT, `timestamp` TIMESTAMP(3) NULL, PRIMARY KEY (topic, group_id, `partition`))")
	everyCommand(t, "mysql://job@"+m.Addr()+"/jobs?tls-ca="+certs.CA+"&password-file="+secret(t))
}

// STO-3: a wrong database, table or column is told, and never a first run; the table is made where that is asked for.
func TestMariaDBNothingThere(t *testing.T) {
	m := startMariaDB(t)
	s := stage(t, cluster, [2]int64{0, 100})
	url := "mysql://job@" + m.Addr() + "/jobs?password-file=" + secret(t)
	first := []string{"reset", "-g", s.group, "-t", s.topic, "-s", url, "--stored", "--to-latest", "--execute"}
	s.run("describe", "-g", s.group, "-s", url).exits(1).says("nothing at mysql://job@", "table `offsets` of database `jobs`")
	s.run(first...).exits(1).says("table `offsets` of database `jobs`", "--create-table")
	s.run(append(first, "--create-table")...).exits(0).prints("1 of 1 verified")
	same(t, "rows", sqlDo(t, m, "SELECT topic, group_id, `partition`, `offset` FROM offsets"), fmt.Sprintf("%s\t%s\t0\t100", s.topic, s.group))
	s.run("describe", "-g", s.group, "-s", url+"&offset=next").exits(1).says("column `next` of table `offsets` of database `jobs`")
	s.run("clamp", "-g", s.group, "-t", s.topic, "-s", url+"&table=offset", "--stored", "--execute").exits(1).says("table `offset` of database `jobs`")
}

// From one kind of store to another by a pipe; each counts in its own way (STO-1).
func TestFromRedisToMariaDB(t *testing.T) {
	r, m := startRedis(t), startMariaDB(t)
	s := stage(t, cluster, [2]int64{0, 100}, [2]int64{0, 100}, [2]int64{0, 100})
	redisDo(t, r, "HSET", "offset:"+s.topic+":"+s.group, "0", "41", "1", "-1")
	line := fmt.Sprintf("export GTOFFSET_BOOTSTRAP_SERVER=%s; gtoffset export --stored -g %s -s 'redis://%s?counts=last' | "+
		"gtoffset import - --stored -s 'mysql://job@%s/jobs?table=next&password-file=%s' --create-table --execute", cluster.Bootstrap(), s.group, r.Addr(), m.Addr(), secret(t))
	s.shell(line).exits(0).prints("2 of 2 verified")
	same(t, "rows", sqlDo(t, m, "SELECT `partition`, `offset` FROM `next` ORDER BY 1"), "0\t42\n1\t0")
	s.shell(line).exits(0) // running twice is running once
	same(t, "rows", sqlDo(t, m, "SELECT `partition`, `offset` FROM `next` ORDER BY 1"), "0\t42\n1\t0")
}

// A job's table may hold what no offset is: it is shown beside the others, and written over only where that is asked for.
func TestMariaDBBadRows(t *testing.T) {
	m := startMariaDB(t)
	s := stage(t, cluster, [2]int64{50, 100}, [2]int64{0, 100}, [2]int64{0, 100})
	sqlDo(t, m, "CREATE TABLE offsets (topic VARCHAR(249), group_id VARCHAR(255), `partition` INT, `offset` BIGINT)")
	for _, row := range []string{"0, 10", "1, NULL", "2, 30", "2, 40"} {
		sqlDo(t, m, fmt.Sprintf("INSERT INTO offsets VALUES ('%s', '%s', %s)", s.topic, s.group, row))
	}
	url := "mysql://job@" + m.Addr() + "/jobs?timestamp=-&password-file=" + secret(t)
	s.run("describe", "-g", s.group, "-s", url).exits(3).prints("40 expired", `"NULL" is no number`, "there are 2 rows (30, 40)")
	s.run("clamp", "-g", s.group, "-s", url, "--stored", "--execute").exits(4)
	same(t, "rows", sqlDo(t, m, "SELECT `partition`, `offset` FROM offsets ORDER BY 1, 2"), "0\t10\n1\tNULL\n2\t30\n2\t40")
	salvage := []string{"clamp", "-g", s.group, "-t", s.topic, "-s", url, "--stored", "--salvage", "--execute"}
	s.run(salvage...).exits(4).says("--missing earliest")
	s.run(append(salvage, "--missing", "earliest")...).exits(0).
		prints(`"NULL" is no number`, "there are 2 rows (30, 40)", "3 of 3 verified")
	same(t, "rows", sqlDo(t, m, "SELECT `partition`, `offset` FROM offsets ORDER BY 1, 2"), "0\t50\n1\t0\n2\t0")
}
