package main

import (
	"fmt"
	"strconv"
	"strings"
	"unicode"

	"meshc.dev/compiler/addr"
	"meshc.dev/compiler/view"
	"meshc.dev/render"
	"meshc.dev/render/build"
	"meshc.dev/render/bundle"
)

// texts are the files that a node would be given, or those at one path, as a person reads them.
func (g *globals) texts(r *build.Outcome, node addr.Node, path []string) ([]bundle.Text, error) {
	bundles, ds := r.Bundles(render.Origin{})
	if err := g.say(ds, r); err != nil {
		return nil, err
	}
	var all, at []bundle.Text
	for _, b := range bundles {
		if b.Node == string(node) {
			all = b.Texts()
		}
	}
	if len(path) == 0 {
		return all, nil
	}
	var known []string
	for _, t := range all {
		known = append(known, t.Path)
		if t.Path == path[0] {
			at = append(at, t)
		}
	}
	if len(at) == 0 {
		return nil, usageError{fmt.Errorf("%s is given no file %s%s", node, path[0], didYouMean(path[0], known))}
	}
	return at, nil
}

// printTexts prints every file below its path, moved in so that none looks like another's.
func (g *globals) printTexts(texts []bundle.Text) {
	for _, t := range texts {
		fmt.Fprintf(g.stdout, "\n%s\n", strings.TrimSpace(g.shown(textTitle(t))))
		for line := range strings.Lines(g.shown(t.Content)) {
			fmt.Fprintln(g.stdout, strings.TrimRight("    "+line, " \n"))
		}
	}
}

// textTitle says what a text is: its path, the block of it, and the resource.
func textTitle(t bundle.Text) string {
	what := t.Path
	if t.Marker != "" {
		what += ", block " + t.Marker
	}
	return what + "  " + string(t.ID)
}

// printText prints one file and nothing else, so that it can be read by a program.
func (g *globals) printText(texts []bundle.Text) {
	for _, t := range texts {
		fmt.Fprint(g.stdout, g.shown(t.Content))
	}
}

// addTexts adds the files' contents to what programs are told of a node.
func addTexts(n view.Node, texts []bundle.Text) {
	for _, t := range texts {
		for k := range n.Resources {
			if r := &n.Resources[k]; r.ID == string(t.ID) || t.ID == "" && r.Path == t.Path {
				r.Content = t.Content
			}
		}
	}
}

// shown is a text as a terminal may be given it: what would steer the terminal is written out.
func (g *globals) shown(s string) string {
	if !g.outTerminal {
		return s
	}
	var b strings.Builder
	for _, r := range s {
		if r == '\n' || r == '\t' || unicode.IsPrint(r) {
			b.WriteRune(r)
			continue
		}
		q := strconv.QuoteRuneToASCII(r)
		b.WriteString(q[1 : len(q)-1])
	}
	return b.String()
}
