package hbase

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"

	"gtoffset/offsetfile"
	"gtoffset/offsetfile/rest"
)

// mostAnswer is how many bytes one answer may have.
const mostAnswer = 256 << 20

// gateway is HBase's REST server. It knows rows and cells, as JSON in which keys, columns and values are base64.
type gateway struct {
	client *rest.Client
	base   string // URL of the table, without a final slash
	user   string
}

// row is one row, as the gateway writes it and reads it.
type row struct {
	Key   []byte `json:"key"`
	Cells []cell `json:"Cell"`
}

type cell struct {
	Column    []byte `json:"column"`
	Timestamp int64  `json:"timestamp,omitempty"` // in ms
	Value     []byte `json:"$"`
}

type rows struct {
	Rows []row `json:"Row"`
}

// answerError is an answer that is none of those expected.
type answerError struct {
	status int
	text   string
}

func (e *answerError) Error() string { return e.text }

// scan reads the rows from one key up to another, each "" for no limit, of one family, and of each column the newest version. Keys
// travel as parameters: in the path of a URL a gateway takes some characters for its own.
func (g *gateway) scan(ctx context.Context, family, from, to string) ([]row, error) {
	query := url.Values{"column": {family}, "maxversions": {"1"}}
	if from != "" {
		query.Set("startrow", from)
	}
	if to != "" {
		query.Set("endrow", to)
	}
	var found rows
	_, err := g.do(ctx, http.MethodGet, "/*?"+query.Encode(), nil, &found)
	return found.Rows, err
}

// schema is what a table is made of.
type schema struct {
	Name     string `json:"name"`
	Families []struct {
		Name string `json:"name"`
	} `json:"ColumnSchema"`
}

// schema reads it. Without the table the error is an *answerError of 404.
func (g *gateway) schema(ctx context.Context) (schema, error) {
	var s schema
	_, err := g.do(ctx, http.MethodGet, "/schema", nil, &s)
	return s, err
}

// checkAnd puts or deletes (what) the first cells of a row if the last one stands as it is given; a value of no bytes stands for none.
// It reports whether it was done.
func (g *gateway) checkAnd(ctx context.Context, what, key string, cells ...cell) (done bool, err error) {
	// The key that counts is the one in the body.
	status, err := g.do(ctx, http.MethodPut, "/row?check="+what, rows{[]row{{Key: []byte(key), Cells: cells}}}, nil)
	return status == http.StatusOK, err
}

// do makes one request. The error is an *offsetfile.AwayError, a *offsetfile.CredentialsError, an *answerError, or the context's. 304 is none.
func (g *gateway) do(ctx context.Context, method, path string, in, out any) (status int, err error) {
	var body io.Reader
	if in != nil {
		text, err := json.Marshal(in)
		if err != nil {
			return 0, err
		}
		body = bytes.NewReader(text)
	}
	request, err := http.NewRequestWithContext(ctx, method, g.base+path, body)
	if err != nil {
		return 0, err
	}
	request.Header.Set("Accept", "application/json")
	request.Header.Set("Content-Type", "application/json")
	answer, err := g.client.Do(request)
	if err != nil {
		return 0, err
	}
	defer answer.Body.Close()
	if err := g.refusal(answer); err != nil {
		return answer.StatusCode, err
	}
	text, err := io.ReadAll(io.LimitReader(answer.Body, mostAnswer+1))
	switch {
	case err != nil:
		return 0, rest.Away(ctx, err)
	case len(text) > mostAnswer:
		return 0, fmt.Errorf("the answer has more than %d bytes", mostAnswer)
	case out == nil:
		return answer.StatusCode, nil
	}
	if err := json.Unmarshal(text, out); err != nil {
		return 0, &offsetfile.AwayError{Final: true, Err: errors.New("what answers there is no REST gateway of HBase (its port is 8080 as a rule)")}
	}
	return answer.StatusCode, nil
}

// refusal is what an answer says that is not what was asked for.
func (g *gateway) refusal(answer *http.Response) error {
	status := answer.StatusCode
	if status/100 == 2 || status == http.StatusNotModified {
		return nil
	}
	text := answer.Status
	if reason := rest.Reason(answer); reason != "" && !strings.HasPrefix(reason, "{") && !strings.HasPrefix(reason, "<") {
		text += ": " + reason
	}
	switch {
	case status == http.StatusUnauthorized && g.user == "":
		return &offsetfile.CredentialsError{Err: fmt.Errorf("%s (no user was named)", text)}
	case status == http.StatusUnauthorized, status == http.StatusForbidden:
		return &offsetfile.CredentialsError{Err: errors.New(text)}
	case status == http.StatusServiceUnavailable, status == http.StatusBadGateway, status == http.StatusGatewayTimeout, status == http.StatusTooManyRequests:
		return &offsetfile.AwayError{Err: errors.New(text)}
	case status/100 == 3:
		return &offsetfile.AwayError{Final: true, Err: fmt.Errorf("%s to %s, which is not followed", text, answer.Header.Get("Location"))}
	}
	return &answerError{status, text}
}

func isStatus(err error, status int) bool {
	var answer *answerError
	return errors.As(err, &answer) && answer.status == status
}
