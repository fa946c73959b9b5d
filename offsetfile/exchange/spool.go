package exchange

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"strings"
)

// inMemory is how much of a stream is held in memory as long as nobody knows how long it is.
const inMemory = 4 << 20

// readAll reads r to its end. A file tells its size, and one that is too large is not read at all. The rest of a long stream waits in
// a file of ours until its length is known, so that what is refused for its length takes no memory. The error wraps ErrTooLarge, or
// says why r could not be read.
func readAll(r io.Reader) (string, error) {
	var text strings.Builder
	if f, ok := r.(interface{ Stat() (fs.FileInfo, error) }); ok {
		if fi, err := f.Stat(); err == nil && fi.Mode().IsRegular() {
			if fi.Size() > MaxSize {
				return "", ErrTooLarge
			}
			text.Grow(int(fi.Size()))
			return copied(&text, r)
		}
	}
	if _, err := io.CopyN(&text, r, inMemory); errors.Is(err, io.EOF) {
		return text.String(), nil
	} else if err != nil {
		return "", err
	}
	rest, err := os.CreateTemp("", "gtoffset-") // for its owner only
	if err != nil {
		return "", fmt.Errorf("put a long document aside: %w", err)
	}
	defer os.Remove(rest.Name())
	defer rest.Close()
	n, err := io.Copy(rest, io.LimitReader(r, MaxSize-inMemory+1))
	if err != nil {
		return "", err
	}
	if n > MaxSize-inMemory {
		return "", ErrTooLarge
	}
	if _, err := rest.Seek(0, io.SeekStart); err != nil {
		return "", err
	}
	text.Grow(int(n))
	return copied(&text, rest)
}

// copied adds all of r to the text, up to MaxSize in all.
func copied(text *strings.Builder, r io.Reader) (string, error) {
	_, err := io.Copy(text, io.LimitReader(r, int64(MaxSize-text.Len()+1)))
	if err == nil && text.Len() > MaxSize {
		err = ErrTooLarge
	}
	return text.String(), err
}
