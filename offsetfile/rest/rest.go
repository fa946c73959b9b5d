// Package rest is what the stores have in common that are reached over HTTP.
package rest

import (
	"context"
	"errors"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/url"
	"strings"
	"time"

	"gtoffset/offsetfile"
)

// MostConnections is how many requests travel at once.
const MostConnections = 16

// Client makes requests. It follows no redirect, and asks nobody about proxies that the environment does not name.
type Client struct {
	http           *http.Client
	user, password string // of basic authentication; no user: none
	log            *slog.Logger
}

// New makes the client of an address: over TLS as its parameters say if secure is set. It makes no connection.
func New(a *offsetfile.Address, secure bool, o offsetfile.Options) (*Client, error) {
	transport := &http.Transport{
		Proxy:               http.ProxyFromEnvironment,
		DialContext:         (&net.Dialer{Timeout: 10 * time.Second}).DialContext,
		MaxConnsPerHost:     MostConnections,
		MaxIdleConnsPerHost: MostConnections,
		IdleConnTimeout:     time.Minute,
		DisableCompression:  true,
	}
	if secure {
		config, err := a.TLS()
		if err != nil {
			return nil, err
		}
		transport.TLSClientConfig = config
	}
	c := &Client{http: &http.Client{Transport: transport}, log: o.Log}
	c.http.CheckRedirect = func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }
	return c, nil
}

// Login makes the client send a user's name and password with each request.
func (c *Client) Login(user, password string) { c.user, c.password = user, password }

// Close gives the connections back.
func (c *Client) Close() { c.http.CloseIdleConnections() }

// Do makes one request. An error is one of the network, as a *offsetfile.AwayError; what the answer means is for the caller to say. Its
// body is to be closed.
func (c *Client) Do(r *http.Request) (*http.Response, error) {
	if c.user != "" {
		r.SetBasicAuth(c.user, c.password)
	}
	began := time.Now()
	answer, err := c.http.Do(r)
	if c.log != nil {
		status := ""
		if answer != nil {
			status = answer.Status
		}
		c.log.Debug("http", "method", r.Method, "host", r.URL.Host, "path", r.URL.Path, "status", status, "took", time.Since(began), "error", cause(err))
	}
	if err != nil {
		return nil, Away(r.Context(), err)
	}
	return answer, nil
}

// Away makes an *offsetfile.AwayError of an error of the network, without the URL, which is long and may have secrets.
func Away(ctx context.Context, err error) error {
	if err := ctx.Err(); errors.Is(err, context.Canceled) {
		return err
	}
	return &offsetfile.AwayError{Err: cause(err)}
}

func cause(err error) error {
	var with *url.Error
	if errors.As(err, &with) {
		return with.Err
	}
	return err
}

// Reason is the first line of an answer's body, for people.
func Reason(answer *http.Response) string {
	text, _ := io.ReadAll(io.LimitReader(answer.Body, 4096)) // as far as it came
	line, _, _ := strings.Cut(strings.TrimSpace(string(text)), "\n")
	return strings.TrimSpace(line)
}
