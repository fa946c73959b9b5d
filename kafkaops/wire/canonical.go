package wire

import (
	"context"
	"net"
	"slices"
	"strings"
	"time"
)

// canonical replaces each address by one for every IP address of its host, by the name that the IP address has: so Kerberos finds the
// brokers behind an alias. What has no name stays as it is.
func canonical(ctx context.Context, addresses []string) []string {
	ctx, cancel := context.WithTimeout(ctx, time.Second)
	defer cancel()
	var all []string
	for _, a := range addresses {
		host, port, err := net.SplitHostPort(a)
		ips, lookup := net.DefaultResolver.LookupHost(ctx, host)
		if err != nil || lookup != nil {
			all = append(all, a)
			continue
		}
		for _, ip := range ips {
			name := ip
			if names, err := net.DefaultResolver.LookupAddr(ctx, ip); err == nil && len(names) > 0 {
				name = strings.TrimSuffix(names[0], ".")
			}
			if c := net.JoinHostPort(name, port); !slices.Contains(all, c) {
				all = append(all, c)
			}
		}
	}
	return all
}
