package webhdfs

import (
	"errors"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"

	"gtoffset/offsetfile"
)

// FuzzNamenode reads what a namenode may answer to a look at a path, into a folder and at a file.
func FuzzNamenode(f *testing.F) {
	for _, s := range []string{
		`{"FileStatus":{"pathSuffix":"","type":"FILE","length":5,"modificationTime":1}}`, `{"FileStatuses":{"FileStatus":[{"pathSuffix":"g","type":"DIRECTORY"}]}}`,
		`{"RemoteException":{"exception":"StandbyException","message":"a\nb"}}`, `{"FileStatus":{"length":-1}}`, `{"FileStatus":{"length":99999999999}}`, "0 5\n", "<html>", "", "null", "[]",
	} {
		f.Add([]byte(s), uint16(200))
		f.Add([]byte(s), uint16(403))
	}
	var body atomic.Pointer[[]byte]
	var status atomic.Int32
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.WriteHeader(int(status.Load()))
		_, _ = w.Write(*body.Load()) // a status without a body refuses it
	}))
	f.Cleanup(s.Close)
	a, err := offsetfile.ParseAddress("webhdfs://"+strings.TrimPrefix(s.URL, "http://")+"/offsets", nil)
	if err != nil {
		f.Fatal(err)
	}
	c, err := New(a, offsetfile.Options{})
	if err != nil {
		f.Fatal(err)
	}
	f.Cleanup(c.rest.Close)
	f.Fuzz(func(t *testing.T, answer []byte, code uint16) {
		body.Store(&answer)
		status.Store(200 + int32(code)%400)
		_, err := c.Stat(t.Context(), "/offsets")
		_, err2 := c.List(t.Context(), "/offsets")
		data, err3 := c.Read(t.Context(), "/offsets/g/t/gtoffset", 1<<20)
		if len(data) > 1<<20 {
			t.Fatalf("%d bytes", len(data))
		}
		for _, err := range []error{err, err2, err3} {
			if err != nil && strings.TrimSpace(errors.Join(err).Error()) == "" {
				t.Fatal("an error without a word")
			}
		}
	})
}
