package records

import "fmt"

// DamagedError says that a batch is not what its writer wrote, or not what we understand.
type DamagedError struct {
	Topic     string
	Partition int32
	Offset    int64 // first offset of the batch; of an old compressed one, its last
	CRC       bool  // the checksum does not match
	Reason    string
}

func (e *DamagedError) Error() string {
	return fmt.Sprintf("%s: the batch at offset %d is damaged: %s", place(e.Topic, e.Partition), e.Offset, e.Reason)
}

// TooLargeError says that a batch would take more memory than is allowed when it is decompressed.
type TooLargeError struct {
	Topic     string
	Partition int32
	Offset    int64 // first offset of the batch
	Codec     Codec
	Limit     int // bytes
}

func (e *TooLargeError) Error() string {
	return fmt.Sprintf("%s: the %s batch at offset %d decompresses to more than %d bytes", place(e.Topic, e.Partition), e.Codec, e.Offset, e.Limit)
}

// ExpiredError says that records were deleted before they were read: those from Position to below Earliest are lost.
type ExpiredError struct {
	Topic     string
	Partition int32
	Position  int64 // the next one to read
	Earliest  int64 // the first that is left
}

func (e *ExpiredError) Error() string {
	return fmt.Sprintf("%s: the records from offset %d to %d expired before they were read: the partition now begins at %d",
		place(e.Topic, e.Partition), e.Position, e.Earliest-1, e.Earliest)
}

// TruncatedError says that the partition ends before the position: its log was cut, or it is another one.
type TruncatedError struct {
	Topic     string
	Partition int32
	Position  int64 // the next one to read
	End       int64 // of the log, or of the history that was read
}

func (e *TruncatedError) Error() string {
	return fmt.Sprintf("%s: the log was cut back to offset %d, and %d is the next to read: the records read last are no longer in it",
		place(e.Topic, e.Partition), e.End, e.Position)
}

// GoneError says that the topic or the partition was deleted, or that another one has its name now.
type GoneError struct {
	Topic     string
	Partition int32  // None: the topic
	ID, Now   string // the topic's id when reading began, and its id now, as Kafka prints them; "" if there is none
}

func (e *GoneError) Error() string {
	switch {
	case e.Now != "" && e.ID != e.Now:
		return fmt.Sprintf("topic %q was recreated while it was read: its id was %s and is %s", e.Topic, e.ID, e.Now)
	case e.Partition != None:
		return fmt.Sprintf("%s no longer exists", place(e.Topic, e.Partition))
	}
	return fmt.Sprintf("topic %q no longer exists", e.Topic)
}

// UnreachableError says that a partition could not be reached for as long as was to be waited.
type UnreachableError struct {
	Topic     string
	Partition int32
	Broker    int32  // the leader that was asked last; None if there was none
	Waited    string // how long
	Err       error  // what was wrong last; may be a *wire.Error
}

func (e *UnreachableError) Error() string {
	if e.Broker == None {
		return fmt.Sprintf("%s: no leader for %s: %v", place(e.Topic, e.Partition), e.Waited, e.Err)
	}
	return fmt.Sprintf("%s: no answer from its leader, broker %d, for %s: %v", place(e.Topic, e.Partition), e.Broker, e.Waited, e.Err)
}

func (e *UnreachableError) Unwrap() error { return e.Err }

// RefusedError says that the broker refused a partition for good.
type RefusedError struct {
	Topic     string
	Partition int32
	Broker    int32
	Code      int16  // Kafka's error code
	Reason    string // in words
	Denied    bool   // a right is missing
}

func (e *RefusedError) Error() string {
	return fmt.Sprintf("%s: broker %d: %s", place(e.Topic, e.Partition), e.Broker, e.Reason)
}

// WriteError says which record could not be written, and why.
type WriteError struct {
	Topic     string // the one that is written to
	Partition int32
	Source    int64  // Record.Offset of the record, or of the first record of the batch that was refused
	Last      int64  // of the last record of that batch; Source if it is one record
	Code      int16  // Kafka's error code; 0 if it is not the broker's answer
	Denied    bool   // a right is missing
	Unknown   bool   // it may have been written all the same
	Reason    string // in words
	Err       error  // what was wrong on the way; nil if the broker refused it
}

func (e *WriteError) Error() string {
	what := fmt.Sprintf("the record from source offset %d", e.Source)
	if e.Last != e.Source {
		what = fmt.Sprintf("the records from source offsets %d to %d", e.Source, e.Last)
	}
	unknown := ""
	if e.Unknown {
		unknown = "; whether they were written is unknown"
	}
	return fmt.Sprintf("write %s to %s: %s%s", what, place(e.Topic, e.Partition), e.Reason, unknown)
}

func (e *WriteError) Unwrap() error { return e.Err }

func place(topic string, partition int32) string {
	return fmt.Sprintf("partition %d of topic %q", partition, topic)
}
