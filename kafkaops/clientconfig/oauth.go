package clientconfig

import (
	"cmp"
	"context"
	"crypto/tls"
	"crypto/x509"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"sync"
	"time"

	"gtoffset/kafkaops/wire"
)

// oauth makes OAUTHBEARER: tokens from a file, from an endpoint for client credentials, or, for tests, unsigned ones of our own.
func (b *builder) oauth(l login) error {
	extensions, err := b.extensions(l)
	if err != nil {
		return err
	}
	m := wire.OAuthBearer{Extensions: extensions}
	address := b.option(l, keyTokenURL, "oauth.token.endpoint.uri")
	switch {
	case address == "":
		m.Token, err = b.unsecured(l)
	case strings.HasPrefix(address, "file:"):
		m.Token, err = b.tokenFile(address)
	default:
		m.Token, err = b.tokenEndpoint(l, address)
	}
	b.c.Wire.SASL = m
	return err
}

// extensions are what the broker is told beside the token: extension_NAME of the login module, or librdkafka's list.
func (b *builder) extensions(l login) (map[string]string, error) {
	all := map[string]string{}
	for name, value := range l.options {
		if name, ok := strings.CutPrefix(name, "extension_"); ok {
			all[name] = value
		}
	}
	for pair := range strings.SplitSeq(b.get(keyTokenExtensions), ",") {
		name, value, ok := strings.Cut(pair, "=")
		switch {
		case strings.TrimSpace(pair) == "":
		case !ok:
			return nil, b.bad(keyTokenExtensions, "", "it takes NAME=VALUE,NAME=VALUE")
		default:
			all[strings.TrimSpace(name)] = value
		}
	}
	for name, value := range all {
		if name == "auth" || strings.Trim(name, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ") != "" || strings.ContainsRune(value, 1) {
			return nil, &Error{Source: cmp.Or(b.used[keyTokenExtensions].Source, b.used[keyJAAS].Source), Key: "extension " + strconv.Quote(name), Reason: "a SASL extension has a name of letters, which is not auth"}
		}
	}
	return all, nil
}

// tokenFile reads the token anew for each login: whoever writes the file replaces it in time.
func (b *builder) tokenFile(address string) (func(context.Context) (string, error), error) {
	u, err := url.Parse(address)
	if err != nil || u.Path == "" {
		return nil, b.bad(keyTokenURL, "file:///PATH", "it names no file")
	}
	if _, err := readBounded(u.Path); err != nil {
		return nil, b.bad(keyTokenURL, "", "%s", plainReason(err))
	}
	if open(u.Path) {
		b.note(u.Path + " holds a secret and can be read by everybody: chmod 600 " + u.Path)
	}
	return func(context.Context) (string, error) {
		content, err := readBounded(u.Path)
		if err != nil {
			return "", &wire.CredentialsError{Cause: wire.CauseToken, Passing: true, Reason: plainReason(err)}
		}
		return checkToken(strings.TrimSpace(string(content)), u.Path)
	}, nil
}

// tokenEndpoint asks for tokens with client credentials (RFC 6749, 4.4).
func (b *builder) tokenEndpoint(l login, address string) (func(context.Context) (string, error), error) {
	u, err := url.Parse(address)
	if err != nil || u.Host == "" || u.Scheme != "https" && u.Scheme != "http" || u.User != nil {
		return nil, b.bad(b.tokenKey(), "", "it is no https:// address")
	}
	e := &endpoint{
		url:    address,
		id:     b.option(l, keyTokenClient, "clientId", "oauth.client.id"),
		secret: b.option(l, keyTokenSecret, "clientSecret", "oauth.client.secret"),
		scope:  b.option(l, keyTokenScope, "scope", "oauth.scope"),
	}
	if e.id == "" || e.secret == "" {
		return nil, b.bad(b.tokenKey(), "-X "+keyTokenClient+"=ID -X '"+keyTokenSecret+"=$VARIABLE'", "it takes client credentials: clientId and clientSecret of %s, or %s and %s", keyJAAS, keyTokenClient, keyTokenSecret)
	}
	b.c.User = e.id
	if u.Scheme == "http" {
		b.remark("the client's secret goes to " + u.Host + " as it is: " + b.tokenKey() + " has no TLS")
	}
	roots, err := b.tokenRoots(l)
	if err != nil {
		return nil, err
	}
	e.client = &http.Client{
		Transport:     &http.Transport{TLSClientConfig: &tls.Config{RootCAs: roots, MinVersion: tls.VersionTLS12}},
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }, // a secret goes nowhere else
	}
	return e.token, nil
}

// tokenKey is where the endpoint was named.
func (b *builder) tokenKey() string {
	if b.has(keyTokenURL) {
		return keyTokenURL
	}
	return keyJAAS
}

func (b *builder) tokenRoots(l login) (*x509.CertPool, error) {
	key, name, password := keyTokenCA, b.get(keyTokenCA), ""
	if name == "" {
		key, name, password = keyJAAS, l.options[keyTrustFile], l.options[keyTrustPassword]
	}
	if name == "" {
		return nil, nil
	}
	content, err := readBounded(name)
	if err != nil {
		return nil, b.bad(key, "", "%s", plainReason(err))
	}
	certs, err := trusted(content, password)
	if err != nil {
		return nil, b.bad(key, "", "%s: %v", name, err)
	}
	pool := x509.NewCertPool()
	for _, c := range certs {
		pool.AddCert(c)
	}
	return pool, nil
}

// endpoint keeps a token for as long as it holds: every connection and every renewal needs one.
type endpoint struct {
	url, id, secret, scope string
	client                 *http.Client

	mu    sync.Mutex
	last  string
	until time.Time
}

// maxAnswer bounds what is read of an answer.
const maxAnswer = 1 << 20

func (e *endpoint) token(ctx context.Context) (string, error) {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.last != "" && time.Now().Before(e.until) {
		return e.last, nil
	}
	form := url.Values{"grant_type": {"client_credentials"}}
	if e.scope != "" {
		form.Set("scope", e.scope)
	}
	q, err := http.NewRequestWithContext(ctx, http.MethodPost, e.url, strings.NewReader(form.Encode()))
	if err != nil {
		return "", err
	}
	q.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	q.Header.Set("Accept", "application/json")
	q.Header.Set("Authorization", "Basic "+base64.StdEncoding.EncodeToString([]byte(e.id+":"+e.secret)))
	r, err := e.client.Do(q)
	if err != nil {
		return "", e.unreachable(ctx, err)
	}
	defer r.Body.Close()
	text, err := io.ReadAll(io.LimitReader(r.Body, maxAnswer))
	if err != nil {
		return "", e.unreachable(ctx, err)
	}
	var answer struct {
		Token       string  `json:"access_token"`
		Expires     float64 `json:"expires_in"`
		Error       string  `json:"error"`
		Description string  `json:"error_description"`
	}
	_ = json.Unmarshal(text, &answer) // what is no JSON has no token, which is said
	if r.StatusCode != http.StatusOK || answer.Token == "" {
		return "", e.refused(r.StatusCode, answer.Error, answer.Description)
	}
	token, err := checkToken(answer.Token, e.url)
	if err == nil {
		e.last, e.until = token, time.Now().Add(time.Duration(min(answer.Expires, maxLife)*0.8)*time.Second)
	}
	return token, err
}

// maxLife is how many seconds a token is kept at most, whatever its endpoint says.
const maxLife = 24 * 60 * 60

func (e *endpoint) unreachable(ctx context.Context, err error) error {
	if errors.Is(ctx.Err(), context.Canceled) {
		return ctx.Err()
	}
	if ctx.Err() != nil {
		return &wire.CredentialsError{Cause: wire.CauseIssuer, Passing: true, Reason: fmt.Sprintf("the token endpoint %s does not answer in time", e.url)}
	}
	var asked *url.Error
	if errors.As(err, &asked) {
		err = asked.Err
	}
	return &wire.CredentialsError{Cause: wire.CauseIssuer, Passing: true, Reason: fmt.Sprintf("the token endpoint %s cannot be asked: %v", e.url, err)}
}

func (e *endpoint) refused(status int, code, description string) error {
	reason := fmt.Sprintf("the token endpoint %s answered %d", e.url, status)
	if code != "" {
		reason += " " + code
	}
	if description != "" {
		reason += ": " + description
	}
	reason = strings.ReplaceAll(reason, e.secret, "(hidden)")
	if len(reason) > 500 {
		reason = strings.ToValidUTF8(reason[:500], "") + "…"
	}
	if status == http.StatusOK {
		reason += " without an access_token"
	}
	if status >= 500 {
		return &wire.CredentialsError{Cause: wire.CauseIssuer, Passing: true, Reason: reason}
	}
	return &wire.CredentialsError{Cause: wire.CauseToken, Reason: reason}
}

// checkToken looks at what a broker would refuse without saying why: a token that is over, or not yet valid.
func checkToken(token, from string) (string, error) {
	if token == "" {
		return "", &wire.CredentialsError{Cause: wire.CauseToken, Passing: true, Reason: from + " has an empty token"}
	}
	part := strings.Split(token, ".")
	if len(part) != 3 {
		return token, nil // not a JWT: only the broker knows
	}
	text, err := base64.RawURLEncoding.DecodeString(strings.TrimRight(part[1], "="))
	if err != nil {
		return token, nil
	}
	var claims struct {
		Expires   float64 `json:"exp"`
		NotBefore float64 `json:"nbf"`
	}
	if json.Unmarshal(text, &claims) != nil {
		return token, nil
	}
	now := time.Now()
	at := func(seconds float64) time.Time { return time.Unix(int64(min(seconds, 1e12)), 0).UTC() }
	switch {
	case claims.Expires > 0 && !now.Before(at(claims.Expires)):
		return "", &wire.CredentialsError{Cause: wire.CauseToken, Passing: true, Reason: fmt.Sprintf("the token of %s has expired at %s; the clock here says %s", from, at(claims.Expires).Format(time.RFC3339), now.UTC().Format(time.RFC3339))}
	case claims.NotBefore > 0 && now.Before(at(claims.NotBefore).Add(-time.Minute)):
		return "", &wire.CredentialsError{Cause: wire.CauseToken, Passing: true, Reason: fmt.Sprintf("the token of %s is valid from %s on; the clock here says %s", from, at(claims.NotBefore).Format(time.RFC3339), now.UTC().Format(time.RFC3339))}
	}
	return token, nil
}

// unsecured makes tokens that nobody has signed: Kafka's default for OAUTHBEARER, and of use in tests only.
func (b *builder) unsecured(l login) (func(context.Context) (string, error), error) {
	const claim, number = "unsecuredLoginStringClaim_", "unsecuredLoginNumberClaim_"
	claims := map[string]any{}
	for name, value := range l.options {
		if name, ok := strings.CutPrefix(name, claim); ok {
			claims[name] = value
		}
		if name, ok := strings.CutPrefix(name, number); ok {
			n, err := strconv.ParseFloat(value, 64)
			if err != nil {
				return nil, b.bad(keyJAAS, "", "option %s%s is no number", number, name)
			}
			claims[name] = n
		}
	}
	if b.get(keyTokenUnsecured) == "true" {
		for field := range strings.FieldsSeq(b.get(keyTokenConfig)) {
			switch name, value, _ := strings.Cut(field, "="); name {
			case "principal":
				claims["sub"] = value
			case "scope":
				claims["scope"] = strings.Split(value, ",")
			}
		}
	}
	user := cmp.Or(l.options["unsecuredLoginPrincipalClaimName"], "sub")
	if claims[user] == nil {
		return nil, &Error{
			Source: cmp.Or(b.used[keyJAAS].Source, b.used[keyMechanism].Source, b.used[keyProtocol].Source), Key: keyMechanism, Reason: "OAUTHBEARER needs a token, and nothing says where it comes from",
			Hint: "-X " + keyTokenURL + "=https://… -X " + keyTokenClient + "=ID -X '" + keyTokenSecret + "=$VARIABLE', or -X " + keyTokenURL + "=file:///PATH",
		}
	}
	b.c.User = fmt.Sprint(claims[user])
	b.remark("tokens are made here, and nobody signs them: a cluster that takes them believes everybody")
	life := int64(3600)
	if n, err := strconv.ParseInt(l.options["unsecuredLoginLifetimeSeconds"], 10, 32); err == nil && n > 0 {
		life = n
	}
	return func(context.Context) (string, error) {
		now := time.Now().Unix()
		claims := maps.Clone(claims)
		claims["iat"], claims["exp"] = now, now+life
		text, err := json.Marshal(claims)
		if err != nil {
			return "", err
		}
		enc := base64.RawURLEncoding.EncodeToString
		return enc([]byte(`{"alg":"none"}`)) + "." + enc(text) + ".", nil
	}, nil
}
