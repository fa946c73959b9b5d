// Command imports does nothing either, but links what gtoffset's commands and tables stand on: what their initialisation costs.
package main

import (
	_ "github.com/fatih/color"
	_ "github.com/olekukonko/tablewriter"
	_ "github.com/spf13/cobra"
)

func main() {}
