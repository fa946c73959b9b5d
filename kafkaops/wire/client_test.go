package wire_test

import (
	"context"
	"errors"
	"fmt"
	"net"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/segmentio/kafka-go/sasl"
	"github.com/segmentio/kafka-go/sasl/plain"
	"github.com/twmb/franz-go/pkg/kfake"
	"github.com/twmb/franz-go/pkg/kmsg"

	"gtoffset/kafkaops/kafkatest"
	"gtoffset/kafkaops/wire"
)

func client(t *testing.T, cfg wire.Config, addrs ...string) *wire.Client {
	t.Helper()
	c := wire.New(addrs, cfg)
	t.Cleanup(c.Close)
	return c
}

func within(t *testing.T) context.Context {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 30*time.Second)
	t.Cleanup(cancel)
	return ctx
}

// groups asks for the list of groups.
func groups(v wire.Versions) ([]kmsg.Request, error) {
	q := kmsg.NewPtrListGroupsRequest()
	return []kmsg.Request{q}, v.Set(q, -1)
}

// silent is the address of one who never answers: the kernel accepts, and nobody reads.
func silent(t *testing.T) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { l.Close() })
	return l.Addr().String()
}

// nobody is an address where nothing listens. A port that was free a moment ago may be another test's.
const nobody = "127.0.0.1:1"

func TestConnectUsesOneConnectionABroker(t *testing.T) {
	b := kafkatest.Start(t, kafkatest.Options{})
	c := client(t, wire.Config{}, b.Addrs()...)
	joined, err := c.Connect(within(t))
	if err != nil || joined.ID == "" || !joined.OffsetsTopic || fmt.Sprint(c.Brokers()) != "[0 1 2]" {
		t.Fatalf("%+v %v %v", joined, c.Brokers(), err)
	}
	if b.Count() != 2 {
		t.Errorf("%d requests to say hello", b.Count())
	}
	for range 3 {
		for _, id := range append(c.Brokers(), wire.Any) {
			if _, err := c.Do(within(t), id, groups); err != nil {
				t.Errorf("broker %d: %v", id, err)
			}
		}
	}
	if b.Connections() != 3 || b.Count() != 2+2+12 {
		t.Errorf("%d connections, %d requests", b.Connections(), b.Count())
	}
	if _, err := c.Do(within(t), 77, groups); err == nil || !strings.Contains(err.Error(), "broker 77") {
		t.Errorf("unknown broker: %v", err)
	}
}

func TestBootstrapRace(t *testing.T) {
	b := kafkatest.Start(t, kafkatest.Options{})
	for name, addrs := range map[string][]string{
		"first is silent":  {silent(t), b.Addrs()[0]},
		"first is nobody":  {nobody, b.Addrs()[0]},
		"only the last":    {nobody, silent(t), nobody, b.Addrs()[2]},
		"no such host":     {"no.such.host.invalid:9092", b.Addrs()[1]},
		"without a port":   {"localhost", b.Addrs()[1]},
		"the same address": {b.Addrs()[0], b.Addrs()[0]},
	} {
		t.Run(name, func(t *testing.T) {
			c := client(t, wire.Config{Timeout: 20 * time.Second}, addrs...)
			if _, err := c.Connect(within(t)); err != nil {
				t.Error(err)
			}
		})
	}
	t.Run("nobody at all", func(t *testing.T) {
		_, err := client(t, wire.Config{Timeout: 200 * time.Millisecond}, nobody, silent(t)).Connect(within(t))
		var all *wire.BootstrapError
		if !errors.As(err, &all) || len(all.Tried) != 2 || !strings.Contains(err.Error(), "refused") || !strings.Contains(err.Error(), "did not answer within 200ms") {
			t.Errorf("got %v", err)
		}
		for i, cause := range []wire.Cause{wire.CauseRefused, wire.CauseSilent} {
			if e := (*wire.Error)(nil); !errors.As(all.Tried[i], &e) || e.Cause != cause {
				t.Errorf("cause of %v: got %q, want %q", all.Tried[i], e.Cause, cause)
			}
		}
	})
	t.Run("interrupted", func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		time.AfterFunc(20*time.Millisecond, cancel)
		if _, err := client(t, wire.Config{}, silent(t)).Connect(ctx); !errors.Is(err, context.Canceled) {
			t.Errorf("got %v", err)
		}
	})
}

// The connection that the race opened to a frozen broker becomes that broker's, so that its silence is not waited for twice.
func TestSilenceIsWaitedForOnce(t *testing.T) {
	b := kafkatest.Start(t, kafkatest.Options{})
	b.Freeze(0)
	n := new(kafkatest.Counter)
	c := client(t, wire.Config{Timeout: time.Second, Dial: n.Dial}, b.Addrs()...)
	for range 5 {
		_, err := c.Do(within(t), 0, groups)
		var e *wire.Error
		if !errors.As(err, &e) || !e.Timeout() || e.Broker != 0 || !strings.Contains(err.Error(), "broker 0 ("+b.Addrs()[0]+") did not answer within 1s") {
			t.Fatalf("got %v", err)
		}
	}
	if n.Dials() != 3 {
		t.Errorf("%d connections", n.Dials())
	}
	if _, err := c.Do(within(t), 1, groups); err != nil {
		t.Error(err)
	}
	b.Thaw(0)
	if _, err := c.Do(within(t), 0, groups); err == nil {
		t.Error("asked again in the same look")
	}
	c.NewLook()
	if _, err := c.Do(within(t), 0, groups); err != nil {
		t.Errorf("in the next look: %v", err)
	}
}

// A silence that began in one look and is still going on in the next is no old one.
func TestSilenceIsWaitedForOnceAcrossLooks(t *testing.T) {
	b := kafkatest.Start(t, kafkatest.Options{})
	b.Freeze(0)
	n := new(kafkatest.Counter)
	c := client(t, wire.Config{Timeout: time.Second, Dial: n.Dial}, b.Addrs()...)
	if _, err := c.Connect(within(t)); err != nil {
		t.Fatal(err)
	}
	c.NewLook()
	if _, err := c.Do(within(t), 0, groups); err == nil {
		t.Error("a frozen broker answered")
	}
	if n.Dials() != 3 {
		t.Errorf("%d connections, want 3: the frozen broker was dialled again", n.Dials())
	}
}

func TestBrokenConnectionIsOpenedAgain(t *testing.T) {
	b := kafkatest.Start(t, kafkatest.Options{})
	c := client(t, wire.Config{}, b.Addrs()...)
	for _, id := range []int32{0, 1} {
		if _, err := c.Do(within(t), id, groups); err != nil {
			t.Fatal(err)
		}
		b.Kill(id)
		if err := b.Revive(id); err != nil {
			t.Fatal(err)
		}
		if _, err := c.Do(within(t), id, groups); err != nil {
			t.Errorf("broker %d after a restart: %v", id, err)
		}
	}
	b.Kill(1)
	_, err := c.Do(within(t), 1, groups)
	if err == nil || !strings.Contains(err.Error(), "broker 1 (") || !strings.Contains(err.Error(), "refused") {
		t.Errorf("dead broker: %v", err)
	}
	if _, err := c.Do(within(t), wire.Any, groups); err != nil {
		t.Errorf("any broker: %v", err)
	}
}

// In the middle of an upgrade brokers differ: what was assumed is learned, and the requests are built again.
func TestBrokersOfDifferentVersions(t *testing.T) {
	b := kafkatest.Start(t, kafkatest.Options{})
	b.Rewrite(kmsg.ApiVersions.Int16(), func(node int32, r kmsg.Response) bool {
		if node == 1 {
			for i, k := range r.(*kmsg.ApiVersionsResponse).ApiKeys {
				if k.ApiKey == wire.ListGroups {
					r.(*kmsg.ApiVersionsResponse).ApiKeys[i].MaxVersion = 4
				}
			}
		}
		return true
	})
	b.Rewrite(kmsg.ListGroups.Int16(), func(node int32, r kmsg.Response) bool { return node != 1 || r.GetVersion() <= 4 })
	c := client(t, wire.Config{}, b.Addrs()[0])
	for id, want := range map[int32]int16{0: 5, 1: 4, 2: 5} {
		answers, err := c.Do(within(t), id, groups)
		if err != nil || answers[0].GetVersion() != want {
			t.Errorf("broker %d: %v %v", id, answers, err)
		}
	}
}

func TestTooOldNamesTheBroker(t *testing.T) {
	b := kafkatest.Start(t, kafkatest.Options{})
	b.Rewrite(kmsg.ApiVersions.Int16(), func(_ int32, r kmsg.Response) bool {
		a := r.(*kmsg.ApiVersionsResponse)
		keys := a.ApiKeys[:0:0]
		for _, k := range a.ApiKeys {
			if k.ApiKey != wire.OffsetDelete {
				keys = append(keys, k)
			}
		}
		a.ApiKeys = keys
		return true
	})
	_, err := client(t, wire.Config{}, b.Addrs()...).Do(within(t), 1, func(v wire.Versions) ([]kmsg.Request, error) {
		q := kmsg.NewPtrOffsetDeleteRequest()
		return []kmsg.Request{q}, v.Set(q, -1)
	})
	var old *wire.TooOldError
	if !errors.As(err, &old) || old.Broker != 1 || old.API != "OffsetDelete" || b.Count(wire.OffsetDelete) != 0 {
		t.Errorf("got %v", err)
	}
}

func TestSASL(t *testing.T) {
	b := kafkatest.Start(t, kafkatest.Options{Plain: true, Extra: []kfake.Opt{
		kfake.EnableSASL(), kfake.Superuser("PLAIN", "u", "p"),
		kfake.Superuser("SCRAM-SHA-256", "u", "p½"), kfake.Superuser("SCRAM-SHA-512", "v,=", "q\u00a0 "),
	}})
	for _, m := range []sasl.Mechanism{
		plain.Mechanism{Username: "u", Password: "p"},
		wire.Scram{Username: "u", Password: "p½"},
		wire.Scram{Username: "v,=", Password: "q\u00a0 ", SHA512: true},
	} {
		b.Reset()
		c := client(t, wire.Config{SASL: m}, b.Addrs()...)
		for _, id := range []int32{0, 1, 2} {
			if _, err := c.Do(within(t), id, groups); err != nil {
				t.Errorf("%s: %v", m.Name(), err)
			}
		}
		if b.Connections() != 3 || b.Count(wire.Metadata) != 1 {
			t.Errorf("%s: %d connections, %d Metadata", m.Name(), b.Connections(), b.Count(wire.Metadata))
		}
	}
}

// Wrong credentials are tried once: each try counts for a lock-out.
func TestWrongCredentialsAreTriedOnce(t *testing.T) {
	b := kafkatest.Start(t, kafkatest.Options{Plain: true, Extra: []kfake.Opt{kfake.EnableSASL(), kfake.Superuser("PLAIN", "u", "p")}})
	b.Rewrite(wire.SaslHandshake, func(_ int32, r kmsg.Response) bool {
		r.(*kmsg.SASLHandshakeResponse).ErrorCode = 33
		return true
	})
	c := client(t, wire.Config{SASL: plain.Mechanism{Username: "u", Password: "wrong"}}, b.Addrs()...)
	for range 3 {
		_, err := c.Connect(within(t))
		var auth *wire.AuthError
		var e *wire.Error
		if !errors.As(err, &auth) || !errors.As(err, &e) || e.Cause != wire.CauseMechanism || strings.Contains(err.Error(), "wrong") {
			t.Errorf("got %v", err)
		}
		c.NewLook()
	}
	if n := b.Count(wire.SaslHandshake); n != 1 {
		t.Errorf("tried %d times", n)
	}
	var e *wire.Error
	if _, err := client(t, wire.Config{Timeout: time.Second}, b.Addrs()[0]).Connect(within(t)); !errors.As(err, &e) || e.Cause != wire.CauseWantsSASL {
		t.Errorf("without credentials: %v", err)
	}
}

// slowly is a mechanism whose login takes longer than the next address is given to start.
type slowly struct{ sasl.Mechanism }

func (m slowly) Start(ctx context.Context) (sasl.StateMachine, []byte, error) {
	time.Sleep(600 * time.Millisecond)
	return m.Mechanism.Start(ctx)
}

// While one broker looks at the credentials no other gets them.
func TestSlowLoginIsNotRaced(t *testing.T) {
	b := kafkatest.Start(t, kafkatest.Options{Plain: true, Extra: []kfake.Opt{kfake.EnableSASL(), kfake.Superuser("PLAIN", "u", "p")}})
	b.Rewrite(wire.SaslAuthenticate, func(_ int32, r kmsg.Response) bool {
		r.(*kmsg.SASLAuthenticateResponse).ErrorCode = 58
		return true
	})
	c := client(t, wire.Config{SASL: slowly{plain.Mechanism{Username: "u", Password: "p"}}}, b.Addrs()...)
	if _, err := c.Connect(within(t)); !wire.IsRefused(err) {
		t.Errorf("got %v", err)
	}
	if n := b.Count(wire.SaslHandshake); n != 1 {
		t.Errorf("tried %d times", n)
	}
}

// Requests and answers far beyond what the sockets hold must not write at each other for ever.
func TestLargePipelinedExchange(t *testing.T) {
	b := kafkatest.Start(t, kafkatest.Options{Brokers: 1})
	if err := b.Fake.CreateTopic("t", 100_000, nil); err != nil {
		t.Fatal(err)
	}
	c := client(t, wire.Config{Timeout: 20 * time.Second}, b.Addrs()...)
	answers, err := c.Do(within(t), 0, func(v wire.Versions) ([]kmsg.Request, error) {
		var all []kmsg.Request
		for range 4 {
			q := kmsg.NewPtrListOffsetsRequest()
			x := kmsg.NewListOffsetsRequestTopic()
			x.Topic = "t"
			for p := range int32(100_000) {
				y := kmsg.NewListOffsetsRequestTopicPartition()
				y.Partition, y.Timestamp = p, -1
				x.Partitions = append(x.Partitions, y)
			}
			q.Topics = append(q.Topics, x)
			if err := v.Set(q, -1); err != nil {
				return nil, err
			}
			all = append(all, q)
		}
		return all, nil
	})
	if err != nil || len(answers) != 4 || len(answers[3].(*kmsg.ListOffsetsResponse).Topics[0].Partitions) != 100_000 {
		t.Errorf("%d answers, %v", len(answers), err)
	}
}

func TestManyCallersAtOnce(t *testing.T) {
	b := kafkatest.Start(t, kafkatest.Options{})
	c := client(t, wire.Config{}, b.Addrs()...)
	var wg sync.WaitGroup
	for i := range 60 {
		wg.Go(func() {
			if _, err := c.Do(within(t), int32(i%4)-1, groups); err != nil {
				t.Error(err)
			}
		})
	}
	wg.Wait()
	if b.Connections() != 3 {
		t.Errorf("%d connections", b.Connections())
	}
}

func TestInterruptedExchange(t *testing.T) {
	b := kafkatest.Start(t, kafkatest.Options{})
	c := client(t, wire.Config{Timeout: time.Minute}, b.Addrs()...)
	if _, err := c.Do(within(t), 1, groups); err != nil {
		t.Fatal(err)
	}
	b.Freeze(1)
	ctx, cancel := context.WithCancel(t.Context())
	time.AfterFunc(20*time.Millisecond, cancel)
	if _, err := c.Do(ctx, 1, groups); !errors.Is(err, context.Canceled) {
		t.Errorf("got %v", err)
	}
	short, stop := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer stop()
	if _, err := c.Do(short, 1, groups); err == nil || !strings.Contains(err.Error(), "in the time that was left") {
		t.Errorf("got %v", err)
	}
	b.Thaw(1)
	if _, err := c.Do(within(t), 1, groups); err != nil {
		t.Errorf("an interrupted broker is not down: %v", err)
	}
}

// Close ends everything that was started, also in the middle.
func TestCloseLeavesNothingBehind(t *testing.T) {
	b := kafkatest.Start(t, kafkatest.Options{})
	b.Freeze(2)
	quiet := silent(t)
	before := runtime.NumGoroutine()
	for range 10 {
		c := wire.New([]string{quiet, b.Addrs()[0]}, wire.Config{Timeout: time.Minute})
		if _, err := c.Connect(within(t)); err != nil {
			t.Fatal(err)
		}
		done := make(chan error, 1)
		ctx, cancel := context.WithCancel(t.Context())
		go func() {
			_, err := c.Do(ctx, 2, groups)
			done <- err
		}()
		cancel()
		<-done
		c.Close()
		if _, err := c.Do(within(t), 1, groups); err == nil {
			t.Error("a closed client answers")
		}
	}
	b.Thaw(2)
	for end := time.Now().Add(10 * time.Second); ; time.Sleep(10 * time.Millisecond) { // what is counted here includes the fake's own
		if n := runtime.NumGoroutine(); n <= before+6 {
			return
		} else if time.Now().After(end) {
			t.Fatalf("%d goroutines before, %d after", before, n)
		}
	}
}
