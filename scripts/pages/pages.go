// Package pages keeps what runs have found: as data, and between the marks of a page of docs.
package pages

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"strings"
)

// Marks are the lines between which a program writes a part of a page.
type Marks struct{ Begin, End string }

// Put replaces what stands between the marks; without them it comes to the end of the page.
func (m Marks) Put(page, part string) string {
	before, rest, found := strings.Cut(page, m.Begin)
	if !found {
		return page + "\n" + m.Begin + part + m.End
	}
	_, after, _ := strings.Cut(rest, m.End)
	return before + m.Begin + part + m.End + after
}

// Load reads what has been found so far; without such a file it leaves found as it is.
func Load(path string, found any) error {
	text, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err == nil {
		err = json.Unmarshal(text, found)
	}
	if err != nil {
		return fmt.Errorf("read %s: %w", path, err)
	}
	return nil
}

// Save writes what has been found.
func Save(path string, found any) error {
	text, err := json.MarshalIndent(found, "", " ")
	if err != nil {
		return err
	}
	return os.WriteFile(path, append(text, '\n'), 0o644)
}
