package live

import (
	"bytes"
	"cmp"
	"context"
	"crypto/rand"
	"encoding/base64"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"time"

	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/kmsg"
	"github.com/twmb/franz-go/pkg/kversion"

	"gtoffset/kafkaops/kafkatest/tcpproxy"
)

// A Cluster is a running Apache Kafka of one or more brokers, each also a controller. Its methods may be used by several
// goroutines, but a broker is killed, frozen or restarted by one at a time.
type Cluster struct {
	Version string
	ID      string

	libs, dir string
	nodes     []*node
	client    *kgo.Client
	end       context.CancelFunc
	faults    *Faults // nil unless Proxied
	stop      sync.Once
	flags     []string // of the brokers' java
}

// A Broker as the outside sees it. PID is 0 while it is down.
type Broker struct {
	ID   int32
	Addr string
	PID  int
}

type node struct {
	id     int32
	addr   string          // of the plain listener
	proxy  *tcpproxy.Proxy // before the remote listener, nil without one
	config string
	data   string // folder
	log    string
	proc   *Process
	frozen bool

	listeners map[string]string // address by name
}

// An Option changes what Kafka starts.
type Option func(*options)

type options struct {
	faults     *Faults
	properties []string
	id         string
	delay      time.Duration
	listeners  []Listener
	jvm        []string
	format     []string
}

// Properties adds lines key=value to every broker's configuration, after our own, so that they win.
func Properties(lines ...string) Option {
	return func(o *options) { o.properties = append(o.properties, lines...) }
}

// ClusterID sets the id of the cluster, 16 bytes in unpadded URL-safe base64. Otherwise each has its own.
func ClusterID(id string) Option { return func(o *options) { o.id = id } }

// Delayed gives every broker a second listener that is reached, and advertised, through a wire of the given delay each way.
// RemoteBootstrap is its address.
func Delayed(each time.Duration) Option { return func(o *options) { o.delay = each } }

// Listener is one more listener of every broker, for those who log in.
type Listener struct {
	Name       string   // in capitals
	Protocol   string   // SSL, SASL_PLAINTEXT or SASL_SSL
	Host       string   // advertised; "" for 127.0.0.1
	Port       int      // advertised; 0 for its own
	Properties []string // key=value, without "listener.name.NAME."
}

// Listeners adds listeners; Addr tells where they are.
func Listeners(all ...Listener) Option {
	return func(o *options) { o.listeners = append(o.listeners, all...) }
}

// brokerFlags adds flags to the brokers' java.
func brokerFlags(flags ...string) Option { return func(o *options) { o.jvm = append(o.jvm, flags...) } }

// formatted adds arguments to the formatting of the storage.
func formatted(args ...string) Option {
	return func(o *options) { o.format = append(o.format, args...) }
}

// Addr is the address of a listener of the first broker.
func (c *Cluster) Addr(listener string) string { return c.nodes[0].listeners[listener] }

// SetDelay changes the delay of Delayed for connections that are opened from now on.
func (c *Cluster) SetDelay(each time.Duration) {
	for _, n := range c.nodes {
		n.proxy.Delay(each)
	}
}

// Kafka starts a cluster and returns when every broker knows all of them. It ends with Stop, or with ctx.
func Kafka(ctx context.Context, version string, brokers int, opts ...Option) (*Cluster, error) {
	libs, err := Jars(ctx, version)
	if err != nil {
		return nil, err
	}
	var o options
	for _, set := range opts {
		set(&o)
	}
	if o.id == "" {
		o.id = newID()
	}
	c, err := launch(ctx, version, libs, brokers, o)
	if errors.Is(err, errEnded) { // somebody may have taken a port between our look and the broker's
		c, err = launch(ctx, version, libs, brokers, o)
	}
	if err != nil {
		return nil, fmt.Errorf("start Kafka %s with %d brokers: %w", version, brokers, err)
	}
	return c, nil
}

// errEnded says that a broker's process is gone although nobody stopped it.
var errEnded = errors.New("ended by itself")

func newID() string {
	var b [16]byte
	_, _ = rand.Read(b[:]) // never fails
	b[0] &= 0x7f           // no leading dash: Kafka's tools take it for an option
	return base64.RawURLEncoding.EncodeToString(b[:])
}

func launch(ctx context.Context, version, libs string, brokers int, o options) (_ *Cluster, err error) {
	dir, err := os.MkdirTemp("", "gtoffset-kafka-")
	if err != nil {
		return nil, err
	}
	ctx, end := context.WithCancel(ctx)
	c := &Cluster{Version: version, ID: o.id, libs: libs, dir: dir, end: end, flags: o.jvm}
	c.faults = o.faults
	defer func() {
		if err != nil {
			c.Stop()
		}
	}()
	if err := c.configure(ctx, brokers, o); err != nil {
		return nil, err
	}
	if err := c.format(ctx, o.format); err != nil {
		return nil, err
	}
	for _, n := range c.nodes {
		if err := c.boot(n); err != nil {
			return nil, err
		}
	}
	if err := c.connect(); err != nil {
		return nil, err
	}
	if err := c.ready(ctx); err != nil {
		return nil, err
	}
	context.AfterFunc(ctx, c.Stop)
	return c, nil
}

// connect makes the client by which the cluster is prepared.
func (c *Cluster) connect() (err error) {
	versions := kversion.Tip()
	// From version 10 on OffsetFetch answers with topic ids alone, and OffsetCommit wants them.
	versions.SetMaxKeyVersion(kmsg.OffsetFetch.Int16(), 9)
	versions.SetMaxKeyVersion(kmsg.OffsetCommit.Int16(), 9)
	versions.SetMaxKeyVersion(kmsg.StreamsGroupHeartbeat.Int16(), 0) // not in the table yet
	c.client, err = kgo.NewClient(c.options(kgo.MaxVersions(versions))...)
	return err
}

// configure writes all files that the brokers read.
func (c *Cluster) configure(ctx context.Context, brokers int, o options) error {
	for name, text := range logging() {
		if err := os.WriteFile(filepath.Join(c.dir, name), []byte(text), 0o644); err != nil {
			return err
		}
	}
	ports, err := freePorts((3 + len(o.listeners)) * brokers)
	if err != nil {
		return err
	}
	var voters []string
	for i := range brokers {
		voters = append(voters, fmt.Sprintf("%d@127.0.0.1:%d", i+1, ports[3*i+1]))
	}
	copies := min(3, brokers)
	for i := range brokers {
		plain, controller, far := ports[3*i], ports[3*i+1], ports[3*i+2]
		n := &node{
			id:     int32(i + 1),
			addr:   fmt.Sprintf("127.0.0.1:%d", plain),
			config: filepath.Join(c.dir, fmt.Sprintf("broker%d.properties", i+1)),
			data:   filepath.Join(c.dir, fmt.Sprintf("data%d", i+1)),
			log:    filepath.Join(c.dir, fmt.Sprintf("broker%d.log", i+1)),
		}
		listeners := fmt.Sprintf("PLAINTEXT://%s,CONTROLLER://127.0.0.1:%d", n.addr, controller)
		advertised := "PLAINTEXT://" + n.addr
		if o.delay > 0 || c.faults != nil {
			target := fmt.Sprintf("127.0.0.1:%d", far)
			if n.proxy, err = c.faults.Before(ctx, n.id, target); err != nil {
				return err
			}
			n.proxy.Delay(o.delay)
			listeners += ",REMOTE://" + target
			advertised += ",REMOTE://" + n.proxy.Addr()
		}
		security, more := "CONTROLLER:PLAINTEXT,PLAINTEXT:PLAINTEXT,REMOTE:PLAINTEXT", o.properties
		n.listeners = map[string]string{}
		for j, l := range o.listeners {
			port := ports[3*brokers+i*len(o.listeners)+j]
			n.listeners[l.Name] = fmt.Sprintf("127.0.0.1:%d", port)
			listeners += fmt.Sprintf(",%s://127.0.0.1:%d", l.Name, port)
			advertised += fmt.Sprintf(",%s://%s:%d", l.Name, cmp.Or(l.Host, "127.0.0.1"), cmp.Or(l.Port, port))
			security += "," + l.Name + ":" + l.Protocol
			for _, p := range l.Properties {
				more = append(more, "listener.name."+strings.ToLower(l.Name)+"."+p)
			}
		}
		lines := append([]string{
			"process.roles=broker,controller",
			fmt.Sprintf("node.id=%d", n.id),
			"controller.quorum.voters=" + strings.Join(voters, ","),
			"listeners=" + listeners,
			"advertised.listeners=" + advertised,
			"inter.broker.listener.name=PLAINTEXT",
			"controller.listener.names=CONTROLLER",
			"listener.security.protocol.map=" + security,
			"log.dirs=" + n.data,
			fmt.Sprintf("offsets.topic.replication.factor=%d", copies),
			"offsets.topic.num.partitions=12",
			fmt.Sprintf("transaction.state.log.replication.factor=%d", copies),
			"transaction.state.log.min.isr=1",
			"transaction.state.log.num.partitions=4",
			fmt.Sprintf("share.coordinator.state.topic.replication.factor=%d", copies),
			"share.coordinator.state.topic.min.isr=1",
			"share.coordinator.state.topic.num.partitions=4",
			"group.coordinator.rebalance.protocols=" + protocols(c.Version),
			"group.initial.rebalance.delay.ms=0",
			"log.retention.check.interval.ms=1000",
			"log.initial.task.delay.ms=100",
			"auto.create.topics.enable=false",
		}, more...)
		if err := os.WriteFile(n.config, []byte(strings.Join(lines, "\n")+"\n"), 0o644); err != nil {
			return err
		}
		c.nodes = append(c.nodes, n)
	}
	return nil
}

// protocols are the kinds of group a release can hold.
func protocols(version string) string {
	if strings.HasPrefix(version, "3.") {
		return "classic,consumer"
	}
	return "classic,consumer,share,streams"
}

// logging is the configuration by which brokers and tools say what is a warning or worse, for log4j 2 (4.x) and 1 (before).
func logging() map[string]string {
	return map[string]string{
		"log4j2.yaml": `Configuration:
  status: WARN
  Appenders:
    Console:
      name: STDERR
      target: SYSTEM_ERR
      PatternLayout: {pattern: "%d %p %m (%c)%n"}
  Loggers:
    Root:
      level: WARN
      AppenderRef: [{ref: STDERR}]
`,
		"log4j.properties": `log4j.rootLogger=WARN, A
log4j.appender.A=org.apache.log4j.ConsoleAppender
log4j.appender.A.target=System.err
log4j.appender.A.layout=org.apache.log4j.PatternLayout
log4j.appender.A.layout.ConversionPattern=%d %p %m (%c)%n
`,
	}
}

// java is the command that runs one main class of the jars.
func (c *Cluster) java(memory, class string, args ...string) *exec.Cmd {
	return jvm(c.dir, filepath.Join(c.libs, "*"), memory, nil, class, args...)
}

// format lets Kafka's tool make the first broker's data folder. The others' differ from it in two lines of one file, which are not
// worth a Java process each.
func (c *Cluster) format(ctx context.Context, more []string) error {
	first := c.nodes[0]
	cmd := c.java("256m", "kafka.tools.StorageTool", append([]string{"format", "-t", c.ID, "-c", first.config}, more...)...)
	var said bytes.Buffer
	cmd.Stdout, cmd.Stderr = &said, &said
	if err := run(ctx, cmd); err != nil {
		return fmt.Errorf("format the storage of broker %d: %w\n%s", first.id, err, tail(said.String(), 20))
	}
	const properties = "meta.properties"
	text, err := os.ReadFile(filepath.Join(first.data, properties))
	if err != nil {
		return err
	}
	for _, n := range c.nodes[1:] {
		if err := os.CopyFS(n.data, os.DirFS(first.data)); err != nil {
			return err
		}
		lines := strings.Split(string(text), "\n")
		for i, line := range lines {
			switch key, _, _ := strings.Cut(line, "="); key {
			case "node.id":
				lines[i] = fmt.Sprintf("node.id=%d", n.id)
			case "directory.id":
				lines[i] = "directory.id=" + newID()
			}
		}
		if err := os.WriteFile(filepath.Join(n.data, properties), []byte(strings.Join(lines, "\n")), 0o644); err != nil {
			return err
		}
	}
	return nil
}

// boot starts the broker's process; ready tells when it serves.
func (c *Cluster) boot(n *node) error {
	log, err := os.OpenFile(n.log, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o644)
	if err != nil {
		return err
	}
	defer log.Close()
	cmd := jvm(c.dir, filepath.Join(c.libs, "*"), "512m", c.flags, "kafka.Kafka", n.config)
	cmd.Stdout, cmd.Stderr = log, log
	n.proc, err = Start(cmd)
	n.frozen = false
	return err
}

// ready returns when every running broker names all that run. A broker that ends while it starts is an error at once.
func (c *Cluster) ready(ctx context.Context) error {
	return c.everywhere(ctx, "every broker knows all", kmsg.NewPtrMetadataRequest, func(m *kmsg.MetadataResponse) bool {
		known := map[int32]bool{}
		for _, b := range m.Brokers {
			known[b.NodeID] = true
		}
		for _, n := range c.nodes {
			if n.running() && !known[n.id] {
				return false
			}
		}
		return true
	})
}

// everywhere asks every running broker for its metadata until all of them answer as wished: each broker learns of a change
// in its own time, and the program under test may ask any of them.
func (c *Cluster) everywhere(ctx context.Context, what string, ask func() *kmsg.MetadataRequest, wished func(*kmsg.MetadataResponse) bool) error {
	for _, n := range c.nodes {
		if !n.running() {
			continue
		}
		if err := c.at(ctx, n, what, ask, wished); err != nil {
			return err
		}
	}
	return nil
}

func (c *Cluster) at(ctx context.Context, n *node, what string, ask func() *kmsg.MetadataRequest, wished func(*kmsg.MetadataResponse) bool) error {
	one, err := kgo.NewClient(kgo.SeedBrokers(n.addr), kgo.DialTimeout(time.Second), kgo.RequestTimeoutOverhead(time.Second))
	if err != nil {
		return err
	}
	defer one.Close()
	ctx, giveUp := context.WithCancelCause(ctx)
	defer giveUp(nil)
	err = Eventually(ctx, what, func(ctx context.Context) (bool, error) {
		if n.down() {
			said, _ := os.ReadFile(n.log) // without it the error is only shorter
			giveUp(fmt.Errorf("broker %d %w (%v)\n%s", n.id, errEnded, n.proc.err, tail(string(said), 20)))
		}
		answer, err := one.SeedBrokers()[0].Request(ctx, ask())
		if err != nil {
			return false, err
		}
		return wished(answer.(*kmsg.MetadataResponse)), nil
	})
	if cause := context.Cause(ctx); err != nil && cause != nil {
		return cause
	}
	return err
}

// Bootstrap is the addresses of all brokers, comma-separated.
func (c *Cluster) Bootstrap() string { return c.join(func(n *node) string { return n.addr }) }

// RemoteBootstrap is the addresses at the far end of the delayed wire.
func (c *Cluster) RemoteBootstrap() string {
	return c.join(func(n *node) string { return n.proxy.Addr() })
}

func (c *Cluster) join(field func(*node) string) string {
	var all []string
	for _, n := range c.nodes {
		all = append(all, field(n))
	}
	return strings.Join(all, ",")
}

// Brokers lists all brokers by id, also those that are down.
func (c *Cluster) Brokers() []Broker {
	var all []Broker
	for _, n := range c.nodes {
		b := Broker{ID: n.id, Addr: n.addr}
		if !n.down() {
			b.PID = n.proc.PID()
		}
		all = append(all, b)
	}
	return all
}

// Log is what a broker said so far, warnings and errors.
func (c *Cluster) Log(id int32) (string, error) {
	n, err := c.node(id)
	if err != nil {
		return "", err
	}
	text, err := os.ReadFile(n.log)
	return string(text), err
}

// Kill ends a broker at once, as a crash would. The others notice after their session timeout, 9 s.
func (c *Cluster) Kill(id int32) error {
	n, err := c.node(id)
	if err == nil {
		n.proc.Stop()
	}
	return err
}

// Freeze stops a broker without ending it: it still accepts connections and never answers.
func (c *Cluster) Freeze(id int32) error {
	n, err := c.node(id)
	if err != nil {
		return err
	}
	n.proc.signal(syscall.SIGSTOP)
	n.frozen = true
	return nil
}

// Thaw lets a frozen broker go on, and returns when every broker knows all again.
func (c *Cluster) Thaw(ctx context.Context, id int32) error {
	n, err := c.node(id)
	if err != nil {
		return err
	}
	n.proc.signal(syscall.SIGCONT)
	n.frozen = false
	return c.ready(ctx)
}

// Restart starts a killed broker again at its old address, and returns when every broker knows all again. A running one is
// killed first.
func (c *Cluster) Restart(ctx context.Context, id int32) error {
	n, err := c.node(id)
	if err != nil {
		return err
	}
	n.proc.Stop()
	if err := c.boot(n); err != nil {
		return err
	}
	return c.ready(ctx)
}

// Stop kills all brokers and removes their data. The second call has nothing left to do.
func (c *Cluster) Stop() {
	c.stop.Do(func() {
		c.end()
		if c.client != nil {
			c.client.Close()
		}
		for _, n := range c.nodes {
			if n.proc != nil {
				n.proc.Stop()
			}
		}
		os.RemoveAll(c.dir)
	})
}

func (c *Cluster) node(id int32) (*node, error) {
	for _, n := range c.nodes {
		if n.id == id {
			return n, nil
		}
	}
	return nil, fmt.Errorf("no broker %d among %d", id, len(c.nodes))
}

func (n *node) down() bool {
	if n.proc == nil {
		return true
	}
	select {
	case <-n.proc.Done():
		return true
	default:
		return false
	}
}

func (n *node) running() bool { return !n.frozen && !n.down() }
