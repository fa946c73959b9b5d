package mysql

import (
	"database/sql/driver"
	"errors"
	"fmt"

	mysql "github.com/go-sql-driver/mysql"

	"gtoffset/offsetfile"
)

// The server's error numbers that we know, as the manuals of MySQL and MariaDB list them.
const (
	errTooManyConnections = 1040
	errDatabaseDenied     = 1044
	errAccessDenied       = 1045
	errNotReady           = 1047 // of a cluster
	errNoDatabase         = 1049
	errShutdown           = 1053
	errNoColumn           = 1054
	errDuplicate          = 1062
	errHostBlocked        = 1129
	errHostDenied         = 1130
	errTableDenied        = 1142
	errColumnDenied       = 1143
	errNoTable            = 1146
	errTooManyOfUser      = 1203
	errLockWait           = 1205
	errDeadlock           = 1213
	errUserLimit          = 1226
	errPrivilege          = 1227
	errOldProtocol        = 1251
	errReadOnlyServer     = 1290
	errInterrupted        = 1317
	errCollations         = 1267
	errIncorrectText      = 1366
	errNoPassword         = 1698
	errReadOnly           = 1792
	errMustChange         = 1820
	errReadOnlyMode       = 1836
	errExpired            = 1862
	errKilled             = 1927
	errStatementTime      = 1969
	errExecutionTime      = 3024
	errLockedAccount      = 3118
	errNeedsTLS           = 3159
	errConversion         = 3988
	errLockedMariaDB      = 4151
)

// explain makes of the driver's errors those that a store returns.
func (t *table) explain(err error) error {
	var answer *mysql.MySQLError
	switch {
	case err == nil:
		return nil
	case errors.As(err, &answer):
		return t.explainAnswer(answer)
	case errors.Is(err, driver.ErrBadConn), errors.Is(err, mysql.ErrInvalidConn):
		return &offsetfile.AwayError{Err: err}
	case errors.Is(err, mysql.ErrNoTLS):
		return &offsetfile.AwayError{Err: errors.New("the server does not speak TLS: leave out ?tls=true, and the other parameters of TLS"), Final: true}
	case errors.Is(err, mysql.ErrMalformPkt), errors.Is(err, mysql.ErrPktSync), errors.Is(err, mysql.ErrPktSyncMul):
		return &offsetfile.AwayError{Err: fmt.Errorf("%w: what answers is no MySQL", err), Final: true}
	case errors.Is(err, mysql.ErrNativePassword), errors.Is(err, mysql.ErrCleartextPassword), errors.Is(err, mysql.ErrOldPassword),
		errors.Is(err, mysql.ErrUnknownPlugin):
		return &offsetfile.CredentialsError{Err: err}
	}
	return err
}

func (t *table) explainAnswer(err *mysql.MySQLError) error {
	switch err.Number {
	case errAccessDenied:
		if t.inTheClear {
			return &offsetfile.CredentialsError{Err: fmt.Errorf("%w; MariaDB says the same where it wants TLS: ?tls=true", err)}
		}
		return &offsetfile.CredentialsError{Err: err}
	case errDatabaseDenied, errTableDenied, errColumnDenied, errHostDenied, errHostBlocked, errPrivilege, errOldProtocol,
		errNoPassword, errMustChange, errExpired, errLockedAccount, errLockedMariaDB:
		return &offsetfile.CredentialsError{Err: err}
	case errNeedsTLS:
		return &offsetfile.CredentialsError{Err: fmt.Errorf("%w (?tls=true)", err)}
	case errTooManyConnections, errNotReady, errShutdown, errTooManyOfUser, errLockWait, errDeadlock, errUserLimit, errInterrupted, errKilled,
		errStatementTime, errExecutionTime:
		return &offsetfile.AwayError{Err: err}
	case errNoDatabase:
		return &offsetfile.NothingError{Looked: fmt.Sprintf("database %s, which is not there", quote(t.database))}
	case errNoTable:
		return t.noTable()
	case errNoColumn:
		return &offsetfile.NothingError{Looked: fmt.Sprintf("%s: %s", t.place(), err.Message)}
	case errReadOnlyServer, errReadOnly, errReadOnlyMode:
		return fmt.Errorf("the server takes no writes, as a replica does not: name its master (%w)", err)
	case errCollations, errIncorrectText, errConversion:
		return fmt.Errorf("a name has characters that the columns %s and %s of %s cannot hold in their character set; ALTER TABLE %s CONVERT TO CHARACTER SET utf8mb4 COLLATE utf8mb4_bin changes that (%w)",
			quote(t.columns.group), quote(t.columns.topic), t.place(), quote(t.name), err)
	case errDuplicate:
		return fmt.Errorf("the table takes this for a row that it has already: its collation may not tell the names apart (%w)", err)
	}
	return err
}
