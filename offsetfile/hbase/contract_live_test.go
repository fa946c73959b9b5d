//go:build live

package hbase_test

import (
	"context"
	"encoding/binary"
	"fmt"
	"os"
	"strconv"
	"testing"

	"gtoffset/offsetfile"
	"gtoffset/offsetfile/hbase"
	"gtoffset/offsetfile/storetest"
	"gtoffset/scripts/live"
)

// must ends the test at once: what it wanted to look at could not be set up.
func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// real is the HBase that all tests share: it takes long to start.
var real *live.HBase

func TestMain(m *testing.M) {
	os.Exit(func() int {
		var err error
		if real, err = live.StartHBase(context.Background()); err != nil {
			fmt.Fprintln(os.Stderr, err)
			return 1
		}
		defer real.Stop()
		return m.Run()
	}())
}

func open(t testing.TB, url string, o offsetfile.Options) offsetfile.Store {
	t.Helper()
	a, err := offsetfile.ParseAddress(url, nil)
	must(t, err)
	s, err := hbase.Open(a, o)
	must(t, err)
	must(t, a.Unused())
	return s
}

// noPlace is why a topic as such cannot be broken.
const noPlace = "a topic's place is a row, which the gateway reads as cells or not at all; rights are those of the table"

func TestContract(t *testing.T) {
	ctx := context.Background()
	must(t, real.CreateTable(ctx, "text", "offsets"))
	service := storetest.Service{
		Addr: real.Addr,
		Open: func(t testing.TB, g storetest.Given) offsetfile.Store {
			t.Helper()
			return open(t, fmt.Sprintf("hbase://%s/text?%s", g.Addr, g.Params), g.Options)
		},
		Peek: func(t testing.TB, group, topic string, partition int32) string {
			t.Helper()
			value, err := real.Get(ctx, "text", group+":"+topic, fmt.Sprintf("offsets:%d", partition))
			must(t, err)
			return string(value)
		},
		Poke: func(t testing.TB, group, topic string, partition int32, text string) {
			t.Helper()
			must(t, real.Put(ctx, "text", group+":"+topic, fmt.Sprintf("offsets:%d", partition), []byte(text)))
		},
		Missing: func(t testing.TB, place string, o offsetfile.Options) offsetfile.Store {
			t.Helper()
			return open(t, fmt.Sprintf("hbase://%s/%s", real.Addr, place), o)
		},
		Others: func(t testing.TB, group, topic string) func() string {
			t.Helper()
			must(t, real.Put(ctx, "text", group+":"+topic, "offsets:of another", []byte("5")))
			return func() string {
				t.Helper()
				value, err := real.Get(ctx, "text", group+":"+topic, "offsets:of another")
				must(t, err)
				return string(value)
			}
		},
		Unbroken: noPlace,
		Kill:     func(testing.TB) { real.KillGateway() },
		Start:    func(t testing.TB) { t.Helper(); must(t, real.StartGateway(ctx)) },
		Turns:    1000, // one a partition
	}
	storetest.Run(t, service)
}

func TestContractBinary(t *testing.T) {
	ctx := context.Background()
	must(t, real.CreateTable(ctx, "binary", "f"))
	row := func(group, topic string) string { return "offset/" + topic + "/" + group }
	column := func(partition int32) string { return fmt.Sprintf("f:p%d", partition) }
	storetest.Run(t, storetest.Service{
		Addr: real.Addr,
		Open: func(t testing.TB, g storetest.Given) offsetfile.Store {
			t.Helper()
			return open(t, fmt.Sprintf("hbase://%s/binary?row=offset/{topic}/{group}&family=f&column=p{partition}&values=binary&%s", g.Addr, g.Params), g.Options)
		},
		Peek: func(t testing.TB, group, topic string, partition int32) string {
			t.Helper()
			value, err := real.Get(ctx, "binary", "offset%2F"+topic+"%2F"+group, column(partition))
			must(t, err)
			if len(value) != 8 {
				return string(value)
			}
			return strconv.FormatInt(int64(binary.BigEndian.Uint64(value)), 10)
		},
		Poke: func(t testing.TB, group, topic string, partition int32, text string) {
			t.Helper()
			value := []byte(text) // what is no number is not 8 bytes
			if n, err := strconv.ParseInt(text, 10, 64); err == nil && strconv.FormatInt(n, 10) == text {
				value = binary.BigEndian.AppendUint64(nil, uint64(n))
			}
			must(t, real.Put(ctx, "binary", row(group, topic), column(partition), value))
		},
		Missing: func(t testing.TB, place string, o offsetfile.Options) offsetfile.Store { // a table that is there is not given another family
			t.Helper()
			return open(t, fmt.Sprintf("hbase://%s/binary?family=%s&row=offset/{topic}/{group}", real.Addr, place), o)
		},
		Unbroken: noPlace,
		NotMade:  true,
	})
}
