package live

import (
	"context"
	_ "embed" // for the script
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
)

// PySpark is the release of Spark whose Structured Streaming is run. It comes with a Spark of its own, but for the connector to Kafka.
const PySpark = "4.2.0"

//go:embed sparksql.py
var sparkScript string

// Python returns the python of a virtual environment with a package, given as NAME==VERSION, made on first use and kept under the
// user's cache folder.
func Python(ctx context.Context, requirement string) (python string, err error) {
	cache, err := os.UserCacheDir()
	if err != nil {
		return "", err
	}
	dir := filepath.Join(cache, "gtoffset-live", strings.Replace(requirement, "==", "-", 1))
	if err := os.MkdirAll(filepath.Dir(dir), 0o755); err != nil {
		return "", err
	}
	unlock, err := lock(dir + ".lock")
	if err != nil {
		return "", err
	}
	defer unlock()
	python = filepath.Join(dir, "bin", "python")
	mark := filepath.Join(dir, "complete")
	if _, err := os.Stat(mark); err == nil {
		return python, nil
	}
	if err := os.RemoveAll(dir); err != nil {
		return "", err
	}
	for _, line := range [][]string{
		{"python3", "-m", "venv", dir},
		{python, "-m", "pip", "install", "-q", "--no-cache-dir", "--disable-pip-version-check", requirement},
	} {
		if _, err := output(ctx, exec.Command(line[0], line[1:]...)); err != nil {
			return "", fmt.Errorf("install %s: %w", requirement, err)
		}
	}
	return python, os.WriteFile(mark, nil, 0o644)
}

// SparkSQL is a Spark that runs one query after the other.
type SparkSQL struct {
	*Process
	dir     string
	in      io.WriteCloser
	answers *json.Decoder
	said    *shared
}

// SparkSource is what one Kafka source of a query is told, by the names of its options.
type SparkSource map[string]string

// SparkQuery reads all that is there just now, in batches, and ends.
type SparkQuery struct {
	Bootstrap  string        `json:"bootstrap"`
	Sources    []SparkSource `json:"sources"`
	Checkpoint string        `json:"checkpoint"`
	Most       int           `json:"most"` // records of a batch and source
	Die        *int          `json:"die"`  // the batch in which Spark kills itself before it is committed
}

// SparkRecord is a record that a query has read.
type SparkRecord struct {
	Topic     string
	Partition int32
	Offset    int64
}

// UnmarshalJSON reads [topic, partition, offset].
func (r *SparkRecord) UnmarshalJSON(b []byte) error {
	return json.Unmarshal(b, &[]any{&r.Topic, &r.Partition, &r.Offset})
}

// StartSparkSQL starts Spark. It ends with Stop, or with ctx. user is who it is in HDFS; "" for nobody.
func StartSparkSQL(ctx context.Context, user string) (_ *SparkSQL, err error) {
	python, err := Python(ctx, "pyspark=="+PySpark)
	if err != nil {
		return nil, err
	}
	// What Spark has itself is left out: most of it, and of other versions.
	jars, err := artifacts(ctx, "spark-sql-kafka-"+PySpark, []string{"org.apache.spark:spark-sql-kafka-0-10_2.13:" + PySpark},
		"org.apache.hadoop:hadoop-client-api", "org.apache.hadoop:hadoop-client-runtime", "org.scala-lang:scala-library", "org.slf4j:slf4j-api")
	if err != nil {
		return nil, fmt.Errorf("fetch Spark's connector to Kafka: %w", err)
	}
	all, err := filepath.Glob(filepath.Join(jars, "*.jar"))
	if err != nil {
		return nil, err
	}
	dir, err := os.MkdirTemp("", "gtoffset-spark-")
	if err != nil {
		return nil, err
	}
	s := &SparkSQL{dir: dir, said: &shared{}}
	cmd := exec.Command(python, "-c", sparkScript, strings.Join(all, ","))
	cmd.Dir, cmd.Stderr = dir, s.said
	cmd.Env = append(os.Environ(), "SPARK_LOCAL_DIRS="+dir, "PYSPARK_PYTHON="+python)
	if user != "" {
		cmd.Env = append(cmd.Env, "HADOOP_USER_NAME="+user)
	}
	reader, writer := io.Pipe()
	cmd.Stdout = writer
	stdin, write, err := os.Pipe()
	if err != nil {
		return nil, err
	}
	cmd.Stdin, s.in, s.answers = stdin, write, json.NewDecoder(reader)
	s.Process, err = Start(cmd)
	stdin.Close()
	if err != nil {
		write.Close()
		return nil, errors.Join(err, os.RemoveAll(dir))
	}
	go func() {
		<-s.Done()
		writer.CloseWithError(io.ErrUnexpectedEOF)
	}()
	context.AfterFunc(ctx, s.Stop)
	return s, nil
}

// Run runs a query to its end and returns the records that it has read. A query that was to die has read none that anybody knows of.
func (s *SparkSQL) Run(q SparkQuery) ([]SparkRecord, error) {
	line, err := json.Marshal(q)
	if err != nil {
		return nil, err
	}
	if _, err := s.in.Write(append(line, '\n')); err != nil {
		return nil, fmt.Errorf("ask Spark: %w\n%s", err, tail(s.said.String(), 20))
	}
	var answer struct {
		Records []SparkRecord
		Error   *string
	}
	err = s.answers.Decode(&answer)
	switch {
	case err != nil && q.Die != nil:
		return nil, nil
	case err != nil:
		return nil, fmt.Errorf("ask Spark: %w\n%s", err, tail(s.said.String(), 20))
	case answer.Error != nil:
		return nil, errors.New(tail(*answer.Error, 20))
	}
	return answer.Records, nil
}

// Stop ends Spark and removes its files.
func (s *SparkSQL) Stop() {
	s.Process.Stop()
	s.in.Close()
	_ = os.RemoveAll(s.dir)
}
