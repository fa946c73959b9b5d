// Package webhdfs keeps gtoffset files in HDFS, over the REST interface of its namenode: webhdfs://NAMENODE:9870/PATH, or swebhdfs://
// over TLS. Use it where jobs keep their files there; nothing of Hadoop is needed on this machine.
//
// A file is replaced by a new one beside it and a rename, which HDFS does in one step. HDFS has no locks and no compare-and-set: the
// content is read again directly before the rename, and what another writes in the instant between the two is lost.
package webhdfs

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/http"
	"net/url"
	"path"
	"strings"
	"sync/atomic"
	"time"

	"gtoffset/offsetfile"
	"gtoffset/offsetfile/rest"
)

// Kind is this kind of store.
func Kind() offsetfile.Kind {
	return offsetfile.Kind{
		Schemes: []string{"webhdfs", "swebhdfs"},
		Form:    "webhdfs://[USER@]NAMENODE[:PORT],…/PATH, swebhdfs://…",
		Layout:  "gtoffset files in HDFS; ?delegation=$TOKEN in the place of a user. hdfs:// itself is not spoken",
		Open:    Open,
	}
}

// Open returns the store of gtoffset files below the path of the address. It makes no connection.
func Open(a *offsetfile.Address, o offsetfile.Options) (offsetfile.Store, error) {
	c, err := New(a, o)
	if err != nil {
		return nil, err
	}
	return offsetfile.OverFiles(a, a.Path, c, o)
}

// Client speaks WebHDFS with a namenode, or with the one of several that is active.
type Client struct {
	scheme  string
	hosts   []string
	current atomic.Int32 // the host that answered last
	auth    url.Values   // who we are, in each request to a namenode
	rest    *rest.Client
}

var _ offsetfile.FileService = (*Client)(nil)

// New makes a client of an address. Nothing is sent yet.
//
//	[s]webhdfs://[USER@]NAMENODE[:PORT][,NAMENODE[:PORT]…]/PATH[?user.name=USER][&delegation=$TOKEN]
func New(a *offsetfile.Address, o offsetfile.Options) (*Client, error) {
	c := &Client{scheme: "http", auth: url.Values{}}
	port, secure := "9870", a.Scheme == "swebhdfs" || a.Via == "swebhdfs"
	if secure {
		c.scheme, port = "https", "9871"
	}
	var err error
	if c.rest, err = rest.New(a, secure, o); err != nil {
		return nil, err
	}
	if c.hosts, err = a.HostPorts(port, 0); err != nil {
		return nil, err
	}
	if a.Path == "" || !strings.HasPrefix(a.Path, "/") {
		return nil, a.Errorf("path", "it has none, as in webhdfs://namenode:9870/offsets")
	}
	user, token := a.Param("user.name"), a.Secret("delegation")
	switch {
	case user != "" && a.User != "":
		return nil, a.Errorf("user", "it is given twice")
	case token != "" && user+a.User != "":
		return nil, a.Errorf("parameter delegation", "a token says who we are, and so does the user")
	case token != "":
		c.auth.Set("delegation", token)
	case user+a.User != "":
		c.auth.Set("user.name", user+a.User)
	}
	return c, nil
}

// Can says that a rename is atomic, and what HDFS has not.
func (c *Client) Can() offsetfile.Abilities {
	return offsetfile.Abilities{Write: true, Atomic: offsetfile.OneTopic, Epochs: true, Identity: true, Times: true}
}

// Close gives idle connections back.
func (c *Client) Close() error {
	c.rest.Close()
	return nil
}

// status is HDFS's FileStatus.
type status struct {
	Suffix     string `json:"pathSuffix"`
	Type       string `json:"type"` // FILE or DIRECTORY
	Length     int64  `json:"length"`
	Modified   int64  `json:"modificationTime"` // ms
	Owner      string `json:"owner"`
	Group      string `json:"group"`
	Permission string `json:"permission"` // octal
	ACL        bool   `json:"aclBit"`
}

func (s status) file() offsetfile.RemoteFile {
	return offsetfile.RemoteFile{Name: s.Suffix, Folder: s.Type == "DIRECTORY", Size: s.Length, Modified: time.UnixMilli(s.Modified)}
}

func (c *Client) status(ctx context.Context, p string) (status, error) {
	var answer struct{ FileStatus status }
	err := c.ask(ctx, http.MethodGet, p, "GETFILESTATUS", nil, &answer)
	return answer.FileStatus, err
}

// Stat looks at one path.
func (c *Client) Stat(ctx context.Context, p string) (offsetfile.RemoteFile, error) {
	s, err := c.status(ctx, p)
	f := s.file()
	f.Name = path.Base(p)
	return f, err
}

// List looks into a folder.
func (c *Client) List(ctx context.Context, p string) ([]offsetfile.RemoteFile, error) {
	var answer struct {
		FileStatuses struct{ FileStatus []status }
	}
	if err := c.ask(ctx, http.MethodGet, p, "LISTSTATUS", nil, &answer); err != nil {
		return nil, err
	}
	var files []offsetfile.RemoteFile
	for _, s := range answer.FileStatuses.FileStatus {
		if s.Suffix == "" { // of a file, HDFS lists the file itself
			return nil, offsetfile.ErrNotFolder
		}
		files = append(files, s.file())
	}
	return files, nil
}

// Read returns a file's content. Its length is compared with what the namenode says: an answer that was cut off must not look whole.
func (c *Client) Read(ctx context.Context, p string, most int64) ([]byte, error) {
	s, err := c.status(ctx, p)
	switch {
	case err != nil:
		return nil, err
	case s.Type == "DIRECTORY":
		return nil, errors.New("it is a folder, not a file")
	case s.Length > most:
		return nil, offsetfile.ErrTooLarge
	case s.Length == 0:
		return nil, nil
	}
	answer, err := c.viaDatanode(ctx, http.MethodGet, p, "OPEN", nil, nil)
	if err != nil {
		return nil, err
	}
	defer answer.Body.Close()
	data, err := io.ReadAll(io.LimitReader(answer.Body, most+1))
	switch {
	case err != nil:
		return nil, rest.Away(ctx, err)
	case int64(len(data)) < s.Length:
		return nil, io.ErrUnexpectedEOF
	case int64(len(data)) > most:
		return nil, offsetfile.ErrTooLarge
	}
	return data, nil
}

// Create makes a new file in two steps: the namenode names a datanode, which takes the content and brings it to its disk before it
// answers. Owner, group and mode of like are kept, or the file is not made.
func (c *Client) Create(ctx context.Context, p string, data []byte, like string) (err error) {
	old, err := c.status(ctx, like)
	exists := err == nil
	switch {
	case err != nil && !errors.Is(err, fs.ErrNotExist):
		return err
	case exists && old.ACL:
		return fmt.Errorf("%s has an access list, which a new file in its place would not have", like)
	}
	query := url.Values{"overwrite": {"false"}, "createflag": {"CREATE,SYNC_BLOCK"}}
	if exists {
		query.Set("permission", old.Permission)
	}
	answer, err := c.viaDatanode(ctx, http.MethodPut, p, "CREATE", query, data)
	if err != nil {
		return err
	}
	answer.Body.Close()
	if !exists {
		return nil
	}
	if err := c.liken(ctx, p, old); err != nil {
		_ = c.Remove(ctx, p) // else it is ignored by every look
		return err
	}
	return nil
}

// liken gives a new file owner, group and mode of the old one. A umask may have taken something of the mode.
func (c *Client) liken(ctx context.Context, p string, old status) error {
	made, err := c.status(ctx, p)
	if err != nil {
		return err
	}
	if made.Permission != old.Permission {
		if err := c.ask(ctx, http.MethodPut, p, "SETPERMISSION", url.Values{"permission": {old.Permission}}, nil); err != nil {
			return fmt.Errorf("keep the mode %s: %w", old.Permission, err)
		}
	}
	if made.Owner != old.Owner || made.Group != old.Group {
		if err := c.ask(ctx, http.MethodPut, p, "SETOWNER", url.Values{"owner": {old.Owner}, "group": {old.Group}}, nil); err != nil {
			return fmt.Errorf("keep the owner %s:%s: %w", old.Owner, old.Group, err)
		}
	}
	return nil
}

// Rename puts a file in the place of another. Without OVERWRITE the namenode would answer 200, and change nothing.
func (c *Client) Rename(ctx context.Context, from, to string) error {
	return c.ask(ctx, http.MethodPut, from, "RENAME", url.Values{"destination": {to}, "renameoptions": {"OVERWRITE"}}, nil)
}

// Remove removes a file.
func (c *Client) Remove(ctx context.Context, p string) error {
	return c.ask(ctx, http.MethodDelete, p, "DELETE", nil, nil)
}

// ask sends one request to the namenode and decodes its answer.
func (c *Client) ask(ctx context.Context, method, p, op string, query url.Values, into any) error {
	answer, err := c.send(ctx, method, c.url(p, op, query), nil)
	if err != nil {
		return err
	}
	defer answer.Body.Close()
	if answer.StatusCode/100 == 3 {
		return fmt.Errorf("%s: the namenode sent us on, which it should not", op)
	}
	body, err := io.ReadAll(io.LimitReader(answer.Body, mostAnswer))
	switch {
	case err != nil:
		return rest.Away(ctx, err)
	case into == nil:
		return nil
	}
	if err := json.Unmarshal(body, into); err != nil {
		return fmt.Errorf("%s: the answer is not that of WebHDFS (is this the port of the namenode's web page?): %w", op, err)
	}
	return nil
}

// mostAnswer bounds a listing: 64 MiB are some hundred thousand files.
const mostAnswer = 64 << 20

// viaDatanode sends a request that the namenode sends on to a datanode. The content goes only there.
func (c *Client) viaDatanode(ctx context.Context, method, p, op string, query url.Values, data []byte) (*http.Response, error) {
	answer, err := c.send(ctx, method, c.url(p, op, query), nil)
	if err != nil || answer.StatusCode/100 == 2 { // a gateway answers itself
		return answer, err
	}
	answer.Body.Close()
	to := answer.Header.Get("Location")
	if to == "" {
		return nil, fmt.Errorf("%s: the namenode names no datanode", op)
	}
	answer, err = c.send(ctx, method, to, data)
	if err != nil {
		if u, bad := url.Parse(to); bad == nil {
			err = fmt.Errorf("datanode %s: %w", u.Host, err)
		}
		return nil, err
	}
	if answer.StatusCode/100 != 2 {
		answer.Body.Close()
		return nil, fmt.Errorf("%s: the datanode answered %s", op, answer.Status)
	}
	return answer, nil
}

// url is a request to the namenode that answered last.
func (c *Client) url(p, op string, query url.Values) string {
	all := url.Values{"op": {op}}
	for _, values := range []url.Values{query, c.auth} {
		for name, v := range values {
			all[name] = v
		}
	}
	u := url.URL{Scheme: c.scheme, Host: c.hosts[int(c.current.Load())%len(c.hosts)], Path: "/webhdfs/v1" + p, RawQuery: all.Encode()}
	return u.String()
}

// send sends one request and turns the answers that are errors into ours. After a namenode that is away or on standby the next is asked.
func (c *Client) send(ctx context.Context, method, to string, data []byte) (*http.Response, error) {
	request, err := http.NewRequestWithContext(ctx, method, to, bytes.NewReader(data))
	if err != nil {
		return nil, errors.New("the namenode's answer has no usable address")
	}
	if data != nil {
		request.Header.Set("Content-Type", "application/octet-stream") // HttpFS takes nothing else
	}
	answer, err := c.rest.Do(request)
	if err != nil {
		c.current.Add(1)
		return nil, err
	}
	if answer.StatusCode/100 <= 3 {
		return answer, nil
	}
	defer answer.Body.Close()
	err = failure(answer)
	if offsetfile.IsAway(err) {
		c.current.Add(1)
	}
	return nil, err
}

// failure is what an answer that is an error means.
func failure(answer *http.Response) error {
	var body struct {
		RemoteException struct{ Exception, JavaClassName, Message string }
	}
	data, err := io.ReadAll(io.LimitReader(answer.Body, 1<<20))
	if err == nil {
		err = json.Unmarshal(data, &body)
	}
	e := body.RemoteException
	message, _, _ := strings.Cut(e.Message, "\n") // a stack trace may follow
	said := fmt.Errorf("%s: %s", e.Exception, message)
	switch {
	case err != nil && answer.StatusCode == http.StatusUnauthorized:
		return &offsetfile.CredentialsError{Err: errors.New("it asks for Kerberos, which is not spoken here; a delegation token does: ?delegation=$TOKEN")}
	case err != nil && answer.StatusCode >= http.StatusInternalServerError:
		return &offsetfile.AwayError{Err: fmt.Errorf("it answered %s", answer.Status)}
	case err != nil:
		return fmt.Errorf("it answered %s, which is not WebHDFS (is this the port of the namenode's web page?)", answer.Status)
	}
	switch e.Exception {
	case "FileNotFoundException":
		return fmt.Errorf("%s: %w", message, fs.ErrNotExist)
	case "FileAlreadyExistsException":
		return fmt.Errorf("%s: %w", message, fs.ErrExist)
	case "AccessControlException":
		return fmt.Errorf("%s: %w", message, fs.ErrPermission)
	case "ParentNotDirectoryException":
		return fmt.Errorf("%s: %w", message, offsetfile.ErrNotFolder)
	case "SecurityException", "InvalidToken", "AuthenticationException", "AuthorizationException":
		return &offsetfile.CredentialsError{Err: said}
	case "StandbyException", "RetriableException", "SafeModeException", "BlockMissingException":
		return &offsetfile.AwayError{Err: said}
	}
	for _, sign := range []string{ // of datanodes that are not there just now; the exception is any
		"could only be written to", "Failed to find datanode", "Could not obtain block", "No datanode", "Safe mode", "safe mode",
	} {
		if strings.Contains(message, sign) {
			return &offsetfile.AwayError{Err: said}
		}
	}
	return said
}
