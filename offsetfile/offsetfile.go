// Package offsetfile keeps a group's offsets in gtoffset files: STORE/<group>/<topic>/gtoffset, one text file for all
// partitions of one topic, replaced whole and durably. docs/file-format.md is the contract of the format.
//
// Use [Document] to read or make the bytes of one file, and [Files] for a folder of them. A job that follows the scheme
// "process, then save" opens its store once, holds the lock while it runs, and puts the next offsets after each batch:
//
//	files, err := offsetfile.Open("/var/lib/billing/offsets")
//	held, err := files.Lock(ctx, "billing", []string{"orders"})
//	defer held.Unlock()
//	holding, err := files.Load(ctx, "billing", []string{"orders"}, false)
//	for { // read a batch from holding.Entries on, process it, and only then:
//		err = held.Put(ctx, "orders", map[int32]offsets.Value{0: offsets.ValueOf(offsets.At(1500))}, facts)
//	}
//
// Every offset is the next record to read.
//
// It also has what all kinds of store have in common. The program knows a [Store], which a [Kind] opens at an [Address]; [Over] makes one of
// a [Table], a service that keeps one value for each partition, and [OverFiles] of a [FileService], which keeps whole files. What is
// tried again, and for how long, is in [Retry]. The kinds have a folder each below this one.
package offsetfile

import (
	"errors"
	"fmt"
	"strings"
)

// MaxSize is the size in bytes above which a file is refused unread.
const MaxSize = 64 << 20

// The ways in which a store cannot be used at all.
var (
	ErrNoRoot      = errors.New("there is no such folder")
	ErrRootIsFile  = errors.New("it is not a folder")
	ErrRootIsGroup = errors.New("it is the folder of one group, not the store")
	ErrRootURL     = errors.New("not a usable file: URL or path")
)

// NameError is a group or topic that has no place in a store.
type NameError struct {
	Kind, Name, Reason string // Kind is "group" or "topic"
}

func (e *NameError) Error() string {
	return fmt.Sprintf("%s %q has no place in the store: %s", e.Kind, e.Name, e.Reason)
}

// ClashError is one name with two places, or one place with two names.
type ClashError struct {
	Name   string
	Paths  []string
	Reason string
}

func (e *ClashError) Error() string {
	return fmt.Sprintf("%q: %s: %s", e.Name, e.Reason, strings.Join(e.Paths, " and "))
}

// SharedFileError is one file, reached by links, that is the place of two groups or topics: what is written for one is the other's.
type SharedFileError struct{ Paths [2]string }

func (e *SharedFileError) Error() string {
	return fmt.Sprintf("%s and %s share one file, by a link: what is written for one is the other's, too", e.Paths[0], e.Paths[1])
}

// LockedError says that another process holds the lock of a file.
type LockedError struct {
	Path   string
	Holder string // as the holder describes itself; "" if it does not
}

func (e *LockedError) Error() string {
	holder := e.Holder
	if holder == "" {
		holder = "another process"
	}
	return fmt.Sprintf("%s is locked by %s", e.Path, holder)
}

// LockFileError is something else in the place of a lock file: a symbolic link, a folder, a pipe. It is left alone.
type LockFileError struct{ Path, Kind string }

func (e *LockFileError) Error() string {
	return fmt.Sprintf("%s is %s, and not a file that can be locked", e.Path, e.Kind)
}
