package wire

import "fmt"

// Kafka's error codes that are branched on.
const (
	CodeNone                     int16 = 0
	CodeUnknownServerError       int16 = -1
	CodeOffsetOutOfRange         int16 = 1
	CodeUnknownTopic             int16 = 3
	CodeLeaderNotAvailable       int16 = 5
	CodeNotLeader                int16 = 6
	CodeRequestTimedOut          int16 = 7
	CodeBrokerNotAvailable       int16 = 8
	CodeReplicaNotAvailable      int16 = 9
	CodeMessageTooLarge          int16 = 10
	CodeMetadataTooLarge         int16 = 12
	CodeNetworkException         int16 = 13
	CodeCoordinatorLoading       int16 = 14
	CodeCoordinatorNotAvailable  int16 = 15
	CodeNotCoordinator           int16 = 16
	CodeInvalidTopic             int16 = 17
	CodeRecordListTooLarge       int16 = 18
	CodeNotEnoughReplicas        int16 = 19
	CodeNotEnoughReplicasAppend  int16 = 20
	CodeIllegalGeneration        int16 = 22
	CodeInvalidGroupID           int16 = 24
	CodeUnknownMember            int16 = 25
	CodeRebalanceInProgress      int16 = 27
	CodeInvalidCommitSize        int16 = 28
	CodeTopicAuthorization       int16 = 29
	CodeGroupAuthorization       int16 = 30
	CodeClusterAuthorization     int16 = 31
	CodeUnsupportedSASLMechanism int16 = 33
	CodeIllegalSASLState         int16 = 34
	CodeUnsupportedVersion       int16 = 35
	CodeInvalidRequest           int16 = 42
	CodeOutOfOrderSequence       int16 = 45
	CodeDuplicateSequence        int16 = 46
	CodeInvalidProducerEpoch     int16 = 47
	CodeStorageError             int16 = 56
	CodeSASLFailed               int16 = 58
	CodeUnknownProducerID        int16 = 59
	CodeNonEmptyGroup            int16 = 68
	CodeGroupNotFound            int16 = 69
	CodeFencedLeaderEpoch        int16 = 74
	CodeUnknownLeaderEpoch       int16 = 75
	CodeOffsetNotAvailable       int16 = 78
	CodeMemberIDRequired         int16 = 79
	CodeFencedInstanceID         int16 = 82
	CodeSubscribedToTopic        int16 = 86
	CodeUnstableOffsetCommit     int16 = 88
	CodeThrottlingQuotaExceeded  int16 = 89
	CodeUnknownTopicID           int16 = 100
	CodeInconsistentTopicID      int16 = 103
	CodeFencedMemberEpoch        int16 = 110
	CodeUnreleasedInstanceID     int16 = 111
	CodeStaleMemberEpoch         int16 = 113
)

// code names a Kafka error, and says in plain words what it means to an operator.
func code(n int16) (name, words string) {
	switch n {
	case -1:
		return "UNKNOWN_SERVER_ERROR", "the broker met an error that it does not explain; its log does"
	case 0:
		return "NONE", ""
	case 1:
		return "OFFSET_OUT_OF_RANGE", "the offset is not in the partition"
	case 2:
		return "CORRUPT_MESSAGE", "the broker found the data damaged"
	case 3:
		return "UNKNOWN_TOPIC_OR_PARTITION", "there is no such topic or partition"
	case 5:
		return "LEADER_NOT_AVAILABLE", "no leader"
	case 6:
		return "NOT_LEADER_OR_FOLLOWER", "the leader has just moved"
	case 7:
		return "REQUEST_TIMED_OUT", "the broker could not finish the request in time"
	case 8:
		return "BROKER_NOT_AVAILABLE", "the broker is not available"
	case 9:
		return "REPLICA_NOT_AVAILABLE", "the replica is not available"
	case 10:
		return "MESSAGE_TOO_LARGE", "too large for the broker"
	case 12:
		return "OFFSET_METADATA_TOO_LARGE", "the commit's metadata is longer than the broker allows (offset.metadata.max.bytes)"
	case 13:
		return "NETWORK_EXCEPTION", "the broker lost its connection to another broker"
	case 14:
		return "COORDINATOR_LOAD_IN_PROGRESS", "the group's coordinator is still loading its groups"
	case 15:
		return "COORDINATOR_NOT_AVAILABLE", "no broker coordinates the group; " + OffsetsTopic + " may lack a leader, or cannot be created (offsets.topic.replication.factor above the number of brokers)"
	case 16:
		return "NOT_COORDINATOR", "the group's coordinator has just moved"
	case 17:
		return "INVALID_TOPIC_EXCEPTION", "no topic can have this name"
	case 18:
		return "RECORD_LIST_TOO_LARGE", "the batch is larger than a segment of the log may be (segment.bytes)"
	case 19:
		return "NOT_ENOUGH_REPLICAS", "too few replicas are in sync"
	case 20:
		return "NOT_ENOUGH_REPLICAS_AFTER_APPEND", "too few replicas are in sync"
	case 22:
		return "ILLEGAL_GENERATION", "the group is active"
	case 24:
		return "INVALID_GROUP_ID", "no group can have this name"
	case 25:
		return "UNKNOWN_MEMBER_ID", "the group is active"
	case 27:
		return "REBALANCE_IN_PROGRESS", "the group is active"
	case 28:
		return "INVALID_COMMIT_OFFSET_SIZE", "too large for one commit"
	case 29:
		return "TOPIC_AUTHORIZATION_FAILED", "a right on the topic is missing"
	case 30:
		return "GROUP_AUTHORIZATION_FAILED", "a right on the group is missing"
	case 31:
		return "CLUSTER_AUTHORIZATION_FAILED", "a right on the cluster is missing"
	case 32:
		return "INVALID_TIMESTAMP", "a timestamp is further from now than the topic allows (message.timestamp.before.max.ms, message.timestamp.after.max.ms)"
	case 33:
		return "UNSUPPORTED_SASL_MECHANISM", "the listener does not accept this SASL mechanism"
	case 34:
		return "ILLEGAL_SASL_STATE", "the listener does not authenticate"
	case 35:
		return "UNSUPPORTED_VERSION", "the broker does not support this request in this version"
	case 41:
		return "NOT_CONTROLLER", "the controller has just moved"
	case 42:
		return "INVALID_REQUEST", "the broker does not accept the request"
	case 44:
		return "POLICY_VIOLATION", "a policy of the broker forbids it"
	case 45:
		return "OUT_OF_ORDER_SEQUENCE_NUMBER", "the broker does not have what was written before"
	case 46:
		return "DUPLICATE_SEQUENCE_NUMBER", "the broker has it already"
	case 47:
		return "INVALID_PRODUCER_EPOCH", "the broker no longer knows the producer"
	case 56:
		return "KAFKA_STORAGE_ERROR", "a disk of the broker failed"
	case 58:
		return "SASL_AUTHENTICATION_FAILED", "the broker refused the credentials"
	case 59:
		return "UNKNOWN_PRODUCER_ID", "the broker no longer knows the producer"
	case 68:
		return "NON_EMPTY_GROUP", "the group is active"
	case 69:
		return "GROUP_ID_NOT_FOUND", "there is no such group"
	case 72:
		return "LISTENER_NOT_FOUND", "the leader has no listener of this name"
	case 74:
		return "FENCED_LEADER_EPOCH", "the leader has just moved"
	case 75:
		return "UNKNOWN_LEADER_EPOCH", "the leader has just moved"
	case 76:
		return "UNSUPPORTED_COMPRESSION_TYPE", "this compression is not supported"
	case 78:
		return "OFFSET_NOT_AVAILABLE", "the new leader does not know the end yet"
	case 79:
		return "MEMBER_ID_REQUIRED", "the group is active"
	case 81:
		return "GROUP_MAX_SIZE_REACHED", "the group is full"
	case 82:
		return "FENCED_INSTANCE_ID", "the group is active"
	case 86:
		return "GROUP_SUBSCRIBED_TO_TOPIC", "the group is subscribed to the topic"
	case 87:
		return "INVALID_RECORD", "the broker does not accept a record"
	case 88:
		return "UNSTABLE_OFFSET_COMMIT", "a transaction that commits this offset is still open"
	case 89:
		return "THROTTLING_QUOTA_EXCEEDED", "the quota is used up"
	case 100:
		return "UNKNOWN_TOPIC_ID", "the topic was recreated or removed"
	case 103:
		return "INCONSISTENT_TOPIC_ID", "the topic was recreated"
	case 110:
		return "FENCED_MEMBER_EPOCH", "the group is active"
	case 111:
		return "UNRELEASED_INSTANCE_ID", "the group is active"
	case 112:
		return "UNSUPPORTED_ASSIGNOR", "the assignor is not supported"
	case 113:
		return "STALE_MEMBER_EPOCH", "the group is active"
	}
	return fmt.Sprintf("error code %d", n), ""
}

// CodeName is Kafka's name for an error code, or "error code N".
func CodeName(n int16) string {
	name, _ := code(n)
	return name
}

// CodeText says an error code in plain words with Kafka's name behind them.
func CodeText(n int16) string {
	name, words := code(n)
	if words == "" {
		return name
	}
	return words + " (" + name + ")"
}
