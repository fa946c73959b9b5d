package cmd_test

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kmsg"
	"github.com/twmb/franz-go/pkg/kversion"

	"gtoffset/kafkaops/kafkatest"
)

// What holds for every command: the same mistake is the same error with the same hint.

// A name that came out empty is told of as such: it is a variable that is not set, most likely.
func TestGroupWithoutAName(t *testing.T) {
	t.Parallel()
	for _, line := range []string{
		"describe", "describe --members", "export", "wait --empty", "clamp --execute", "reset --all-topics --to-latest --execute",
		"delete --whole-group --execute", "replay --from committed", "history",
	} {
		t.Run(line, func(t *testing.T) {
			t.Parallel()
			w, _ := moved(t)
			r := w.run(append(strings.Fields(line), "-g", "")...).exits(1)
			r.says(`group "" is not known to the cluster`, "hint: is a variable not set? -g '' is the group without a name")
			same(t, "stdout", strings.Contains(r.out, "No record"), false)
			same(t, "writes", w.writes(), 0)
		})
	}
	for _, command := range []string{"history", "replay --from committed"} {
		w := start(t)
		w.run(append(strings.Fields(command), "-g", "", "-g", "billing")...).exits(2).says(`--group is "" already, and this command is about one group`)
		same(t, "requests", w.b.Count(), 0)
	}
}

// Whatever a right is missing for, the hint is the command that gives it.
func TestMissingRight(t *testing.T) {
	t.Parallel()
	group := func(w *world) { w.b.DenyGroup("billing") }
	topic := func(w *world) { w.b.DenyTopic("orders") }
	commit := func(err *kerr.Error) func(w *world) {
		return func(w *world) {
			for p := range int32(3) {
				w.b.FailCommit("orders", p, err)
			}
		}
	}
	removal := func(w *world) {
		w.b.Rewrite(kmsg.OffsetDelete.Int16(), func(_ int32, r kmsg.Response) bool {
			a := r.(*kmsg.OffsetDeleteResponse)
			a.ErrorCode, a.Topics = kerr.GroupAuthorizationFailed.Code, nil
			return true
		})
	}
	deletion := func(w *world) {
		w.b.Rewrite(kmsg.DeleteGroups.Int16(), func(_ int32, r kmsg.Response) bool {
			r.(*kmsg.DeleteGroupsResponse).Groups[0].ErrorCode = kerr.GroupAuthorizationFailed.Code
			return true
		})
	}
	for _, c := range []struct {
		code  int
		line  string // as in outcomes
		world func(w *world)
		right string
	}{
		{3, "describe -g billing", group, "--operation Describe --group billing"},
		{3, "describe -g billing", topic, "--operation Describe --topic orders"},
		{3, "describe -g billing --state", group, "--operation Describe --group billing"},
		{3, "wait -g billing --lag 5", group, "--operation Describe --group billing"},
		{3, "export -g billing", topic, "--operation Describe --topic orders"},
		{4, "clamp -g billing --execute", group, "--operation Describe --group billing"},
		{4, "clamp -g billing -t orders --dry-run", topic, "--operation Describe --topic orders"},
		{4, "reset -g billing -t orders --to-latest --execute", group, "--operation Describe --group billing"},
		{4, "reset -g billing -t orders --to-latest --execute", topic, "--operation Describe --topic orders"},
		{1, "reset -g billing -t orders --to-latest --execute", commit(kerr.TopicAuthorizationFailed), "--operation Read --topic orders"},
		{1, "reset -g billing -t orders --to-latest --execute", commit(kerr.GroupAuthorizationFailed), "--operation Read --group billing"},
		{4, "reset -g other -t orders --from-group billing --execute", group, "--operation Describe --group billing"},
		{4, "import BACKUP --execute", topic, "--operation Describe --topic orders"},
		{1, "import BACKUP --execute", commit(kerr.TopicAuthorizationFailed), "--operation Read --topic orders"},
		{4, "delete -g billing -t orders --execute", group, "--operation Describe --group billing"},
		{1, "delete -g billing -t orders --execute", removal, "--operation Delete --group billing"},
		{1, "delete -g billing --whole-group --execute", deletion, "--operation Delete --group billing"},
		{4, "replay -g billing -t orders:1 --from committed", group, "--operation Describe --group billing"},
		{4, "replay -g billing -t orders:1 --from earliest", topic, "--operation Describe --topic orders"},
		{4, "history -g billing", func(w *world) { w.b.DenyTopic("__consumer_offsets") }, "--operation Read --topic __consumer_offsets"},
	} {
		t.Run(fmt.Sprintf("%s %s", c.line, c.right), func(t *testing.T) {
			t.Parallel()
			w, args := outcomeWorld(t, outcome{line: c.line, world: c.world})
			r := w.run(args...).exits(c.code)
			r.says("not allowed: ", "hint: kafka-acls.sh --bootstrap-server "+w.b.Bootstrap()+" --add --allow-principal User:NAME "+c.right)
		})
	}
}

// A variable whose name is nearly ours is told of where what it should have set is missing, and nowhere else.
func TestMisspelledVariable(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		variable, line, near string
	}{
		{"GTOFFSET_BOOTSTRAP_SERVRE", "describe", "GTOFFSET_BOOTSTRAP_SERVER"},
		{"GTOFSET_BOOTSTRAP_SERVER", "describe", "GTOFFSET_BOOTSTRAP_SERVER"},
		{"gtoffset_bootstrap_server", "clamp -g billing --execute", "GTOFFSET_BOOTSTRAP_SERVER"},
		{"KAFKA_BOOTSTRAP_SERVER", "history -g billing", "KAFKA_BOOTSTRAP_SERVERS"},
		{"GTOFFSET_COMMAND_CONF", "wait -g billing --empty", "GTOFFSET_COMMAND_CONFIG"},
		{"GTOFFSET_STORES", "clamp -g billing --stored --execute", "GTOFFSET_STORE"},
		{"GTOFFSET_SOTRE", "describe -g billing --max-unprocessed 5", "GTOFFSET_STORE"},
		{"GTOFFSET_SOTRE", "wait -g billing --stored-caught-up", "GTOFFSET_STORE"},
		{"GTOFFSET_SOTRE", "reset -g billing -t orders --to-safe --execute", "GTOFFSET_STORE"},
		{"GTOFFSET_SOTRE", "replay -g billing -t orders", "GTOFFSET_STORE"},
		{"GTOFFSET_SASL_PASWORD", "describe -X security.protocol=SASL_PLAINTEXT -X sasl.mechanism=PLAIN -X sasl.username=alice", "GTOFFSET_SASL_PASSWORD"},
	} {
		t.Run(c.variable+" "+c.line, func(t *testing.T) {
			t.Parallel()
			w := start(t)
			if !strings.Contains(c.near, "STORE") {
				delete(w.vars, "GTOFFSET_BOOTSTRAP_SERVER")
			}
			w.run(strings.Fields(c.line)...).exits(2).never("reads no variable")
			w.vars[c.variable] = "hush"
			w.run(strings.Fields(c.line)...).exits(2).says("hint: " + c.variable + " is set, and gtoffset reads no variable of that name: did you mean " + c.near + "? else ").never("hush")
		})
	}
	w := start(t).topic("orders", [2]int64{0, 9}).commit("billing", "orders", 5)
	w.vars["GTOFFSET_CLIENT_ID"], w.vars["GTOFFSET_CLIENT_IDS"] = "ops", "ops" // what is set is not missing
	w.run("config").exits(0).prints("note: set, and not read by gtoffset: GTOFFSET_CLIENT_IDS").never("did you mean")
	w.vars["GTOFFSET_SOTRE"], w.vars["GTOFFSET_GROUP"], w.vars["PATH"] = "/x", "billing", "/bin"
	w.run("config").exits(0).prints("GTOFFSET_SOTRE is set, and gtoffset reads no variable of that name: did you mean GTOFFSET_STORE?").never("GTOFFSET_GROUP")
}

// A length of time has its unit, in every flag that takes one; the error says what to type, and the help says it in the same words.
func TestUnits(t *testing.T) {
	t.Parallel()
	for flag, line := range map[string]string{
		"--for": "wait -g billing --empty", "--wait-empty": "clamp -g billing --execute", "--idle": "clamp -g billing --execute",
		"--max-behind": "describe -g billing", "--min-expires-in": "describe -g billing", "--exec-timeout": "replay -g billing", "--batch-interval": "replay -g billing",
		"--by-duration": "reset -g billing -t orders --execute", "--prune": "backups", "--since": "history -g billing", "--until": "history -g billing",
	} {
		t.Run(flag, func(t *testing.T) {
			t.Parallel()
			w := start(t)
			args := strings.Fields(line)
			w.run(append(args, flag, "60")...).exits(2).
				says("error: "+flag+` "60" has no unit`, "hint: "+flag+" 60s, or "+flag+" 60m, or "+flag+" 60h, or "+flag+" 60d")
			if flag != "--for" { // which may be no time at all
				w.run(append(args, flag, "0")...).exits(2).says("error: " + flag + ` "0" is zero`).never("0s")
			}
			same(t, "requests", w.b.Count(), 0)
			if flag == "--since" || flag == "--until" {
				return // a time as well
			}
			help := strings.Join(strings.Fields(w.run(args[0], "--help").exits(0).out), " ")
			_, of, _ := strings.Cut(help, " "+flag+" DURATION ")
			if before, _, _ := strings.Cut(of, " --"); !strings.Contains(before, "DURATION (90s, 5m, 2h, 1d)") {
				t.Errorf("the help of %s does not tell the unit: %s", flag, before)
			}
		})
	}
	w := start(t).topic("orders", [2]int64{0, 9}).commit("billing", "orders", 5)
	for _, given := range []string{"2000", "2s", "1m", "1d", "PT2S"} { // a bare number is milliseconds, as in Kafka's tools
		w.run("describe", "-g", "billing", "--timeout", given).exits(0)
	}
	w.run("describe", "-g", "billing", "--timeout", "60").exits(2).says(`--timeout "60" is under a second; a bare number is milliseconds`)
}

// How much is lost already is in a plan as it is in describe, whatever is written, and the same in each format.
func TestExpiredInPlans(t *testing.T) {
	t.Parallel()
	w := start(t).topic("orders", [2]int64{500, 900}, [2]int64{300, 900}, [2]int64{0, 900}).commit("billing", "orders", 120, 200, 100)
	w.save("billing", "orders", 100, 200, 100)
	for _, c := range []struct {
		line           string
		expired, total int64
		says           string
	}{
		{"clamp -g billing --committed", 380, 480, "480 have expired, and are lost either way"},
		{"clamp -g billing -s STORE --stored --committed", 380, 500, "500 have expired, and are lost either way"},
		{"reset -g billing -t orders --to-latest", 380, 480, "480 have expired, and are lost either way"},
		{"reset -g billing -t orders --to-earliest", 380, 480, "480 have expired, and are lost either way"},
		{"reset -g billing -t orders:0 --to-latest", 380, 380, "380 have expired"},
		{"reset -g billing -t orders:2 --to-latest", 0, 0, ""},
		{"delete -g billing -t orders", 0, 0, ""},
	} {
		t.Run(c.line, func(t *testing.T) {
			args := strings.Fields(strings.ReplaceAll(c.line, "STORE", w.store) + " --dry-run")
			r := w.run(args...).exits(0).prints(c.says)
			if c.total == 0 {
				r.never("expired")
			}
			type plan struct {
				Groups []struct{ Changes []changeDoc }
				Counts struct{ Expired int64 }
			}
			doc := document[plan](w.run(append(args, "-o", "json")...).exits(0), "gtoffset.plan/1")
			same(t, "in all", doc.Counts.Expired, c.total)
			for _, ch := range doc.Groups[0].Changes {
				if ch.Partition == 0 && ch.Side == "committed" {
					same(t, "of orders 0", ch.Expired, c.expired)
				}
			}
			counts, _ := w.run(append(args, "-o", "yaml")...).exits(0).yaml()["counts"].(map[string]any)
			same(t, "in yaml", fmt.Sprint(counts["expired"]), fmt.Sprint(c.total))
		})
	}
	of := w.run("describe", "-g", "billing", "-o", "json").exits(0).describe()
	same(t, "describe's", of.row(t, "orders", 0).Committed.Expired.String(), "380")
}

// Where what stood before cannot come back, the hint of history says why, and what it prints can be typed all the same.
func TestHistoryHintOfAnotherTopic(t *testing.T) {
	t.Parallel()
	back := func(t *testing.T, w *world, want string) {
		t.Helper()
		r := w.run("history", "-g", "billing").exits(0).prints(want)
		_, line, found := strings.Cut(r.out, ": gtoffset reset ")
		if !found {
			t.Fatalf("no command in the hint\n%v", r)
		}
		w.run(append(append([]string{"reset"}, strings.Fields(line)...), "--execute")...).exits(0).prints(" verified")
	}
	id := [16]byte{9}
	t.Run("recreated", func(t *testing.T) {
		t.Parallel()
		w, log := past(t)
		w.topic("orders", [2]int64{10, 1000})
		log.Batch(after(0), kafkatest.ClassicGroup("billing", 1, "app-7")).
			Batch(after(1), kafkatest.OffsetCommitOf(4, id, "billing", "orders", 0, 500, "")).
			Batch(after(2), kafkatest.ClassicGroup("billing", 2)).
			Batch(after(3), kafkatest.OffsetCommitOf(4, id, "billing", "orders", 0, 100, ""))
		w.commit("billing", "orders", 100)
		back(t, w, "hint: orders cannot return to before 2031-11-29 09:00:03.000Z: the topic was recreated or cut back since, and what was committed then means nothing in it; to read it from its beginning: gtoffset reset -g billing -t orders --to-earliest")
		same(t, "committed", w.committed("billing", "orders"), "0=10")
	})
	t.Run("one of two", func(t *testing.T) {
		t.Parallel()
		w, log := past(t)
		w.topic("orders", [2]int64{0, 1000}).topic("payments", [2]int64{0, 40})
		payments := func(offset int64) kafkatest.Entry {
			return kafkatest.OffsetCommit("billing", "payments", 0, offset, "")
		}
		log.Batch(after(0), kafkatest.ClassicGroup("billing", 1, "app-7")).Batch(after(1), entry(0, 500), payments(50)).
			Batch(after(2), kafkatest.ClassicGroup("billing", 2)).Batch(after(3), entry(0, 100), payments(20))
		w.commit("billing", "orders", 100).commit("billing", "payments", 20)
		back(t, w, "hint: payments cannot: the topic was recreated, or ends below what stood then; to return to before 2031-11-29 09:00:03.000Z: gtoffset reset -g billing -t orders --to-commit-at 2031-11-29T09:00:02.999Z\n")
		same(t, "committed", w.committed("billing", "orders")+" "+w.committed("billing", "payments"), "0=500 0=20")
	})
	t.Run("expired since", func(t *testing.T) {
		t.Parallel()
		w, log := moved(t)
		log.Batch(after(6), kafkatest.ClassicGroup("billing", 3))
		w.grow("orders", [2]int64{600, 1000})
		back(t, w, "hint: to return to before 2031-11-29 09:00:05.000Z, as far as it has not expired since: gtoffset reset -g billing -t orders --to-commit-at 2031-11-29T09:00:04.999Z --clamp\n")
		same(t, "committed", w.committed("billing", "orders"), "0=600 1=500 2=500")
	})
}

// A backup and a plan say themselves which side they are of: a flag that says otherwise does not go unheard.
func TestImportSidesOfBackupAndPlan(t *testing.T) {
	t.Parallel()
	w := low(t)
	before := w.committed("billing", "orders")
	backup := w.run("clamp", "-g", "billing", "--committed", "--execute").exits(0).undo()[1]
	after := w.committed("billing", "orders")
	planned := w.run("reset", "-g", "billing", "-t", "orders", "--to-latest", "--committed", "--dry-run", "-o", "json").exits(0)
	plan := filepath.Join(t.TempDir(), "plan.json")
	must(t, os.WriteFile(plan, []byte(planned.out), 0o600))
	for source, kind := range map[string]string{backup: "a backup", plan: "a plan"} {
		for _, sides := range [][]string{{"--stored"}, {"--stored", "--committed"}} {
			w.run(append([]string{"import", source, "-s", w.store, "--execute"}, sides...)...).exits(4).
				says(kind+" of committed offsets, and is written whole; nothing was written", "leave out --stored and --committed")
		}
	}
	same(t, "committed", w.committed("billing", "orders"), after)
	w.run("import", backup, "--committed", "--execute").exits(0)
	same(t, "committed", w.committed("billing", "orders"), before)
}

// Where a flag would decide a partition, but the group stands against it as well, both are said at once.
func TestRefusalsAreToldTogether(t *testing.T) {
	t.Parallel()
	w := start(t).topic("orders", [2]int64{0, 1000}).commit("billing", "orders", 10)
	document := filepath.Join(t.TempDir(), "high.csv")
	must(t, os.WriteFile(document, []byte("orders,0,2000\n"), 0o600))
	w.run("import", document, "-g", "billing", "--committed", "--execute").exits(4).
		says("2000 is high: the range is 0..1000; --clamp would skip up to 990 readable", "hint: add --clamp; to read again what is there, in the place of --clamp: gtoffset reset -g billing -t orders:0 --committed --to-earliest\n")
	w.run("import", document, "-g", "nobody", "--committed", "--execute").exits(4).says(`group "nobody" does not exist`, "hint: add --create; --clamp; to read again")
	_, err := w.b.Join("billing", true, "orders")
	must(t, err)
	w.run("import", document, "-g", "billing", "--committed", "--execute").exits(4).says(`group "billing" is active`, "hint: add --wait-empty 60s; --clamp; to read again")

	// Of a document from before the topic was recreated, too, and with what is out of range beside.
	export := strings.ReplaceAll(strings.Replace(documents[0].text, `"offset":600`, `"offset":2000`, 1), `"topic_id":null`, `"topic_id":"AAAAAAAAAAAAAAAAAAAAAA"`)
	w = start(t).topic("orders", [2]int64{0, 1000}, [2]int64{0, 1000})
	r := w.run("import", w.document(export), "--dry-run").exits(4).prints(`refused: group "billing" does not exist`)
	r.says("or it is of another topic: its id was AAAAAAAAAAAAAAAAAAAAAA and is ", "; 2000 is high", "hint: add --create; --recreated keep; --clamp; to read again")
	w.run("import", w.document(export), "--execute", "--create", "--recreated", "keep", "--clamp").exits(0)

	// A reset that follows the document leaves these flags to import.
	w.commit("billing", "orders", 1, 1)
	recreated := w.document(export)
	w.run("reset", "-g", "billing", "-t", "orders:0", "--from-file", recreated, "--dry-run").exits(4).says("hint: gtoffset import " + recreated + " has the flags for it: --recreated keep\n")

	// A lost entry, and what is committed is high.
	w = start(t).topic("orders", [2]int64{0, 110}).commit("billing", "orders", 999).topic("other", [2]int64{0, 9}).save("billing", "other", 3)
	clamp := []string{"clamp", "-g", "billing", "-t", "orders", "-s", w.store, "--stored", "--execute"}
	w.run(clamp...).exits(4).says("hint: add --missing other, or --missing earliest; --high end, or --high earliest\n")
	w.run(append(clamp, "--missing", "other", "--high", "earliest")...).exits(0).prints("repeats up to 110")

	// No flag helps a share group: another program does it.
	w = start(t).topic("orders", [2]int64{0, 1000})
	w.share()
	share := "hint: kafka-share-groups.sh --bootstrap-server " + w.b.Bootstrap() + " --group billing --topic orders "
	w.run("import", document, "-g", "billing", "--committed", "--execute").exits(4).says(`"billing" is a share group`, share+"--reset-offsets --to-earliest --dry-run")
	w.run("reset", "-g", "billing", "-t", "orders", "--to-earliest", "--dry-run").exits(4).says(share + "--reset-offsets").never("NEW is")
	w.run("delete", "-g", "billing", "-t", "orders", "--execute").exits(4).says(share + "--delete-offsets\n")
	w.run("delete", "-g", "billing", "--whole-group", "--execute").exits(4).says("--group billing --delete\n")
}

// A high number that is copied has two ways, and the one that loses is not named alone.
func TestClampIsNotTheOnlyWay(t *testing.T) {
	t.Parallel()
	w := start(t).topic("orders", [2]int64{0, 110}, [2]int64{0, 50}).save("billing", "orders", 999, 20)
	copies := []string{"reset", "-g", "billing", "-t", "orders", "-s", w.store, "--committed", "--to-stored", "--create", "--execute"}
	w.run(copies...).exits(4).says("999 is high: the range is 0..110; --clamp would skip up to 110 readable")
	hint := "gtoffset reset -g billing -t orders:0 -s " + w.store + " --committed --to-earliest --create"
	r := w.run(copies...).says("hint: add --clamp; --partial writes the rest; to read again what is there, in the place of --clamp: " + hint + "\n")
	w.run(append(r.hintedError(), "--execute")...).exits(0)
	w.run(append(copies, "--partial")...).exits(3).says("left out: ", "hint: add --clamp; to read again")
	same(t, "committed", w.committed("billing", "orders"), "0=0 1=20")
	// A low one has one way: nothing of it is there any more.
	w.grow("orders", [2]int64{500, 900})
	w.save("billing", "orders", 100, 20).run(copies...).exits(4).says("hint: add --clamp\n")
	w.run(append(copies, "--clamp")...).exits(0)
}

// A line end, or what else moves a cursor, in a name that the error of a command line holds: the error stays what it is, one line.
func TestControlCharactersInErrors(t *testing.T) {
	t.Parallel()
	w := start(t)
	bad := "a\ngtoffset: done\x1b[2J"
	for _, c := range []struct {
		code int
		args []string
	}{
		{2, []string{"describe", "--" + bad}},
		{2, []string{"describe", "-X", bad + "=1"}},
		{2, []string{"describe", "-b", bad + ":9092"}},
		{2, []string{"describe", "-o", bad}},
		{2, []string{"describe", "--command-config", bad}},
		{2, []string{"describe", "--timeout", bad}},
		{2, []string{"describe", bad}},
		{2, []string{bad}},
		{2, []string{"describe", "-g", "billing", "-t", bad + ":x"}},
		{1, []string{"describe", "-g", "billing", "-s", bad}},
		{1, []string{"describe", "-g", bad}},
		{2, []string{"describe", "--group-regex", bad + "("}},
		{1, []string{"import", bad, "--dry-run"}},
		{4, []string{"describe", "--expect-cluster", bad}},
		{2, []string{"reset", "-g", "billing", "-t", "orders", "--to-datetime", bad, "--dry-run"}},
		{2, []string{"replay", "-g", "billing", "-t", "orders", "--from", "earliest", "--", bad}},
		{1, []string{"export", "-g", "billing", bad + "/x"}},
	} {
		r := w.run(c.args...).exits(c.code)
		for line := range strings.Lines(r.err) {
			if !strings.HasPrefix(line, "gtoffset: error: ") && !strings.HasPrefix(line, "gtoffset: hint: ") {
				t.Errorf("gtoffset %q: line %q in\n%s", c.args, line, r.err)
			}
		}
		same(t, "escapes in "+r.err, strings.Contains(r.err, "\x1b"), false)
	}
}

// Of two values for one flag none is taken for meant, in any command; the same again is harmless.
func TestFlagGivenTwice(t *testing.T) {
	t.Parallel()
	w := low(t)
	flag := regexp.MustCompile(`(?m)^ +(?:-\w, )?--([a-z-]+)(?:\[=\S+\])? (.*)`)
	many := []string{"group", "topic", "command-property", "type"}
	values := map[string][2]string{
		"color": {"auto", "never"}, "timeout": {"5s", "6s"}, "output": {"json", "table"}, "high": {"end", "earliest"}, "recreated": {"keep", "end"},
		"missing": {"other", "earliest"}, "sort": {"topic", "lag"}, "isolation": {"read_committed", "read_uncommitted"}, "as": {"json", "csv"}, "take": {"from", "until"},
		"batch-bytes": {"1MiB", "2MiB"},
	}
	w.b.Reset()
	for _, command := range []string{"describe", "clamp", "reset", "export", "import", "delete", "replay", "history", "wait", "backups", "config"} {
		args := []string{command}
		if command == "import" {
			args = append(args, "nothing.json")
		}
		tried := 0
		for _, m := range flag.FindAllStringSubmatch(w.run(command, "--help").exits(0).out, -1) {
			name, pair := m[1], [2]string{"5", "6"}
			switch v, ok := values[name]; {
			case name == "help" || slices.Contains(many, name) && (name != "group" || command != "replay" && command != "history"):
				continue
			case ok:
				pair = v
			case strings.Contains(m[0], "DURATION"):
				pair = [2]string{"5s", "6s"}
			case !regexp.MustCompile(`^[A-Z]`).MatchString(m[2]):
				pair = [2]string{"true", "false"}
			}
			tried++
			r := w.run(append(args, "--"+name+"="+pair[0], "--"+name+"="+pair[1])...).exits(2)
			if !strings.Contains(r.err, fmt.Sprintf("--%s is %q already", name, pair[0])) && !strings.Contains(r.err, "--"+name+` "`) {
				t.Error(r)
			}
		}
		if tried < 8 {
			t.Errorf("%s: %d flags were tried", command, tried)
		}
	}
	w.run("describe", "-X", "client.id=a", "-X", "client.id=b").exits(2).says("-X: client.id: is given twice")
	same(t, "requests", w.b.Count(), 0)
	w.run("describe", "-g", "billing", "-q", "-q", "-b", w.b.Bootstrap(), "-b", w.b.Bootstrap(), "-X", "client.id=a", "-X", "client.id=a").exits(0)
	w.run("replay", "-g", "billing", "-t", "orders:0", "--from", "900", "--", "cat", "-b", "a", "-b", "b").exits(0)
}

// The store of the environment is for commands that look at a store; what has nothing to do with it does not fail because it is away.
func TestStoreOfTheEnvironment(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		code int // with a store that is not there
		line string
	}{
		{0, "delete -g billing -t orders --execute"},
		{1, "delete -g billing -t orders --idle 1s --execute"},
		{1, "delete -g billing -t orders --wait-empty 1s --execute"},
		{0, "wait -g billing --lag 5000 --for 1s"},
		{1, "wait -g billing --lag 5000 --empty --for 1s"}, // who holds the store's lock is in the way, too
		{0, "reset -g billing -t orders --to-earliest --committed --execute"},
		{1, "reset -g billing -t orders --to-earliest --execute"},
		{1, "reset -g billing -t orders --to-earliest --committed --stored --execute"},
		{1, "reset -g billing -t orders --to-safe --committed --execute"},
		{1, "reset -g billing -t orders --to-stored --committed --execute"},
		{1, "clamp -g billing -t orders --committed --execute"}, // no commit is a first run, or a lost one
		{1, "clamp -g billing -t orders --execute"},
		{0, "export -g billing --committed"},
		{1, "export -g billing"},
		{0, "import BACKUP --execute"},
		{0, "replay -g billing -t orders:0 --from 900"},
		{1, "describe -g billing"},
	} {
		t.Run(c.line, func(t *testing.T) {
			t.Parallel()
			w := low(t)
			away := filepath.Join(t.TempDir(), "away")
			args := strings.Fields(c.line)
			if i := slices.Index(args, "BACKUP"); i >= 0 {
				args[i] = w.run("reset", "-g", "billing", "-t", "orders", "--to-earliest", "--execute").exits(0).undo()[1]
			}
			w.vars["GTOFFSET_STORE"] = away
			r := w.run(args...).exits(c.code)
			if c.code == 1 {
				r.says(away + `": there is no such folder`)
			}
			w.run(append(args, "-s", away)...).exits(1).says("there is no such folder") // it was meant
		})
	}
}

// A broker that is too old is one that cannot be spoken to, wherever that is noticed.
func TestTooOldBroker(t *testing.T) {
	t.Parallel()
	w := startWith(t, kafkatest.Options{Brokers: 1, Version: kversion.V0_10_2()})
	for _, line := range []string{"describe", "wait -g billing --empty", "clamp -g billing --execute", "history -g billing"} {
		w.run(append(strings.Fields(line), "-o", "json")...).exits(5).says("which came with Kafka 0.11", `"cause":"unsupported"`)
	}
}

// Whatever takes a point in time takes all forms of it, and names them where it takes none.
func TestPointsInTime(t *testing.T) {
	t.Parallel()
	w := low(t)
	for _, line := range []string{
		"history -g billing --since", "history -g billing --until", "replay -t orders --dry-run --from", "replay -t orders --from earliest --dry-run --until",
		"reset -g billing -t orders --dry-run --to-datetime", "reset -g billing -t orders --dry-run --to-commit-at",
	} {
		for _, at := range []string{"2031-11-29T11:59:00.000Z", "2031-11-29t11:59z", "2031-11-29 11:59", "2031-11-29T12:59:00+01:00", "2031-11-29", "20311129T115900Z", "@1953719940000", "1m", "P1D", "pt2h", "1d12h"} {
			if r := w.run(append(strings.Fields(line), at)...); r.code == 2 {
				t.Error(r)
			}
		}
		for _, at := range []string{"2031-W48", "31.12.2031", "Yesterday", "2031-13-01"} {
			w.run(append(strings.Fields(line), at)...).exits(2).
				says("is no time: 2026-11-29T12:00:00.000Z, ", "20261129T120000Z", "2026-11-29T12:00 (UTC), 2026-11-29, @1795953600000 (epoch milliseconds), or 2h, 1d12h, P7D (so long ago)")
		}
		w.run(append(strings.Fields(line), "12h30")...).exits(2).says("has no unit", "12h30s, or ", "12h30m\n")
	}
}

// A flag that decides nothing where it stands is refused: who gave it meant something by it.
func TestFlagWithoutAMeaning(t *testing.T) {
	t.Parallel()
	w := low(t)
	list := w.document(w.run("export", "-g", "billing").exits(0).out)
	ranges := w.document("orders 0 600 700\n")
	plan := w.document(w.run("reset", "-g", "billing", "-t", "orders", "--to-latest", "--dry-run", "-o", "json").exits(0).out)
	backup := w.run("reset", "-g", "billing", "-t", "orders", "--to-latest", "--execute").exits(0).undo()[1]
	for _, c := range []struct {
		document string
		refused  []string
		taken    []string
	}{
		{list, []string{"--take from", "--stale", "--moved overwrite"}, []string{"--clamp", "--recreated keep", "--other-cluster"}},
		{ranges, []string{"--stale", "--moved overwrite"}, []string{"--clamp"}},
		{plan, []string{"--take from", "--moved overwrite", "--clamp", "--recreated keep", "--other-cluster"}, nil},
		{backup, []string{"--take from", "--stale", "--clamp"}, []string{"--moved overwrite", "--recreated keep", "--other-cluster"}},
	} {
		line := []string{"import", c.document, "--dry-run"}
		if c.document == ranges {
			line = append(line, "-g", "billing", "--take", "until")
		}
		for _, flag := range c.refused {
			w.b.Reset()
			r := w.run(append(line, strings.Fields(flag)...)...).exits(4)
			r.says(strings.Fields(flag)[0]+" is for ", "nothing was written", "hint: leave out "+strings.Fields(flag)[0])
			same(t, "requests", w.b.Count(), 0)
		}
		for _, flag := range c.taken {
			w.run(append(line, strings.Fields(flag)...)...).never(" is for ")
		}
	}
	same(t, "committed", w.committed("billing", "orders"), "0=900 1=900")
	w.b.Reset()
	w.run("history", "-g", "billing", "--all", "--skip", "5").exits(2).says("--all shows every step, and --skip some of them")
	w.run("clamp", "-g", "billing", "--missing", "other", "--execute").exits(2).says("--missing other needs a store")
	w.run("clamp", "-g", "billing", "--salvage", "--execute").exits(2).says("--salvage needs a store")
	same(t, "requests", w.b.Count(), 0)
}

// Only what would write says that nothing was written.
func TestAnotherCluster(t *testing.T) {
	t.Parallel()
	w := low(t)
	for _, line := range []string{"describe", "history -g billing", "wait -g billing --empty", "export -g billing", "replay -t orders --from earliest"} {
		w.run(append(strings.Fields(line), "--expect-cluster", "nope")...).exits(4).says("not nope").never("nothing was written")
	}
	for _, line := range []string{
		"clamp -g billing --execute", "delete -g billing -t orders --execute", "reset -g billing -t orders --to-latest --execute",
		"reset -g billing -t orders --to-commit-at 1h --execute", "reset -g billing -t orders --from-group other --execute",
	} {
		w.run(append(strings.Fields(line), "--expect-cluster", "nope")...).exits(4).says("not nope; nothing was written")
	}
	same(t, "writes", w.writes(), 0)
}

// A name that is nearly right, or another tool's, leads to the right one.
func TestNamesOfCommands(t *testing.T) {
	t.Parallel()
	w := start(t)
	for line, hint := range map[string]string{
		"ls": "gtoffset describe", "groups": "gtoffset describe", "undo": "gtoffset import", "restore": "gtoffset import", "seek": "gtoffset reset", "describ": "gtoffset describe",
		"help exit-code": "gtoffset help exit-codes", "help store": "gtoffset help stores", "help clam": "gtoffset help clamp", "history help": "gtoffset history --help", "import a help": "gtoffset import --help",
		"frobnicate": "gtoffset --help lists the commands", "help frobnicate": "gtoffset help lists the commands; topics: connection, environment, exit-codes, formats, stores",
	} {
		w.run(strings.Fields(line)...).exits(2).says("gtoffset: hint: " + hint + "\n")
	}
	w.run("describe", "--group-regex", "a(").exits(2).says("missing closing ): `a(`\n")
	w.run("describe", "--group-regex", strings.Repeat("(", 1000)+"a"+strings.Repeat(")", 1000)).exits(2).says("nests too deeply")
	same(t, "requests", w.b.Count(), 0)
}

// What cannot be seen of a group's name is made to be.
func TestBlanksAroundAName(t *testing.T) {
	t.Parallel()
	w := low(t).commit("billing ", "orders", 600)
	w.run("describe", "-g", "billing ").exits(0).prints(`"billing "   simple group`)
	w.run("describe").exits(0).prints(`"billing "`)
	w.run("reset", "-g", " new", "-t", "orders:0", "--to-latest", "--create", "--dry-run").exits(0).prints(`reset the commits of " new" ·`).says(`write 1 offset of group " new" to the commits`)
}
