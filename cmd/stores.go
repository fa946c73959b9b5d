package cmd

import (
	"path/filepath"
	"strings"

	"gtoffset/offsetfile"
)

// openStore is the explicit list of the kinds of store.
func openStore(url, holder string, step func(string) error) (*offsetfile.Files, error) {
	if isURL(url) && !strings.HasPrefix(url, "file:") {
		scheme, _, _ := strings.Cut(url, "://")
		return nil, usage("store "+scheme+"://… is of no known kind", "name a folder of gtoffset files: -s /path")
	}
	return offsetfile.Open(url, offsetfile.WithHolder(holder), offsetfile.WithHook(step))
}

// absolute makes a path independent of the working folder, so that an undo line means the same everywhere. URLs stay.
func absolute(store string) string {
	if store == "" || isURL(store) {
		return store
	}
	if path, err := filepath.Abs(store); err == nil {
		return path
	}
	return store
}

// isURL tells a URL from a path.
func isURL(store string) bool {
	scheme, _, ok := strings.Cut(store, "://")
	return strings.HasPrefix(store, "file:") || ok && scheme != "" && !strings.Contains(scheme, "/")
}
