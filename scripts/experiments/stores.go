package main

import (
	"context"
	"errors"
	"fmt"
	"net/http"

	"gtoffset/offsetfile"
	"gtoffset/offsetfile/hbase"
	"gtoffset/offsetfile/mysql"
	"gtoffset/offsetfile/redis"
	"gtoffset/offsetfile/webhdfs"
	"gtoffset/offsetfile/zookeeper"
	"gtoffset/scripts/live"
)

// When a save is done.
const (
	synced   = "on disk"
	answered = "answered"
)

// A service is a store other than files, started for one experiment.
type service struct {
	name  string
	done  string // when a save is
	open  func(*offsetfile.Address, offsetfile.Options) (offsetfile.Store, error)
	start func(context.Context) (url string, stop func(), err error)
}

func services() []service {
	return []service{
		{"Redis", synced, redis.Open, startRedis},
		{"ZooKeeper", synced, zookeeper.Open, startZooKeeper},
		{"MariaDB", synced, mysql.Open, startMariaDB},
		{"HDFS, over WebHDFS", answered, webhdfs.Open, startHDFS},
		{"HBase, over its gateway", answered, hbase.Open, startHBase},
	}
}

// keeper starts the service and keeps offsets in it.
func (s service) keeper(ctx context.Context, _ *lab, topic string) (k keeper, err error) {
	url, stop, err := s.start(ctx)
	if err != nil {
		return k, fmt.Errorf("start %s: %w", s.name, err)
	}
	defer func() {
		if err != nil {
			stop()
		}
	}()
	address, err := offsetfile.ParseAddress(url, func(name string) string { return map[string]string{"PASSWORD": password}[name] })
	if err != nil {
		return k, err
	}
	store, err := s.open(address, offsetfile.Options{Create: true})
	if err != nil {
		return k, err
	}
	if k, err = keepIn(ctx, s.name, s.done, store, topic); err != nil {
		return k, errors.Join(err, store.Close())
	}
	end := k.end
	k.end = func() error { defer stop(); return end() }
	return k, nil
}

// password is what $PASSWORD stands for in a URL.
const password = "secret"

func startRedis(ctx context.Context) (string, func(), error) {
	r, err := live.StartRedis(ctx)
	if err != nil {
		return "", nil, err
	}
	return "redis://" + r.Addr() + "/0", r.Stop, nil
}

func startZooKeeper(ctx context.Context) (string, func(), error) {
	z, err := live.StartZooKeeper(ctx)
	if err != nil {
		return "", nil, err
	}
	return "zookeeper://" + z.Addr, z.Stop, nil
}

func startMariaDB(ctx context.Context) (string, func(), error) {
	m, err := live.StartMariaDB(ctx)
	if err != nil {
		return "", nil, err
	}
	if _, err := m.Do(ctx, "jobs", "CREATE USER job@'%' IDENTIFIED BY '"+password+"'; GRANT ALL ON jobs.* TO job@'%'"); err != nil {
		m.Stop()
		return "", nil, err
	}
	return "mysql://job:$PASSWORD@" + m.Addr() + "/jobs", m.Stop, nil
}

func startHDFS(ctx context.Context) (string, func(), error) {
	h, err := live.StartHDFS(ctx)
	if err != nil {
		return "", nil, err
	}
	const root = "/offsets"
	if _, err := h.Ask(ctx, http.MethodPut, root, "MKDIRS", nil); err != nil {
		h.Stop()
		return "", nil, err
	}
	return "webhdfs://" + h.Addr + root + "?user.name=" + h.User, h.Stop, nil
}

func startHBase(ctx context.Context) (string, func(), error) {
	h, err := live.StartHBase(ctx)
	if err != nil {
		return "", nil, err
	}
	if err := h.CreateTable(ctx, "jobs", "offsets"); err != nil {
		h.Stop()
		return "", nil, err
	}
	return "hbase://" + h.Addr + "/jobs", h.Stop, nil
}
