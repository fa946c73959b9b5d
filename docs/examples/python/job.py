"""A small job that keeps its place in a gtoffset file, by the scheme that docs/file-format.md describes: read the stored offsets,
correct those that the cluster no longer has, process a batch, and only then save.

    pip install kafka-python
    python3 job.py kafka1:9092 billing orders /var/lib/billing/offsets

Its processing is to print each record; put your own in its place. Killed at any moment it repeats one batch at most, and loses
none. Whether the topic is still the same one only gtoffset knows: let it look before the start, with
gtoffset clamp -g GROUP -t TOPIC -s STORE --stored --execute.
"""

import signal
import sys

from kafka import KafkaConsumer, TopicPartition

from gtoffset_file import GtoffsetFile

MOST = 500  # records in a batch, and so at most so many that may come again after a crash


def process(records):
    """A batch. When it returns, its output is complete."""
    for r in records:
        print(r.topic, r.partition, r.offset, r.value.decode())
    sys.stdout.flush()


def start(stored, earliest, end):
    """Where each partition is read on from: where the file says, within what the cluster has; the earliest, if it was never read."""
    return {p: min(max(stored.get(p.partition, first), first), end[p]) for p, first in earliest.items()}


def work(consumer, file, topic, running):
    partitions = [TopicPartition(topic, p) for p in consumer.partitions_for_topic(topic)]
    consumer.assign(partitions)
    places = start(file.offsets, consumer.beginning_offsets(partitions), consumer.end_offsets(partitions))
    for partition, offset in places.items():
        consumer.seek(partition, offset)
    while running():
        batch = consumer.poll(timeout_ms=500, max_records=MOST)
        if not batch:
            continue
        for records in batch.values():
            process(records)
        file.save({p.partition: records[-1].offset + 1 for p, records in batch.items()})


def main(brokers, group, topic, store):
    interrupted = []
    for s in (signal.SIGINT, signal.SIGTERM):
        signal.signal(s, lambda number, _: interrupted.append(number))  # the batch at hand is finished, and saved
    # What is out of range later on is an error, and not passed over.
    consumer = KafkaConsumer(bootstrap_servers=brokers.split(","), enable_auto_commit=False, auto_offset_reset="none")
    with GtoffsetFile(store, group, topic) as file:
        work(consumer, file, topic, lambda: not interrupted)
    consumer.close()


if __name__ == "__main__":
    if len(sys.argv) != 5:
        sys.exit(__doc__)
    main(*sys.argv[1:])
