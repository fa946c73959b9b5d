package cmd

import (
	"strings"

	"gtoffset/offsetfile"
)

// openStore is the explicit list of the kinds of store.
func openStore(url, holder string, step func(string) error) (*offsetfile.Files, error) {
	scheme, _, ok := strings.Cut(url, "://")
	if ok && scheme != "file" && !strings.Contains(scheme, "/") {
		return nil, usage("store "+strings.TrimSpace(scheme)+"://… is of no known kind", "name a folder of gtoffset files: -s /path")
	}
	return offsetfile.Open(url, offsetfile.WithHolder(holder), offsetfile.WithHook(step))
}
