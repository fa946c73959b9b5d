package live

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"time"
)

// ZooKeeperVersion is the release that is tested. Others come with old releases of Kafka.
const ZooKeeperVersion = "3.9.3"

// A ZooKeeper is a running server of its own, which writes each change to disk before it answers.
type ZooKeeper struct {
	*service
	Addr string // HOST:PORT
}

// StartZooKeeper starts a server. It ends with Stop, or with ctx.
func StartZooKeeper(ctx context.Context) (*ZooKeeper, error) {
	libs, err := artifacts(ctx, "zookeeper-"+ZooKeeperVersion, []string{
		"org.apache.zookeeper:zookeeper:" + ZooKeeperVersion,
		"io.dropwizard.metrics:metrics-core:4.1.12.1", // without these two it does not start
		"org.xerial.snappy:snappy-java:1.1.10.5",
		"org.slf4j:slf4j-simple:1.7.30",
	}, "ch.qos.logback:logback-classic", "ch.qos.logback:logback-core")
	if err != nil {
		return nil, fmt.Errorf("fetch ZooKeeper %s: %w", ZooKeeperVersion, err)
	}
	return startZooKeeper(ctx, libs)
}

// startZooKeeper starts the server whose jars are in libs.
func startZooKeeper(ctx context.Context, libs string) (*ZooKeeper, error) {
	ports, err := freePorts(1)
	if err != nil {
		return nil, err
	}
	s, err := newService("zookeeper", "")
	if err != nil {
		return nil, err
	}
	z := &ZooKeeper{service: s, Addr: fmt.Sprintf("127.0.0.1:%d", ports[0])}
	config := filepath.Join(s.dir, "zoo.cfg")
	lines := fmt.Sprintf("tickTime=500\ndataDir=%s\nclientPort=%d\nclientPortAddress=127.0.0.1\nmaxClientCnxns=0\n", filepath.Join(s.dir, "data"), ports[0]) +
		"maxSessionTimeout=40000\nadmin.enableServer=false\n4lw.commands.whitelist=ruok\n"
	files := logging()
	files["zoo.cfg"] = lines
	for name, text := range files {
		if err := os.WriteFile(filepath.Join(s.dir, name), []byte(text), 0o644); err != nil {
			return nil, err
		}
	}
	z.command = func() *exec.Cmd {
		return jvm(s.dir, filepath.Join(libs, "*"), "256m", nil, "org.apache.zookeeper.server.quorum.QuorumPeerMain", config)
	}
	if err := z.Start(ctx); err != nil {
		z.Stop()
		return nil, err
	}
	context.AfterFunc(ctx, z.Stop)
	return z, nil
}

// Start starts it, again if it was killed, and returns when it says that it is ok.
func (z *ZooKeeper) Start(ctx context.Context) error {
	if err := z.service.Start(ctx); err != nil {
		return err
	}
	return z.serves(ctx, "ZooKeeper", func(context.Context) (bool, error) {
		said, err := z.word("ruok")
		return said == "imok", err
	})
}

// serves asks until the service answers as wished, and fails at once when its process has ended.
func (s *service) serves(ctx context.Context, what string, ask func(context.Context) (bool, error)) error {
	ctx, giveUp := context.WithCancelCause(ctx)
	defer giveUp(nil)
	err := Eventually(ctx, what+" serves", func(ctx context.Context) (bool, error) {
		select {
		case <-s.proc.done:
			giveUp(errEnded)
		default:
		}
		return ask(ctx)
	})
	if err == nil {
		return nil
	}
	if errors.Is(context.Cause(ctx), errEnded) {
		err = errEnded
	}
	said, _ := os.ReadFile(filepath.Join(s.dir, "log")) // as far as it can be had
	return fmt.Errorf("start %s: %w\n%s", what, err, tail(string(said), 20))
}

// word asks one of the four-letter words.
func (z *ZooKeeper) word(word string) (string, error) {
	c, err := net.DialTimeout("tcp", z.Addr, time.Second)
	if err != nil {
		return "", err
	}
	defer c.Close()
	if err := c.SetDeadline(time.Now().Add(5 * time.Second)); err != nil {
		return "", err
	}
	if _, err := io.WriteString(c, word); err != nil {
		return "", err
	}
	said, err := io.ReadAll(c)
	return string(said), err
}

// jvm is the command that runs a main class of a class path, with what logging makes in dir.
func jvm(dir, classes, memory string, options []string, class string, args ...string) *exec.Cmd {
	line := append([]string{
		"-Xmx" + memory, "-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1", "-XX:-UsePerfData",
		"-Dlog4j2.configurationFile=" + filepath.Join(dir, "log4j2.yaml"),
		"-Dlog4j.configuration=file:" + filepath.Join(dir, "log4j.properties"),
		"-Dorg.slf4j.simpleLogger.defaultLogLevel=warn",
	}, options...)
	return exec.Command("java", append(append(line, "-cp", classes, class), args...)...)
}
