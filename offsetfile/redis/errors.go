package redis

import (
	"errors"
	"fmt"
	"strings"

	goredis "github.com/redis/go-redis/v9"

	"gtoffset/offsetfile"
)

// isAnswer reports whether an error is what a server said, and not that it said nothing.
func isAnswer(err error) bool {
	var answer goredis.Error
	return errors.As(err, &answer)
}

// ofOneKey reports whether an error is of a key alone: no right to it, or another type.
func ofOneKey(err error) bool {
	return goredis.IsPermissionError(err) || goredis.HasErrorPrefix(err, "WRONGTYPE")
}

// said is a server's answer without the place in the script.
func said(err error) string {
	text, _, _ := strings.Cut(err.Error(), " script: ")
	return text
}

// explain makes of the library's errors those that a store returns.
func (t *table) explain(err error) error {
	says := func(prefix string) bool { return goredis.HasErrorPrefix(err, prefix) }
	switch {
	case t.kind == sentinel && errors.Is(err, goredis.Nil):
		return &offsetfile.NothingError{Looked: fmt.Sprintf("master %q, which the sentinels do not know", t.options.MasterName)}
	case !isAnswer(err):
		if strings.Contains(err.Error(), `can't parse`) {
			return &offsetfile.AwayError{Err: fmt.Errorf("%w: what answers is no Redis", err), Final: true}
		}
		return err
	case goredis.IsAuthError(err), goredis.IsPermissionError(err), says("DENIED"), saysAny(err, "invalid password", "invalid username", "without any password configured"):
		return &offsetfile.CredentialsError{Err: errors.New(said(err))}
	case goredis.IsLoadingError(err), goredis.IsMasterDownError(err), goredis.IsClusterDownError(err), goredis.IsTryAgainError(err),
		goredis.IsMaxClientsError(err), goredis.IsNoReplicasError(err), says("BUSY"):
		return &offsetfile.AwayError{Err: err}
	case goredis.IsReadOnlyError(err) && t.kind != single: // a new master is being made
		return &offsetfile.AwayError{Err: err}
	case goredis.IsReadOnlyError(err):
		return fmt.Errorf("the server is a replica: name its master (%s)", said(err))
	case says("MOVED"), says("CROSSSLOT"), says("ASK"):
		return fmt.Errorf("the server is one of a cluster: write redis+cluster:// (%s)", said(err))
	case saysAny(err, "DB index is out of range"):
		return &offsetfile.NothingError{Looked: fmt.Sprintf("database %d, which the server does not have", t.options.DB)}
	}
	return errors.New(said(err))
}

// explainWrite is explain for a save, where a missing right or another type is of the place that was to be written.
func (t *table) explainWrite(err error) error {
	switch {
	case goredis.HasErrorPrefix(err, "WRONGTYPE"):
		return errors.New("the key holds something else than a hash")
	case goredis.IsPermissionError(err):
		return errors.New(said(err))
	}
	return t.explain(err)
}

func saysAny(err error, texts ...string) bool {
	for _, text := range texts {
		if strings.Contains(err.Error(), text) {
			return true
		}
	}
	return false
}
