package lock

import (
	"fmt"
	"strconv"

	"meshc.dev/compiler/diag"
)

const (
	notPort = "a port is a number from 1 to 65535"

	// restore is the way back from a file that a hand or a merge spoilt.
	restore = "git restore " + File

	// unmark keeps the lines of both sides of every conflict, and drops the markers
	// and, where git was told to show it, the base. A test runs it.
	unmark = `sed -i -e '/^|||||||/,/^=======/d' -e '/^<<<<<<</d' -e '/^=======/d' -e '/^>>>>>>>/d' ` + File
)

func syntax(at diag.Pos, summary string) diag.Diagnostic {
	return diag.Diagnostic{Code: diag.LockSyntax, At: at, Message: "the lock cannot be read here: " + summary, Help: restore}
}

func notLiteral(at diag.Pos, what string) diag.Diagnostic {
	return diag.Diagnostic{
		Code: diag.LockSyntax, At: at, Help: restore,
		Message: fmt.Sprintf("a lock holds names, numbers, strings and lists, and no %.20q", what),
	}
}

func tooDeep(at diag.Pos) diag.Diagnostic {
	return diag.Diagnostic{Code: diag.LockSyntax, At: at, Message: "brackets nest deeper here than in any lock", Help: restore}
}

func unfinishedMerge(at diag.Pos) diag.Diagnostic {
	return diag.Diagnostic{
		Code: diag.LockUnmerged, At: at, Help: unmark + "\nmeshc lock",
		Message: "git could not merge the lock here; every line is an entry of its own, so both sides are kept",
	}
}

func noFormat(file string) diag.Diagnostic {
	return diag.Diagnostic{
		Code: diag.LockFormat, At: diag.Pos{File: file}, Help: restore,
		Message: fmt.Sprintf("the lock does not say which format it has; its first line is \"format = %d\"", Format),
	}
}

func badFormat(at diag.Pos) diag.Diagnostic {
	return diag.Diagnostic{Code: diag.LockFormat, At: at, Message: "the format of a lock is a number", Help: restore}
}

func badMesh(at diag.Pos) diag.Diagnostic {
	return diag.Diagnostic{Code: diag.LockEntry, At: at, Message: "mesh is the name of the mesh that the lock belongs to, in quotes", Help: restore}
}

func otherFormat(file string, format, newest int) diag.Diagnostic {
	d := diag.Diagnostic{Code: diag.LockFormat, At: diag.Pos{File: file}}
	if format < 1 {
		d.Message = fmt.Sprintf("there is no lock of format %d; formats count from 1", format)
		d.Help = restore
		return d
	}
	d.Message = fmt.Sprintf("the lock has format %d, which a newer meshc wrote; this one knows format %d and older ones", format, newest)
	return d
}

func entryTwice(at, first diag.Pos, key string) diag.Diagnostic {
	return diag.Diagnostic{
		Code: diag.LockTwice, At: at,
		Message: fmt.Sprintf("%q stands in the lock twice, with two values; delete the line that is not wanted", key),
		Also:    []diag.Note{{At: first, Text: "and here"}},
	}
}

func badEntry(at diag.Pos, key, problem string) diag.Diagnostic {
	return diag.Diagnostic{Code: diag.LockEntry, At: at, Message: fmt.Sprintf("%.200q is malformed: %s", key, problem), Help: restore}
}

func badKey(at diag.Pos, section string) diag.Diagnostic {
	return diag.Diagnostic{Code: diag.LockEntry, At: at, Message: "an entry of " + section + " is named by a string", Help: restore}
}

func notSection(at diag.Pos, name string) diag.Diagnostic {
	return diag.Diagnostic{Code: diag.LockEntry, At: at, Message: fmt.Sprintf("%.60q is no section of entries in { }", name), Help: restore}
}

func unknownSection(at diag.Pos, name string) diag.Diagnostic {
	return diag.Diagnostic{
		Code: diag.LockEntry, At: at, Help: restore,
		Message: fmt.Sprintf("a lock has no section %.60q; it has ports, addresses, logins, secrets, moved and data", name),
	}
}

func plural(n int, what string) string {
	if n == 1 {
		return "1 " + what
	}
	return strconv.Itoa(n) + " " + what + "s"
}
