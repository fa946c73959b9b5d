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
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
	"time"

	"gtoffset/offsetfile"
)

const (
	serverPort   = "6379"
	sentinelPort = "26379"
)

// Kind is this kind of store.
func Kind() offsetfile.Kind {
	return offsetfile.Kind{
		Schemes: []string{"redis", "rediss", "redis+sentinel", "rediss+sentinel", "redis+cluster", "rediss+cluster"},
		Form:    "redis://HOST[:PORT][/DB], redis+sentinel://HOST,…/MASTER[/DB], redis+cluster://HOST,…; rediss… is over TLS",
		Layout:  "the hash offset:TOPIC:GROUP, field PARTITION; ?key=kafka:topic:{topic}:{group} for any other key",
		Open:    Open,
	}
}

// Open reads the address and opens the store. It connects with the first request. The error is a *offsetfile.URLError.
func Open(a *offsetfile.Address, o offsetfile.Options) (offsetfile.Store, error) {
	options, err := optionsOf(a)
	if err != nil {
		return nil, err
	}
	t := &table{o: o, client: client{options: options, guides: slices.Clone(options.addrs)}}
	form := a.Param("key")
	if form == "" {
		form = DefaultKey
	}
	if t.form, err = parseKeyForm(form); err != nil {
		return nil, a.Errorf("parameter key", "%w", err)
	}
	if strings.HasPrefix(a.Scheme, "rediss") {
		if t.dialer.tls, err = a.TLS(); err != nil {
			return nil, err
		}
	}
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

// options are what an address says of the servers, how they are reached left out.
type options struct {
	kind           kind
	addrs          []string // HOST:PORT of the server, of sentinels, or of servers of a cluster
	user, password string   // "": none
	db             int
	masterName     string // by which the sentinels know it

	sentinelUser, sentinelPassword string
}

func optionsOf(a *offsetfile.Address) (o options, err error) {
	o = options{
		kind: kindOf(a.Scheme), user: a.User, password: a.Password,
		sentinelUser: a.Param("sentinel-user"), sentinelPassword: a.Secret("sentinel-password"),
	}
	if a.User != "" && a.Password == "" {
		return o, a.Errorf("user", "it has no password: :$VARIABLE after the user, ?password-file=FILE or %s", offsetfile.PasswordVariable)
	}
	path := strings.Trim(a.Path, "/")
	port, most := serverPort, 0
	switch o.kind {
	case cluster:
		if path != "" {
			return o, a.Errorf("path", "a cluster has one database, and no name")
		}
	case sentinel:
		port = sentinelPort
		o.masterName, path, _ = strings.Cut(path, "/")
		if o.masterName == "" {
			return o, a.Errorf("path", "it does not begin with the name under which the sentinels know the master")
		}
	default:
		most = 1
	}
	if o.addrs, err = a.HostPorts(port, most); err != nil {
		return o, err
	}
	if path != "" {
		if o.db, err = strconv.Atoi(path); err != nil || o.db < 0 || strconv.Itoa(o.db) != path {
			return o, a.Errorf("path", "%q is no number of a database", path)
		}
	}
	return o, nil
}

// hello is what a server is told first.
func (o *options) hello(addr string) []command {
	user, password, db := o.user, o.password, o.db
	if o.kind == sentinel && slices.Contains(o.addrs, addr) {
		user, password, db = o.sentinelUser, o.sentinelPassword, 0
	}
	var all []command
	switch {
	case password != "" && user != "":
		all = append(all, command{name: "AUTH", args: []any{user, password}})
	case password != "":
		all = append(all, command{name: "AUTH", args: []any{password}})
	}
	if db != 0 {
		all = append(all, command{name: "SELECT", args: []any{db}})
	}
	return all
}

// table is the store itself.
type table struct {
	client
	o    offsetfile.Options
	form keyForm

	known  atomic.Bool // a key of this form has been there
	unsure atomic.Bool // whether there is one may not be asked
	facts  atomic.Pointer[[]string]
}

func (t *table) Can() offsetfile.Abilities {
	can := offsetfile.Abilities{Write: true, CompareAndSet: true, Atomic: offsetfile.OneGroup, Creates: true}
	if t.kind == cluster {
		can.Atomic = offsetfile.OneTopic
	}
	return can
}

func (t *table) Close() error {
	t.close()
	return nil
}

// request makes requests of one kind, and tells them to the log.
func (t *table) request(ctx context.Context, what string, do func() error) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	began := time.Now()
	err := do()
	if t.o.Log != nil {
		t.o.Log.Debug("redis", "request", what, "took", time.Since(began), "error", err)
	}
	return err
}
