package live

import (
	"bytes"
	"context"
	"fmt"
	"os/exec"
	"sync"
)

// The main classes of Kafka's own tools that we compare with.
const (
	ConsumerGroups  = "org.apache.kafka.tools.consumer.group.ConsumerGroupCommand"
	ConsoleConsumer = "org.apache.kafka.tools.consumer.ConsoleConsumer"
	Topics          = "org.apache.kafka.tools.TopicCommand"
)

// Tool runs one main class of the release's jars to its end. Bootstrap must be among the arguments where the tool wants it. The
// error of a failed run holds what the tool said on both outputs.
func (c *Cluster) Tool(ctx context.Context, class string, args ...string) (stdout string, err error) {
	return output(ctx, c.java("256m", class, args...))
}

// ToolCommand is the same as a command that has not started, for those who time it.
func (c *Cluster) ToolCommand(class string, args ...string) *exec.Cmd {
	return c.java("256m", class, args...)
}

// Kcat runs kcat against the cluster to its end.
func (c *Cluster) Kcat(ctx context.Context, args ...string) (stdout string, err error) {
	return output(ctx, exec.Command("kcat", append([]string{"-b", c.Bootstrap()}, args...)...))
}

func output(ctx context.Context, cmd *exec.Cmd) (string, error) {
	var out, errs bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &errs
	if err := run(ctx, cmd); err != nil {
		return out.String(), fmt.Errorf("%s: %w\n%s\n%s", cmd.Args[len(cmd.Args)-1], err, tail(out.String(), 20), tail(errs.String(), 20))
	}
	return out.String(), nil
}

// A Background is a tool that runs until it is stopped.
type Background struct {
	*Process
	said *shared
}

// StartTool starts one main class of the jars, such as a consumer of its own.
func (c *Cluster) StartTool(class string, args ...string) (*Background, error) {
	cmd := c.java("256m", class, args...)
	said := &shared{}
	cmd.Stdout, cmd.Stderr = said, said
	p, err := Start(cmd)
	if err != nil {
		return nil, fmt.Errorf("start %s: %w", class, err)
	}
	return &Background{p, said}, nil
}

// Output is what the tool has said so far.
func (b *Background) Output() string { return b.said.String() }

type shared struct {
	mu  sync.Mutex
	buf bytes.Buffer
}

func (s *shared) Write(b []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.buf.Write(b)
}

func (s *shared) String() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.buf.String()
}
