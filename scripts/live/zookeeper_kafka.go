package live

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
)

// Releases of Kafka whose brokers need ZooKeeper.
const (
	Old    = "1.1.1" // still has the consumers that keep their offsets in ZooKeeper; no leader epochs, no topic ids
	Middle = "2.8.2" // the first with topic ids
)

// Chroot is the node below which an OldKafka keeps everything.
const Chroot = "/kafka"

// Main classes of Old's own tools. They are told about ZooKeeper instead of a broker.
const (
	OldConsumerGroups  = "kafka.admin.ConsumerGroupCommand"
	OldConsoleConsumer = "kafka.tools.ConsoleConsumer"
)

// An OldKafka is one broker of such a release with its ZooKeeper.
type OldKafka struct {
	*Cluster
	ZooKeeper *ZooKeeper
}

// StartOldKafka starts both, of the release Old. They end with Stop, or with ctx.
func StartOldKafka(ctx context.Context) (*OldKafka, error) { return StartWithZooKeeper(ctx, Old) }

// StartWithZooKeeper starts one broker of Old or Middle, and its ZooKeeper. They end with Stop, or with ctx.
func StartWithZooKeeper(ctx context.Context, version string) (_ *OldKafka, err error) {
	jars := map[string][]string{ // kafka.Kafka itself needs log4j
		Old:    {"org.apache.kafka:kafka_2.12:" + Old, "log4j:log4j:1.2.17", "org.slf4j:slf4j-log4j12:1.7.25"},
		Middle: {"org.apache.kafka:kafka_2.13:" + Middle, "log4j:log4j:1.2.17", "org.slf4j:slf4j-log4j12:1.7.30"},
	}
	libs, err := artifacts(ctx, "libs-"+version, jars[version])
	if err != nil {
		return nil, fmt.Errorf("fetch Kafka %s: %w", version, err)
	}
	k := &OldKafka{Cluster: &Cluster{Version: version, libs: libs, end: func() {}}}
	defer func() {
		if err != nil {
			k.Stop()
			err = fmt.Errorf("start Kafka %s: %w", version, err)
		}
	}()
	if k.ZooKeeper, err = startZooKeeper(ctx, libs); err != nil {
		return nil, err
	}
	if err = k.configure(); err != nil {
		return nil, err
	}
	if err = k.serve(ctx); errors.Is(err, errEnded) { // somebody may have taken the port
		if err = k.configure(); err == nil {
			err = k.serve(ctx)
		}
	}
	if err != nil {
		return nil, err
	}
	context.AfterFunc(ctx, k.Stop)
	return k, nil
}

// configure writes the broker's files.
func (k *OldKafka) configure() error {
	ports, err := freePorts(1)
	if err != nil {
		return err
	}
	if k.dir, err = os.MkdirTemp("", "gtoffset-kafka-"); err != nil {
		return err
	}
	at := func(name string) string { return filepath.Join(k.dir, name) }
	n := &node{id: 1, addr: fmt.Sprintf("127.0.0.1:%d", ports[0]), config: at("broker1.properties"), data: at("data1"), log: at("broker1.log")}
	k.nodes = []*node{n}
	files := logging()
	files[filepath.Base(n.config)] = strings.Join([]string{
		"broker.id=1",
		"zookeeper.connect=" + k.ZooKeeper.Addr + Chroot,
		"zookeeper.connection.timeout.ms=60000",
		"listeners=PLAINTEXT://" + n.addr,
		"advertised.listeners=PLAINTEXT://" + n.addr,
		"log.dirs=" + n.data,
		"offsets.topic.replication.factor=1",
		"offsets.topic.num.partitions=4",
		"transaction.state.log.replication.factor=1",
		"transaction.state.log.min.isr=1",
		"group.initial.rebalance.delay.ms=0",
		"auto.create.topics.enable=false",
	}, "\n") + "\n"
	for name, text := range files {
		if err := os.WriteFile(at(name), []byte(text), 0o644); err != nil {
			return err
		}
	}
	return nil
}

func (k *OldKafka) serve(ctx context.Context) error {
	if err := k.boot(k.nodes[0]); err != nil {
		return err
	}
	if err := k.connect(); err != nil {
		return err
	}
	return k.ready(ctx)
}

// Stop ends the broker first: without ZooKeeper it would never end.
func (k *OldKafka) Stop() {
	k.Cluster.Stop()
	if k.ZooKeeper != nil {
		k.ZooKeeper.Stop()
	}
}
