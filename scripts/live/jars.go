package live

import (
	"bytes"
	"context"
	"encoding/xml"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"time"
)

// coordinates says what one release consists of. From 4.0 on Kafka logs through log4j 2 and ships no binding for slf4j:
// without one every error of a broker is silent.
func coordinates(version string) []string {
	all := []string{"org.apache.kafka:kafka_2.13:" + version, "org.apache.kafka:kafka-tools:" + version}
	if !strings.HasPrefix(version, "3.") {
		all = append(all, "org.apache.logging.log4j:log4j-slf4j-impl:2.25.5")
	}
	return all
}

// Jars returns the folder with the jars of one release, fetched with Maven on first use and kept under the user's cache folder.
// An interrupted fetch is done again; two processes that want the same release take turns.
func Jars(ctx context.Context, version string) (string, error) {
	dir, err := artifacts(ctx, "libs-"+version, coordinates(version))
	if err != nil {
		return "", fmt.Errorf("fetch Kafka %s: %w", version, err)
	}
	return dir, nil
}

// artifacts returns the cache's folder of that name with the artifacts and all that they need, but for those named without
// version, group:artifact, which nobody needs here.
func artifacts(ctx context.Context, name string, coordinates []string, without ...string) (string, error) {
	cache, err := os.UserCacheDir()
	if err != nil {
		return "", fmt.Errorf("find a cache folder for the jars: %w", err)
	}
	dir := filepath.Join(cache, "gtoffset-live", name)
	if err := os.MkdirAll(filepath.Dir(dir), 0o755); err != nil {
		return "", err
	}
	unlock, err := lock(dir + ".lock")
	if err != nil {
		return "", err
	}
	defer unlock()

	want := strings.Join(append(coordinates, without...), "\n") + "\n"
	mark := filepath.Join(dir, "complete")
	if got, err := os.ReadFile(mark); err == nil && string(got) == want {
		return dir, nil
	}
	for pause := 2 * time.Second; ; pause *= 2 {
		err = fetch(ctx, dir, coordinates, without)
		if err == nil || pause > 8*time.Second || errors.Is(err, exec.ErrNotFound) {
			break
		}
		select {
		case <-ctx.Done():
			return "", ctx.Err()
		case <-time.After(pause):
		}
	}
	if err != nil {
		return "", err
	}
	return dir, os.WriteFile(mark, []byte(want), 0o644)
}

// fetch lets Maven copy the artifacts and all that they need at run time, by a throw-away project that depends on them.
func fetch(ctx context.Context, dir string, coordinates, without []string) error {
	if err := os.RemoveAll(dir); err != nil {
		return err
	}
	work, err := os.MkdirTemp("", "gtoffset-pom-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(work)

	type artifact struct {
		Group    string `xml:"groupId"`
		Artifact string `xml:"artifactId"`
	}
	type dependency struct {
		artifact
		Version    string     `xml:"version"`
		Exclusions []artifact `xml:"exclusions>exclusion,omitempty"`
	}
	pom := struct {
		XMLName      xml.Name     `xml:"http://maven.apache.org/POM/4.0.0 project"`
		Model        string       `xml:"modelVersion"`
		Group        string       `xml:"groupId"`
		Artifact     string       `xml:"artifactId"`
		Version      string       `xml:"version"`
		Dependencies []dependency `xml:"dependencies>dependency"`
	}{Model: "4.0.0", Group: "gtoffset", Artifact: "live", Version: "1"}
	var exclusions []artifact
	for _, c := range without {
		part := strings.Split(c, ":")
		exclusions = append(exclusions, artifact{part[0], part[1]})
	}
	for _, c := range coordinates {
		part := strings.Split(c, ":")
		pom.Dependencies = append(pom.Dependencies, dependency{artifact{part[0], part[1]}, part[2], exclusions})
	}
	text, err := xml.MarshalIndent(pom, "", "  ")
	if err != nil {
		return err
	}
	file := filepath.Join(work, "pom.xml")
	if err := os.WriteFile(file, text, 0o644); err != nil {
		return err
	}
	// -U: an artifact that was once not found is asked for again.
	cmd := exec.Command("mvn", "-q", "-B", "-U", "-f", file,
		"dependency:copy-dependencies", "-DincludeScope=runtime", "-DoutputDirectory="+dir)
	var said bytes.Buffer
	cmd.Stdout, cmd.Stderr = &said, &said
	if err := run(ctx, cmd); err != nil {
		return fmt.Errorf("mvn: %w\n%s", err, tail(said.String(), 20))
	}
	return nil
}

// lock waits for an exclusive lock on the file and returns its release. The kernel releases it, too, when the process ends.
func lock(path string) (func(), error) {
	f, err := os.OpenFile(path, os.O_CREATE|os.O_RDWR, 0o644)
	if err != nil {
		return nil, err
	}
	for {
		if err = syscall.Flock(int(f.Fd()), syscall.LOCK_EX); !errors.Is(err, syscall.EINTR) {
			break
		}
	}
	if err != nil {
		f.Close()
		return nil, fmt.Errorf("lock %q: %w", path, err)
	}
	return func() { f.Close() }, nil
}

// tail keeps the last lines of a text, where the reason usually stands.
func tail(text string, lines int) string {
	all := strings.Split(strings.TrimRight(text, "\n"), "\n")
	return strings.Join(all[max(0, len(all)-lines):], "\n")
}
