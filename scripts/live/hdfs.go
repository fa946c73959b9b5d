package live

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
)

// Hadoop is the release of the namenode and the datanode. The jars of 3.4.2 answer 404 to all of WebHDFS.
const Hadoop = "3.5.0"

// HDFS is a running namenode with one datanode.
type HDFS struct {
	Addr string // of WebHDFS, HOST:PORT
	User string // who may do all

	dir, libs string
	ports     []int
	end       context.CancelFunc
	stop      sync.Once
	namenode  *Process
	datanode  *Process
}

// StartHDFS starts a namenode and a datanode, and returns when files can be written. They end with Stop, or with ctx.
func StartHDFS(ctx context.Context) (_ *HDFS, err error) {
	libs, err := artifacts(ctx, "hadoop-"+Hadoop, []string{"org.apache.hadoop:hadoop-client-minicluster:" + Hadoop})
	if err != nil {
		return nil, fmt.Errorf("fetch Hadoop %s: %w", Hadoop, err)
	}
	dir, err := os.MkdirTemp("", "gtoffset-hdfs-")
	if err != nil {
		return nil, err
	}
	ctx, end := context.WithCancel(ctx)
	h := &HDFS{User: "root", dir: dir, libs: libs, end: end}
	defer func() {
		if err != nil {
			err = fmt.Errorf("start HDFS %s: %w", Hadoop, err)
			h.Stop()
		}
	}()
	if h.ports, err = freePorts(5); err != nil {
		return nil, err
	}
	h.Addr = h.addr(0)
	if err := h.configure(); err != nil {
		return nil, err
	}
	format := h.java("namenode.NameNode", "-format", "-nonInteractive")
	var said bytes.Buffer
	format.Stdout, format.Stderr = &said, &said
	if err := run(ctx, format); err != nil {
		return nil, fmt.Errorf("format: %w\n%s", err, tail(said.String(), 20))
	}
	context.AfterFunc(ctx, h.Stop)
	return h, h.Start(ctx)
}

// URL is the file system as Hadoop's own programs name it.
func (h *HDFS) URL() string { return "hdfs://" + h.addr(1) }

func (h *HDFS) addr(i int) string { return "127.0.0.1:" + strconv.Itoa(h.ports[i]) }

func (h *HDFS) configure() error {
	conf := filepath.Join(h.dir, "conf")
	if err := os.Mkdir(conf, 0o755); err != nil {
		return err
	}
	for file, properties := range map[string][]string{
		"core-site.xml": {"fs.defaultFS", "hdfs://" + h.addr(1), "hadoop.tmp.dir", h.dir + "/tmp"},
		"hdfs-site.xml": {
			"dfs.replication", "1", "dfs.permissions.superusergroup", h.User, "dfs.namenode.acls.enabled", "true",
			"dfs.namenode.http-address", h.addr(0), "dfs.namenode.rpc-address", h.addr(1),
			"dfs.namenode.name.dir", "file://" + h.dir + "/name", "dfs.datanode.data.dir", "file://" + h.dir + "/data",
			"dfs.datanode.address", h.addr(2), "dfs.datanode.http.address", h.addr(3), "dfs.datanode.ipc.address", h.addr(4),
			"dfs.datanode.hostname", "127.0.0.1", "dfs.client.use.datanode.hostname", "true",
			"dfs.namenode.datanode.registration.ip-hostname-check", "false",
			"dfs.namenode.safemode.extension", "0", "dfs.heartbeat.interval", "1",
		},
	} {
		var b strings.Builder
		b.WriteString("<configuration>\n")
		for i := 0; i < len(properties); i += 2 {
			fmt.Fprintf(&b, "<property><name>%s</name><value>%s</value></property>\n", properties[i], properties[i+1])
		}
		b.WriteString("</configuration>\n")
		if err := os.WriteFile(filepath.Join(conf, file), []byte(b.String()), 0o644); err != nil {
			return err
		}
	}
	return nil
}

func (h *HDFS) java(class string, args ...string) *exec.Cmd {
	cmd := exec.Command("java", append([]string{
		"-Xmx384m", "-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1", "-XX:-UsePerfData", "-Djava.net.preferIPv4Stack=true",
		"-cp", filepath.Join(h.dir, "conf") + ":" + filepath.Join(h.libs, "*"), "org.apache.hadoop.hdfs.server." + class,
	}, args...)...)
	cmd.Env = append(os.Environ(), "HADOOP_USER_NAME="+h.User)
	return cmd
}

// Start starts again what Kill has ended, and returns when files can be written.
func (h *HDFS) Start(ctx context.Context) (err error) {
	if h.namenode, err = h.boot("namenode.NameNode"); err != nil {
		return err
	}
	if h.datanode, err = h.boot("datanode.DataNode"); err != nil {
		return err
	}
	return h.ready(ctx)
}

func (h *HDFS) boot(class string) (*Process, error) {
	cmd := h.java(class)
	log, err := os.OpenFile(filepath.Join(h.dir, class+".log"), os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o644)
	if err != nil {
		return nil, err
	}
	defer log.Close()
	cmd.Stdout, cmd.Stderr = log, log
	return Start(cmd)
}

// ready waits until a file can be written and read. The two start one after the other, and beside other work each has been seen to take
// most of a minute.
func (h *HDFS) ready(ctx context.Context) (err error) {
	for range 3 {
		if err = h.takesFiles(ctx); err == nil || ctx.Err() != nil {
			return err
		}
	}
	return err
}

func (h *HDFS) takesFiles(ctx context.Context) error {
	return Eventually(ctx, "HDFS takes a file", func(ctx context.Context) (bool, error) {
		for _, p := range []*Process{h.namenode, h.datanode} {
			select {
			case <-p.Done():
				return false, fmt.Errorf("it %w", errEnded)
			default:
			}
		}
		if err := h.Put(ctx, "/ready", []byte("yes")); err != nil {
			return false, err
		}
		data, err := h.Get(ctx, "/ready")
		return string(data) == "yes", err
	})
}

// Kill ends both as kill -9 does.
func (h *HDFS) Kill() {
	for _, p := range []*Process{h.namenode, h.datanode} {
		if p != nil {
			p.Stop()
		}
	}
}

// Stop ends both and removes their files.
func (h *HDFS) Stop() {
	h.stop.Do(func() {
		h.Kill()
		h.end()
		_ = os.RemoveAll(h.dir)
	})
}

// Ask sends one request of WebHDFS, as the user who may do all, and returns the answer's body. It follows to the datanode, with content.
func (h *HDFS) Ask(ctx context.Context, method, path, op string, content []byte, params ...string) ([]byte, error) {
	query := url.Values{"op": {op}, "user.name": {h.User}}
	for i := 0; i < len(params); i += 2 {
		query.Set(params[i], params[i+1])
	}
	u := url.URL{Scheme: "http", Host: h.Addr, Path: "/webhdfs/v1" + path, RawQuery: query.Encode()}
	request, err := http.NewRequestWithContext(ctx, method, u.String(), bytes.NewReader(content))
	if err != nil {
		return nil, err
	}
	answer, err := http.DefaultClient.Do(request) // 307 keeps method and content
	if err != nil {
		return nil, err
	}
	defer answer.Body.Close()
	body, err := io.ReadAll(answer.Body)
	if err == nil && answer.StatusCode/100 != 2 {
		err = fmt.Errorf("%s %s: %s: %s", op, path, answer.Status, tail(string(body), 3))
	}
	return body, err
}

// Put makes or replaces a file.
func (h *HDFS) Put(ctx context.Context, path string, content []byte) error {
	_, err := h.Ask(ctx, http.MethodPut, path, "CREATE", content, "overwrite", "true")
	return err
}

// Get reads a file.
func (h *HDFS) Get(ctx context.Context, path string) ([]byte, error) {
	return h.Ask(ctx, http.MethodGet, path, "OPEN", nil)
}
