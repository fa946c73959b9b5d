import java.io.IOException;
import java.nio.file.Paths;
import java.util.Collection;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.Collectors;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.clients.consumer.KafkaConsumer;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.serialization.StringDeserializer;
import org.apache.spark.SparkConf;
import org.apache.spark.api.java.JavaRDD;
import org.apache.spark.streaming.Durations;
import org.apache.spark.streaming.api.java.JavaInputDStream;
import org.apache.spark.streaming.api.java.JavaStreamingContext;
import org.apache.spark.streaming.kafka010.ConsumerStrategies;
import org.apache.spark.streaming.kafka010.HasOffsetRanges;
import org.apache.spark.streaming.kafka010.KafkaUtils;
import org.apache.spark.streaming.kafka010.LocationStrategies;
import org.apache.spark.streaming.kafka010.OffsetRange;

/**
 * A small Spark Streaming job that keeps its place in a gtoffset file, by the scheme that docs/file-format.md describes: read the
 * stored offsets, correct those that the cluster no longer has, process a batch, and only then save.
 *
 * <pre>
 *   gtoffset clamp -g GROUP -t TOPIC -s STORE --stored --execute     makes the file on the first run, and looks whether the topic
 *                                                                    is still the same one
 *   flock -n -F STORE/GROUP/TOPIC/gtoffset.lock \
 *     spark-submit --class StreamingJob job.jar kafka1:9092 GROUP TOPIC STORE/GROUP/TOPIC
 * </pre>
 *
 * Its processing is to print each record; put your own in its place. Killed at any moment it repeats one batch at most, and loses
 * none.
 */
public final class StreamingJob {
  public static void main(String[] arguments) throws Exception {
    String topic = arguments[2];
    Map<String, Object> consumer = consumer(arguments[0], arguments[1]);
    GtoffsetFile file = GtoffsetFile.load(Paths.get(arguments[3]));
    Map<TopicPartition, Long> from = start(file.offsets(), consumer, topic);

    SparkConf conf = new SparkConf().setAppName(arguments[1]).setIfMissing("spark.master", "local[2]")
        .set("spark.streaming.stopGracefullyOnShutdown", "true") // SIGTERM: the batch at hand is finished, and saved
        .set("spark.streaming.concurrentJobs", "1"); // batches in turn, so that what is saved is what is done
    JavaStreamingContext streaming = new JavaStreamingContext(conf, Durations.seconds(1));
    JavaInputDStream<ConsumerRecord<String, String>> stream = KafkaUtils.createDirectStream(streaming,
        LocationStrategies.PreferConsistent(), ConsumerStrategies.Assign(from.keySet(), consumer, from));
    stream.foreachRDD(rdd -> {
      OffsetRange[] batch = ((HasOffsetRanges) rdd.rdd()).offsetRanges();
      process(rdd);
      save(file, batch);
    });
    streaming.start();
    streaming.awaitTermination(); // a batch that fails ends the job here, unsaved
  }

  /** When it returns, the output of the batch is complete. */
  private static void process(JavaRDD<ConsumerRecord<String, String>> rdd) {
    for (String line : rdd.map(r -> r.topic() + " " + r.partition() + " " + r.offset() + " " + r.value()).collect()) {
      System.out.println(line);
    }
    System.out.flush();
  }

  private static void save(GtoffsetFile file, OffsetRange[] batch) throws IOException {
    Map<Integer, Long> next = new HashMap<>();
    for (OffsetRange range : batch) {
      next.put(range.partition(), range.untilOffset());
    }
    if (!next.equals(file.offsets())) { // an empty batch needs no save
      file.save(next);
    }
  }

  /** Where each partition is read on from: where the file says, within what the cluster has; the earliest, if it was never read. */
  private static Map<TopicPartition, Long> start(Map<Integer, Long> stored, Map<String, Object> consumer, String topic) {
    try (KafkaConsumer<String, String> kafka = new KafkaConsumer<>(consumer)) {
      Collection<TopicPartition> partitions = partitions(kafka, topic);
      Map<TopicPartition, Long> earliest = kafka.beginningOffsets(partitions);
      Map<TopicPartition, Long> end = kafka.endOffsets(partitions);
      Map<TopicPartition, Long> from = new HashMap<>();
      for (TopicPartition p : partitions) {
        long offset = stored.getOrDefault(p.partition(), earliest.get(p));
        from.put(p, Math.min(Math.max(offset, earliest.get(p)), end.get(p)));
      }
      return from;
    }
  }

  private static List<TopicPartition> partitions(KafkaConsumer<String, String> kafka, String topic) {
    return kafka.partitionsFor(topic).stream().map(p -> new TopicPartition(topic, p.partition())).collect(Collectors.toList());
  }

  private static Map<String, Object> consumer(String brokers, String group) {
    Map<String, Object> consumer = new HashMap<>();
    consumer.put("bootstrap.servers", brokers);
    consumer.put("group.id", group);
    consumer.put("key.deserializer", StringDeserializer.class);
    consumer.put("value.deserializer", StringDeserializer.class);
    consumer.put("enable.auto.commit", false); // the file is the place
    consumer.put("auto.offset.reset", "none"); // what is out of range later on is an error, and not passed over
    return consumer;
  }
}
