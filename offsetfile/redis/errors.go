package redis

import (
	"errors"
	"fmt"
	"strings"

	redigo "github.com/gomodule/redigo/redis"

	"gtoffset/offsetfile"
)

// isAnswer reports whether an error is what a server said, and not that it said nothing.
func isAnswer(err error) bool {
	var answer redigo.Error
	return errors.As(err, &answer)
}

// code is the word that a server's error begins with; "" of any other.
func code(err error) string {
	var answer redigo.Error
	if !errors.As(err, &answer) {
		return ""
	}
	word, _, _ := strings.Cut(strings.TrimPrefix(string(answer), "ERR "), " ")
	return word
}

// isReadOnly reports whether a server is no master. A script's error is within another in old versions.
func isReadOnly(err error) bool {
	return code(err) == "READONLY" || isAnswer(err) && saysAny(err, "-READONLY You can't write against a read only replica")
}

// isNotReady reports whether a server says itself that it cannot answer yet.
func isNotReady(err error) bool {
	switch code(err) {
	case "LOADING", "MASTERDOWN", "CLUSTERDOWN", "TRYAGAIN", "NOREPLICAS", "BUSY":
		return true
	}
	return isAnswer(err) && saysAny(err, "max number of clients reached")
}

// ofOneKey reports whether an error is of a key alone: no right to it, or another type.
func ofOneKey(err error) bool { return code(err) == "NOPERM" || code(err) == "WRONGTYPE" }

// said is a server's answer without the place in the script.
func said(err error) string {
	text, _, _ := strings.Cut(err.Error(), " script: ")
	return text
}

// explain makes of a server's errors those that a store returns.
func (t *table) explain(err error) error {
	word := code(err)
	switch {
	case !isAnswer(err):
		return err
	case word == "NOAUTH", word == "WRONGPASS", word == "NOPERM", word == "DENIED",
		saysAny(err, "unauthenticated", "invalid password", "invalid username", "without any password configured"):
		return &offsetfile.CredentialsError{Err: errors.New(said(err))}
	case isNotReady(err):
		return &offsetfile.AwayError{Err: err}
	case isReadOnly(err) && t.kind != single: // a new master is being made
		return &offsetfile.AwayError{Err: err}
	case isReadOnly(err):
		return fmt.Errorf("the server is a replica: name its master (%s)", said(err))
	case (word == "MOVED" || word == "ASK") && t.kind == cluster: // the servers do not agree yet
		return &offsetfile.AwayError{Err: err}
	case word == "MOVED", word == "ASK", word == "CROSSSLOT":
		return fmt.Errorf("the server is one of a cluster: write redis+cluster:// (%s)", said(err))
	case saysAny(err, "cluster support disabled"):
		return fmt.Errorf("the server is of no cluster: write redis:// (%s)", said(err))
	case saysAny(err, "DB index is out of range"):
		return &offsetfile.NothingError{Looked: fmt.Sprintf("database %d, which the server does not have", t.db)}
	}
	return errors.New(said(err))
}

// explainWrite is explain for a save, where a missing right or another type is of the place that was to be written.
func (t *table) explainWrite(err error) error {
	switch code(err) {
	case "WRONGTYPE":
		return errors.New("the key holds something else than a hash")
	case "NOPERM":
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
