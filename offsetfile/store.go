package offsetfile

import (
	"context"
	"errors"
	"fmt"
	"log/slog"

	"gtoffset/kafkaops/offsets"
)

// Store is a place where jobs keep the offsets of groups. All that the program does with a store goes through it.
//
// There are three ways to make one. A service that keeps one value for each group, topic and partition implements [Table], and
// [Over] makes a Store of it: numbers, damage, retries and the book-keeping of a save are done there. One that keeps whole files
// implements [FileService], for [OverFiles]. Anything else, such as what can only be read, implements Store itself, as [Files] does.
// A new kind of store is one folder below this one, with its [Kind], and one line in the list of cmd/stores.go; and it passes the
// contract in storetest against the real service.
//
// A store may be used by several goroutines. It opens its connection with the first call, not before.
type Store interface {
	// Name is the store as it was given, without secrets: what a person could type again.
	Name() string

	// Can says what the store can do. What it cannot is told to the operator.
	Can() Abilities

	// Groups lists the groups that have something in the store, sorted, and notes what was ignored on the way.
	Groups(ctx context.Context) (groups, notes []string, err error)

	// Load reads what the store has of a group: of the given topics, or of all that it finds (nil). A topic or a partition that
	// cannot be read says so in its Presence and Reason, and hides no other. With salvage, what is damaged counts as no entry
	// where the rest can still be taken, and what was lost is noted. The error is a *NothingError (or ErrNoRoot) if the store
	// itself is not there, which is never the same as a group without entries; an *AwayError if it did not answer in time; a
	// *CredentialsError; a *NameError; or the context's.
	Load(ctx context.Context, group string, topics []string, salvage bool) (Holding, error)

	// Writer prepares a write of some topics of a group, and takes their locks where the store has any. It is taken before the
	// last look at what is to be changed, and given back after the write was read back.
	Writer(ctx context.Context, group string, topics []string) (Writer, error)

	// Close gives the connection back.
	Close() error
}

// Kind is one kind of store, for the list of all.
type Kind struct {
	Schemes []string // of its URLs
	Local   bool     // what follows a scheme may be a path of this machine, as in spark:PATH; else // follows
	Form    string   // how it is written, for people: "mysql://USER@HOST[:PORT]/DATABASE"
	Layout  string   // what is kept where, and the parameters that say otherwise
	Open    func(*Address, Options) (Store, error)
}

// Writer saves the entries of one group.
type Writer interface {
	// Save writes the changes to be written (offsets.Write, without a result) of the stored side, and returns all changes with
	// Result and Error filled in. A new offset of None removes the entry. seen is the look on which the changes rest: its tokens
	// are compared with what the store has now, as far as it can, and what has changed since is refused. The offsets.Store that
	// comes back is seen with the tokens of what was saved, so that the next Save can rest on this one without a look between.
	// It is safe to save the same again. A save whose answer did not come is looked up; what stays in doubt is Unverified.
	Save(ctx context.Context, seen offsets.Store, changes []offsets.Change, facts Facts) ([]offsets.Change, offsets.Store)

	// Notes tells what is not as it should be with the locks.
	Notes() []string

	// Unlock gives the locks back.
	Unlock() error
}

// Extent is how much of one save stands or falls together.
type Extent int

// The extents, from the smallest.
const (
	OnePartition Extent = iota
	OneTopic
	OneGroup
)

// Abilities says what a store can do. The zero value is the least.
type Abilities struct {
	Write         bool   // entries can be changed; if not, the store is only read
	Instead       string // what to do where a write was asked for and the store is only read: a hint that can be typed; "" for none of its own
	CompareAndSet bool   // what another has changed meanwhile is noticed in the write itself, not only just before it
	Atomic        Extent // what stands or falls together, also when either end is killed
	Locks         bool   // a writer keeps other writers out that ask for the lock
	Epochs        bool   // leader epochs are kept with the offsets
	Identity      bool   // topic and cluster ids are kept with the offsets: a topic that was recreated is noticed
	Times         bool   // the store knows when an entry was saved
	Nameless      bool   // it names no groups: what it has is of whichever one group is named
	Least         int64  // the smallest next offset that it has a number for
	Creates       bool   // a save makes what the entries are kept in if that is missing and Options.Create is set
}

// Cannot lists, for people, what the store cannot do and what that means.
func (a Abilities) Cannot() []string {
	if !a.Write {
		return []string{"is only read"}
	}
	var cannot []string
	for _, c := range []struct {
		can  bool
		what string
	}{
		{a.CompareAndSet, "cannot compare and set: another's write in the instant of ours goes unnoticed"},
		{a.Atomic >= OneTopic, "cannot save a topic as a whole: a save that is cut off leaves some partitions old and some new"},
		{a.Atomic != OneTopic, "saves topic by topic: a save of several that is cut off leaves some old and some new"},
		{a.Epochs, "keeps no leader epochs"},
		{a.Identity, "keeps no topic or cluster ids: a recreated topic goes unnoticed while the number fits"},
		{a.Times, "does not know when an entry was saved"},
	} {
		if !c.can {
			cannot = append(cannot, c.what)
		}
	}
	return cannot
}

// Options are what all kinds of store are opened with.
type Options struct {
	Holder string                  // how this process describes itself in locks, for others to read; without secrets
	Hook   func(step string) error // called directly before each step of a save, for tests; its error fails the step
	Create bool                    // a save makes what the store's entries are kept in (a table, a root) if it is missing
	Log    *slog.Logger            // each request and retry; nil for none
	Counts Counts                  // what the numbers in the store mean
}

func (o Options) step(name string) error {
	if o.Hook == nil {
		return nil
	}
	return o.Hook(name)
}

// NothingError says that a store's place is not there: a wrong path, key or table, most likely. It never means a first run.
type NothingError struct {
	Store  string // its name
	Looked string // what was looked at: "table `offsets` of database `jobs`"
	Hint   string // what would make it; "" if nothing would
}

func (e *NothingError) Error() string {
	return fmt.Sprintf("nothing at %s: looked at %s", e.Store, e.Looked)
}

// AwayError says that a store did not answer, or not in time, however often it was tried. A [Table] returns it, without Store, to
// be tried again; network errors need not be wrapped.
type AwayError struct {
	Store string
	Tries int
	Err   error // the last
	Final bool  // there is no use in another try

	Undone bool // and nothing of the request was done: a transaction was not committed
}

func (e *AwayError) Error() string {
	if e.Store == "" {
		return e.Err.Error()
	}
	return fmt.Sprintf("store %s did not answer (tried %s): %v", e.Store, offsets.Plural(e.Tries, "time"), e.Err)
}

func (e *AwayError) Unwrap() error { return e.Err }

// CredentialsError says that a store refused who we are, or that we may use it at all. It is not tried again.
type CredentialsError struct {
	Store string
	Err   error
}

func (e *CredentialsError) Error() string {
	if e.Store == "" {
		return e.Err.Error()
	}
	return fmt.Sprintf("store %s refused us: %v", e.Store, e.Err)
}

func (e *CredentialsError) Unwrap() error { return e.Err }

// ErrChanged is what a compare-and-set ends with when another has written meanwhile.
var ErrChanged = errors.New("it was changed since it was read, by another program")

// ErrReadOnly is wrapped by the error of Store.Writer where a store is only read.
var ErrReadOnly = errors.New("this store is only read")
