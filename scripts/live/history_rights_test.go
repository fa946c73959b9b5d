//go:build live

package live_test

import (
	"context"
	"strings"
	"testing"

	"github.com/twmb/franz-go/pkg/kmsg"

	"gtoffset/kafkaops/wire"
	"gtoffset/scripts/live"
)

// READ on the topic of commits is what it takes, and all: who has it sees every group, also those that it may not describe.
func TestHistoryRights(t *testing.T) {
	ctx := t.Context()
	on, err := secured()
	must(t, err)
	s := stage(t, on.Cluster, [2]int64{0, 50})
	s.commit(20)
	s.commit(5)
	bob := clientOf(t, on.Addr(live.SASL), "security.protocol=SASL_PLAINTEXT", "sasl.mechanism=PLAIN", plainLogin("bob", "bob-secret"))
	bob.run("history", "-g", s.group).exits(4).says("not allowed: DESCRIBE on topic __consumer_offsets is missing (READ is needed, and enough)", "--allow-principal User:bob --operation Read --topic __consumer_offsets")
	must(t, on.Allow(ctx, kmsg.ACLResourceTypeTopic, wire.OffsetsTopic, kmsg.ACLOperationDescribe))
	must(t, live.Eventually(ctx, "bob may see the topic, and not read it", func(context.Context) (bool, error) {
		r := bob.run("history", "-g", s.group)
		return r.code == 4 && strings.Contains(r.err, "READ on topic __consumer_offsets is missing"), nil
	}))
	must(t, on.Allow(ctx, kmsg.ACLResourceTypeTopic, wire.OffsetsTopic, kmsg.ACLOperationRead))
	must(t, live.Eventually(ctx, "bob may read it", func(context.Context) (bool, error) { return bob.run("history", "-g", s.group).code == 0, nil }))
	bob.run("history", "-g", s.group).exits(0).prints("group of unknown type", "  back  ")
	bob.run("reset", "-g", s.group, "-t", s.topic, "--to-commit-at", "2020-01-01T00:00:00Z", "--execute").exits(4)
}
