package cmd

import (
	"errors"
	"path/filepath"
	"slices"
	"strings"

	"gtoffset/offsetfile"
	"gtoffset/offsetfile/hbase"
	"gtoffset/offsetfile/mysql"
	"gtoffset/offsetfile/redis"
	"gtoffset/offsetfile/spark"
	"gtoffset/offsetfile/webhdfs"
	"gtoffset/offsetfile/zookeeper"
)

// storeKinds lists all kinds of store. A new one is a folder below offsetfile and a line here.
func storeKinds() []offsetfile.Kind {
	return []offsetfile.Kind{
		offsetfile.Folders(),
		redis.Kind(),
		mysql.Kind(),
		zookeeper.Kind(),
		hbase.Kind(),
		webhdfs.Kind(),
		spark.Kind(),
	}
}

// openStore opens the store that a path or a URL names.
func openStore(store string, getenv func(string) string, o offsetfile.Options) (offsetfile.Store, error) {
	if scheme := mistyped(store); scheme != "" {
		return nil, usage("the store's URL does not begin with "+scheme+"://", "write "+scheme+"://…, as gtoffset help stores shows; a folder of such a name is ./"+scheme+"…")
	}
	if !isURL(store) {
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
	s, err := kindOf(a.Scheme).Open(a, o)
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
	if end < 0 || isURL(store) {
		return ""
	}
	scheme, rest := strings.ToLower(store[:end]), store[end:]
	if kind := kindOf(scheme); kind == nil || kind.Local || rest[0] == '/' && !strings.HasPrefix(rest, "//") {
		return ""
	}
	return scheme
}

func isURL(store string) bool { return offsetfile.IsURL(store, storeKinds()) }

// localPath is the path of a store on this machine, and what stands around it; "" if the store is not here, or may not be.
func localPath(store string) (before, path, behind string) {
	if scheme, rest, ok := strings.Cut(store, ":"); ok && isURL(store) {
		if kind := kindOf(scheme); kind == nil || !kind.Local || strings.Contains(rest, "//") {
			return "", "", ""
		}
		before, store = scheme+":", rest
		if i := strings.IndexByte(store, '?'); i >= 0 {
			store, behind = store[:i], store[i:]
		}
	}
	return before, store, behind
}

// sameStore reports whether two names are those of one store: a folder of this machine has many.
func sameStore(a, b string) bool {
	of, in, _ := localPath(a)
	other, at, _ := localPath(b)
	if in == "" || at == "" {
		return a == b
	}
	return strings.TrimPrefix(of, "file:") == strings.TrimPrefix(other, "file:") && resolved(in) == resolved(at)
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

// kindOf finds the kind of store that has such URLs, nil if there is none.
func kindOf(scheme string) *offsetfile.Kind {
	for _, k := range storeKinds() {
		if slices.Contains(k.Schemes, scheme) {
			return &k
		}
	}
	return nil
}

// storesTopic is what gtoffset help stores prints.
func storesTopic() string {
	h := newHelpText(helpMost)
	h.lines("Stores", "")
	for _, k := range storeKinds() {
		h.WriteString("  -s ")
		h.fold(k.Form, helpMost-5, func() { h.blanks(5) })
		h.blanks(6)
		h.fold(k.Layout, helpMost-6, func() { h.blanks(6) })
	}
	h.WriteByte('\n')
	h.text(`A store is named, or there is none. Every number in it is the next record to read; ?counts=last says that it is the last one that
was processed. What is a URL takes parameters: ?NAME=VALUE&NAME=VALUE.

A password is a variable in the URL, in single quotes: 'redis://user:$PASSWORD@host/0'; or ?password-file=FILE; or the environment's
` + offsetfile.PasswordVariable + `. It never stands in the URL itself, and is never printed.`)
	return h.String()
}

// absolute makes a path independent of the working folder, so that an undo line means the same everywhere.
func absolute(store string) string {
	before, path, behind := localPath(store)
	if path == "" || mistyped(store) != "" {
		return store
	}
	abs, err := filepath.Abs(path)
	if err != nil {
		return store
	}
	return before + abs + behind
}
