package gssapi

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"net"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/jcmturner/gokrb5/v8/config"
	"github.com/jcmturner/gokrb5/v8/iana/asnAppTag"
	"github.com/jcmturner/gokrb5/v8/iana/errorcode"
)

const (
	maxAnswer  = 1 << 20         // of a KDC; tickets of Active Directory reach 64 kB
	patience   = 5 * time.Second // with a KDC, for a caller that has no deadline
	impatience = time.Second     // with a KDC while there is another one
)

// An unreachedError says that no KDC of a realm gave an answer.
type unreachedError struct {
	realm string
	kdcs  []string // HOST:PORT; none: nothing names one
	late  bool     // one of them was waited for until time was up
	err   error    // of the last one
}

func (e *unreachedError) Error() string {
	switch {
	case len(e.kdcs) == 0 && e.late:
		return fmt.Sprintf("no KDC of %s answers in time", e.realm)
	case len(e.kdcs) == 0 && e.err != nil:
		return fmt.Sprintf("no KDC of the realm %s is found: %v", e.realm, e.err)
	case len(e.kdcs) == 0:
		return "krb5.conf names no KDC of the realm " + e.realm
	case e.late:
		return fmt.Sprintf("no KDC of %s answers in time (%s)", e.realm, strings.Join(e.kdcs, ", "))
	}
	return fmt.Sprintf("no KDC of %s was reached (%s)", e.realm, strings.Join(e.kdcs, ", "))
}

func (e *unreachedError) Unwrap() error { return e.err }

// locate finds a realm's KDCs: in krb5.conf, in the order of the file, or in DNS where that is allowed (RFC 4120 7.2.3).
func locate(ctx context.Context, conf *config.Config, realm string) ([]string, error) {
	var kdcs []string
	for _, r := range conf.Realms {
		if r.Realm == realm {
			for _, kdc := range r.KDC {
				kdcs = append(kdcs, withPort(kdc))
			}
		}
	}
	if len(kdcs) > 0 || !conf.LibDefaults.DNSLookupKDC {
		return kdcs, nil
	}
	var failed error
	for _, proto := range []string{"tcp", "udp"} {
		_, found, err := net.DefaultResolver.LookupSRV(ctx, "kerberos", proto, realm+".")
		for _, s := range found {
			kdcs = append(kdcs, net.JoinHostPort(strings.TrimSuffix(s.Target, "."), strconv.Itoa(int(s.Port))))
		}
		if len(kdcs) > 0 {
			return kdcs, nil
		}
		failed = err
	}
	return nil, failed
}

// withPort completes an address; config does so for all but IPv6's.
func withPort(kdc string) string {
	if _, _, err := net.SplitHostPort(kdc); err != nil {
		return net.JoinHostPort(strings.Trim(kdc, "[]"), "88")
	}
	return kdc
}

// kdcs are those of the realms that are asked, and by which road an answer came last: that is taken first.
type kdcs struct {
	conf *config.Config
	last map[string]road // by realm
}

// road is how a KDC is reached: by "tcp" or "udp".
type road struct{ kdc, network string }

// ask sends a message to the KDCs of a realm, one after the other, until one of them answers. The error is an *unreachedError, or the
// context's.
func (k *kdcs) ask(ctx context.Context, realm string, message []byte) ([]byte, error) {
	all, err := locate(ctx, k.conf, realm)
	last := k.last[realm]
	if i := slices.Index(all, last.kdc); i > 0 {
		all = slices.Insert(slices.Delete(all, i, i+1), 0, last.kdc)
	}
	failed := &unreachedError{realm: realm, kdcs: all, err: err}
	for i, kdc := range all {
		networks := []string{"tcp", "udp"}
		switch {
		case k.conf.LibDefaults.UDPPreferenceLimit == 1:
			networks = networks[:1]
		case last == road{kdc, "udp"}:
			networks = networks[1:]
		}
		answer, network, err := askOne(ctx, kdc, networks, message, len(all)-i)
		if err == nil {
			k.last[realm] = road{kdc, network}
			return answer, nil
		}
		failed.err = err
		failed.late = failed.late || timedOut(err)
	}
	if errors.Is(ctx.Err(), context.Canceled) {
		return nil, ctx.Err()
	}
	return nil, failed
}

func timedOut(err error) bool {
	var e net.Error
	return errors.As(err, &e) && e.Timeout()
}

// share is the part of the time that is left that the first of n may take.
func share(ctx context.Context, n int) (context.Context, context.CancelFunc) {
	limit := patience
	if deadline, ok := ctx.Deadline(); ok {
		limit = time.Until(deadline) / time.Duration(n)
	}
	if n > 1 {
		limit = min(limit, impatience)
	}
	return context.WithTimeout(ctx, limit)
}

// askOne asks one KDC, the first of so many that are left, by the first of the networks on which it is there. One that is out of service
// is as good as away.
func askOne(ctx context.Context, kdc string, networks []string, message []byte, left int) (answer []byte, network string, err error) {
	ctx, cancel := share(ctx, left)
	defer cancel()
	var conn net.Conn
	for i := range networks {
		network = networks[i]
		dialing, stop := share(ctx, len(networks)-i)
		conn, err = (&net.Dialer{}).DialContext(dialing, network, kdc)
		stop()
		if err == nil {
			break
		}
	}
	if err != nil {
		return nil, "", err
	}
	defer conn.Close()
	defer context.AfterFunc(ctx, func() { _ = conn.SetDeadline(time.Unix(1, 0)) })()
	if network == "tcp" {
		answer, err = overTCP(conn, message)
	} else {
		answer, err = overUDP(conn, message)
	}
	if refusal := (&kdcError{}); err == nil && decode(answer, asnAppTag.KRBError, refusal) == nil && refusal.Code == errorcode.KDC_ERR_SVC_UNAVAILABLE {
		err = refusal
	}
	return answer, network, err
}

// overTCP sends a message and reads an answer, each behind its length (7.2.2).
func overTCP(conn net.Conn, message []byte) ([]byte, error) {
	if _, err := conn.Write(append(binary.BigEndian.AppendUint32(nil, uint32(len(message))), message...)); err != nil {
		return nil, err
	}
	var length [4]byte
	if _, err := io.ReadFull(conn, length[:]); err != nil {
		return nil, err
	}
	n := binary.BigEndian.Uint32(length[:])
	if n > maxAnswer {
		return nil, fmt.Errorf("an answer of %d bytes", n)
	}
	answer := make([]byte, n)
	_, err := io.ReadFull(conn, answer)
	return answer, err
}

// overUDP sends a message and reads an answer, a datagram each (7.2.1).
func overUDP(conn net.Conn, message []byte) ([]byte, error) {
	if _, err := conn.Write(message); err != nil {
		return nil, err
	}
	answer := make([]byte, 1<<16)
	n, err := conn.Read(answer)
	return answer[:n], err
}
