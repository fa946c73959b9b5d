package offsetfile

import (
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"maps"
	"net"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"gtoffset/kafkaops/offsets/infile"
)

// PasswordVariable is the environment variable with the password of a store whose URL names none.
const PasswordVariable = "GTOFFSET_STORE_PASSWORD"

// Address is a store's URL, taken apart:
//
//	SCHEME://[USER[:$VARIABLE]@]HOST[:PORT][,HOST[:PORT]…]/PATH[?NAME=VALUE&…]
//	SCHEME:PATH[?NAME=VALUE&…]
//
// It is the one place that reads store URLs. A secret is never in it as such: a password is $VARIABLE, ?password-file=FILE or
// the environment's GTOFFSET_STORE_PASSWORD, and a literal one is an error, so that an address can always be shown and typed again.
type Address struct {
	Scheme   string
	Via      string   // the scheme that a spark: address goes on with; "" for a path
	Hosts    []string // HOST or HOST:PORT, at least one in the first form
	Path     string   // decoded; with its leading / in the first form
	User     string
	Password string

	given     string // without secrets
	authority bool   // it has the first form
	getenv    func(string) string
	params    url.Values
	asked     map[string]bool
	secrets   map[string]string // values of parameters that are secret, where they came from $VARIABLE
}

// URLError says which part of a store's URL is wrong. Its text has no secrets.
type URLError struct {
	URL  string // without secrets
	Part string // "port", "password", "parameter key"
	Err  error
	Hint string
}

func (e *URLError) Error() string { return fmt.Sprintf("store %s: %s: %v", e.URL, e.Part, e.Err) }
func (e *URLError) Unwrap() error { return e.Err }

// isScheme tells what may stand in front of a URL's colon. Capitals are not taken.
func isScheme(s string) bool {
	for i := range len(s) {
		if c := s[i]; (c < 'a' || c > 'z') && (i == 0 || (c < '0' || c > '9') && c != '+' && c != '.' && c != '-') {
			return false
		}
	}
	return s != ""
}

// variableName is the name in $NAME or ${NAME}, "" if a text is neither.
func variableName(text string) string {
	name, ok := strings.CutPrefix(text, "$")
	if inner, open := strings.CutPrefix(name, "{"); open {
		name, open = strings.CutSuffix(inner, "}")
		ok = ok && open
	}
	for i := range len(name) {
		c := name[i]
		letter := c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c == '_'
		ok = ok && (letter || i > 0 && c >= '0' && c <= '9')
	}
	if !ok {
		return ""
	}
	return name
}

// isSecret tells by the name of a parameter, of whatever store, that its value is a secret.
func isSecret(param string) bool {
	for _, word := range []string{"password", "secret", "token", "delegation"} {
		if strings.Contains(param, word) && !strings.HasSuffix(param, "-file") {
			return true
		}
	}
	return false
}

// ParseAddress takes a store's URL apart. getenv gives the values of $VARIABLE; nil is an empty environment. The error is a *URLError.
func ParseAddress(text string, getenv func(string) string) (*Address, error) {
	if getenv == nil {
		getenv = func(string) string { return "" }
	}
	scheme, rest, ok := strings.Cut(text, ":")
	a := &Address{Scheme: scheme, given: HidePassword(text), getenv: getenv, asked: map[string]bool{}, secrets: map[string]string{}}
	if !ok || !isScheme(scheme) {
		return nil, a.Errorf("scheme", "it has none, as in redis://HOST/0")
	}
	if via, inner, nested := strings.Cut(rest, "://"); scheme == "spark" && nested && isScheme(via) {
		a.Via, rest = via, "//"+inner
	}
	if strings.Contains(rest, "#") {
		return nil, a.Errorf("fragment", "there is none in a store's URL; write # as %%23")
	}
	rest, query, _ := strings.Cut(rest, "?")
	var err error
	if a.params, err = url.ParseQuery(query); err != nil {
		return nil, a.Errorf("parameters", "they are not NAME=VALUE&NAME=VALUE")
	}
	for name, values := range a.params {
		if len(values) > 1 {
			return nil, a.Errorf("parameter "+name, "it is given %d times", len(values))
		}
	}
	if strings.HasPrefix(rest, "//") {
		a.authority = true
		authority, path, found := strings.Cut(rest[2:], "/")
		if found {
			path = "/" + path
		}
		rest = path
		if err := a.parseAuthority(authority); err != nil {
			return nil, err
		}
	}
	if a.Path, err = url.PathUnescape(rest); err != nil {
		return nil, a.Errorf("path", "a %% is not followed by two hexadecimal digits; write it as %%25")
	}
	if strings.Contains(a.Path, "\x00") {
		return nil, a.Errorf("path", "it has a zero byte")
	}
	if err := a.findSecrets(); err != nil {
		return nil, err
	}
	if a.given != text { // it could not be typed again as it is shown
		return nil, a.Errorf("path", "it has something between :// and @ that looks like a password")
	}
	return a, nil
}

func (a *Address) parseAuthority(authority string) error {
	if at := strings.LastIndexByte(authority, '@'); at >= 0 {
		user, password, _ := strings.Cut(authority[:at], ":")
		authority = authority[at+1:]
		var err error
		if a.User, err = url.PathUnescape(user); err != nil {
			return a.Errorf("user", "a %% is not followed by two hexadecimal digits")
		}
		if password != "" {
			if a.Password, err = a.variable("password", password); err != nil {
				return err
			}
		}
	}
	for host := range strings.SplitSeq(authority, ",") {
		name, port := host, ""
		if i := strings.LastIndexByte(host, ':'); i >= 0 && !strings.HasSuffix(host, "]") {
			name, port = host[:i], host[i+1:]
			if n, err := strconv.ParseUint(port, 10, 16); err != nil || n == 0 {
				return a.Errorf("port", "it is no number of 1 to 65535") // the text may be a password
			}
		}
		if strings.ContainsAny(strings.Trim(name, "[]"), " \"'<>[]\\^`{|}%") || strings.Contains(name, ":") && !strings.HasPrefix(name, "[") {
			return a.Errorf("host", "one has characters that no host's name has")
		}
		a.Hosts = append(a.Hosts, host)
	}
	return nil
}

// findSecrets reads the parameters that are secret, and the password wherever it is.
func (a *Address) findSecrets() error {
	for _, name := range slices.Sorted(maps.Keys(a.params)) {
		if value := a.params.Get(name); value != "" && isSecret(name) {
			secret, err := a.variable("parameter "+name, value)
			if err != nil {
				return err
			}
			a.secrets[name] = secret
		}
	}
	file := a.Param("password-file")
	given := 0
	for _, there := range []bool{a.Password != "", a.params.Has("password"), file != ""} {
		if there {
			given++
		}
	}
	switch {
	case given > 1:
		return a.Errorf("password", "it is given twice")
	case a.params.Has("password"):
		a.Password = a.Secret("password")
	case file != "":
		password, err := passwordOf(file)
		if err != nil {
			return a.Errorf("parameter password-file", "%w", err)
		}
		a.Password = password
	case given == 0:
		a.Password = a.getenv(PasswordVariable)
	}
	return nil
}

// How many bytes a file with a password may have, and one with certificates or keys.
const (
	mostPassword     = 64 << 10
	mostCertificates = 4 << 20
)

// passwordOf reads the password that a file holds, without the end of its line.
func passwordOf(file string) (string, error) {
	data, err := infile.Read(file, mostPassword)
	if err != nil {
		return "", err
	}
	password := strings.TrimRight(string(data), "\r\n")
	if password == "" {
		return "", fmt.Errorf("%s is empty", file)
	}
	return password, nil
}

// variable resolves $VARIABLE. Anything else is a literal secret, which is refused.
func (a *Address) variable(part, value string) (string, error) {
	name := variableName(value)
	if name == "" {
		e := a.Errorf(part, "it stands in the URL itself, where others can read it")
		e.Hint = "name a variable, in single quotes: '" + a.Scheme + "://user:$VARIABLE@host/…'; or ?password-file=FILE; or set " + PasswordVariable
		return "", e
	}
	if secret := a.getenv(name); secret != "" {
		return secret, nil
	}
	return "", a.Errorf(part, "the variable %s is not set", name)
}

// Borrowed says what of the operator's a store's URL takes its secrets from, a $VARIABLE or a file, and "" if it takes none. Whoever
// wrote the URL chooses by this what is sent to the host that it names.
func Borrowed(text string) string {
	if from, to, ok := passwordIn(text); ok && variableName(text[from:to]) != "" {
		return text[from:to]
	}
	_, query, _ := strings.Cut(text, "?")
	params, err := url.ParseQuery(query)
	if err != nil {
		return ""
	}
	for _, name := range slices.Sorted(maps.Keys(params)) {
		if isSecret(name) && variableName(params.Get(name)) != "" {
			return params.Get(name)
		}
	}
	if file := params.Get("password-file"); file != "" {
		return "the file " + file
	}
	return ""
}

// HidePassword replaces what may be a secret by ***; a $VARIABLE stays. It takes anything, also what is no URL at all.
func HidePassword(text string) string {
	if from, to, ok := passwordIn(text); ok && variableName(text[from:to]) == "" {
		text = text[:from] + "***" + text[to:]
	}
	head, query, ok := strings.Cut(text, "?")
	if !ok {
		return text
	}
	params := strings.Split(query, "&")
	for i, p := range params {
		name, value, _ := strings.Cut(p, "=")
		if plain, err := url.QueryUnescape(name); err == nil && isSecret(plain) && value != "" && variableName(value) == "" {
			params[i] = name + "=***"
		}
	}
	return head + "?" + strings.Join(params, "&")
}

// passwordIn finds the password in SCHEME://USER:PASSWORD@HOST, also one with a / or ? in it that should have been escaped.
func passwordIn(text string) (from, to int, ok bool) {
	start := strings.Index(text, "://")
	if start < 0 {
		return 0, 0, false
	}
	start += len("://")
	colon := strings.IndexByte(text[start:], ':')
	if colon < 0 {
		return 0, 0, false
	}
	from = start + colon + 1
	end := len(text)
	if i := strings.IndexAny(text[start:], "/?#"); i >= 0 {
		end = start + i
	}
	if at := strings.LastIndexByte(text[start:end], '@'); at >= 0 {
		return from, start + at, from < start+at
	}
	if _, err := strconv.ParseUint(text[min(from, end):end], 10, 16); from <= end && err == nil {
		return 0, 0, false // a port
	}
	to = strings.LastIndexByte(text, '@')
	return from, to, from < to
}

// String is the address as it was given, without secrets.
func (a *Address) String() string { return a.given }

// HasHost reports whether the address has the form SCHEME://HOST/…
func (a *Address) HasHost() bool { return a.authority && a.Hosts[0] != "" }

// HostPorts returns the hosts, each with its port or the default one. The error is a *URLError if there are none, or more than most (0:
// any number).
func (a *Address) HostPorts(port string, most int) ([]string, error) {
	if !a.HasHost() {
		return nil, a.Errorf("host", "it has none")
	}
	if most > 0 && len(a.Hosts) > most {
		return nil, a.Errorf("host", "it has %d, and %d can be used", len(a.Hosts), most)
	}
	var all []string
	for _, h := range a.Hosts {
		switch {
		case h == "" || strings.HasPrefix(h, ":"):
			return nil, a.Errorf("host", "one of them is empty")
		case strings.HasSuffix(h, "]") || !strings.Contains(h, ":"):
			h = net.JoinHostPort(strings.Trim(h, "[]"), port)
		}
		all = append(all, h)
	}
	return all, nil
}

// Param returns a parameter of the URL, "" if it is not given. Every parameter that a store knows is asked for, if only once: see Unused.
func (a *Address) Param(name string) string {
	a.asked[name] = true
	return a.params.Get(name)
}

// Secret returns a parameter that is a secret. It panics if the name does not say so: the value would be shown.
func (a *Address) Secret(name string) string {
	if !isSecret(name) {
		panic("offsetfile: the name of the parameter " + name + " does not say that it is a secret")
	}
	a.asked[name] = true
	return a.secrets[name]
}

// Counts returns what ?counts= says.
func (a *Address) Counts() (Counts, error) {
	c, err := parseCounts(a.Param("counts"))
	if err == nil && a.params.Has("counts") && a.params.Get("counts") == "" {
		err = errors.New("it has no value: next or last")
	}
	if err != nil {
		return c, a.Errorf("parameter counts", "%w", err)
	}
	return c, nil
}

// Unused refuses parameters that nobody has asked for: a misspelt one must not be passed over.
func (a *Address) Unused() error {
	for _, name := range slices.Sorted(maps.Keys(a.params)) {
		if !a.asked[name] {
			return a.Errorf("parameter "+name, "it is not known; there are %s", strings.Join(slices.Sorted(maps.Keys(a.asked)), ", "))
		}
	}
	return nil
}

// Errorf makes a *URLError about a part of the address.
func (a *Address) Errorf(part, format string, args ...any) *URLError {
	return &URLError{URL: a.given, Part: part, Err: fmt.Errorf(format, args...)}
}

// TLS returns the settings of an encrypted connection, as tls-ca, tls-cert, tls-key (PEM files) and tls-server-name say. Without tls-ca
// the system's authorities count. The server name is left to the caller where none is given.
func (a *Address) TLS() (*tls.Config, error) {
	c := &tls.Config{MinVersion: tls.VersionTLS12, ServerName: a.Param("tls-server-name")}
	if file := a.Param("tls-ca"); file != "" {
		pem, err := infile.Read(file, mostCertificates)
		if err != nil {
			return nil, a.Errorf("parameter tls-ca", "%w", err)
		}
		c.RootCAs = x509.NewCertPool()
		if !c.RootCAs.AppendCertsFromPEM(pem) {
			return nil, a.Errorf("parameter tls-ca", "%s has no certificate in PEM form", file)
		}
	}
	cert, key := a.Param("tls-cert"), a.Param("tls-key")
	if cert == "" && key == "" {
		return c, nil
	}
	if cert == "" || key == "" {
		return nil, a.Errorf("parameters tls-cert and tls-key", "they go together")
	}
	pair, err := keyPair(cert, key)
	if err != nil {
		return nil, a.Errorf("parameters tls-cert and tls-key", "%w", err)
	}
	c.Certificates = []tls.Certificate{pair}
	return c, nil
}

// keyPair reads a certificate and its key.
func keyPair(cert, key string) (tls.Certificate, error) {
	chain, err := infile.Read(cert, mostCertificates)
	if err != nil {
		return tls.Certificate{}, err
	}
	private, err := infile.Read(key, mostCertificates)
	if err != nil {
		return tls.Certificate{}, err
	}
	return tls.X509KeyPair(chain, private)
}

// IsURL tells a store's URL from the path of a folder. Without // it is one only of a kind that takes paths.
func IsURL(store string, kinds []Kind) bool {
	scheme, rest, ok := strings.Cut(store, ":")
	return ok && isScheme(scheme) && (strings.HasPrefix(rest, "//") || slices.ContainsFunc(kinds, func(k Kind) bool {
		return k.Local && slices.Contains(k.Schemes, scheme)
	}))
}
