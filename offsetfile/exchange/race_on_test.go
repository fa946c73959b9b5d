//go:build race

package exchange_test

// underRace says that the race detector is in, which takes several times the memory.
const underRace = true
