package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime/pprof"
	"strconv"
	"strings"

	"gtoffset/cmd"
)

const profiled = 20 // replays in one profile

// shares are the parts of a replay's work, each with what the names of its functions begin with, in the order in which they are tried.
var shares = []struct {
	part     string
	prefixes []string
}{
	{"system calls: reading from brokers, writing", []string{"internal/runtime/syscall", "syscall."}},
	{"CRC32C of every batch", []string{"hash/crc32"}},
	{"decompression", []string{"github.com/klauspost/compress", "github.com/pierrec/lz4", "github.com/golang/snappy"}},
	{"walking batches and records", []string{"gtoffset/kafkaops/records"}},
	{"lines of output", []string{"gtoffset/output", "gtoffset/cmd"}},
	{"runtime and the rest", []string{""}},
}

// profile says what the processor does during replays of a load, as shares of all samples.
func (r *runner) profile(ctx context.Context, l load) error {
	path := filepath.Join(r.dir, "cpu.pprof")
	if err := r.sample(ctx, l, path); err != nil {
		return err
	}
	top, err := exec.CommandContext(ctx, "go", "tool", "pprof", "-top", "-nodecount=100000", "-nodefraction=0", "-unit=ms", path).Output()
	if err != nil {
		return err
	}
	sums, all := make([]float64, len(shares)), 0.0
	for line := range strings.Lines(string(top)) {
		f := strings.Fields(line) // flat flat% sum% cum cum% function
		ms, isRow := 0.0, len(f) >= 6 && strings.HasSuffix(f[1], "%")
		if isRow {
			ms, err = strconv.ParseFloat(strings.TrimSuffix(f[0], "ms"), 64)
		}
		if !isRow || err != nil {
			continue
		}
		i := 0
		for !hasPrefix(f[5], shares[i].prefixes) {
			i++
		}
		sums[i] += ms
		all += ms
	}
	if all == 0 {
		return errors.New("no samples in the profile")
	}
	fmt.Printf("## what the processor does: %d replays of %d records of %d bytes, %s\n\n| part | share |\n|---|---:|\n", profiled, l.records, l.size, l.codec)
	for i, s := range shares {
		fmt.Printf("| %s | %.0f %% |\n", s.part, 100*sums[i]/all)
	}
	fmt.Println()
	return nil
}

func hasPrefix(name string, prefixes []string) bool {
	for _, p := range prefixes {
		if strings.HasPrefix(name, p) {
			return true
		}
	}
	return false
}

// sample runs replays in this process under the profiler.
func (r *runner) sample(ctx context.Context, l load, path string) error {
	nowhere, err := os.OpenFile(os.DevNull, os.O_WRONLY, 0)
	if err != nil {
		return err
	}
	defer nowhere.Close()
	env := cmd.System(nil)
	var said bytes.Buffer
	env.Stdout, env.Stderr = nowhere, &said
	f, err := os.Create(path)
	if err != nil {
		return err
	}
	defer f.Close()
	if err := pprof.StartCPUProfile(f); err != nil {
		return err
	}
	defer pprof.StopCPUProfile()
	for range profiled {
		if code := cmd.Main(ctx, env, r.replay(l, "-o", "raw").Args[1:]); code != 0 {
			return fmt.Errorf("replay ended with %d: %s", code, said.String())
		}
	}
	return nil
}
