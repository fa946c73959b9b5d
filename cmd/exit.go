package cmd

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"slices"
	"sort"
	"strings"
	"syscall"

	"gtoffset/kafkaops"
	"gtoffset/kafkaops/offsets"
	"gtoffset/kafkaops/records"
	"gtoffset/kafkaops/wire"
	"gtoffset/offsetfile"
	"gtoffset/output"
)

// The exit codes. docs/exit-codes.md says more about each.
const (
	exitDone        = 0
	exitFailed      = 1
	exitUsage       = 2
	exitPartly      = 3
	exitRefused     = 4
	exitUnreachable = 5
	exitNotMet      = 10
	exitInterrupted = 130
	exitUnread      = 141 // as a shell says it of a program that SIGPIPE ended
)

// storeLogin says where a store's password comes from.
const storeLogin = "check user and password: " + offsetfile.PasswordVariable + " has it, or a $VARIABLE or ?password-file=FILE in -s"

// precedence orders the codes of a run that met several: the first that occurs is the exit code.
var precedence = [...]int{exitInterrupted, exitUsage, exitUnreachable, exitRefused, exitPartly, exitNotMet, exitFailed, exitUnread}

// problem is an error that knows its exit code and the next step.
type problem struct {
	code    int
	causes  []cause        // none: see why
	wants   []string       // the variables that would set what is missing, to find one that is misspelled
	lacks   *offsets.Right // the right for want of which it is one; what gives it is the hint then
	text    string
	below   []string // further lines of the text
	hint    string
	details []output.ErrorDetail
	err     error
}

func (p *problem) Error() string { return p.text }
func (p *problem) Unwrap() error { return p.err }

func usage(text, hint string) error { return &problem{code: exitUsage, text: text, hint: hint} }

// nothingWritten ends the words of an error that came before a write.
const nothingWritten = "; nothing was written"

// verdict is what is left of an error at the end: codes, causes, words and a hint.
type verdict struct {
	codes  []int    // most important first
	causes []cause  // likewise: those of the first code, then those of the others
	texts  []string // lines
	hint   string
	more   []output.ErrorDetail
}

func (v verdict) code() int {
	if len(v.codes) == 0 {
		return exitDone
	}
	return v.codes[0]
}

// judge makes of an error exit codes, causes, words and a hint: those of a problem as they are, those of other packages' errors by the map in
// explain. It is the only place that does.
func (g *global) judge(ctx context.Context, err error) verdict {
	var v verdict
	of := map[int][]cause{} // by code
	for _, e := range split(err) {
		p := explain(ctx, e)
		if g.unwritten && (p.code == exitInterrupted || p.code == exitRefused || ofStdout(e) != nil || errors.Is(e, fs.ErrPermission) || errors.Is(e, syscall.EMFILE)) &&
			!strings.Contains(p.text, nothingWritten[2:]) {
			p.text += nothingWritten
		}
		if errors.Is(e, offsetfile.ErrNoRoot) && !g.unwritten { // what only reads has no use for a folder that is new
			_, root, _ := localPath(g.store)
			root, _ = filepath.Abs(root)
			p.hint = "looked at " + quote(root) + "; -s names the folder that holds GROUP/TOPIC/gtoffset"
		}
		of[p.code] = append(of[p.code], p.why()...)
		if p.lacks != nil {
			p.hint = g.afterRight(*p.lacks, p.hint)
		}
		p.hint = g.orMisspelled(&p)
		if !slices.Contains(v.codes, p.code) {
			v.codes = append(v.codes, p.code)
		}
		if p.text != "" && !slices.Contains(v.texts, p.text) {
			v.texts = append(append(v.texts, p.text), p.below...)
		}
		if v.hint == "" {
			v.hint = p.hint
		}
		v.more = append(v.more, p.details...)
	}
	sort.SliceStable(v.codes, func(i, j int) bool {
		return slices.Index(precedence[:], v.codes[i]) < slices.Index(precedence[:], v.codes[j])
	})
	for _, code := range v.codes {
		for _, c := range byRank(of[code]) {
			if !slices.Contains(v.causes, c) {
				v.causes = append(v.causes, c)
			}
		}
	}
	return v
}

// split takes joined errors apart. An error that says more than its parts stays whole.
func split(err error) []error {
	if err == nil {
		return nil
	}
	var bootstrap *wire.BootstrapError
	many, ok := err.(interface{ Unwrap() []error })
	if ok && (errors.As(err, &bootstrap) || err.Error() == errors.Join(many.Unwrap()...).Error()) {
		var all []error
		for _, e := range many.Unwrap() {
			all = append(all, split(e)...)
		}
		return all
	}
	return []error{err}
}

// explain is the map for one error.
func explain(ctx context.Context, err error) problem {
	var known *problem
	var format output.FormatError
	var broker *wire.Error
	var name *offsetfile.NameError
	var clash *offsetfile.ClashError
	var shared *offsetfile.SharedFileError
	var locked *offsetfile.LockedError
	var noLock *offsetfile.LockFileError
	var address *offsetfile.URLError
	var nothing *offsetfile.NothingError
	var away *offsetfile.AwayError
	var credentials *offsetfile.CredentialsError
	var damage *offsetfile.DamageError
	var old *wire.TooOldError
	var other *kafkaops.OtherClusterError
	switch {
	case errors.As(err, &known) && known.err != nil:
		return known.because(explain(ctx, known.err))
	case errors.As(err, &known):
		return *known
	case errors.Is(err, context.Canceled) && ctx.Err() != nil:
		return problem{code: exitInterrupted, text: "interrupted"}
	case errors.As(err, &format):
		return problem{code: exitUsage, text: err.Error()}
	case errors.Is(err, offsetfile.ErrRootIsGroup):
		return problem{code: exitUsage, text: err.Error(), hint: "name the folder above it"}
	case errors.Is(err, offsetfile.ErrRootIsFile):
		return problem{code: exitUsage, text: err.Error(), hint: "name the folder that holds GROUP/TOPIC/gtoffset"}
	case errors.As(err, &address):
		return problem{code: exitUsage, text: err.Error(), hint: cmp.Or(address.Hint, "gtoffset help stores shows how each is written")}
	case errors.As(err, &nothing):
		return problem{code: exitFailed, causes: []cause{causeMissing}, text: err.Error(), hint: cmp.Or(nothing.Hint, "check the store's address; a first run needs the place to be there")}
	case errors.As(err, &away):
		return problem{code: exitUnreachable, causes: []cause{causeUnreachable}, text: err.Error(), hint: "--timeout 60s waits longer"}
	case errors.As(err, &credentials):
		return problem{code: exitUnreachable, causes: []cause{causeAuthentication}, text: err.Error(), hint: storeLogin}
	case errors.Is(err, offsetfile.ErrReadOnly):
		return problem{code: exitUsage, text: err.Error() + nothingWritten}
	case errors.Is(err, offsetfile.ErrNoRoot):
		return problem{code: exitFailed, causes: []cause{causeMissing}, text: err.Error(), hint: "make the folder first (mkdir), if this is the right place"}
	case errors.As(err, &name):
		return problem{code: exitUsage, text: err.Error(), hint: "leave out -s, or name another store"}
	case errors.As(err, &clash):
		return problem{code: exitRefused, text: err.Error(), hint: "keep one of the two, and move the other away"}
	case errors.As(err, &shared):
		return problem{code: exitRefused, text: err.Error() + nothingWritten, hint: "name one of the two alone, with -g and -t"}
	case errors.As(err, &locked):
		return problem{code: exitRefused, causes: []cause{causeLocked}, text: err.Error() + nothingWritten, hint: "run it again when that process has ended"}
	case errors.As(err, &noLock):
		return problem{code: exitFailed, text: err.Error() + nothingWritten, hint: outOfTheWay(noLock.Path) + ": a lock file is made anew"}
	case errors.As(err, &other):
		return problem{code: exitRefused, causes: []cause{causeCluster}, text: err.Error(), hint: "check the addresses; say which cluster is meant with --expect-cluster ID"}
	case ofStdout(err) != nil:
		return *ofStdout(err)
	case ofRecords(err) != nil:
		return *ofRecords(err)
	case errors.As(err, &old): // also where it kept us from connecting
		return problem{code: exitUnreachable, causes: []cause{causeUnsupported}, text: err.Error()}
	case errors.As(err, &broker):
		return ofBroker(broker)
	case ofSettings(err) != nil:
		return *ofSettings(err)
	case errors.Is(err, context.DeadlineExceeded):
		return problem{code: exitUnreachable, causes: []cause{causeTimeout}, text: "the time was up before everything was read", hint: "--timeout 60s waits longer"}
	case errors.Is(err, syscall.EMFILE):
		return problem{code: exitFailed, text: err.Error(), hint: "ulimit -n 4096 before it lets more files be open; or name fewer groups, with -g"}
	case errors.Is(err, fs.ErrPermission):
		return problem{code: exitFailed, causes: []cause{causeAuthorization}, text: err.Error(), hint: asJobsUser}
	case errors.As(err, &damage):
		return problem{code: exitFailed, causes: []cause{causeDamaged}, text: err.Error()}
	case errors.Is(err, offsetfile.ErrChanged):
		return problem{code: exitFailed, causes: []cause{causeChanged}, text: err.Error()}
	case errors.Is(err, fs.ErrNotExist):
		return problem{code: exitFailed, causes: []cause{causeMissing}, text: err.Error()}
	default:
		return problem{code: exitFailed, text: err.Error()}
	}
}

// ofRecords is the part of the map that is about reading records again, and writing copies of them; nil for anything else.
func ofRecords(err error) *problem {
	var expired *records.ExpiredError
	var cut *records.TruncatedError
	var gone *records.GoneError
	var damaged *records.DamagedError
	var large *records.TooLargeError
	var refused *records.RefusedError
	var written *records.WriteError
	var unreachable *records.UnreachableError
	switch {
	case errors.As(err, &expired):
		return &problem{code: exitPartly, causes: []cause{causeExpired}, text: err.Error(), hint: "--expired skip reads what is left"}
	case errors.As(err, &damaged):
		return &problem{code: exitPartly, causes: []cause{causeDamaged}, text: err.Error(), hint: fmt.Sprintf("-t %s names partitions without it; --from with an offset behind it passes it over", quote(damaged.Topic))}
	case errors.As(err, &cut):
		return &problem{code: exitPartly, causes: []cause{causeChanged}, text: err.Error()}
	case errors.As(err, &gone):
		return &problem{code: exitPartly, causes: []cause{causeMissing}, text: err.Error()}
	case errors.As(err, &refused) && refused.Denied:
		return &problem{code: exitPartly, lacks: &offsets.Right{Operation: "READ", On: "topic", Name: refused.Topic}, text: err.Error()}
	case errors.As(err, &written) && written.Denied:
		return &problem{code: exitPartly, lacks: &offsets.Right{Operation: "WRITE", On: "topic", Name: written.Topic}, text: err.Error()}
	case errors.As(err, &large), errors.As(err, &refused), errors.As(err, &written):
		return &problem{code: exitPartly, text: err.Error()}
	case errors.As(err, &unreachable):
		return &problem{code: exitUnreachable, text: err.Error(), hint: "run it again when the broker is back"}
	}
	return nil
}

// finish prints what went wrong and returns the exit code.
func (g *global) finish(ctx context.Context, err error) int {
	v := g.judge(ctx, err)
	if v.code() == exitDone {
		return exitDone
	}
	if v.hint == "" && v.code() == exitUsage {
		v.hint = cmp.Or(g.command, "gtoffset") + " --help"
	}
	if len(v.texts) > 0 {
		doc := output.Error{Code: v.code(), Codes: v.codes, Cause: string(v.causes[0]), Causes: causeWords(v.causes), Lines: v.texts, Hint: v.hint, Details: v.more}
		format := output.Table
		if f := output.Format(g.format); f == output.JSON || f == jsonl {
			format = output.JSON
		}
		if werr := doc.Write(g.talk(), format); werr != nil {
			return max(v.code(), exitFailed)
		}
	}
	return v.code()
}

// list joins a few of many texts.
func list(texts []string, most int) string {
	if len(texts) > most {
		texts = append(slices.Clone(texts[:most]), fmt.Sprintf("and %d more", len(texts)-most))
	}
	return strings.Join(texts, "; ")
}
