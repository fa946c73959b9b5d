package main

import (
	"bytes"
	"crypto/md5"
	"fmt"
	"slices"
	"strings"
)

// debian is a package for Debian and what comes from it: the program, its manual pages, and what shells look for.
func (r *releasing) debian(arch string, program []byte) ([]byte, error) {
	files := []file{{"./usr/bin/gtoffset", program, 0o755}}
	shells := map[string]string{
		"completions/gtoffset.bash": "./usr/share/bash-completion/completions/gtoffset",
		"completions/_gtoffset":     "./usr/share/zsh/vendor-completions/_gtoffset",
		"completions/gtoffset.fish": "./usr/share/fish/vendor_completions.d/gtoffset.fish",
	}
	for _, f := range r.shared {
		to, content := shells[f.path], f.content
		switch {
		case to != "":
		case strings.HasPrefix(f.path, "man/"):
			to = "./usr/share/man/man1/" + strings.TrimPrefix(f.path, "man/") + ".gz"
		case f.path == "CHANGELOG.md":
			to = "./usr/share/doc/gtoffset/changelog.gz"
		case f.path == "LICENSE":
			to = "./usr/share/doc/gtoffset/copyright"
		default:
			continue
		}
		if strings.HasSuffix(to, ".gz") {
			var err error
			if content, err = shrunk(content); err != nil {
				return nil, err
			}
		}
		files = append(files, file{to, content, 0o644})
	}
	slices.SortFunc(files, func(a, b file) int { return strings.Compare(a.path, b.path) })
	data, err := packed(files, r.when)
	if err != nil {
		return nil, err
	}
	control, err := packed(r.control(arch, files), r.when)
	if err != nil {
		return nil, err
	}
	return r.ar(file{path: "debian-binary", content: []byte("2.0\n")}, file{path: "control.tar.gz", content: control}, file{path: "data.tar.gz", content: data}), nil
}

// control is what the package says of itself.
func (r *releasing) control(arch string, files []file) []file {
	size, sums := 0, &bytes.Buffer{}
	for _, f := range files {
		size += (len(f.content) + 1023) / 1024
		fmt.Fprintf(sums, "%x  %s\n", md5.Sum(f.content), strings.TrimPrefix(f.path, "./"))
	}
	text := fmt.Sprintf(`Package: gtoffset
Version: %s
Architecture: %s
Maintainer: gtoffset maintainers <gtoffset@example.invalid>
Installed-Size: %d
Section: utils
Priority: optional
Description: inspect and repair Kafka consumer-group offsets
 It shows what a streaming job stored, what its group committed and what the
 cluster still has, says what a restart would lose or repeat, and repairs it.
`, r.version, arch, size)
	return []file{{"./control", []byte(text), 0o644}, {"./md5sums", sums.Bytes(), 0o644}}
}

// ar is the outer archive of a package.
func (r *releasing) ar(members ...file) []byte {
	var b bytes.Buffer
	b.WriteString("!<arch>\n")
	for _, m := range members {
		fmt.Fprintf(&b, "%-16s%-12d%-6d%-6d%-8o%-10d`\n", m.path, r.when.Unix(), 0, 0, 0o100644, len(m.content))
		b.Write(m.content)
		if len(m.content)%2 == 1 {
			b.WriteByte('\n')
		}
	}
	return b.Bytes()
}
