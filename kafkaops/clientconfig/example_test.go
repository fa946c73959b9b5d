package clientconfig_test

import (
	"fmt"
	"os"
	"path/filepath"

	"gtoffset/kafkaops/clientconfig"
)

// What comes first wins: here a file over the environment.
func Example() {
	folder, err := os.MkdirTemp("", "")
	if err != nil {
		panic(err)
	}
	defer os.RemoveAll(folder)
	path := filepath.Join(folder, "client.properties")
	if err := os.WriteFile(path, []byte("bootstrap.servers=kafka1:9092,kafka2:9092\n"), 0o600); err != nil {
		panic(err)
	}
	getenv := func(name string) string {
		return map[string]string{"KAFKA_BOOTSTRAP_SERVERS": "elsewhere:9092"}[name]
	}

	file, err := clientconfig.ReadFile(path)
	if err != nil {
		panic(err)
	}
	ours, kafkas := clientconfig.Environment(getenv)
	settings, err := clientconfig.Merge(file, ours, kafkas)
	if err != nil {
		panic(err)
	}
	connection, err := settings.Connect(getenv)
	if err != nil {
		panic(err)
	}
	fmt.Println(connection.Protocol, connection.Bootstrap)
	// Output: PLAINTEXT [kafka1:9092 kafka2:9092]
}
