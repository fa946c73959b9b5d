// Package clientconfig reads how to reach a cluster from what teams already have: Java clients' .properties with their JAAS login
// lines and key stores, librdkafka's names, the command line, the environment. It makes of it a configuration of kafkaops/wire, and
// remembers where each value came from. It opens files, and no connection.
package clientconfig

import (
	"bytes"
	"fmt"
	"os"
	"slices"
	"strings"
	"time"
	"unicode/utf8"
)

// Setting is a key with its value, and where it was written.
type Setting struct {
	Key    string // as it was written; Merge makes it the name of Keys
	Value  string
	Source string // "-X", "client.properties:12", "KAFKA_BOOTSTRAP_SERVERS"
	Secret bool
	Note   string   // what its owner should know of it, such as that it lies open
	Over   []string // where the same key was set, too, and did not count

	rank int // of its layer: the smaller wins
}

// Error is a setting that cannot be. It never holds a secret.
type Error struct {
	Source string
	Key    string // "" where it is about the whole
	Reason string
	Hint   string // what can be typed; "" for nothing
}

func (e *Error) Error() string {
	if e.Key == "" {
		return e.Source + ": " + e.Reason
	}
	return e.Source + ": " + e.Key + ": " + e.Reason
}

// ReadFile reads a .properties file. The errors are of type *Error, and name the line.
func ReadFile(path string) ([]Setting, error) {
	text, err := readBounded(path)
	if err != nil {
		return nil, &Error{Source: "--command-config", Reason: plainReason(err)}
	}
	if kind := otherKind(text); kind != "" {
		return nil, &Error{Source: path, Reason: kind + ", not a text of KEY=VALUE lines", Hint: "see gtoffset help connection; iconv, gunzip or an editor makes it one"}
	}
	pairs, err := parseProperties(text)
	if err != nil {
		bad := err.(*malformed)
		return nil, &Error{Source: fmt.Sprintf("%s:%d", path, bad.line), Reason: bad.reason}
	}
	var all []Setting
	nameless, first := 0, 0
	for _, p := range pairs {
		s := Setting{Key: p.key, Value: p.value, Source: fmt.Sprintf("%s:%d", path, p.line)}
		key, known := find(p.key)
		if !known && !isSetting(p.key) { // of a file of another kind, it may be, and secret
			if nameless++; nameless == 1 {
				first = p.line
			}
			continue
		}
		if known && key.holdsSecret(p.value) && open(path) {
			s.Note = path + " holds a secret and can be read by everybody: chmod 600 " + path
		}
		if !isASCII(p.value) && known && key.Secret && utf8.Valid(text) {
			s.Note = s.Source + ": " + p.key + ` has characters beyond ASCII, which are read as ISO 8859-1, as Java does; \uXXXX is safe`
		}
		all = append(all, s)
	}
	if len(all) == 0 && nameless > 0 {
		return nil, &Error{Source: fmt.Sprintf("%s:%d", path, first), Reason: "neither this line nor any other names a setting", Hint: "it takes KEY=VALUE lines, such as security.protocol=SASL_SSL"}
	}
	if bytes.HasPrefix(text, []byte(utf8Mark)) && len(pairs) > 0 && len(all) > 0 && pairs[0].key == all[0].Key && pairs[0].line == 1 {
		said := path + ":1: a byte order mark stands before " + pairs[0].key + ": it is passed over here, but Java takes it for a part of the key, and ignores that line"
		if all[0].Note != "" {
			said += "; " + all[0].Note
		}
		all[0].Note = said
	}
	if nameless > 0 {
		what := "a line that names no setting"
		if nameless > 1 {
			what = fmt.Sprintf("%d lines that name no setting", nameless)
		}
		all = append(all, Setting{Key: what, Source: fmt.Sprintf("%s:%d", path, first)})
	}
	return all, nil
}

// isSetting reports whether a word has the form of some client's setting: small words and numbers, joined by dots. Passwords, keys and
// tokens have another.
func isSetting(name string) bool {
	words := strings.FieldsFunc(name, func(r rune) bool { return r == '.' || r == '-' || r == '_' })
	if name == "acks" || name == "retries" {
		return true
	}
	return strings.Contains(name, ".") && len(name) <= 100 && len(words) > 1 && strings.Trim(strings.Join(words, ""), "abcdefghijklmnopqrstuvwxyz0123456789") == ""
}

func isASCII(s string) bool {
	return strings.IndexFunc(s, func(r rune) bool { return r >= utf8.RuneSelf }) < 0
}

// open reports whether everybody on the machine may read a file.
func open(path string) bool {
	info, err := os.Stat(path)
	return err == nil && info.Mode().IsRegular() && info.Mode().Perm()&0o004 != 0
}

// Override is one key=value of the command line. A secret is $NAME of the environment, or @FILE; as it stands it is taken, too, with
// a note.
func Override(text string, getenv func(string) string) (Setting, error) {
	name, value, ok := strings.Cut(text, "=")
	if name = strings.TrimSpace(name); !ok || name == "" {
		return Setting{}, &Error{Source: "-X", Reason: "it takes KEY=VALUE", Hint: "-X security.protocol=SASL_SSL"}
	}
	s := Setting{Key: name, Value: value, Source: "-X"}
	key, known := find(name)
	switch {
	case !known: // its value may be a secret all the same, and goes nowhere
		return Setting{}, &Error{Source: "-X", Key: name, Reason: "is no setting that is used here"}
	case !key.Secret:
		return s, nil
	}
	if variable, ok := strings.CutPrefix(value, "$"); ok && isName(variable) {
		s.Source = "-X, $" + variable
		if s.Value = getenv(variable); s.Value == "" {
			return s, &Error{Source: "-X", Key: name, Reason: "the variable " + variable + " is empty or not set", Hint: "export " + variable + "=…"}
		}
		return s, nil
	}
	if path, ok := strings.CutPrefix(value, "@"); ok {
		text, err := readBounded(path)
		if err != nil {
			return s, &Error{Source: "-X", Key: name, Reason: plainReason(err)}
		}
		s.Source, s.Value = "-X, "+path, strings.TrimSuffix(strings.TrimSuffix(string(text), "\n"), "\r")
		if open(path) {
			s.Note = path + " holds a secret and can be read by everybody: chmod 600 " + path
		}
		return s, nil
	}
	s.Note = "-X " + name + " holds a secret that everybody on this machine can see in the list of processes; write -X '" + name + "=$VARIABLE' or -X " + name + "=@FILE"
	return s, nil
}

func isName(s string) bool {
	for i, c := range s {
		if c != '_' && (c < 'a' || c > 'z') && (c < 'A' || c > 'Z') && (i == 0 || c < '0' || c > '9') {
			return false
		}
	}
	return s != ""
}

// Environment reads GTOFFSET_… of every key, as in GTOFFSET_SASL_PASSWORD, and after it KAFKA_… of the few that are common. Values are
// taken as they are.
func Environment(getenv func(string) string) (ours, kafkas []Setting) {
	take := func(variable, key string) (s []Setting) {
		if v := getenv(variable); v != "" {
			s = append(s, Setting{Key: key, Value: v, Source: variable})
		}
		return s
	}
	ours = take("GTOFFSET_BOOTSTRAP_SERVER", keyBootstrap)
	for _, k := range Keys() {
		for _, name := range append([]string{k.Name}, k.Also...) {
			if len(ours) == 0 || name != keyBootstrap {
				ours = append(ours, take(variable("GTOFFSET_", name), name)...)
			}
		}
	}
	for _, name := range kafkaVariables() {
		kafkas = append(kafkas, take(variable("KAFKA_", name), name)...)
	}
	return ours, kafkas
}

// Variables lists the names that Environment reads.
func Variables() []string {
	names := []string{"GTOFFSET_BOOTSTRAP_SERVER"}
	for _, k := range Keys() {
		for _, name := range append([]string{k.Name}, k.Also...) {
			names = append(names, variable("GTOFFSET_", name))
		}
	}
	for _, name := range kafkaVariables() {
		names = append(names, variable("KAFKA_", name))
	}
	return names
}

// Settings are what is in force: one value a key.
type Settings struct {
	used   map[string]Setting
	unused []Setting
}

// Merge lets earlier layers win over later ones, and within a file the last of a key, as Java does. The error is an *Error: in one
// layer two names of one key, two forms of the same, or two times -X with one key say something different.
func Merge(layers ...[]Setting) (*Settings, error) {
	m := &Settings{used: map[string]Setting{}}
	for rank, layer := range layers {
		mine, err := m.layer(layer)
		if err != nil {
			return nil, err
		}
		for _, key := range Keys() {
			s, set := mine[key.Name]
			over, before := m.used[key.Name]
			switch {
			case !set:
			case before:
				over.Over = append(over.Over, s.Source)
				m.used[key.Name] = over
			case m.saidOtherwise(key.Name, rank):
				m.unused = append(m.unused, s)
			default:
				s.Key, s.Secret, s.rank = key.Name, key.Secret, rank
				m.used[key.Name] = s
			}
		}
	}
	return m, nil
}

// layer finds what one layer says of each key. What is no key is kept aside.
func (m *Settings) layer(all []Setting) (map[string]Setting, error) {
	mine := map[string]Setting{}
	for _, s := range all {
		key, known := find(s.Key)
		if !known {
			m.unused = append(m.unused, s)
			continue
		}
		if before, twice := mine[key.Name]; twice && before.Value != s.Value {
			reason := ""
			switch {
			case before.Key != s.Key:
				reason = "is the same as " + before.Key + " (" + before.Source + "), which says something else"
			case strings.HasPrefix(s.Source, "-X"):
				reason = "is given twice, and says something else each time"
			}
			if reason != "" {
				return nil, &Error{Source: s.Source, Key: s.Key, Reason: reason, Hint: "leave one of them out"}
			}
		}
		mine[key.Name] = s
	}
	for _, forms := range twoForms() {
		a, b := first(mine, forms[0]), first(mine, forms[1])
		if a != "" && b != "" {
			return nil, &Error{Source: mine[b].Source, Key: mine[b].Key, Reason: "says again what " + mine[a].Key + " (" + mine[a].Source + ") says", Hint: "leave one of them out"}
		}
	}
	return mine, nil
}

// twoForms are the pairs of forms in which trust, or a client's certificate, can be given: only one of them.
func twoForms() [][2][]string {
	return [][2][]string{
		{{keyTrustPEM}, {keyTrustFile}},
		{{keyStoreKey, keyStoreChain}, {keyStoreFile, keyCertFile, keyKeyFile}},
		{{keyStoreFile}, {keyCertFile, keyKeyFile}},
	}
}

// saidOtherwise reports whether a layer before rank has said in another form what the key says.
func (m *Settings) saidOtherwise(key string, rank int) bool {
	said := func(keys []string) bool {
		return slices.ContainsFunc(keys, func(k string) bool { s, ok := m.used[k]; return ok && s.rank < rank })
	}
	for _, forms := range twoForms() {
		if slices.Contains(forms[0], key) && said(forms[1]) || slices.Contains(forms[1], key) && said(forms[0]) {
			return true
		}
	}
	return false
}

func first(have map[string]Setting, names []string) string {
	for _, n := range names {
		if _, ok := have[n]; ok {
			return n
		}
	}
	return ""
}

// idle sets a key aside that another has made meaningless.
func (m *Settings) idle(key string) {
	if s, ok := m.used[key]; ok {
		m.unused = append(m.unused, s)
		delete(m.used, key)
	}
}

// InForce lists what is set, in the order of Keys.
func (m *Settings) InForce() []Setting {
	var all []Setting
	for _, k := range Keys() {
		if s, ok := m.used[k.Name]; ok {
			all = append(all, s)
		}
	}
	return all
}

// Unused lists what is of no use here, such as keys of producers.
func (m *Settings) Unused() []Setting { return m.unused }

// get is a value without outer blanks; "" if it is not set.
func (m *Settings) get(key string) string { return strings.TrimSpace(m.used[key].Value) }

// has reports whether a key was set, if only to "".
func (m *Settings) has(key string) bool { _, ok := m.used[key]; return ok }

// bad is an error that names where a key was set.
func (m *Settings) bad(key, hint, reason string, args ...any) *Error {
	e := &Error{Source: m.used[key].Source, Key: key, Reason: fmt.Sprintf(reason, args...), Hint: hint}
	if e.Source == "" {
		e.Source = "configuration"
	}
	return e
}

// oneOf is a value among a few, in the writing of the list, or def.
func (m *Settings) oneOf(key, def string, known ...string) (string, error) {
	v := m.get(key)
	if v == "" {
		return def, nil
	}
	for _, k := range known {
		if strings.EqualFold(k, v) {
			return k, nil
		}
	}
	return "", m.bad(key, "", "%q is none of %s", v, strings.Join(known, ", "))
}

// Timeout is default.api.timeout.ms; 0 if it is not set, or makes no sense, which Connect says.
func (m *Settings) Timeout() time.Duration {
	d, _ := m.millis(keyAPITimeout, 1000)
	return d
}

// Shown is a KEY=VALUE of the command line as it may be shown: the value of a secret becomes a variable, unless it is one, or a file.
// Paths go through path.
func Shown(text string, path func(string) string) string {
	name, value, _ := strings.Cut(text, "=")
	name = strings.TrimSpace(name)
	switch key, _ := find(name); {
	case key.File && value != "" && value != systemsTrust:
		return name + "=" + path(value)
	case !key.Secret:
		return text
	}
	if file, ok := strings.CutPrefix(value, "@"); ok {
		return name + "=@" + path(file)
	}
	if v, ok := strings.CutPrefix(value, "$"); ok && isName(v) {
		return text
	}
	return name + "=$" + variable("", name)
}
