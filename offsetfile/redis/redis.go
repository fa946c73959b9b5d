// Package redis keeps offsets in Redis, as jobs do: one hash for each topic of a group, in which the field is the partition and the
// value the offset.
//
//	redis://[USER[:$VARIABLE]@]HOST[:PORT][/DB]                    one server; rediss:// over TLS
//	redis+sentinel://HOST[:PORT][,HOST[:PORT]…]/MASTER[/DB]        the master that the sentinels name; rediss+sentinel://
//	redis+cluster://HOST[:PORT][,HOST[:PORT]…]                     a Redis Cluster; rediss+cluster://
//
// ?key= is the key's form, [DefaultKey] unless it is given. A save is one script, which compares all that it changes before it changes
// any: on one server all topics of a group stand or fall together, in a cluster each topic does.
package redis

import (
	"context"
	"errors"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	goredis "github.com/redis/go-redis/v9"
	"github.com/redis/go-redis/v9/logging"

	"gtoffset/offsetfile"
)

const (
	serverPort   = "6379"
	sentinelPort = "26379"
)

// How long one request may take if its context has no deadline, and reaching a server at all.
const (
	mostRequest = time.Minute
	mostDial    = 10 * time.Second
)

// Open reads the address and opens the store. It connects with the first request. The error is a *offsetfile.URLError.
func Open(a *offsetfile.Address, o offsetfile.Options) (offsetfile.Store, error) {
	options, err := optionsOf(a)
	if err != nil {
		return nil, err
	}
	t := &table{o: o, kind: kindOf(a.Scheme), options: options, conns: conns{open: map[*conn]bool{}}}
	form := a.Param("key")
	if form == "" {
		form = DefaultKey
	}
	if t.form, err = parseKeyForm(form); err != nil {
		return nil, a.Errorf("parameter key", "%w", err)
	}
	if strings.HasPrefix(a.Scheme, "rediss") {
		if t.conns.tls, err = a.TLS(); err != nil {
			return nil, err
		}
	}
	options.Dialer = t.conns.dial
	return offsetfile.Over(a, t, o)
}

// kind is how the servers are organised.
type kind int

const (
	single kind = iota
	sentinel
	cluster
)

func kindOf(scheme string) kind {
	switch _, organised, _ := strings.Cut(scheme, "+"); organised {
	case "sentinel":
		return sentinel
	case "cluster":
		return cluster
	}
	return single
}

// optionsOf are the library's options, without the dialer.
func optionsOf(a *offsetfile.Address) (*goredis.UniversalOptions, error) {
	o := &goredis.UniversalOptions{
		Username: a.User, Password: a.Password,
		SentinelUsername: a.Param("sentinel-user"), SentinelPassword: a.Secret("sentinel-password"),
		Protocol: 2, DisableIdentity: true, // one request on connecting instead of four
		MaxRetries: -1, DialerRetries: 1, // whoever calls knows better whether and when to try again
		ContextTimeoutEnabled: true, DialTimeout: mostDial, ReadTimeout: mostRequest, WriteTimeout: mostRequest, PoolTimeout: mostRequest,
		PipelinePoolSize: -1, // one connection for everything
	}
	if a.User != "" && a.Password == "" {
		return nil, a.Errorf("user", "it has no password: :$VARIABLE after the user, ?password-file=FILE or %s", offsetfile.PasswordVariable)
	}
	path := strings.Trim(a.Path, "/")
	port, most := serverPort, 0
	switch kindOf(a.Scheme) {
	case cluster:
		o.IsClusterMode = true
		if path != "" {
			return nil, a.Errorf("path", "a cluster has one database, and no name")
		}
	case sentinel:
		port = sentinelPort
		o.MasterName, path, _ = strings.Cut(path, "/")
		if o.MasterName == "" {
			return nil, a.Errorf("path", "it does not begin with the name under which the sentinels know the master")
		}
	default:
		most = 1
	}
	var err error
	if o.Addrs, err = a.HostPorts(port, most); err != nil {
		return nil, err
	}
	if path != "" {
		if o.DB, err = strconv.Atoi(path); err != nil || o.DB < 0 || strconv.Itoa(o.DB) != path {
			return nil, a.Errorf("path", "%q is no number of a database", path)
		}
	}
	return o, nil
}

// table is the store itself.
type table struct {
	o       offsetfile.Options
	kind    kind
	form    keyForm
	options *goredis.UniversalOptions
	conns   conns

	once   sync.Once
	opened goredis.UniversalClient
	known  atomic.Bool // a key of this form has been there
	facts  atomic.Pointer[[]string]
}

// client is made with the first request: sentinels and clusters begin to be asked then.
func (t *table) client() goredis.UniversalClient {
	t.once.Do(func() {
		logging.Disable() // it writes to stderr
		t.opened = goredis.NewUniversalClient(t.options)
	})
	return t.opened
}

func (t *table) Can() offsetfile.Abilities {
	can := offsetfile.Abilities{Write: true, CompareAndSet: true, Atomic: offsetfile.OneGroup}
	if t.kind == cluster {
		can.Atomic = offsetfile.OneTopic
	}
	return can
}

func (t *table) Close() error {
	t.once.Do(func() {})
	if t.opened == nil {
		return nil
	}
	return t.opened.Close()
}

// request makes one request. The library looks at a context's deadline, but does not see it cancelled: then the connections are
// closed under it.
func (t *table) request(ctx context.Context, what string, do func(goredis.UniversalClient) error) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	stop := context.AfterFunc(ctx, func() {
		if errors.Is(ctx.Err(), context.Canceled) {
			t.conns.cut()
		}
	})
	defer stop()
	began := time.Now()
	err := do(t.client())
	err = t.conns.why(err)
	if err != nil && ctx.Err() != nil {
		err = &offsetfile.AwayError{Err: err} // whether it was done is not known
	}
	if t.o.Log != nil {
		t.o.Log.Debug("redis", "request", what, "took", time.Since(began), "error", err)
	}
	return err
}
