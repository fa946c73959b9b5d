package live

import (
	"context"
	"fmt"
	"os/exec"
	"path/filepath"
)

// Spark is the release of Spark Streaming, for Scala 2.13, whose jobs the experiments run. It needs Java 17.
const Spark = "3.5.1"

// SparkJars returns the folder with Spark Streaming and its direct stream over Kafka, fetched and kept as Jars does it.
func SparkJars(ctx context.Context) (string, error) {
	dir, err := artifacts(ctx, "spark-"+Spark, []string{
		"org.apache.spark:spark-streaming_2.13:" + Spark,
		"org.apache.spark:spark-streaming-kafka-0-10_2.13:" + Spark,
		"org.slf4j:slf4j-api:2.0.7", // kafka-clients asks for 1.7, for which there is no binding: every error would be silent
	}, "org.rocksdb:rocksdbjni") // 59 MB for state that no stream here has
	if err != nil {
		return "", fmt.Errorf("fetch Spark %s: %w", Spark, err)
	}
	return dir, nil
}

// SparkJava is the command that runs a main class of the folder classes, where a log4j2.properties may lie, with Spark's jars.
func SparkJava(jars, classes, class string, args ...string) *exec.Cmd {
	return exec.Command("java", append([]string{
		"-Xmx640m", // Spark refuses to start below 450 MB that it can use
		"-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1", "-XX:-UsePerfData",
		"--add-exports=java.base/sun.nio.ch=ALL-UNNAMED", // Spark's block manager looks in there
		"-cp", classes + ":" + filepath.Join(jars, "*"), class,
	}, args...)...)
}
