package gssapi

import (
	"encoding/binary"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/jcmturner/gokrb5/v8/types"
)

// readCache reads a credential cache of type FILE: whose it is, and the tickets in it.
func readCache(path string) (principal, []*ticket, error) {
	b, err := read(path)
	if err != nil {
		return principal{}, nil, err
	}
	return parseCache(b)
}

// parseCache reads versions 3 and 4 of MIT's format, https://web.mit.edu/kerberos/krb5-latest/doc/formats/ccache_file_format.html. Older ones
// are of the 1990s. What is kept as configuration, and what is not in the form of a ticket, is left out.
func parseCache(b []byte) (principal, []*ticket, error) {
	if len(b) < 2 || b[0] != 5 {
		return principal{}, nil, errors.New("is no credential cache")
	}
	version := b[1]
	if version != 3 && version != 4 {
		return principal{}, nil, fmt.Errorf("is a credential cache of version %d; 3 and 4 are read", version)
	}
	r := &cacheReader{rest: b[2:]}
	if version == 4 {
		r.take(uint32(r.uint16())) // the header: the KDC's clock
	}
	owner := r.principal()
	var tickets []*ticket
	for len(r.rest) > 0 {
		if t := r.credential(version); !strings.HasPrefix(t.server.realm, "X-CACHECONF") && isTicket(t.bytes) == nil {
			tickets = append(tickets, t)
		}
	}
	if r.cut {
		return principal{}, nil, errors.New("is damaged: it ends within an entry")
	}
	return owner, tickets, nil
}

// cacheReader takes values off the front of a cache. Beyond its end there are zeros, and cut is set.
type cacheReader struct {
	rest []byte
	cut  bool
}

func (r *cacheReader) take(n uint32) []byte {
	if uint64(n) > uint64(len(r.rest)) {
		r.rest, r.cut = nil, true
		return nil
	}
	b := r.rest[:n]
	r.rest = r.rest[n:]
	return b
}

func (r *cacheReader) uint16() uint16 {
	if b := r.take(2); b != nil {
		return binary.BigEndian.Uint16(b)
	}
	return 0
}

func (r *cacheReader) uint32() uint32 {
	if b := r.take(4); b != nil {
		return binary.BigEndian.Uint32(b)
	}
	return 0
}

func (r *cacheReader) data() []byte { return r.take(r.uint32()) }

func (r *cacheReader) principal() principal {
	p := principal{name: types.PrincipalName{NameType: int32(r.uint32())}}
	parts := r.uint32()
	p.realm = string(r.data())
	for ; parts > 0 && !r.cut; parts-- {
		p.name.NameString = append(p.name.NameString, string(r.data()))
	}
	return p
}

func (r *cacheReader) credential(version byte) *ticket {
	t := &ticket{client: r.principal(), server: r.principal()}
	if version == 3 {
		r.uint16() // it has the key's type twice
	}
	t.key.KeyType = int32(int16(r.uint16()))
	t.key.KeyValue = r.data()
	r.take(2 * 4) // when it was got, from when on it is good
	t.ends = time.Unix(int64(r.uint32()), 0)
	r.take(4 + 1 + 4) // until when it can be renewed; for user to user; flags
	for range 2 {     // addresses, authorization data
		for n := r.uint32(); n > 0 && !r.cut; n-- {
			r.uint16()
			r.data()
		}
	}
	t.bytes = r.data()
	r.data() // a second ticket, for user to user
	return t
}
