package bundle

import (
	"fmt"
	"strings"
)

// Text is a rendered file or block as a person reads it.
type Text struct {
	ID      ID     // empty where the machine has no declaration
	Path    string // on the machine
	Marker  string // of a block within it
	Content string
}

// Texts are the files and blocks of a bundle in the order in which they are applied. Where
// the machine fills a secret in, it is named.
func (b *Bundle) Texts() []Text {
	var out []Text
	if b.Declaration == nil {
		for _, e := range b.Entries {
			if path, ok := strings.CutPrefix(e.Name, "files/"); ok {
				out = append(out, Text{Path: "/" + path, Content: string(e.Data)})
			}
		}
		return out
	}
	for _, i := range b.Declaration.Items {
		switch i := i.(type) {
		case *File:
			if e, ok := b.Entry(i.Source); ok {
				out = append(out, Text{ID: i.ID, Path: i.Path, Content: Marked(e.Data, i.Fills)})
			}
		case *Block:
			if e, ok := b.Entry(i.Source); ok {
				out = append(out, Text{ID: i.ID, Path: i.Path, Marker: i.Marker, Content: string(e.Data)})
			}
		}
	}
	return out
}

// Marked is a file's text with the name of each secret where the machine fills it in.
func Marked(data []byte, fills []Fill) string {
	var out strings.Builder
	from := 0
	for _, f := range fills {
		at := max(from, min(f.Offset, len(data)))
		out.Write(data[from:at])
		fmt.Fprintf(&out, "{%s as %s}", f.Secret, f.Encoding)
		from = at
	}
	out.Write(data[from:])
	return out.String()
}
