//go:build live

package live_test

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"gtoffset/scripts/live"
)

// startZooKeeper starts a ZooKeeper with a chroot in which Kafka has been, and returns the URL of the store in it.
func startZooKeeper(t *testing.T) string {
	t.Helper()
	k, err := live.StartOldKafka(t.Context())
	must(t, err)
	t.Cleanup(k.Stop)
	return "zookeeper://" + k.ZooKeeper.Addr + live.Chroot
}

// Each command that reads or writes a store, on the store at a URL, in turn.
func everyCommand(t *testing.T, url string) {
	s := stage(t, cluster, [2]int64{0, 1000}, [2]int64{0, 300}, [2]int64{0, 100})
	s.folder = url
	sh := func(line string) result {
		t.Helper()
		path, err := built()
		must(t, err)
		line = strings.NewReplacer("GTO", path, "GROUP", s.group, "TOPIC", s.topic, "STORE", "'"+url+"'").Replace(line)
		return program{On: cluster, Wrap: []string{"sh", "-c", line}}.run(t)
	}
	stored := func() string {
		t.Helper()
		r := sh("GTO export --stored -g GROUP -t TOPIC -s STORE -o kafka-csv").exits(0)
		return strings.Join(strings.Fields(strings.ReplaceAll(strings.ReplaceAll(r.out, `"`, ""), s.topic+",", "")), " ") // long names are quoted
	}

	// Nothing there yet: not a first run by itself, and said where it was looked.
	s.describe("-t", s.topic).exits(1).says("nor is anything of it in the store (looked at ")
	sh(`printf 'TOPIC,0,120\nTOPIC,1,250\nTOPIC,2,50\n' | GTO import - -g GROUP --stored -s STORE --execute`).exits(0).prints("3 of 3 verified")
	same(t, "imported", stored(), "0,120 1,250 2,50")

	must(t, cluster.DeleteRecords(t.Context(), s.topic, 0, 500))
	s.describe().exits(0).prints("stored low: 380 expired", "A restart from the store     loses 380 (expired)")
	doc := s.describe("-o", "json").exits(0).describe()
	same(t, "stored, as described", number(doc.row(t, 0).Stored.Offset)+" "+number(doc.row(t, 1).Stored.Offset)+" "+number(doc.row(t, 2).Stored.Offset), "120 250 50")
	s.describe("--check").exits(10)
	clamped := s.run(s.clamp("--stored")...).exits(0).prints("1 of 1 verified")
	same(t, "clamped", stored(), "0,500 1,250 2,50")
	s.run(s.clamp("--stored")...).exits(0)
	if !strings.Contains(clamped.undo(), "--stored") && !strings.Contains(clamped.undo(), "import") {
		t.Errorf("undo: got %q", clamped.undo())
	}

	reset := sh("GTO reset -g GROUP -t TOPIC -s STORE --stored --to-latest --execute").exits(0).prints("3 of 3 verified")
	same(t, "reset", stored(), "0,1000 1,300 2,100")
	s.shell(reset.undo()).exits(0).prints("3 of 3 verified")
	same(t, "undone", stored(), "0,500 1,250 2,50")

	sh("GTO reset -g GROUP -t TOPIC -s STORE --committed --to-stored --create --execute").exits(0).prints("3 of 3 verified")
	same(t, "committed as stored", s.committed(), "0=500 1=250 2=50")

	sh("GTO replay -g GROUP -t TOPIC:1 -s STORE --save --execute -- sh -c 'cat >/dev/null'").exits(0)
	same(t, "replayed", stored(), "0,500 1,300 2,50")

	// Leaving the store for Kafka: a document says which side it is of, a csv does not.
	must(t, cluster.DeleteGroup(t.Context(), s.group))
	sh("GTO export --stored -g GROUP -s STORE | GTO import - --committed --create --execute").exits(4).says("gtoffset reset --to-stored")
	sh("GTO export --stored -g GROUP -s STORE -o csv | GTO import - --committed --create --execute").exits(0).prints("3 of 3 verified")
	same(t, "in Kafka", s.committed(), "0=500 1=300 2=50")
	sh("GTO describe -g GROUP -s STORE --check").exits(0)
}

func TestZooKeeperCommands(t *testing.T) { everyCommand(t, startZooKeeper(t)) }

// What a consumer of old itself has written is read, repaired and exported, and that consumer's own tool reads what was written. While
// the consumer runs nothing is written: Kafka does not know it, its ZooKeeper does.
func TestZooKeeperOldConsumer(t *testing.T) {
	ctx := t.Context()
	k, err := live.StartOldKafka(ctx)
	must(t, err)
	defer k.Stop()
	must(t, k.CreateTopic(ctx, "orders", 2))
	must(t, k.Produce(ctx, "orders", 10))
	url := "zookeeper://" + k.ZooKeeper.Addr + live.Chroot
	run := func(args ...string) result {
		t.Helper()
		return program{On: k.Cluster}.run(t, args...)
	}
	run("describe", "-g", "billing", "-s", "zookeeper://"+k.ZooKeeper.Addr).exits(1).
		says("nothing at zookeeper://"+k.ZooKeeper.Addr, "node /consumers", "there is a node /kafka/consumers")

	consumer, err := k.StartTool(live.OldConsoleConsumer, "--zookeeper", k.ZooKeeper.Addr+live.Chroot, "--topic", "orders", "--group", "billing",
		"--from-beginning", "--consumer-property", "auto.commit.interval.ms=200")
	must(t, err)
	defer consumer.Stop()
	err = live.Eventually(ctx, "the consumer has saved all", func(context.Context) (bool, error) {
		r := run("export", "--stored", "-g", "billing", "-s", url, "-o", "kafka-csv")
		if r.code != 0 {
			return false, fmt.Errorf("%v", r)
		}
		return strings.Fields(r.out)[0] == "orders,0,10" && strings.HasSuffix(strings.TrimSpace(r.out), "orders,1,10"), nil
	})
	if err != nil {
		t.Fatalf("%v\n%s", err, consumer.Output())
	}
	run("describe", "-g", "billing", "-s", url).exits(0).prints("1 running consumer registered at /kafka/consumers/billing/ids")
	must(t, k.Produce(ctx, "orders", 40))
	run("reset", "-g", "billing", "-t", "orders", "-s", url, "--stored", "--to-earliest", "--execute").exits(4).
		says(`group "billing" is active: 1 consumer registered in the store (billing_`, "--wait-empty 60s")
	consumer.Stop() // killed: its session outlives it by some seconds
	run("reset", "-g", "billing", "-t", "orders", "-s", url, "--stored", "--to-offset", "10", "--wait-empty", "60s", "--execute").exits(0)

	must(t, k.DeleteRecords(ctx, "orders", 0, 15))
	run("clamp", "-g", "billing", "-s", url, "--stored", "--execute").exits(0).prints("1 of 1 verified")
	said, err := k.Tool(ctx, live.OldConsumerGroups, "--zookeeper", k.ZooKeeper.Addr+live.Chroot, "--describe", "--group", "billing")
	must(t, err)
	for p, want := range map[string]string{"0": "15", "1": "10"} {
		found := ""
		for line := range strings.Lines(said) {
			if f := strings.Fields(line); len(f) > 2 && f[0] == "orders" && f[1] == p {
				found = f[2]
			}
		}
		if found != want {
			t.Errorf("Kafka's own tool reads %q of partition %s, want %s\n%s", found, p, want, said)
		}
	}

	// STO-6: out of ZooKeeper, into Kafka.
	run("reset", "-g", "billing", "--all-topics", "-s", url, "--committed", "--to-stored", "--create", "--execute").exits(0).prints("2 of 2 verified")
	committed, err := k.Committed(ctx, "billing")
	must(t, err)
	same(t, "committed", fmt.Sprint(committed["orders"][0].Offset, committed["orders"][1].Offset), "15 10")
}
