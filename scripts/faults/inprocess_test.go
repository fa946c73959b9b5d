package main

import (
	"os"
	"testing"
)

// TestInProcess tries the sharpest faults on the in-process cluster: what the program says is what stands there, too.
func TestInProcess(t *testing.T) {
	l := inProcess(t)
	for _, f := range sharpest() {
		if f.name != "the coordinator is killed meanwhile" { // here it has no successor
			tryAll(t, l, f)
		}
	}
}

// TestSoakInProcess tries every fault there, and then faults at random.
func TestSoakInProcess(t *testing.T) {
	if os.Getenv("GTOFFSET_SOAK") == "" {
		t.Skip("takes half an hour; with GTOFFSET_SOAK set it runs")
	}
	l := inProcess(t)
	for _, f := range faults() {
		tryAll(t, l, f)
	}
	soakAll(t, l)
}

func tryAll(t *testing.T, l *lab, f fault) {
	for _, command := range f.meets {
		t.Run(f.name+"/"+command, func(t *testing.T) {
			c, err := l.try(t.Context(), f, command)
			if err != nil {
				t.Fatal(err)
			}
			t.Log(c)
			if c.Wrong != "" || !c.Met {
				t.Errorf("got %q, and whether the fault befell it: %v", c.Wrong, c.Met)
			}
		})
	}
}

func soakAll(t *testing.T, l *lab) {
	for _, command := range soaked() {
		t.Run("soak/"+command, func(t *testing.T) {
			s, err := l.soak(t.Context(), command, 1000, 8)
			t.Logf("%+v", s)
			if err != nil || s.Wrong != 0 {
				t.Errorf("got %+v, %v", s, err)
			}
		})
	}
}

// inProcess is a lab on the in-process cluster, which ends with the test.
func inProcess(t *testing.T) *lab {
	t.Helper()
	t.Chdir(root)
	l, err := openInProcess(t.Context(), t.Output())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(l.close)
	return l
}
