// Command empty does nothing: what the start of any Go process costs.
package main

func main() {}
