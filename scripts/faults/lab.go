package main

import (
	"bytes"
	"context"
	"crypto/tls"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"sync"
	"time"

	"gtoffset/scripts/bench"
	"gtoffset/scripts/live"
)

const (
	brokers      = 3
	topic        = "orders"
	commitsTopic = "__consumer_offsets"
	places       = 12 // partitions of it

	earliest, end = 20, 520 // of each partition
	lateness      = 100 * time.Millisecond
	timeout       = 10 * time.Second // --timeout of every run
	writing       = 15 * time.Second // how long a write keeps trying at least
	awayFor       = time.Minute      // how long replay waits for a broker
	waitFor       = 5 * time.Second  // wait --for
	batchRecords  = 100
)

// A cluster is three brokers behind a proxy: Apache Kafka, or in quick tests the in-process one.
type cluster interface {
	RemoteBootstrap() string
	Coordinator(ctx context.Context, group string) (int32, error)
	Commit(ctx context.Context, group, topic string, places map[int32]live.Commit) error
	Committed(ctx context.Context, group string) (map[string]map[int32]live.Commit, error)
	Ranges(ctx context.Context, topic string) (map[int32]live.Range, error)
	MoveLeader(ctx context.Context, topic string, partition, to int32) error
	Agree(ctx context.Context, topic string) error
	SetDelay(each time.Duration)
	Kill(broker int32) error
	Restart(ctx context.Context, broker int32) error
	Freeze(broker int32) error
	Thaw(ctx context.Context, broker int32) error
	Stop()
}

// A lab is what the faults are tried with: a Kafka of three brokers behind a proxy, and the real program. All files lie in dir.
type lab struct {
	kafka   cluster
	on      string // which cluster it is
	faults  *live.Faults
	codes   map[string]map[int]bool // documented exit codes by command
	program string
	certs   live.Certs
	dir     string
	talk    io.Writer

	mu   sync.Mutex // of staging: one scene after the other
	runs int
}

// open builds the program and starts Kafka. It runs in the root of the repository.
func open(ctx context.Context, talk io.Writer) (*lab, error) {
	return openOn(ctx, talk, "Apache Kafka "+live.Current, func(f *live.Faults) (cluster, error) {
		c, err := live.Kafka(ctx, live.Current, brokers, live.Proxied(f),
			live.Properties("broker.session.timeout.ms=3000", "replica.lag.time.max.ms=3000", fmt.Sprintf("offsets.topic.num.partitions=%d", places)))
		if err != nil {
			return nil, err
		}
		return c, fill(ctx, c)
	})
}

// fill makes the topic.
func fill(ctx context.Context, c *live.Cluster) error {
	err := c.CreateTopic(ctx, topic, brokers)
	if err == nil {
		err = c.Produce(ctx, topic, end)
	}
	for p := range int32(brokers) {
		if err == nil {
			err = c.DeleteRecords(ctx, topic, p, earliest)
		}
	}
	return err
}

// openOn builds the program and starts a cluster.
func openOn(ctx context.Context, talk io.Writer, on string, start func(*live.Faults) (cluster, error)) (_ *lab, err error) {
	l := &lab{talk: talk, on: on, faults: &live.Faults{}}
	if l.codes, err = documented(codesFile); err != nil {
		return nil, err
	}
	if l.dir, err = os.MkdirTemp("", "gtoffset-faults-"); err != nil {
		return nil, err
	}
	defer func() {
		if err != nil {
			l.close()
		}
	}()
	built, err := bench.Build(ctx, l.dir, "gtoffset")
	if err != nil {
		return nil, err
	}
	l.program = built[0]
	if l.certs, err = live.NewCerts(l.dir); err != nil {
		return nil, err
	}
	pair, err := tls.LoadX509KeyPair(l.certs.ServerCert, l.certs.ServerKey)
	if err != nil {
		return nil, err
	}
	l.faults.TLS = &tls.Config{Certificates: []tls.Certificate{pair}}
	l.kafka, err = start(l.faults)
	return l, err
}

func (l *lab) close() {
	if l.kafka != nil {
		l.kafka.Stop()
	}
	os.RemoveAll(l.dir)
}

// A scene is one run's own group, store and folder, and the brokers that matter to it.
type scene struct {
	ctx                 context.Context
	lab                 *lab
	command             command
	group, dir          string
	coordinator, leader int32 // of the group; of partition leader-1, another broker
	place               int32 // partition of commitsTopic

	doing             sync.WaitGroup // what is done to the cluster meanwhile
	failed, restarted error
}

// stage makes a scene: every partition is led by the broker of its own number, and the group is as the command wants it.
func (l *lab) stage(ctx context.Context, name string) (*scene, error) {
	c, ok := commandOf(name)
	if !ok {
		return nil, fmt.Errorf("no command %q", name)
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if err := l.calm(ctx); err != nil {
		return nil, err
	}
	l.runs++
	s := &scene{ctx: ctx, lab: l, command: c, group: fmt.Sprintf("billing-%d", l.runs)}
	s.dir = filepath.Join(l.dir, s.group)
	s.place = partitionFor(s.group, places)
	if err := os.MkdirAll(s.dir, 0o700); err != nil {
		return nil, err
	}
	at := c.old
	err := l.kafka.Commit(ctx, s.group, topic, map[int32]live.Commit{0: live.At(at), 1: live.At(at), 2: live.At(at)})
	if err == nil {
		s.coordinator, err = l.kafka.Coordinator(ctx, s.group)
	}
	if err == nil {
		s.leader = s.coordinator%brokers + 1
		err = s.save(at)
	}
	if err == nil {
		err = os.WriteFile(s.path("offsets.csv"), fmt.Appendf(nil, "%s,0,%d\n%s,1,%d\n%s,2,%d\n", topic, c.new, topic, c.new, topic, c.new), 0o600)
	}
	return s, err
}

// calm brings the leaders of the topic back to where they belong.
func (l *lab) calm(ctx context.Context) error {
	ranges, err := l.kafka.Ranges(ctx, topic)
	if err != nil {
		return err
	}
	for p := range int32(brokers) {
		if ranges[p].Leader != p+1 {
			if err := l.kafka.MoveLeader(ctx, topic, p, p+1); err != nil {
				return err
			}
		}
	}
	return nil
}

// partitionFor is where Kafka keeps a group: Java's hash of its name.
func partitionFor(group string, partitions int32) int32 {
	var h int32
	for _, c := range []byte(group) {
		h = 31*h + int32(c)
	}
	return h & 0x7fffffff % partitions
}

func (s *scene) path(name string) string { return filepath.Join(s.dir, name) }

// An ended is what is left of a process.
type ended struct {
	code     int
	out, err string
	took     time.Duration
}

// document reads what stands on stdout, if anything does.
func (r ended) document(into any) error {
	if r.out == "" {
		return nil
	}
	if err := json.Unmarshal([]byte(r.out), into); err != nil {
		return wrongError("stdout is no document: " + err.Error())
	}
	return nil
}

// run runs the command to its end, against the brokers behind the proxy.
func (s *scene) run(args []string) (ended, error) {
	cmd := exec.Command(s.lab.program, args...)
	cmd.Env = []string{
		"PATH=" + os.Getenv("PATH"), "HOME=" + s.dir, "TEST_RUN_ID=" + os.Getenv("TEST_RUN_ID"),
		"GTOFFSET_BOOTSTRAP_SERVER=" + s.lab.kafka.RemoteBootstrap(), "GTOFFSET_CLIENT_ID=" + s.group, // by which the proxy knows it
	}
	var out, said bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &said
	ctx, cancel := context.WithTimeout(s.ctx, 3*s.command.bound)
	defer cancel()
	began := time.Now()
	p, err := live.Start(cmd)
	if err != nil {
		return ended{}, err
	}
	select {
	case <-p.Done():
	case <-ctx.Done():
		p.Stop()
		if err := s.ctx.Err(); err != nil {
			return ended{}, err
		}
	}
	var exit *exec.ExitError
	if err := p.Err(); err != nil && !errors.As(err, &exit) {
		return ended{}, err
	}
	return ended{cmd.ProcessState.ExitCode(), out.String(), said.String(), time.Since(began)}, nil
}

// try runs a command under a fault, and judges it.
func (l *lab) try(ctx context.Context, f fault, name string) (cell, error) {
	s, err := l.stage(ctx, name)
	if err != nil {
		return cell{}, err
	}
	c := cell{Fault: f.name, Command: name}
	if f.before != nil {
		if err := f.before(ctx, s); err != nil {
			return c, err
		}
	}
	args, client := s.command.args(s), s.group
	if f.secure {
		args, client = slices.Insert(args, 1, "-X", "security.protocol=SSL", "-X", "ssl.ca.location="+l.certs.CA), live.Everybody
	}
	if f.rules != nil {
		l.faults.Set(client, f.rules(s)...)
	}
	r, err := s.run(args)
	c.Met = l.faults.Clear(client) > 0 || f.rules == nil
	s.doing.Wait()
	if f.after != nil {
		err = errors.Join(err, f.after(ctx, s))
	}
	if err = errors.Join(err, s.failed, s.restarted); err != nil {
		return c, err
	}
	if err := l.kafka.Agree(ctx, commitsTopic); err != nil {
		return c, err
	}
	c.Code, c.Said, c.Ratio = r.code, l.said(r.err), r.took.Seconds()/s.command.bound.Seconds()
	c.Stands, err = s.command.judge(s, r)
	var wrong wrongError
	switch {
	case errors.As(err, &wrong):
		c.Wrong = string(wrong)
	case err != nil:
		return c, err
	}
	c.Wrong = firstWrong(c.Wrong, l.form(s, r))
	if c.Wrong != "" {
		fmt.Fprintf(l.talk, "WRONG: %s\n%s %v: exit %d after %v\n-- stdout\n%s\n-- stderr\n%s\n", c.Wrong, f.name, args, r.code, r.took, r.out, r.err)
	}
	return c, nil
}
