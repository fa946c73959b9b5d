package wire

import (
	"bytes"
	"context"
	"errors"
	"net"
	"strings"
	"testing"
	"time"

	"github.com/segmentio/kafka-go/sasl"
	"github.com/twmb/franz-go/pkg/kmsg"
)

// saying is a connection on which a broker says a text, in pieces, whatever it is asked, and hangs up.
type saying struct {
	net.Conn
	said  *bytes.Reader
	piece int
}

func (s *saying) Read(p []byte) (int, error) {
	if len(p) > s.piece {
		p = p[:s.piece]
	}
	return s.said.Read(p)
}
func (s *saying) Write(p []byte) (int, error)      { return len(p), nil }
func (s *saying) Close() error                     { return nil }
func (s *saying) SetDeadline(time.Time) error      { return nil }
func (s *saying) SetReadDeadline(time.Time) error  { return nil }
func (s *saying) SetWriteDeadline(time.Time) error { return nil }

// FuzzExchange lets a broker answer several requests with whatever it likes: lengths that lie, answers to others, frames that are cut. Each
// exchange ends, with an answer to each request or an error that says which broker it was.
func FuzzExchange(f *testing.F) {
	answers := func(requests ...kmsg.Request) []byte {
		var all []byte
		for i, q := range requests {
			a := q.ResponseKind()
			body := a.AppendTo(nil)
			if a.IsFlexible() && a.Key() != ApiVersions {
				body = append([]byte{0}, body...)
			}
			all = append(all, frame(int32(i+1), body)...)
		}
		return all
	}
	asked := func() []kmsg.Request {
		fetch, list := kmsg.NewPtrOffsetFetchRequest(), kmsg.NewPtrListOffsetsRequest()
		fetch.Version, list.Version = 8, 7
		return []kmsg.Request{kmsg.NewPtrApiVersionsRequest(), metadata12(), fetch, list}
	}
	whole := answers(asked()...)
	f.Add(whole, uint8(255))
	f.Add(whole, uint8(1))
	f.Add(whole[:len(whole)-3], uint8(7))
	f.Add(append([]byte{0x0f, 0xff, 0xff, 0xff}, whole...), uint8(64))
	f.Add([]byte{0, 0, 0, 8, 0, 0, 0, 1, 0x7f, 0xff, 0xff, 0xff}, uint8(64))
	f.Add([]byte("HTTP/1.1 400 Bad Request\r\n\r\n"), uint8(64))
	f.Add([]byte{0x15, 3, 3, 0, 2, 2, 70}, uint8(64))
	f.Fuzz(func(t *testing.T, said []byte, piece uint8) {
		cfg := Config{ClientID: "gtoffset", Timeout: time.Minute, Dial: func(context.Context, string, string) (net.Conn, error) {
			return &saying{said: bytes.NewReader(said), piece: int(piece) + 1}, nil
		}}
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		defer cancel()
		c, err := dial(ctx, 1, "k:1", cfg)
		if err != nil {
			t.Fatal(err)
		}
		requests := asked()
		got, err := c.exchange(ctx, time.Minute, requests...)
		if (err == nil) != (len(got) == len(requests)) {
			t.Fatalf("%d answers, %v", len(got), err)
		}
		for i, a := range got {
			if a.Key() != requests[i].Key() {
				t.Fatalf("%d was answered by %d", requests[i].Key(), a.Key())
			}
		}
		if len(got) > 0 {
			_ = c.learn(got[0])
		}
		if err != nil {
			if text := c.fail(ctx, StageExchange, err).Error(); text == "" || errors.Is(err, context.DeadlineExceeded) {
				t.Fatalf("%q: %v", text, err)
			}
		}
		if err == nil && len(said) < len(whole)/2 {
			t.Fatal("answered by nothing")
		}
	})
}

// FuzzLogin lets a broker say whatever it likes to one who logs in. Nobody gets in by it who shows that a token is wrong or who does not
// know the password, and no error shows what was sent.
func FuzzLogin(f *testing.F) {
	const secret = "hush-hush"
	mechanisms := []sasl.Mechanism{
		Scram{Username: "alice", Password: secret},
		Scram{Username: "alice", Password: secret, SHA512: true},
		OAuthBearer{Token: func(context.Context) (string, error) { return secret, nil }},
	}
	hello := kmsg.NewPtrApiVersionsResponse()
	hello.Version = 3
	shake := kmsg.NewPtrSASLHandshakeResponse()
	shake.Version, shake.SupportedMechanisms = 1, []string{"PLAIN", "OAUTHBEARER"}
	said := func(challenges ...string) []byte {
		all := append(frame(1, hello.AppendTo(nil)), frame(2, shake.AppendTo(nil))...)
		for i, c := range challenges {
			a := kmsg.NewPtrSASLAuthenticateResponse()
			a.Version, a.SASLAuthBytes = 0, []byte(c)
			all = append(all, frame(int32(3+i), a.AppendTo(nil))...)
		}
		return all
	}
	f.Add(uint8(0), said("r=abc,s=QUJD,i=4096", "v=AAAA"))
	f.Add(uint8(1), said("r=,s=,i=999999999"))
	f.Add(uint8(2), said(""))
	f.Add(uint8(2), said(`{"status":"invalid_token"}`, ""))
	shake.ErrorCode = CodeUnsupportedSASLMechanism
	f.Add(uint8(2), said())
	f.Fuzz(func(t *testing.T, which uint8, text []byte) {
		cfg := Config{
			ClientID: "gtoffset", Timeout: time.Minute, SASL: mechanisms[int(which)%len(mechanisms)],
			Dial: func(context.Context, string, string) (net.Conn, error) {
				return &saying{said: bytes.NewReader(text), piece: 64}, nil
			},
		}
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		defer cancel()
		_, err := dial(ctx, 1, "k:1", cfg)
		var failed *Error
		switch {
		case err == nil && cfg.SASL.Name() != "OAUTHBEARER":
			t.Fatal("a broker that does not know the password was believed")
		case err == nil:
		case !errors.As(err, &failed) || failed.Error() == "":
			t.Fatalf("%v is no error of a connection", err)
		case strings.Contains(failed.Error()+failed.Why(), secret) && !bytes.Contains(text, []byte(secret)):
			t.Fatalf("%v holds the secret", err)
		}
	})
}
