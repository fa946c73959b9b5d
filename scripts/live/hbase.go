package live

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"
)

// HBaseVersion is the release that is tested, on the Hadoop that it comes with.
const HBaseVersion = "2.6.1"

// opened are the packages of Java that HBase looks into.
var opened = []string{
	"java.lang", "java.lang.reflect", "java.nio", "sun.nio.ch", "java.io", "java.util", "java.util.concurrent", "jdk.internal.ref",
}

// An HBase is a standalone server, which keeps its ZooKeeper to itself, and its REST gateway.
type HBase struct {
	Addr string // HOST:PORT of the gateway

	server, gateway *service
}

// StartHBase starts both. They end with Stop, or with ctx.
func StartHBase(ctx context.Context) (_ *HBase, err error) {
	libs, err := artifacts(ctx, "hbase-"+HBaseVersion, []string{
		"org.apache.hbase:hbase-rest:" + HBaseVersion, "org.apache.hbase:hbase-server:" + HBaseVersion,
	}, "javax.servlet:servlet-api") // 2.5, with which the gateway does not start
	if err != nil {
		return nil, fmt.Errorf("fetch HBase %s: %w", HBaseVersion, err)
	}
	ports, err := freePorts(4)
	if err != nil {
		return nil, err
	}
	h := &HBase{Addr: fmt.Sprintf("127.0.0.1:%d", ports[0])}
	defer func() {
		if err != nil {
			h.Stop()
		}
	}()
	if h.server, err = newService("hbase", ""); err != nil {
		return nil, err
	}
	if h.gateway, err = newService("hbase-rest", ""); err != nil {
		return nil, err
	}
	if err = h.configure(ports); err != nil {
		return nil, err
	}
	dir := h.server.dir
	options := []string{"-Djava.net.preferIPv4Stack=true", "-Dhbase.log.dir=" + dir}
	for _, name := range opened {
		options = append(options, "--add-opens=java.base/"+name+"=ALL-UNNAMED")
	}
	options = append(options, "--add-exports=java.base/jdk.internal.misc=ALL-UNNAMED", "--add-exports=java.security.jgss/sun.security.krb5=ALL-UNNAMED")
	java := func(class string, args ...string) func() *exec.Cmd {
		return func() *exec.Cmd {
			return jvm(dir, dir+":"+filepath.Join(libs, "*"), "512m", options, class, args...)
		}
	}
	h.server.command = java("org.apache.hadoop.hbase.master.HMaster", "start")
	h.gateway.command = java("org.apache.hadoop.hbase.rest.RESTServer", "start", "-p", fmt.Sprint(ports[0]), "--infoport", "-1")
	if err = h.server.Start(ctx); err != nil {
		return nil, err
	}
	// A gateway that has to wait for the server does so with ever longer pauses.
	err = h.server.serves(ctx, "HBase", func(ctx context.Context) (bool, error) {
		var dialer net.Dialer
		conn, err := dialer.DialContext(ctx, "tcp", fmt.Sprintf("127.0.0.1:%d", ports[3]))
		if err != nil {
			return false, err
		}
		return true, conn.Close()
	})
	if err != nil {
		return nil, err
	}
	if err = h.StartGateway(ctx); err != nil {
		return nil, err
	}
	context.AfterFunc(ctx, h.Stop)
	return h, nil
}

// configure writes the files of both.
func (h *HBase) configure(ports []int) error {
	dir := h.server.dir
	var b strings.Builder
	b.WriteString("<configuration>\n")
	for _, p := range [][2]string{
		{"hbase.cluster.distributed", "false"},
		{"hbase.rootdir", "file://" + filepath.Join(dir, "root")},
		{"hbase.tmp.dir", filepath.Join(dir, "tmp")},
		{"hbase.unsafe.stream.capability.enforce", "false"}, // the local file system has no hflush
		{"hbase.wal.provider", "filesystem"},
		{"hbase.zookeeper.quorum", "127.0.0.1"},
		{"hbase.zookeeper.property.dataDir", filepath.Join(dir, "zookeeper")},
		{"hbase.zookeeper.property.clientPort", fmt.Sprint(ports[1])},
		{"hbase.master.port", fmt.Sprint(ports[2])},
		{"hbase.regionserver.port", fmt.Sprint(ports[3])},
		{"hbase.master.info.port", "-1"},
		{"hbase.regionserver.info.port", "-1"},
		{"hbase.master.ipc.address", "127.0.0.1"},
		{"hbase.regionserver.ipc.address", "127.0.0.1"},
		{"hbase.master.hostname", "127.0.0.1"},
		{"hbase.regionserver.hostname", "127.0.0.1"},
		{"hbase.rest.host", "127.0.0.1"},
		{"hbase.rest.info.port", "-1"},
	} {
		fmt.Fprintf(&b, "<property><name>%s</name><value>%s</value></property>\n", p[0], p[1])
	}
	b.WriteString("</configuration>\n")
	files := logging()
	files["hbase-site.xml"] = b.String()
	for name, text := range files {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644); err != nil {
			return err
		}
	}
	return nil
}

// StartGateway starts the gateway, again if it was killed, and returns when it serves.
func (h *HBase) StartGateway(ctx context.Context) error {
	if err := h.gateway.Start(ctx); err != nil {
		return err
	}
	return h.gateway.serves(ctx, "HBase's gateway", func(ctx context.Context) (bool, error) {
		select {
		case <-h.server.proc.done:
			return false, fmt.Errorf("the server %w: %w", errEnded, h.server.proc.err)
		default:
		}
		said, err := h.Do(ctx, http.MethodGet, "/status/cluster", nil)
		return strings.Contains(said, `"regions"`), err
	})
}

// KillGateway ends the gateway as kill -9 does. The server stays: on the local file system it would lose what it has acknowledged.
func (h *HBase) KillGateway() { h.gateway.Kill() }

// Do makes one request of JSON to the gateway and returns the answer's text. An answer other than 200 and 201 is an error.
func (h *HBase) Do(ctx context.Context, method, path string, body any) (string, error) {
	ctx, cancel := context.WithTimeout(ctx, 20*time.Second)
	defer cancel()
	text, err := json.Marshal(body)
	if err != nil {
		return "", err
	}
	request, err := http.NewRequestWithContext(ctx, method, "http://"+h.Addr+path, bytes.NewReader(text))
	if err != nil {
		return "", err
	}
	request.Header.Set("Content-Type", "application/json")
	request.Header.Set("Accept", "application/json")
	answer, err := http.DefaultClient.Do(request)
	if err != nil {
		return "", err
	}
	defer answer.Body.Close()
	said, err := io.ReadAll(answer.Body)
	if err == nil && answer.StatusCode != http.StatusOK && answer.StatusCode != http.StatusCreated {
		err = fmt.Errorf("%s %s: %s\n%s", method, path, answer.Status, tail(string(said), 5))
	}
	return string(said), err
}

// CreateTable makes a table with one column family, which keeps three versions of each cell.
func (h *HBase) CreateTable(ctx context.Context, table, family string) error {
	_, err := h.Do(ctx, http.MethodPut, "/"+table+"/schema", map[string]any{
		"name": table, "ColumnSchema": []any{map[string]string{"name": family, "VERSIONS": "3"}},
	})
	return err
}

// hbaseCell is a cell as the gateway reads and writes it.
type hbaseCell struct {
	Column []byte `json:"column"`
	Value  []byte `json:"$"`
}

type hbaseRows struct {
	Row []hbaseRow
}

type hbaseRow struct {
	Key  []byte `json:"key"`
	Cell []hbaseCell
}

// Put sets one cell; the column is FAMILY:QUALIFIER.
func (h *HBase) Put(ctx context.Context, table, row, column string, value []byte) error {
	_, err := h.Do(ctx, http.MethodPut, "/"+table+"/row", hbaseRows{[]hbaseRow{{[]byte(row), []hbaseCell{{[]byte(column), value}}}}})
	return err
}

// Get is one cell's value; nil without the cell. The row's key may have only what a URL's path takes.
func (h *HBase) Get(ctx context.Context, table, row, column string) ([]byte, error) {
	said, err := h.Do(ctx, http.MethodGet, "/"+table+"/"+row+"/"+column, nil)
	if err != nil {
		return nil, err
	}
	var found hbaseRows
	if err := json.Unmarshal([]byte(said), &found); err != nil {
		return nil, err
	}
	for _, r := range found.Row {
		for _, c := range r.Cell {
			return c.Value, nil
		}
	}
	return nil, nil
}

// Stop ends both, and removes their folders.
func (h *HBase) Stop() {
	for _, s := range []*service{h.gateway, h.server} {
		if s != nil {
			s.Stop()
		}
	}
}
