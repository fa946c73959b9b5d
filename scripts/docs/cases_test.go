package docs_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// cases are the troubles that operators have told of with offsets, each by the id that its tests carry. What is right in each stands
// in the tests; a function is named by its folder. There may be more tests with the id than are named here. A number that is skipped is a
// trouble that this program has no part in, or that another of its kind covers.
var cases = []struct{ id, about, tests string }{
	{"LOW-1", "a job that was away for longer than its topic keeps records", "cmd.TestLowCases kafkaops/offsets.TestJudge"},
	{"LOW-2", "lag that nobody can ever read, behind a commit below the log's start", "cmd.TestLowCases kafkaops/offsets.TestJudge"},
	{"LOW-4", "offsets that are low by a few only", "cmd.TestLowCases kafkaops/offsets.TestJudge"},
	{"LOW-6", "a repair that writes what is expired already", "cmd.TestLowCases kafkaops/offsets.TestRecheck"},
	{"LOW-8", "a job far behind, whose records are all there", "cmd.TestLowCases kafkaops/offsets.TestJudge"},

	{"HIGH-1", "a topic made anew, whose end the old offset lies beyond", "cmd.TestHighCases"},
	{"HIGH-2", "a topic made anew that has outgrown the old offset", "cmd.TestHighCases kafkaops/offsets.TestIdentity"},
	{"HIGH-4", "partitions that are high by different amounts", "cmd.TestHighCases"},
	{"HIGH-5", "a commit ahead of a log that was cut back", "cmd.TestHighCases"},
	{"HIGH-7", "commits that have to be lowered", "cmd.TestHighCases cmd.TestResetRefuses"},

	{"NONE-1", "no commit, taken for a number", "cmd.TestNoCommitCases kafkaops/offsets.TestJudge"},
	{"NONE-3", "commits that expired while the job stood still", "cmd.TestNoCommitCases cmd.TestResetRefuses"},
	{"NONE-5", "-1 and -2 where an offset belongs", "cmd.TestNoCommitCases cmd.TestFormatCases"},
	{"NONE-6", "a running group that has never committed", "cmd.TestNoCommitCases"},
	{"NONE-8", "a group that only its files still know", "cmd.TestNoCommitCases cmd.TestResetRefuses"},

	{"PART-1", "partitions added since the file was written", "cmd.TestPartitionCases"},
	{"PART-3", "metadata that for a while lists fewer partitions", "cmd.TestPartitionCases cmd.TestEveryWriteCases"},
	{"PART-4", "a topic made anew with fewer partitions", "cmd.TestPartitionCases cmd.TestImportRows"},
	{"PART-5", "a partition that never had a record", "cmd.TestPartitionCases cmd.TestImportRows"},

	{"GRP-1", "a write under a job that runs", "cmd.TestGroupStateCases cmd.TestResetRefuses"},
	{"GRP-4", "a group of the new protocol that the old request calls dead", "cmd.TestGroupStateCases"},
	{"GRP-5", "a group in which Connect's workers meet", "cmd.TestGroupStateCases kafkaops/offsets.TestGate"},
	{"GRP-6", "a misspelled group, which a commit would make", "cmd.TestGroupStateCases"},
	{"GRP-8", "a running job that assigns its partitions by hand", "cmd.TestGroupStateCases cmd.TestEveryWriteCases"},
	{"GRP-9", "share and streams groups", "cmd.TestGroupStateCases cmd.TestEveryWriteCases"},
	{"GRP-10", "a connector that is paused, not stopped", "cmd.TestGroupStateCases kafkaops/offsets.TestGate"},
	{"GRP-11", "a job whose offsets are in two groups", "cmd.TestGroupStateCases cmd.TestEveryWriteCases"},
	{"GRP-12", "a member that is gone, and not yet given up", "cmd.TestGroupStateCases cmd.TestEveryWriteCases"},

	{"WRT-1", "one partition refused among others that were written", "cmd.TestWriteCases cmd.TestEveryWriteCases"},
	{"WRT-3", "one partition out of range, and advice to reset them all", "cmd.TestWriteCases cmd.TestResetMany"},
	{"WRT-5", "a failure that scripts do not see", "cmd.TestWriteCases"},
	{"WRT-7", "a dry run that looks like the real thing", "cmd.TestWriteCases cmd.TestEveryWriteCases"},
	{"WRT-8", "a target that is not the one asked for", "cmd.TestResetWritesWhatItPlanned"},
	{"WRT-10", "an error that tells another range than the broker's", "cmd.TestResetOutOfRange"},
	{"WRT-11", "one step forward in one partition", "cmd.TestResetOnePartition"},

	{"VIS-1", "one topic of several that is deleted", "cmd.TestUnseenCases cmd.TestExportExits"},
	{"VIS-2", "a partition without a leader", "cmd.TestUnseenCases"},
	{"VIS-4", "one topic of several without the right to see it", "cmd.TestUnseenCases cmd.TestExportExits"},
	{"VIS-6", "a topic that is deleted between the plan and the write", "cmd.TestUnseenCases cmd.TestResetRefuses"},
	{"VIS-7", "a group whose only topic is deleted", "cmd.TestUnseenCases"},

	{"LAG-1", "a lag of 1 that is a transaction's marker", "cmd.TestLagCases cmd.TestReplayOverHoles"},
	{"LAG-3", "an end that was read before the commit", "cmd.TestLagCases"},
	{"LAG-4", "commits that stay ahead of a mirrored topic", "cmd.TestLagCases kafkaops/offsets.TestJudge"},
	{"LAG-5", "a compacted topic, of which most offsets are gone", "cmd.TestLagCases cmd.TestReplayOverHoles"},
	{"LAG-8", "last read against next to read", "cmd.TestLagCases"},
	{"LAG-9", "sums over what is unknown", "cmd.TestLagCases"},

	{"TIM-1", "a time after a partition's last record", "cmd.TestTimeCases kafkaops/offsets.TestReset"},
	{"TIM-3", "a time that no record has reached", "cmd.TestTimeCases kafkaops/offsets.TestReset"},
	{"TIM-4", "zones with minutes", "cmd.TestTimeCases"},
	{"TIM-5", "a time without a zone", "cmd.TestTimeCases"},
	{"TIM-6", "seconds in the place of milliseconds", "cmd.TestTimeCases cmd.TestReplayTimes"},
	{"TIM-8", "days in a duration", "cmd.TestTimeCases cmd.TestReplayTimes"},
	{"TIM-10", "timestamps that do not grow with the offsets", "cmd.TestTimeCases cmd.TestReplayTimes"},

	{"FRD-1", "a file of no bytes", "cmd.TestFileReadCases"},
	{"FRD-2", "a file of NUL bytes", "cmd.TestFileReadCases"},
	{"FRD-5", "temporary files and checksums beside the file", "cmd.TestFileReadCases"},
	{"FRD-6", "a group that has no offsets left", "cmd.TestExportImport"},
	{"FRD-7", "one bad entry among good ones", "cmd.TestFileReadCases"},
	{"FRD-9", "a file that is gone while the commits are there", "cmd.TestFileReadCases"},
	{"FRD-11", "a path that is a folder, or may not be read", "cmd.TestFileReadCases"},

	{"FWR-1", "a write that is killed halfway", "cmd.TestFileWriteCases"},
	{"FWR-2", "a rename without a sync", "cmd.TestFileWriteCases"},
	{"FWR-4", "a full disk", "cmd.TestFileWriteCases"},
	{"FWR-5", "a repair by root of a file that is the job's", "cmd.TestFileWriteCases"},
	{"FWR-7", "a file system without locks, and one that loses what was written", "cmd.TestFileWriteCases offsetfile.TestUnsupportedLock"},
	{"FWR-8", "a job that writes while we do", "cmd.TestFileWriteCases kafkaops/offsets.TestRecheck"},
	{"FWR-10", "a folder that goes away", "cmd.TestFileWriteCases"},

	{"FMT-1", "a byte-order mark", "cmd.TestFormatCases offsetfile/exchange.TestCSV"},
	{"FMT-3", "line ends of Windows, and none at the end", "cmd.TestFormatCases offsetfile/exchange.TestCSV"},
	{"FMT-4", "UTF-16, and carriage returns alone", "cmd.TestFormatCases offsetfile/exchange.TestRecognise"},
	{"FMT-5", "a partition twice, with two offsets", "cmd.TestFormatCases offsetfile/exchange.TestCSV"},
	{"FMT-8", "talk in front of a document", "cmd.TestFormatCases"},
	{"FMT-9", "offsets of more than 32 bits, and of more than 64", "cmd.TestFormatCases offsetfile/exchange.TestOursRefuses"},
	{"FMT-11", "the unknown in documents", "cmd.TestExportDocument"},
	{"FMT-12", "an engine's marker in the place of an offset", "cmd.TestFormatCases cmd.TestFileReadCases"},

	{"NAM-1", "slashes and colons in names", "cmd.TestNameCases"},
	{"NAM-3", "the group without a name", "cmd.TestNameCases"},
	{"NAM-4", "names that differ in a dot or an underscore", "cmd.TestNameCases"},
	{"NAM-6", "names that differ in case only", "cmd.TestNameCases"},
	{"NAM-7", "blanks, quotes and line feeds in names", "cmd.TestNameCases"},
	{"NAM-8", "names that look escaped", "cmd.TestNameCases"},

	{"STO-1", "a store of the last record and one of the next", "cmd.TestCopyCountsOnce scripts/live.TestRedisCounts"},
	{"STO-3", "a store's wrong path, key or chroot", "cmd.TestReplayStores offsetfile/zookeeper.TestWrongChroot scripts/live.TestRedisNothingThere"},
	{"STO-5", "a group that is registered in ZooKeeper without offsets", "offsetfile/zookeeper.TestNodes"},
	{"STO-6", "offsets that stayed in the store when the job began to commit", "cmd.TestStoreCases scripts/live.TestZooKeeperOldConsumer"},
	{"STO-7", "a store and commits that disagree", "cmd.TestStoreCases scripts/live.TestRedisAndCommitsDisagree"},
	{"STO-9", "a stored offset that is high for a moment only", "cmd.TestStoreCases"},
	{"STO-10", "a batch missing in a checkpoint", "cmd.TestCheckpoint offsetfile/spark.TestLoad"},
	{"STO-11", "a topic in several sources of a query", "cmd.TestStoreCases offsetfile/spark.TestLoad"},
	{"STO-13", "checksums beside the files of a checkpoint", "cmd.TestCheckpoint offsetfile/spark.TestLoad"},
	{"STO-16", "one bad entry of a store among good ones", "cmd.TestReplayStores"},
	{"STO-18", "a checkpoint of serialised objects", "cmd.TestCheckpoint offsetfile/spark.TestLoad"},

	{"CON-1", "no TLS, on a port that wants it", "cmd.TestConnectionCases"},
	{"CON-3", "TLS, on a port that has none", "cmd.TestConnectionCases"},
	{"CON-4", "Java's key stores", "cmd.TestConnectionCases"},
	{"CON-6", "passwords of all characters", "cmd.TestConnectionCases"},
	{"CON-7", "a broker that is too old", "cmd.TestConnectionCases"},
	{"CON-9", "an advertised name that nobody knows", "cmd.TestConnectionCases"},
	{"CON-10", "a topic of commits that cannot be made", "cmd.TestConnectionCases"},
	{"CON-11", "a coordinator on the move", "cmd.TestConnectionCases kafkaops.TestCoordinatorMoves"},
	{"CON-13", "one broker that does not answer", "cmd.TestConnectionCases"},
	{"CON-15", "thousands of groups and partitions", "cmd.TestConnectionCases"},

	{"MIG-1", "offsets of one cluster, taken to an emptier one", "cmd.TestImportRows kafkaops/offsets.TestMerge"},
	{"MIG-3", "a job that was pointed at another cluster", "cmd.TestHighCases cmd.TestImportRows"},
	{"MIG-5", "leader epochs and metadata of a commit", "cmd.TestImportRows kafkaops/offsets.TestConfirm"},
	{"MIG-6", "offsets of Kafka's own topics", "cmd.TestFormatCases cmd.TestResetRefuses"},

	{"RPL-1", "holes in a range", "cmd.TestReplayOverHoles"},
	{"RPL-3", "a range that is not there", "cmd.TestReplayRanges"},
	{"RPL-4", "a window behind the last record", "cmd.TestReplayTimes"},
	{"RPL-5", "the end of an idle topic", "cmd.TestReplayToTheEndOfAnIdleTopic"},
}

// TestCases holds the table to the tests: each that it names is there and carries the id, and no test carries an id that it lacks.
func TestCases(t *testing.T) {
	carried := caseIDs(t)
	known := map[string]bool{}
	for _, c := range cases {
		if known[c.id] {
			t.Errorf("%s is listed twice", c.id)
		}
		known[c.id] = true
		tests := strings.Fields(c.tests)
		if len(tests) == 0 {
			t.Errorf("%s (%s) has no test", c.id, c.about)
		}
		for _, name := range tests {
			if ids, ok := carried[name]; !ok {
				t.Errorf("%s: there is no test %s", c.id, name)
			} else if !ids[c.id] {
				t.Errorf("%s: the test %s does not carry the id", c.id, name)
			}
		}
	}
	for _, name := range slices.Sorted(maps.Keys(carried)) {
		for id := range carried[name] {
			if !known[id] {
				t.Errorf("%s carries %s, which the table lacks", name, id)
			}
		}
	}
}

// caseIDs finds all test functions of the repository, each with the ids that stand in it or above it.
func caseIDs(t *testing.T) map[string]map[string]bool {
	t.Helper()
	id := regexp.MustCompile(`\b(?:LOW|HIGH|NONE|PART|GRP|WRT|VIS|LAG|TIM|FRD|FWR|FMT|NAM|STO|CON|MIG|RPL)-\d+\b`)
	carried := map[string]map[string]bool{}
	err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || !strings.HasSuffix(path, "_test.go") {
			return err
		}
		text, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		set := token.NewFileSet()
		file, err := parser.ParseFile(set, path, text, parser.ParseComments)
		if err != nil {
			return err
		}
		folder, err := filepath.Rel(root, filepath.Dir(path))
		if err != nil {
			return err
		}
		for _, decl := range file.Decls {
			f, ok := decl.(*ast.FuncDecl)
			if !ok || f.Recv != nil || !strings.HasPrefix(f.Name.Name, "Test") {
				continue
			}
			from := f.Pos()
			if f.Doc != nil {
				from = f.Doc.Pos()
			}
			ids := map[string]bool{}
			for _, s := range id.FindAllString(string(text[set.Position(from).Offset:set.Position(f.End()).Offset]), -1) {
				ids[s] = true
			}
			carried[filepath.ToSlash(folder)+"."+f.Name.Name] = ids
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return carried
}
