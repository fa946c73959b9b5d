package cmd_test

import (
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// What the commands make of a store beside the commits. That each kind of store does its part is tested in its own folder.
func TestStoreCases(t *testing.T) {
	t.Parallel()
	t.Run("STO-6 a job that begins to commit", func(t *testing.T) {
		t.Parallel()
		w := start(t).topic("orders", [2]int64{0, 1500}).save("billing", "orders", 1000)
		reset := []string{"reset", "-g", "billing", "-t", "orders", "-s", w.store, "--to-stored", "--execute"}
		w.run(reset...).exits(4).says("does not exist", "--create")
		w.run(append(reset, "--create")...).exits(0).prints("1 of 1 verified")
		same(t, "taken over", w.committed("billing", "orders"), "0=1000")
		// A job that commits for a while has a second truth: nobody chooses between them but the operator.
		w.commit("billing", "orders", 400)
		r := w.run("describe", "-g", "billing", "-s", w.store).exits(0)
		same(t, "side by side", r.line("orders", 0), "orders 0 0 1000 400 1500 1100 500 committed 600 behind stored")
		w.run("clamp", "-g", "billing", "-s", w.store, "--execute").exits(2).says("both the store and the commits have offsets", "--stored or --committed")
		w.run(reset...).exits(0)
		same(t, "the store's by choice", w.committed("billing", "orders"), "0=1000")
	})
	t.Run("STO-7 store and commits disagree", func(t *testing.T) {
		t.Parallel()
		w := start(t).topic("orders", [2]int64{200, 300}).save("billing", "orders", 50).commit("billing", "orders", 260)
		r := w.run("describe", "-g", "billing", "-s", w.store).exits(0)
		same(t, "side by side", r.line("orders", 0), "orders 0 200 50 260 300 40 100 stored low: 150 expired; 60 unprocessed")
		w.run("clamp", "-g", "billing", "-s", w.store, "--execute").exits(2)
		w.run("clamp", "-g", "billing", "-s", w.store, "--stored", "--execute").exits(0).prints("1 of 1 verified")
		same(t, "stored", w.stored("billing", "orders"), "0=200")
		same(t, "committed", w.committed("billing", "orders"), "0=260")
	})
	t.Run("STO-9 high for a moment only", func(t *testing.T) {
		t.Parallel()
		w := start(t).topic("orders", [2]int64{0, 305}).commit("billing", "orders", 300)
		gateway := httptest.NewServer(http.HandlerFunc(func(out http.ResponseWriter, r *http.Request) {
			if r.Method != http.MethodGet {
				t.Errorf("%s %s", r.Method, r.URL)
			}
			// Row billing:orders, column offsets:0, value 300.
			_, _ = io.WriteString(out, `{"Row":[{"key":"YmlsbGluZzpvcmRlcnM=","Cell":[{"column":"b2Zmc2V0czow","timestamp":1795978064527,"$":"MzAw"}]}]}`)
		}))
		defer gateway.Close()
		store := strings.Replace(gateway.URL, "http", "hbase", 1) + "/jobs"
		again := w.stale(298)
		row := w.run("describe", "-g", "billing", "-s", store, "-o", "json").exits(0).describe().row(t, "orders", 0)
		same(t, "row", words(row.End, row.Stored.Offset, row.Stored.Condition, row.Stored.Lag), "305 300 ok 5")
		again()
		w.run("clamp", "-g", "billing", "-t", "orders", "-s", store, "--stored", "--execute").exits(0).prints("in range", "Nothing to do")
	})
	t.Run("STO-11 a topic in several sources", func(t *testing.T) {
		t.Parallel()
		w := start(t).topic("orders", [2]int64{0, 20}).commit("billing", "orders", 5)
		ck := t.TempDir()
		for name, text := range map[string]string{
			"offsets/0": "v1\n{}\n" + `{"orders":{"0":10}}` + "\n" + `{"orders":{"0":10}}` + "\n" + `{"orders":{"0":12}}`, "commits/0": "v1\n{}",
		} {
			must(t, os.MkdirAll(filepath.Dir(filepath.Join(ck, name)), 0o755))
			must(t, os.WriteFile(filepath.Join(ck, name), []byte(text), 0o644))
		}
		reset := []string{"reset", "-g", "billing", "-t", "orders", "--committed", "--to-stored", "--execute", "-s"}
		w.run("describe", "-g", "billing", "-s", "spark:"+ck).exits(3).prints("source 0 has 0:10, source 1 has 0:10, source 2 has 0:12")
		w.run(append(reset, "spark:"+ck)...).exits(4).says("choose one with ?source=")
		same(t, "not merged", w.committed("billing", "orders"), "0=5")
		for source, want := range []string{"0=10", "0=10", "0=12"} {
			w.run(append(reset, fmt.Sprintf("spark:%s?source=%d", ck, source))...).exits(0)
			same(t, "by choice", w.committed("billing", "orders"), want)
		}
	})
}
