package cmd

import (
	"errors"
	"fmt"
	"path/filepath"
	"strings"

	"gtoffset/offsetfile"
	"gtoffset/offsetfile/hbase"
	"gtoffset/offsetfile/mysql"
	"gtoffset/offsetfile/redis"
	"gtoffset/offsetfile/spark"
	"gtoffset/offsetfile/webhdfs"
	"gtoffset/offsetfile/zookeeper"
)

// storeKind is one kind of store: how it is written, and how it is opened. Opening makes no connection.
type storeKind struct {
	schemes []string
	form    string // for people
	layout  string
	open    func(*offsetfile.Address, offsetfile.Options) (offsetfile.Store, error)
}

// storeKinds is the explicit list of the kinds of store. A new one is a folder below offsetfile and an entry here.
func storeKinds() []storeKind {
	return []storeKind{
		{[]string{"file"}, "PATH, file:PATH", "gtoffset files: PATH/GROUP/TOPIC/gtoffset, one for all partitions of a topic", openFiles},
		{
			[]string{"redis", "rediss", "redis+sentinel", "rediss+sentinel", "redis+cluster", "rediss+cluster"},
			"redis://HOST[:PORT][/DB], redis+sentinel://HOST,…/MASTER[/DB], redis+cluster://HOST,…; rediss… is over TLS",
			"the hash offset:TOPIC:GROUP, field PARTITION; ?key=kafka:topic:{topic}:{group} for any other key", redis.Open,
		},
		{
			[]string{"mysql"},
			"mysql://USER@HOST[:PORT]/DATABASE",
			"the table offsets (topic, group_id, partition, offset, timestamp); ?table=, ?topic=, ?group=, … name others; --create-table makes it",
			mysql.Open,
		},
		{
			[]string{"zookeeper"},
			"zookeeper://HOST[:PORT],…[/CHROOT]",
			"/consumers/GROUP/offsets/TOPIC/PARTITION, as consumers before Kafka 0.9 kept them; user:$PASSWORD@ is its digest", zookeeper.Open,
		},
		{
			hbase.Schemes(), "hbase://HOST[:PORT]/TABLE, hbase+https://…",
			"HBase's REST gateway: row GROUP:TOPIC, column offsets:PARTITION; ?row= ?family= ?column= ?values=binary say otherwise", hbase.Open,
		},
		{
			[]string{"webhdfs", "swebhdfs"},
			"webhdfs://[USER@]NAMENODE[:PORT],…/PATH, swebhdfs://…",
			"gtoffset files in HDFS; ?delegation=$TOKEN in the place of a user. hdfs:// itself is not spoken", webhdfs.Open,
		},
		{
			[]string{"spark"},
			"spark:PATH, spark:webhdfs://NAMENODE[:PORT]/PATH",
			"the checkpoint of a Structured Streaming query, read only: its newest committed batch, or ?batch=N; ?source=N of several", spark.Open,
		},
	}
}

func openFiles(a *offsetfile.Address, o offsetfile.Options) (offsetfile.Store, error) {
	files, err := offsetfile.OpenFiles(a, o)
	if err != nil {
		return nil, err // not a nil *Files, which would be a store
	}
	return files, nil
}

// openStore opens the store that a path or a URL names.
func openStore(store string, getenv func(string) string, o offsetfile.Options) (offsetfile.Store, error) {
	if scheme := mistyped(store); scheme != "" {
		return nil, usage("the store's URL does not begin with "+scheme+"://", "write "+scheme+"://…, as gtoffset help stores shows; a folder of such a name is ./"+scheme+"…")
	}
	if !offsetfile.IsURL(store) {
		files, err := offsetfile.Open(store, offsetfile.WithHolder(o.Holder), offsetfile.WithHook(o.Hook))
		if err != nil {
			return nil, err
		}
		return files, nil
	}
	if scheme, _, _ := strings.Cut(store, ":"); kindOf(scheme) == nil {
		if scheme == "hdfs" {
			return nil, usage("hdfs:// is Hadoop's own protocol, which is not spoken here", "use WebHDFS, on the port of the namenode's web page: -s webhdfs://NAMENODE:9870/PATH")
		}
		return nil, usage("store "+scheme+"://… is of no known kind", "gtoffset help stores lists them; or name a folder of gtoffset files: -s /path")
	}
	a, err := offsetfile.ParseAddress(store, getenv)
	if err != nil {
		return nil, err
	}
	s, err := kindOf(a.Scheme).open(a, o)
	if err != nil {
		return nil, err
	}
	if err := a.Unused(); err != nil {
		return nil, errors.Join(err, s.Close())
	}
	return s, nil
}

// mistyped is the scheme of what is almost the URL of a store, "" if it is one, or a path. What follows may be a password: it is not
// to be printed as a path would be.
func mistyped(store string) string {
	end := strings.IndexAny(store, ":;/")
	if end < 0 || offsetfile.IsURL(store) {
		return ""
	}
	scheme, rest := strings.ToLower(store[:end]), store[end:]
	if kind := kindOf(scheme); kind == nil || scheme == "file" || scheme == "spark" || rest[0] == '/' && !strings.HasPrefix(rest, "//") {
		return ""
	}
	return scheme
}

// lends says what secret of the operator's goes to a store if it is opened, "" if none does.
func (g *global) lends(store string) string {
	if secret := offsetfile.Borrowed(store); secret != "" {
		return secret
	}
	if strings.Contains(store, "://") && g.env.Getenv(offsetfile.PasswordVariable) != "" {
		return "$" + offsetfile.PasswordVariable
	}
	return ""
}

func kindOf(scheme string) *storeKind {
	for _, k := range storeKinds() {
		for _, s := range k.schemes {
			if s == scheme {
				return &k
			}
		}
	}
	return nil
}

// storesTopic is what gtoffset help stores prints.
func storesTopic() string {
	var b strings.Builder
	b.WriteString("Stores\n\n")
	for _, k := range storeKinds() {
		fmt.Fprintf(&b, "  -s %s\n      %s\n", k.form, k.layout)
	}
	b.WriteString(`
A store is named, or there is none. Every number in it is the next record to read; ?counts=last says that it is the last one that
was processed. What is a URL takes parameters: ?NAME=VALUE&NAME=VALUE.

A password is a variable in the URL, in single quotes: 'redis://user:$PASSWORD@host/0'; or ?password-file=FILE; or the environment's
` + offsetfile.PasswordVariable + `. It never stands in the URL itself, and is never printed.
`)
	return b.String()
}

// absolute makes a path independent of the working folder, so that an undo line means the same everywhere.
func absolute(store string) string {
	prefix, path := "", store
	for _, scheme := range []string{"file:", "spark:"} {
		if rest, ok := strings.CutPrefix(store, scheme); ok && !strings.Contains(rest, "//") {
			prefix, path = scheme, rest
		}
	}
	if path == "" || prefix == "" && (offsetfile.IsURL(store) || mistyped(store) != "") {
		return store
	}
	query := ""
	if prefix != "" {
		if i := strings.IndexByte(path, '?'); i >= 0 {
			path, query = path[:i], path[i:]
		}
	}
	abs, err := filepath.Abs(path)
	if err != nil {
		return store
	}
	return prefix + abs + query
}
