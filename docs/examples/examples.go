// Package examples has the sources of the example jobs that are not in Go, for what compiles and runs them.
package examples

import "embed"

// Spark is the job of Spark Streaming, and the class that keeps its offsets; Python the same in Python.
var (
	//go:embed spark/*.java
	Spark embed.FS
	//go:embed python/*.py
	Python embed.FS
)
