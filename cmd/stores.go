package cmd

import (
	"strings"

	"gtoffset/offsetfile"
)

// openStore is the explicit list of the kinds of store.
func openStore(url string, step func(string) error) (*offsetfile.Files, error) {
	scheme, _, ok := strings.Cut(url, "://")
	if ok && !strings.Contains(scheme, "/") {
		return nil, usage("store "+strings.TrimSpace(scheme)+"://… is of no known kind", "name a folder of gtoffset files: -s /path")
	}
	return offsetfile.Open(url, offsetfile.WithHook(step))
}
