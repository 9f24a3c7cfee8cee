package main

import (
	"fmt"
	"strconv"
	"strings"

	"meshc.dev/compiler/addr"
	"meshc.dev/render/build"
	"meshc.dev/render/origin"
)

// whyFile explains a rendered file, or a line of it: FILE or FILE:LINE.
func (g *globals) whyFile(r *build.Outcome, node addr.Node, arg string, asJSON bool) error {
	path, line := arg, 0
	if at := strings.LastIndexByte(arg, ':'); at > 0 {
		if n, err := strconv.Atoi(arg[at+1:]); err == nil {
			if n < 1 {
				return usageError{fmt.Errorf("lines are counted from 1")}
			}
			path, line = arg[:at], n
		}
	}
	o, err := origin.Of(r.Result, node, path, line)
	if err != nil {
		return usageError{err}
	}
	if asJSON {
		return g.printJSON(o)
	}
	what := o.Path
	if o.Line > 0 {
		what = fmt.Sprintf("%s:%d\n  %s\n", o.Path, o.Line, strings.TrimSpace(o.Text))
	}
	fmt.Fprintln(g.stdout, what)
	fmt.Fprintf(g.stdout, "is %s of module %s, at %s\n", o.Resource, o.Module, o.At)
	if len(o.From) == 0 {
		fmt.Fprintln(g.stdout, "and depends on nothing but the module")
	}
	for _, s := range o.From {
		fmt.Fprintf(g.stdout, "\n  %s = %s\n", s.Input, s.Value)
		for _, x := range s.Said {
			fmt.Fprintf(g.stdout, "    %s\n", x)
		}
	}
	return nil
}
