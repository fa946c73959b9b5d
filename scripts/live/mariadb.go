package live

import (
	"context"
	"fmt"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
)

// A MariaDB is a running mariadbd, of Debian's package, with the settings that a server has by itself: what is committed is on disk.
type MariaDB struct {
	*service
	Port   int
	socket string
}

// MariaDBTLS are the arguments of a server that takes nothing but TLS over the network.
func MariaDBTLS(c Certs) []string {
	return []string{"--ssl-ca=" + c.CA, "--ssl-cert=" + c.ServerCert, "--ssl-key=" + c.ServerKey, "--require-secure-transport=ON"}
}

// StartMariaDB starts a server with these arguments added, and an empty database jobs. It ends with Stop, or with ctx.
func StartMariaDB(ctx context.Context, args ...string) (_ *MariaDB, err error) {
	ports, err := freePorts(1)
	if err != nil {
		return nil, err
	}
	s, err := newService("mariadb", "ready for connections")
	if err != nil {
		return nil, err
	}
	m := &MariaDB{service: s, Port: ports[0], socket: filepath.Join(s.dir, "socket")}
	defer func() {
		if err != nil {
			m.Stop()
		}
	}()
	data := filepath.Join(m.dir, "data")
	if _, err = output(ctx, exec.Command("mariadb-install-db", "--no-defaults", "--datadir="+data, "--user=root",
		"--auth-root-authentication-method=normal", "--skip-test-db")); err != nil {
		return nil, fmt.Errorf("make the data of a MariaDB: %w", err)
	}
	m.command = func() *exec.Cmd {
		return exec.Command("mariadbd", append([]string{
			"--no-defaults", "--user=root", "--datadir=" + data, "--socket=" + m.socket, "--bind-address=127.0.0.1",
			"--port=" + strconv.Itoa(m.Port), "--innodb-buffer-pool-size=32M", "--skip-name-resolve",
		}, args...)...)
	}
	if err = m.Start(ctx); err != nil {
		return nil, err
	}
	context.AfterFunc(ctx, m.Stop)
	_, err = m.Do(ctx, "", "CREATE DATABASE jobs")
	return m, err
}

// Addr is its HOST:PORT.
func (m *MariaDB) Addr() string { return fmt.Sprintf("127.0.0.1:%d", m.Port) }

// Do runs statements as root in a database by the client of the package, and returns its answer: the columns of a row lie between
// tabs, and what is special in a value is written with a backslash.
func (m *MariaDB) Do(ctx context.Context, database, statements string) (string, error) {
	cmd := exec.Command("mariadb", "--no-defaults", "--user=root", "--socket="+m.socket, "--batch", "--skip-column-names", "--default-character-set=utf8mb4", database)
	cmd.Stdin = strings.NewReader(statements)
	said, err := output(ctx, cmd)
	return strings.TrimSuffix(said, "\n"), err
}
