//go:build !unix

package cmd

func ignoreFileLimit() {}
