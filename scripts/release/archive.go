package main

import (
	"archive/tar"
	"archive/zip"
	"bytes"
	"compress/gzip"
	"errors"
	"path"
	"slices"
	"strings"
	"time"
)

// tarred is a .tar.gz of files in a folder.
func tarred(folder string, files []file, at time.Time) ([]byte, error) {
	all := make([]file, len(files))
	for i, f := range files {
		all[i] = file{path.Join(folder, f.path), f.content, f.mode}
	}
	return packed(all, at)
}

// packed is a .tar.gz of files, and of the folders that they lie in: sorted, all of them root's and of one time. A path may begin with ./,
// as it does in Debian packages.
func packed(files []file, at time.Time) ([]byte, error) {
	var b bytes.Buffer
	z := gzip.NewWriter(&b) // the best compression takes four times as long, and a program becomes 0.3 % smaller
	t := tar.NewWriter(z)
	add := func(h tar.Header, content []byte) error {
		h.ModTime, h.Format, h.Uname, h.Gname = at, tar.FormatGNU, "root", "root"
		if err := t.WriteHeader(&h); err != nil {
			return err
		}
		_, err := t.Write(content)
		return err
	}
	files = slices.Clone(files)
	slices.SortFunc(files, func(a, b file) int { return strings.Compare(a.path, b.path) })
	made := map[string]bool{}
	for _, f := range files {
		for i, c := range f.path {
			if folder := f.path[:i+1]; c == '/' && !made[folder] {
				made[folder] = true
				if err := add(tar.Header{Typeflag: tar.TypeDir, Name: folder, Mode: 0o755}, nil); err != nil {
					return nil, err
				}
			}
		}
		if err := add(tar.Header{Typeflag: tar.TypeReg, Name: f.path, Mode: f.mode, Size: int64(len(f.content))}, f.content); err != nil {
			return nil, err
		}
	}
	err := errors.Join(t.Close(), z.Close())
	return b.Bytes(), err
}

// zipped is a .zip of files in a folder.
func zipped(folder string, files []file, at time.Time) ([]byte, error) {
	var b bytes.Buffer
	z := zip.NewWriter(&b)
	for _, f := range files {
		h := &zip.FileHeader{Name: path.Join(folder, f.path), Method: zip.Deflate, Modified: at}
		h.SetMode(0o644)
		w, err := z.CreateHeader(h)
		if err != nil {
			return nil, err
		}
		if _, err := w.Write(f.content); err != nil {
			return nil, err
		}
	}
	err := z.Close()
	return b.Bytes(), err
}

// shrunk is one file as .gz.
func shrunk(content []byte) ([]byte, error) {
	var b bytes.Buffer
	z, err := gzip.NewWriterLevel(&b, gzip.BestCompression)
	if err != nil {
		return nil, err
	}
	_, err = z.Write(content)
	err = errors.Join(err, z.Close())
	return b.Bytes(), err
}
