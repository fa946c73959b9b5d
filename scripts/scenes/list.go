package scenes

import (
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"gtoffset/scripts/pages"
)

// Pages lists the pages that are played in a scene, by their paths below root, the folder of the repository.
func Pages(root string) ([]string, error) {
	var all []string
	look := func(path string) error {
		text, err := os.ReadFile(filepath.Join(root, path))
		if err == nil && pages.Scene(string(text)) != "" {
			all = append(all, path)
		}
		return err
	}
	if err := look("README.md"); err != nil {
		return nil, err
	}
	err := filepath.WalkDir(filepath.Join(root, "docs"), func(path string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() || !strings.HasSuffix(path, ".md") {
			return err
		}
		if path, err = filepath.Rel(root, path); err != nil {
			return err
		}
		return look(path)
	})
	return all, err
}
