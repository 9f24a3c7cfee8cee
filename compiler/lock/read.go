package lock

import (
	"bytes"
	"strconv"
	"strings"

	"meshc.dev/compiler/diag"
)

// Read reads a lock. The file's name is only for diagnostics; where there are any
// errors among them there is no lock. It takes any bytes. Nil stands for no file, in
// which nothing is settled yet; an empty file is a lock that something cut off.
func Read(file string, src []byte) (*Lock, diag.List) {
	if src == nil {
		l := New()
		l.file = file
		return l, nil
	}
	return read(file, src, upgrades)
}

// upgrade turns a document of one format into one of the next.
type upgrade func(document) (document, diag.List)

// upgrades are the steps from each older format to the next, from format 1 on, so
// that nothing behind this door has to know that there was an older one.
var upgrades = []upgrade{
	// Format 1 did not say whose lock it is; the next step that writes says it.
	func(d document) (document, diag.List) { return d, nil },
}

func read(file string, src []byte, upgrades []upgrade) (*Lock, diag.List) {
	d, faults := readDocument(file, src)
	if faults.HasErrors() {
		return nil, faults
	}
	newest := len(upgrades) + 1
	if d.format > newest || d.format < 1 {
		return nil, diag.List{otherFormat(file, d.format, newest)}
	}
	was := d.format
	for _, step := range upgrades[d.format-1:] {
		if d, faults = step(d); faults.HasErrors() {
			return nil, faults
		}
	}
	l, faults := build(file, d)
	if faults.HasErrors() {
		return nil, faults
	}
	l.Format = was
	return l, nil
}

func readDocument(file string, src []byte) (document, diag.List) {
	if d, ok := readPrinted(string(src)); ok {
		return d, nil
	}
	if at, ok := findMarker(file, src); ok {
		return document{}, diag.List{unfinishedMerge(at)}
	}
	if len(bytes.TrimSpace(src)) == 0 {
		return document{}, diag.List{noFormat(file)}
	}
	return readHCL(newSource(file, src))
}

// findMarker finds the first line that git left where two branches changed the same lines.
func findMarker(file string, src []byte) (diag.Pos, bool) {
	n := 0
	for line := range strings.Lines(string(src)) {
		n++
		line = strings.TrimRight(line, "\r\n")
		for _, mark := range []string{"<<<<<<<", "|||||||", "=======", ">>>>>>>"} {
			if line == mark || strings.HasPrefix(line, mark+" ") {
				return diag.Pos{File: file, Line: n, Column: 1, EndLine: n, EndColumn: len(line) + 1}, true
			}
		}
	}
	return diag.Pos{}, false
}

// atoi reads what isNumber accepted.
func atoi(digits string) int {
	n, err := strconv.Atoi(digits)
	if err != nil {
		panic("lock: " + err.Error())
	}
	return n
}
