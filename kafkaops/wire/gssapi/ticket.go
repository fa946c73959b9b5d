package gssapi

import (
	"strings"
	"time"

	"github.com/jcmturner/gokrb5/v8/iana/nametype"
	"github.com/jcmturner/gokrb5/v8/types"
)

// principal is who a ticket is of, or for.
type principal struct {
	name  types.PrincipalName
	realm string
}

func (p principal) String() string { return p.name.PrincipalNameString() + "@" + p.realm }

func (p principal) is(o principal) bool { return p.realm == o.realm && p.name.Equal(o.name) }

// ticket is a ticket with what its client must know to use it.
type ticket struct {
	client, server principal
	key            types.EncryptionKey // of the session
	ends           time.Time
	bytes          []byte
}

// grantingName is the name of the ticket-granting server of a realm (7.3).
func grantingName(realm string) types.PrincipalName {
	return types.PrincipalName{NameType: nametype.KRB_NT_SRV_INST, NameString: []string{"krbtgt", realm}}
}

// grants is the realm whose KDC takes a ticket as a ticket-granting one; "" if none does.
func (t *ticket) grants() string {
	if n := t.server.name.NameString; len(n) == 2 && strings.EqualFold(n[0], "krbtgt") {
		return n[1]
	}
	return ""
}
