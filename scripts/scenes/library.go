package scenes

import (
	"encoding/pem"
	"errors"
	"fmt"
	"net/http/httptest"
	"os"
	"path/filepath"
	"time"
)

// library has everything that a command line of the docs and the help names: a group that has caught up, with a store and a history;
// other groups, topics, documents, programs, passwords.
func library(s *Stage) error {
	b := s.Broker
	for topic, partitions := range map[string]int32{"orders": 8, "payments": 2, "old-orders": 1, "orders-repair": 8, "orders-again": 8, "redo": 8} {
		if err := b.CreateTopic(topic, partitions); err != nil {
			return err
		}
	}
	ends := []int64{100, 100, 100, 1300, 100, 100, 100, 100} // lines read up to 1300 of partition 3
	for p, end := range ends {
		var values []string
		for i := range end {
			values = append(values, fmt.Sprintf(`{"order":%d,"kind":"refund"}`, i))
		}
		if err := b.Produce("orders", int32(p), values...); err != nil {
			return err
		}
	}
	s.known("kafka1:9093", b.Bootstrap())
	for _, path := range []string{"/old", "/new"} {
		s.known(" "+path, " "+s.path(path))
	}
	s.env = append(s.env, "PW=a", "REDIS_PASSWORD=b", "DB_PASSWORD=c", "TOKEN=d")
	return errors.Join(
		s.moves(),
		s.commit(b, group, "orders", ends...),
		s.commit(b, group, "old-orders", 0),
		s.commit(b, "billing-test", "orders", ends...),
		s.save("orders", time.Hour, ends...),
		s.save("old-orders", time.Hour, 0),
		os.Symlink(s.path(Store), s.path(home+"/offsets")), // as the help calls it
		s.shelves(),
	)
}

// shelves puts down the files.
func (s *Stage) shelves() error {
	tls := httptest.NewTLSServer(nil)
	defer tls.Close()
	for path, text := range map[string]string{
		home + "/load-batch":                    "#!/bin/sh\ncat >/dev/null\n",
		home + "/client.properties":             "security.protocol=PLAINTEXT\n",
		home + "/offsets.csv":                   "orders,0,90\norders,1,90\n",
		home + "/ca.pem":                        string(pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: tls.Certificate().Raw})),
		"/old/billing/orders/gtoffset":          "0 90\n1 90\n",
		"/new/.keep":                            "",
		home + "/a/billing/orders/gtoffset":     "0 90\n1 90\n",
		home + "/b/.keep":                       "",
		"/var/lib/node_exporter/textfile/.keep": "",
		"/checkpoints/billing/metadata":         `{"id":"8f8f4b0e-7d2c-4d51-9d0e-0a6f0b1c2d3e"}`,
		"/checkpoints/billing/offsets/0":        "v1\n{\"batchWatermarkMs\":0,\"batchTimestampMs\":1795953600000}\n{\"orders\":{\"0\":90,\"1\":90}}\n",
		"/checkpoints/billing/commits/0":        "v1\n{\"nextBatchWatermarkMs\":0}\n",
	} {
		if err := os.MkdirAll(filepath.Dir(s.path(path)), 0o755); err != nil {
			return err
		}
		if err := os.WriteFile(s.path(path), []byte(text), 0o755); err != nil {
			return err
		}
	}
	return nil
}
