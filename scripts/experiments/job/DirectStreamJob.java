import java.io.FileOutputStream;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Paths;
import java.util.Collections;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.serialization.StringDeserializer;
import org.apache.spark.SparkConf;
import org.apache.spark.api.java.JavaRDD;
import org.apache.spark.streaming.Duration;
import org.apache.spark.streaming.api.java.JavaInputDStream;
import org.apache.spark.streaming.api.java.JavaStreamingContext;
import org.apache.spark.streaming.kafka010.CanCommitOffsets;
import org.apache.spark.streaming.kafka010.ConsumerStrategies;
import org.apache.spark.streaming.kafka010.ConsumerStrategy;
import org.apache.spark.streaming.kafka010.HasOffsetRanges;
import org.apache.spark.streaming.kafka010.KafkaUtils;
import org.apache.spark.streaming.kafka010.LocationStrategies;
import org.apache.spark.streaming.kafka010.OffsetRange;

/**
 * A Spark Streaming job with a direct stream over one topic. It keeps its place in one of three ways. Arguments are name=value:
 *
 * <pre>
 *   mode=auto|async|file   enable.auto.commit, commitAsync after each batch, or a gtoffset file
 *   bootstrap= group= topic=
 *   interval=MS            of a batch
 *   rate=N                 records a second and partition at most; 0: no limit
 *   folder=PATH            STORE/group/topic of the gtoffset file (mode=file)
 *   output=FILE            one line "partition offset value" for each record processed, synced once a batch
 *   scratch=FOLDER         for Spark
 *   hold=POINT:N           stand still before (POINT is "before") or after ("after") the output of batch N, to be killed there
 *   slow=MS                each batch takes that much longer, before its output
 *   consumer.KEY=VALUE     a property of Kafka's consumer
 * </pre>
 *
 * On standard output it says "started", "batch N MS partition:from-until ..." when a batch has ended, so many milliseconds after
 * its time had come, "holding" and "stopped". When standard input ends it stops gracefully: stop(true, true). It ends with 1 when a batch fails.
 */
public final class DirectStreamJob {
  private final Map<String, String> options;
  private final Offsets offsets;
  private int batches;

  /** Where the job keeps its place. */
  private interface Offsets {
    void processed(OffsetRange[] batch) throws IOException;
  }

  public static void main(String[] arguments) {
    Map<String, String> options = new HashMap<>();
    for (String argument : arguments) {
      int equals = argument.indexOf('=');
      options.put(argument.substring(0, equals), argument.substring(equals + 1));
    }
    try {
      new DirectStreamJob(options).run();
      say("stopped");
      System.exit(0);
    } catch (Throwable e) {
      e.printStackTrace();
      System.exit(1);
    }
  }

  private final JavaStreamingContext streaming;
  private final JavaInputDStream<ConsumerRecord<String, String>> stream;

  private DirectStreamJob(Map<String, String> options) throws IOException {
    this.options = options;
    streaming = new JavaStreamingContext(spark(), new Duration(Long.parseLong(options.get("interval"))));
    switch (options.get("mode")) {
      case "file":
        GtoffsetFile file = GtoffsetFile.load(Paths.get(options.get("folder")));
        stream = stream(from(file.offsets()));
        offsets = batch -> file.save(ends(batch));
        break;
      case "async":
        stream = stream(Collections.emptyMap());
        offsets = batch -> ((CanCommitOffsets) stream.inputDStream()).commitAsync(batch);
        break;
      default:
        stream = stream(Collections.emptyMap());
        offsets = batch -> { }; // Kafka's consumer commits by itself
    }
  }

  private void run() throws Exception {
    try (FileOutputStream output = new FileOutputStream(options.get("output"))) {
      stream.foreachRDD((rdd, time) -> {
        OffsetRange[] batch = ((HasOffsetRanges) rdd.rdd()).offsetRanges();
        batches++;
        holdAt("before:" + batches);
        Thread.sleep(Long.parseLong(options.getOrDefault("slow", "0")));
        process(rdd, output);
        holdAt("after:" + batches);
        offsets.processed(batch);
        say("batch " + batches + " " + (System.currentTimeMillis() - time.milliseconds()) + text(batch));
      });
      streaming.start();
      say("started");
      Thread stop = new Thread(this::stopAtEndOfInput);
      stop.start();
      streaming.awaitTermination();
      stop.join();
    }
  }

  private void holdAt(String point) throws InterruptedException {
    if (point.equals(options.get("hold"))) {
      say("holding");
      Thread.sleep(Long.MAX_VALUE);
    }
  }

  private static void process(JavaRDD<ConsumerRecord<String, String>> rdd, FileOutputStream output) throws IOException {
    List<String> lines = rdd.map(r -> r.partition() + " " + r.offset() + " " + r.value() + "\n").collect();
    if (!lines.isEmpty()) {
      output.write(String.join("", lines).getBytes(StandardCharsets.UTF_8));
      output.getFD().sync();
    }
  }

  private void stopAtEndOfInput() {
    try {
      while (System.in.read() >= 0) { }
    } catch (IOException e) {
      e.printStackTrace(); // stop all the same
    }
    streaming.stop(true, true);
  }

  private SparkConf spark() {
    SparkConf conf = new SparkConf().setMaster("local[2]").setAppName("experiment")
        .set("spark.ui.enabled", "false")
        .set("spark.driver.host", "127.0.0.1")
        .set("spark.driver.bindAddress", "127.0.0.1")
        .set("spark.local.dir", options.get("scratch"));
    if (!options.get("rate").equals("0")) {
      conf.set("spark.streaming.kafka.maxRatePerPartition", options.get("rate"));
    }
    return conf;
  }

  private JavaInputDStream<ConsumerRecord<String, String>> stream(Map<TopicPartition, Long> from) {
    Map<String, Object> consumer = new HashMap<>();
    consumer.put("bootstrap.servers", options.get("bootstrap"));
    consumer.put("group.id", options.get("group"));
    consumer.put("key.deserializer", StringDeserializer.class);
    consumer.put("value.deserializer", StringDeserializer.class);
    consumer.put("auto.offset.reset", "earliest");
    consumer.put("enable.auto.commit", options.get("mode").equals("auto"));
    options.forEach((key, value) -> {
      if (key.startsWith("consumer.")) {
        consumer.put(key.substring("consumer.".length()), value);
      }
    });
    ConsumerStrategy<String, String> strategy =
        ConsumerStrategies.Subscribe(Collections.singletonList(options.get("topic")), consumer, from);
    return KafkaUtils.createDirectStream(streaming, LocationStrategies.PreferConsistent(), strategy);
  }

  private Map<TopicPartition, Long> from(Map<Integer, Long> offsets) {
    Map<TopicPartition, Long> from = new HashMap<>();
    offsets.forEach((partition, offset) -> from.put(new TopicPartition(options.get("topic"), partition), offset));
    return from;
  }

  private static Map<Integer, Long> ends(OffsetRange[] batch) {
    Map<Integer, Long> ends = new TreeMap<>();
    for (OffsetRange range : batch) {
      ends.put(range.partition(), range.untilOffset());
    }
    return ends;
  }

  private static String text(OffsetRange[] batch) {
    StringBuilder text = new StringBuilder();
    for (OffsetRange range : batch) {
      text.append(' ').append(range.partition()).append(':').append(range.fromOffset()).append('-').append(range.untilOffset());
    }
    return text.toString();
  }

  private static synchronized void say(String line) {
    System.out.println(line);
    System.out.flush();
  }
}
