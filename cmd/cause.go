package cmd

import (
	"cmp"
	"slices"
)

// cause is why a command did not end well, in one word for programs: an exit code stands for several. docs/exit-codes.md says more
// about each.
type cause string

// The causes.
const (
	causeInterrupted    cause = "interrupted"
	causeUsage          cause = "usage"
	causeSetting        cause = "setting"
	causeAuthentication cause = "authentication"
	causeTLS            cause = "tls"
	causeAddress        cause = "address"
	causeUnsupported    cause = "unsupported"
	causeAuthorization  cause = "authorization"
	causeCluster        cause = "cluster"
	causeExists         cause = "exists"
	causeRefused        cause = "refused"
	causeChanged        cause = "changed"
	causeActive         cause = "active"
	causeLocked         cause = "locked"
	causeUnreachable    cause = "unreachable"
	causeTimeout        cause = "timeout"
	causeExpired        cause = "expired"
	causeDamaged        cause = "damaged"
	causeMissing        cause = "missing"
	causeIncomplete     cause = "incomplete"
	causeCheck          cause = "check"
	causeDeclined       cause = "declined"
	causeFailed         cause = "failed"
)

// causes lists them all. Of several that have led to the exit code the first counts: what another try makes worse stands before what it
// leaves as it is, and that before what may pass.
func causes() []cause {
	return []cause{
		causeInterrupted, causeUsage, causeSetting, causeAuthentication, causeTLS, causeAddress, causeUnsupported, causeAuthorization,
		causeCluster, causeExists, causeRefused, causeChanged, causeActive, causeLocked, causeUnreachable, causeTimeout, causeExpired,
		causeDamaged, causeMissing, causeIncomplete, causeCheck, causeDeclined, causeFailed,
	}
}

// causeWords are causes as texts.
func causeWords(all []cause) []string {
	texts := make([]string, len(all))
	for i, c := range all {
		texts[i] = string(c)
	}
	return texts
}

// byRank sorts causes, each once.
func byRank(all []cause) []cause {
	slices.SortFunc(all, func(a, b cause) int { return cmp.Compare(slices.Index(causes(), a), slices.Index(causes(), b)) })
	return slices.Compact(all)
}

// causeOfCode is the cause of a problem of which no more is known than its exit code.
func causeOfCode(code int) cause {
	return map[int]cause{
		exitFailed: causeFailed, exitUsage: causeUsage, exitPartly: causeIncomplete, exitRefused: causeRefused, exitUnreachable: causeUnreachable,
		exitNotMet: causeCheck, exitInterrupted: causeInterrupted, exitUnread: causeIncomplete,
	}[code]
}

// why lists the causes of a problem: those that were said where it came up, or else the one that its exit code stands for.
func (p *problem) why() []cause {
	all := p.causes
	if p.lacks != nil {
		all = append(slices.Clone(all), causeAuthorization)
	}
	if len(all) == 0 {
		return []cause{causeOfCode(p.code)}
	}
	return all
}

// because takes over from an error below what is not known of a problem itself.
func (p problem) because(below problem) problem {
	if len(p.causes) == 0 {
		p.causes = below.causes
	}
	p.lacks = cmp.Or(p.lacks, below.lacks)
	return p
}
