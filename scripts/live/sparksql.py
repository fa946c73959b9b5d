"""Runs queries of Structured Streaming over Kafka, one after the other: a line of JSON on stdin each, and one on stdout for its end.

query:  {"bootstrap", "sources": [{"subscribe", "startingOffsets"}], "checkpoint", "most", "die"}
answer: {"records": [[topic, partition, offset], …], "error": text or null}

most is maxOffsetsPerTrigger. With die the query's process kills itself in that batch: it is planned, its records are read, and it is
never committed.
"""
import json
import os
import signal
import sys

from pyspark.sql import SparkSession

out = os.fdopen(os.dup(1), "w")
os.dup2(2, 1)  # what Spark prints is not an answer

spark = (
    SparkSession.builder.master("local[2]")
    .config("spark.jars", sys.argv[1])
    .config("spark.ui.enabled", "false")
    .config("spark.sql.shuffle.partitions", "1")
    .config("spark.driver.bindAddress", "127.0.0.1")
    .config("spark.driver.host", "127.0.0.1")
    .getOrCreate()
)
spark.sparkContext.setLogLevel("ERROR")


def run(query):
    records = []

    def batch(rows, number):
        records.extend([r.topic, r.partition, r.offset] for r in rows.collect())
        if number == query.get("die"):
            os.killpg(0, signal.SIGKILL)

    stream = None
    for source in query["sources"]:
        one = spark.readStream.format("kafka").option("kafka.bootstrap.servers", query["bootstrap"])
        one = one.option("maxOffsetsPerTrigger", query["most"])
        for name, value in source.items():
            one = one.option(name, value)
        one = one.load().select("topic", "partition", "offset")
        stream = one if stream is None else stream.union(one)
    writer = stream.writeStream.foreachBatch(batch).option("checkpointLocation", query["checkpoint"])
    writer.trigger(availableNow=True).start().awaitTermination()
    return records


for line in sys.stdin:
    answer = {"records": [], "error": None}
    try:
        answer["records"] = run(json.loads(line))
    except Exception as e:  # of Spark, which has many kinds
        answer["error"] = str(e)
    print(json.dumps(answer), file=out, flush=True)
