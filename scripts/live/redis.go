package live

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
)

// A Redis is a running redis-server, of Debian's package. It writes each change to disk before it answers.
type Redis struct {
	*service
	Port int
	Auth string   // the default user's password, for Do; "" without one
	cli  []string // arguments by which redis-cli reaches it
}

// RedisTLS are the arguments of a server that speaks TLS only; with mutual it wants a certificate of its clients, too.
func RedisTLS(c Certs, mutual bool) []string {
	wants := "no"
	if mutual {
		wants = "yes"
	}
	return []string{"--tls-cert-file", c.ServerCert, "--tls-key-file", c.ServerKey, "--tls-ca-cert-file", c.CA, "--tls-auth-clients", wants}
}

// StartRedis starts a server with these arguments added. It ends with Stop, or with ctx.
func StartRedis(ctx context.Context, args ...string) (*Redis, error) {
	ports, err := freePorts(2)
	if err != nil {
		return nil, err
	}
	s, err := newService("redis", "Ready to accept connections")
	if err != nil {
		return nil, err
	}
	r := &Redis{service: s, Port: ports[0], cli: []string{"-p", strconv.Itoa(ports[0])}}
	port := []string{"--port", strconv.Itoa(r.Port)}
	for i, arg := range args {
		switch arg {
		case "--tls-cert-file":
			port = []string{"--port", "0", "--tls-port", strconv.Itoa(r.Port)}
			r.cli = append(r.cli, "--tls", "--cert", args[i+1])
		case "--tls-key-file":
			r.cli = append(r.cli, "--key", args[i+1])
		case "--tls-ca-cert-file":
			r.cli = append(r.cli, "--cacert", args[i+1])
		case "--cluster-enabled":
			port = append(port, "--cluster-port", strconv.Itoa(ports[1]))
		}
	}
	r.command = func() *exec.Cmd {
		return exec.Command("redis-server", append(append(port, "--bind", "127.0.0.1", "--dir", r.dir, "--daemonize", "no",
			"--save", "", "--appendonly", "yes", "--appendfsync", "always"), args...)...)
	}
	if err := r.Start(ctx); err != nil {
		r.Stop()
		return nil, err
	}
	context.AfterFunc(ctx, r.Stop)
	return r, nil
}

// Addr is its HOST:PORT.
func (r *Redis) Addr() string { return fmt.Sprintf("127.0.0.1:%d", r.Port) }

// Do runs one command by redis-cli, as the default user, and returns its answer without the final newline. An error answer is an error.
func (r *Redis) Do(ctx context.Context, args ...string) (string, error) {
	cmd := exec.Command("redis-cli", append(append([]string{"-e", "--raw"}, r.cli...), args...)...)
	if r.Auth != "" {
		cmd.Env = append(cmd.Environ(), "REDISCLI_AUTH="+r.Auth)
	}
	said, err := output(ctx, cmd)
	return strings.TrimSuffix(said, "\n"), err
}

// A RedisCluster is three servers that share the keys.
type RedisCluster struct{ Nodes []*Redis }

// StartRedisCluster starts one, with these arguments added to each server's.
func StartRedisCluster(ctx context.Context, args ...string) (*RedisCluster, error) {
	c := &RedisCluster{}
	create := []string{"--cluster", "create"}
	for range 3 {
		r, err := StartRedis(ctx, append([]string{"--cluster-enabled", "yes", "--cluster-node-timeout", "2000"}, args...)...)
		if err != nil {
			c.Stop()
			return nil, err
		}
		c.Nodes = append(c.Nodes, r)
		create = append(create, r.Addr())
	}
	_, err := output(ctx, exec.Command("redis-cli", append(append(c.Nodes[0].cli, create...), "--cluster-yes")...))
	if err == nil {
		err = c.Ready(ctx)
	}
	if err != nil {
		c.Stop()
		return nil, fmt.Errorf("make a Redis cluster: %w", err)
	}
	return c, nil
}

// Ready returns when every server knows all, and that the cluster is whole.
func (c *RedisCluster) Ready(ctx context.Context) error {
	return Eventually(ctx, "the Redis cluster is whole", func(ctx context.Context) (bool, error) {
		for _, r := range c.Nodes {
			said, err := r.Do(ctx, "CLUSTER", "INFO")
			if err != nil || !strings.Contains(said, "cluster_state:ok") || !strings.Contains(said, "cluster_known_nodes:3") {
				return false, err
			}
		}
		return true, nil
	})
}

// Stop ends all servers.
func (c *RedisCluster) Stop() {
	for _, r := range c.Nodes {
		r.Stop()
	}
}

// A RedisSentinel is a master with a replica, and a sentinel that makes the one the other when it is gone.
type RedisSentinel struct {
	Master, Replica *Redis
	Sentinel        string // HOST:PORT
	Name            string // by which the sentinel knows the master
	watch           *service
}

// StartRedisSentinel starts one. The sentinel takes a master that is silent for a second for gone.
func StartRedisSentinel(ctx context.Context) (_ *RedisSentinel, err error) {
	s := &RedisSentinel{Name: "jobs"}
	defer func() {
		if err != nil {
			s.Stop()
		}
	}()
	if s.Master, err = StartRedis(ctx); err != nil {
		return nil, err
	}
	if s.Replica, err = StartRedis(ctx, "--replicaof", fmt.Sprintf("127.0.0.1 %d", s.Master.Port)); err != nil {
		return nil, err
	}
	ports, err := freePorts(1)
	if err != nil {
		return nil, err
	}
	s.Sentinel = fmt.Sprintf("127.0.0.1:%d", ports[0])
	if s.watch, err = newService("sentinel", "+monitor master"); err != nil {
		return nil, err
	}
	file := filepath.Join(s.watch.dir, "sentinel.conf")
	config := fmt.Sprintf("port %d\nbind 127.0.0.1\ndir %s\nsentinel monitor %s 127.0.0.1 %d 1\nsentinel down-after-milliseconds %[3]s 1000\n",
		ports[0], s.watch.dir, s.Name, s.Master.Port)
	if err = os.WriteFile(file, []byte(config), 0o644); err != nil {
		return nil, err
	}
	s.watch.command = func() *exec.Cmd { return exec.Command("redis-server", file, "--sentinel") }
	if err = s.watch.Start(ctx); err != nil {
		return nil, err
	}
	context.AfterFunc(ctx, s.Stop)
	return s, Eventually(ctx, "the sentinel knows the replica, and that has all", func(ctx context.Context) (bool, error) {
		said, err := output(ctx, exec.Command("redis-cli", "-p", strconv.Itoa(ports[0]), "--raw", "SENTINEL", "MASTER", s.Name))
		if err != nil || !strings.Contains(said, "num-slaves\n1\n") {
			return false, err
		}
		said, err = s.Replica.Do(ctx, "INFO", "replication")
		if err == nil && !strings.Contains(said, "master_link_status:up") {
			err = errors.New("the replica is not in step yet")
		}
		return err == nil, err
	})
}

// Stop ends all three.
func (s *RedisSentinel) Stop() {
	if s.watch != nil {
		s.watch.Stop()
	}
	for _, r := range []*Redis{s.Replica, s.Master} {
		if r != nil {
			r.Stop()
		}
	}
}
