package load

import (
	"fmt"
	"maps"
	"path"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"cuelang.org/go/cue"
	"cuelang.org/go/cue/ast"

	"meshc.dev/compiler/diag"
)

func unreadable(p string, err error) diag.Diagnostic {
	return diag.Diagnostic{Code: diag.Unreadable, At: diag.Pos{File: p}, Message: fmt.Sprintf("%s cannot be read: %s", p, plainError(err))}
}

func foldersTooDeep(p string) diag.Diagnostic {
	return diag.Diagnostic{
		Code: diag.TooLarge, At: diag.Pos{File: p},
		Message: fmt.Sprintf("%s is more than %d folders deep", p, maxDepth),
	}
}

func leadsBack(p string) diag.Diagnostic {
	return diag.Diagnostic{Code: diag.TooLarge, At: diag.Pos{File: p}, Message: fmt.Sprintf("%s is a symbolic link that leads back to a folder it stands in", p), Help: "rm " + p}
}

func fileTooLarge(p string, size int64) diag.Diagnostic {
	return diag.Diagnostic{
		Code: diag.TooLarge, At: diag.Pos{File: p},
		Message: fmt.Sprintf("%s has %d MB; a file of a mesh has at most %d MB", p, size>>20, maxFile>>20),
	}
}

func folderTooLarge(p string) diag.Diagnostic {
	return diag.Diagnostic{
		Code: diag.TooLarge, At: diag.Pos{File: p},
		Message: fmt.Sprintf("the CUE files of this folder have more than %d MB together", maxTotal>>20),
	}
}

func tooManyFiles(p string) diag.Diagnostic {
	return diag.Diagnostic{Code: diag.TooLarge, At: diag.Pos{File: p}, Message: fmt.Sprintf("there are more than %d files in this folder", maxEntries)}
}

func notUTF8(p string, b []byte) diag.Diagnostic {
	at := diag.Pos{File: p, Line: 1, Column: 1}
	for rest := b; len(rest) > 0; {
		r, n := utf8.DecodeRune(rest)
		if r == utf8.RuneError && n == 1 {
			break
		}
		if r == '\n' {
			at.Line, at.Column = at.Line+1, 1
		} else {
			at.Column += n
		}
		rest = rest[n:]
	}
	at.EndLine, at.EndColumn = at.Line, at.Column+1
	return diag.Diagnostic{Code: diag.NotUTF8, At: at, Message: p + " is not UTF-8 text here"}
}

func syntax(t tree, at diag.Pos, said string) diag.Diagnostic {
	line := t.line(at)
	for strings.TrimSpace(line) == "" && at.Line > 1 { // the parser stopped at the end of what is wrong
		at.Line--
		line = t.line(at)
		at.Column = len(line) + 1
		at.EndLine, at.EndColumn = at.Line, at.Column+1
	}
	msg, help := meant(line, at.Column, said)
	if at.Column >= 1 && at.Column <= len(line) {
		at.EndColumn = at.Column + max(1, len(firstWord.FindString(line[at.Column-1:])))
	}
	return diag.Diagnostic{Code: diag.Syntax, At: at, Message: msg, Help: help}
}

var firstWord = re(`^\w+`)

func noMesh() diag.Diagnostic {
	return diag.Diagnostic{Code: diag.NoMesh, Message: "there is no mesh.cue in this folder", Help: "meshc init"}
}

func noNodes(at diag.Pos) diag.Diagnostic {
	return diag.Diagnostic{Code: diag.NoNodes, At: at, Message: "the mesh has no nodes, so there is nothing to build", Help: `nodes: "my-machine": {}`}
}

func notAMesh(at diag.Pos) diag.Diagnostic {
	return diag.Diagnostic{
		Code: diag.NotAMesh, At: at, Message: "this package does not embed schema.#Mesh",
		Help: "import \"meshc.dev/schema\"\n\nschema.#Mesh",
	}
}

func packageNames(at diag.Pos, msg string) diag.Diagnostic {
	return diag.Diagnostic{Code: diag.PackageNames, At: at, Message: msg}
}

// saysNothing is of a file without a declaration, in a folder where no other says what the folder is.
func saysNothing(p, name string) diag.Diagnostic {
	d := noPackage(p, name)
	d.Message = p + " says nothing: it has no package line and no declaration; it begins with"
	kind := "#Module"
	if path.Dir(p) == "." {
		kind = "#Mesh"
	}
	d.Help = "package " + name + "\n\nimport \"meshc.dev/schema\"\n\nschema." + kind
	return d
}

func noPackage(p, name string) diag.Diagnostic {
	return diag.Diagnostic{
		Code: diag.NoPackage, At: diag.Pos{File: p, Line: 1, Column: 1, EndLine: 1, EndColumn: 2},
		Message: fmt.Sprintf("%s has no package line, so CUE would leave the whole file out; its first line is to be", p), Help: "package " + name,
	}
}

func fileLeftOut(p, why string) diag.Diagnostic {
	return diag.Diagnostic{Code: diag.LeftOut, At: diag.Pos{File: p}, Message: fmt.Sprintf("nothing of %s is in the mesh: CUE leaves out %s", p, why)}
}

// folderLeftOut names a few of the files of a folder that nobody imports.
func folderLeftOut(dir string, files []string) diag.Diagnostic {
	const most = 5
	var names []string
	for _, p := range files[:min(most, len(files))] {
		names = append(names, path.Base(p))
	}
	if more := len(files) - most; more > 0 {
		names = append(names, fmt.Sprintf("%d more", more))
	}
	return diag.Diagnostic{
		Code: diag.LeftOut, At: diag.Pos{File: files[0]},
		Message: fmt.Sprintf("nothing of the folder %s is in the mesh: it is no module and nothing imports it; it has %s", dir, strings.Join(names, ", ")),
	}
}

func otherSchema(p string) diag.Diagnostic {
	return diag.Diagnostic{
		Code: diag.OtherSchema, At: diag.Pos{File: p}, Message: "the copy of the schema that editors read is not that of this meshc", Help: "meshc init --ci none",
	}
}

func unknownImport(at diag.Pos, path string) diag.Diagnostic {
	known := slices.Sorted(maps.Values(packagesOfCUE))
	if near := diag.Nearest(path, known); len(near) > 0 {
		return diag.Diagnostic{Code: diag.UnknownImport, At: at, Message: fmt.Sprintf("there is no %q to import%s", path, orNearest(near[:1])), Help: fmt.Sprintf("import %q", near[0])}
	}
	return diag.Diagnostic{
		Code: diag.UnknownImport, At: at,
		Message: fmt.Sprintf("%q is neither part of CUE, nor built into meshc, nor a package of this folder; meshc loads nothing from a network", path),
	}
}

func unknownReference(at diag.Pos, name string) diag.Diagnostic {
	name = strings.Trim(name, `"`)
	at.EndColumn = at.Column + len(name)
	return diag.Diagnostic{Code: diag.UnknownReference, At: at, Message: nothingCalled + name}
}

func unknownTag(tag string, known []string) diag.Diagnostic {
	d := diag.Diagnostic{Code: diag.UnknownReference, Message: fmt.Sprintf("-t %s: no file of the mesh has a value with @tag(%s)%s", tag, tag, orNearest(diag.Nearest(tag, known)))}
	if len(known) > 0 && len(diag.Nearest(tag, known)) == 0 {
		d.Message += "; the tags there are: " + strings.Join(known, ", ")
	}
	return d
}

func unknownField(what string) func(at diag.Pos, path, near []string) diag.Diagnostic {
	return func(at diag.Pos, path, near []string) diag.Diagnostic {
		d := diag.Diagnostic{Code: diag.UnknownField, At: at, Message: fmt.Sprintf("%s has no field %s%s", what, dotted(path), orNearest(near))}
		switch {
		case len(near) == 1:
			d.Help = near[0]
		case len(path) == 1 && belongsIn(path[0]) != "":
			d.Message += "; it stands in " + belongsIn(path[0])
		case len(near) == 0 && len(path) == 1:
			d.Message += "; a field of one's own begins with _"
			d.Help = "_" + path[0]
		}
		return d
	}
}

func missingField(what string) func(at diag.Pos, path []string) diag.Diagnostic {
	return func(at diag.Pos, path []string) diag.Diagnostic {
		return diag.Diagnostic{Code: diag.MissingField, At: at, Message: fmt.Sprintf("%s needs the field %s", what, dotted(path))}
	}
}

func badName(at diag.Pos, path []string) diag.Diagnostic {
	name := path[len(path)-1]
	d := diag.Diagnostic{
		Code: diag.BadName, At: at,
		Message: fmt.Sprintf("%q in %s is no name: a name is lower-case letters, digits and inner hyphens, at most 63", name, dotted(path[:len(path)-1])),
	}
	if mended := mendName(name); mended != name {
		d.Help = dotted([]string{mended})
	}
	return d
}

func badKey(at diag.Pos, subject string, path []string, name string) diag.Diagnostic {
	return diag.Diagnostic{
		Code: diag.BadName, At: at,
		Message: fmt.Sprintf("%q is not a key that %s of %s takes; `meshc catalog` shows their form", name, dotted(path), subject),
	}
}

func nothingInside(at diag.Pos, path []string) diag.Diagnostic {
	return diag.Diagnostic{Code: diag.UnknownField, At: at, Message: fmt.Sprintf("%s only has to be there; nothing stands inside it", dotted(path)), Help: last(path) + ": {}"}
}

func wrongKind(at diag.Pos, subject string, path []string, got, want string) diag.Diagnostic {
	return diag.Diagnostic{Code: diag.WrongKind, At: at, Message: fmt.Sprintf("%s of %s is %s, not %s", dotted(path), subject, want, got)}
}

func singleQuotes(v cue.Value, subject string, path []string) diag.Diagnostic {
	d := diag.Diagnostic{
		Code: diag.WrongKind, At: valueAt(v),
		Message: fmt.Sprintf("%s of %s is a text, and single quotes write bytes; a text stands in double quotes", dotted(path), subject),
	}
	if b, err := v.Bytes(); err == nil && utf8.Valid(b) {
		d.Help = strconv.Quote(string(b))
	}
	return d
}

func notAllowed(at diag.Pos, subject string, path []string, why string, places []diag.Pos) diag.Diagnostic {
	return diag.Diagnostic{Code: diag.NotAllowed, At: at, Message: fmt.Sprintf("%s of %s: %s", dotted(path), subject, why), Also: others(at, places, "said here")}
}

// modeIsNumber shows how a mode that is no string would be read (BLD-5).
func modeIsNumber(d diag.Diagnostic, v cue.Value) diag.Diagnostic {
	n, err := v.Int64()
	if err != nil || n < 0 || n > 0o7777 {
		return d
	}
	d.Message += fmt.Sprintf("; this number would be the mode %04o", n)
	meant := strconv.FormatInt(n, 10)
	written := v.Source()
	if f, ok := written.(*ast.Field); ok {
		written = f.Value
	}
	if lit, ok := written.(*ast.BasicLit); ok && strings.HasPrefix(lit.Value, "0o") || strings.Trim(meant, "01234567") != "" {
		meant = strconv.FormatInt(n, 8)
	}
	d.Help = fmt.Sprintf("%q", strings.Repeat("0", max(0, 4-len(meant)))+meant)
	return d
}

func outOfBounds(at diag.Pos, subject string, path []string, want string, places []diag.Pos) diag.Diagnostic {
	return diag.Diagnostic{Code: diag.NotAllowed, At: at, Message: fmt.Sprintf("%s of %s is %s", dotted(path), subject, want), Also: others(at, places, "this asks for it")}
}

func setTwice(subject string, path []string, places []diag.Pos) diag.Diagnostic {
	lastOne := places[len(places)-1]
	return diag.Diagnostic{
		Code: diag.SetTwice, At: lastOne, Message: fmt.Sprintf("%s of %s has two different values", dotted(path), subject),
		Also: others(lastOne, places, "the other value"),
	}
}

func conflict(at diag.Pos, subject string, path []string, a, b string, places []diag.Pos) diag.Diagnostic {
	return diag.Diagnostic{
		Code: diag.SetTwice, At: at, Message: fmt.Sprintf("%s of %s cannot be both %s and %s", dotted(path), subject, a, b),
		Also: others(at, places, "the other value"),
	}
}

func cycle(at diag.Pos, subject string, path []string, places []diag.Pos) diag.Diagnostic {
	return diag.Diagnostic{Code: diag.Cycle, At: at, Message: fmt.Sprintf("%s of %s depends on itself", dotted(path), subject), Also: others(at, places, "by way of this")}
}

func cueFault(at diag.Pos, subject string, path []string, msg string, places []diag.Pos) diag.Diagnostic {
	where := subject
	if len(path) > 0 {
		where = dotted(path) + " of " + subject
	}
	said := computed(msg)
	if said != msg && len(path) == 0 {
		return diag.Diagnostic{Code: diag.CUEFault, At: at, Message: said, Also: others(at, places, samePlace)}
	}
	return diag.Diagnostic{Code: diag.CUEFault, At: at, Message: fmt.Sprintf("%s: %s", where, said), Also: others(at, places, samePlace)}
}

func roundedNumber(at diag.Pos, name string) diag.Diagnostic {
	return diag.Diagnostic{
		Code: diag.CUEFault, At: at,
		Message: name + " comes to a whole number of more than 34 digits, with which CUE does not compute; write its digits out, or as a text",
	}
}

// samePlace is said of places that add nothing on the line that is shown already.
const samePlace = "and this"

// others are the places besides one, each line once.
func others(at diag.Pos, places []diag.Pos, text string) []diag.Note {
	var out []diag.Note
	for _, p := range places {
		sameLine := func(n diag.Note) bool { return n.At.File == p.File && n.At.Line == p.Line }
		if p.Compare(at) != 0 && !(text == samePlace && sameLine(diag.Note{At: at})) && !slices.ContainsFunc(out, sameLine) {
			out = append(out, diag.Note{At: p, Text: text})
		}
	}
	return out
}

// dotted writes a path as one writes it in CUE.
func dotted(path []string) string {
	out := make([]string, 0, len(path))
	for _, p := range path {
		switch {
		case strings.HasPrefix(p, "[") && len(out) > 0:
			out[len(out)-1] += p
			continue
		case strings.ContainsAny(p, "-. ") || p != "" && p[0] >= '0' && p[0] <= '9':
			p = fmt.Sprintf("%q", p)
		}
		out = append(out, p)
	}
	if len(out) == 0 {
		return "the whole"
	}
	return strings.Join(out, ".")
}

func orNearest(near []string) string {
	switch len(near) {
	case 0:
		return ""
	case 1:
		return "; did you mean " + near[0] + "?"
	}
	return "; did you mean " + strings.Join(near[:len(near)-1], ", ") + " or " + near[len(near)-1] + "?"
}

func last(path []string) string {
	if len(path) == 0 {
		return ""
	}
	return path[len(path)-1]
}

// mendName is the name that somebody may have meant.
func mendName(s string) string {
	var b strings.Builder
	for _, r := range strings.ToLower(s) {
		switch {
		case r >= 'a' && r <= 'z', r >= '0' && r <= '9':
			b.WriteRune(r)
		case b.Len() > 0 && b.Len() < 63:
			b.WriteByte('-')
		}
	}
	out := b.String()
	return strings.TrimRight(out[:min(len(out), 63)], "-")
}

func notAModule(m *Module) diag.Diagnostic {
	return diag.Diagnostic{
		Code: diag.NotAMesh, At: m.At, Message: fmt.Sprintf("modules/%s does not embed schema.#Module", m.Name),
		Help: "import \"meshc.dev/schema\"\n\nschema.#Module",
	}
}

func otherName(at diag.Pos, folder, name string) diag.Diagnostic {
	return diag.Diagnostic{
		Code: diag.ModuleName, At: at, Message: fmt.Sprintf("the module in modules/%s calls itself %s", folder, name),
		Help: fmt.Sprintf("name: %q", folder),
	}
}

func replaced(m *Module) diag.Diagnostic {
	return diag.Diagnostic{Code: diag.ReplacedModule, At: m.At, Message: fmt.Sprintf("modules/%s replaces the built-in module %s", m.Name, m.Name)}
}

func defaultStruct(at diag.Pos, module string) diag.Diagnostic {
	return diag.Diagnostic{
		Code: diag.DefaultStruct, At: at,
		Message: fmt.Sprintf("a setting of module %s has a default on a whole struct: setting one key would take the others' defaults away; give each key its own", module),
	}
}

func interfaceTooLate(at diag.Pos, module, field, input string) diag.Diagnostic {
	if input == "" {
		return diag.Diagnostic{
			Code: diag.InterfaceTooLate, At: at,
			Message: fmt.Sprintf("%s of module %s can depend on everything in `in`, of which ports and answers are known only after every node has been resolved; name what it needs, such as in.node.name", field, module),
		}
	}
	return diag.Diagnostic{
		Code: diag.InterfaceTooLate, At: at,
		Message: fmt.Sprintf("%s of module %s depends on in.%s, which is known only after every node has been resolved", field, module, input),
	}
}

// toldTooLate is what one end tells the other of something that is not known by then.
func toldTooLate(at diag.Pos, module, field, of, name, input string) diag.Diagnostic {
	what := "in." + input + ", which is known only after that"
	if input == "" {
		what = "everything in `in`, of which some is known only after that; name what it needs, such as in.node.name"
	}
	return diag.Diagnostic{
		Code: diag.InterfaceTooLate, At: at,
		Message: fmt.Sprintf("%s of the %s %s of module %s can depend on %s", field, of, name, module, what),
	}
}

func keyUnfit(at diag.Pos, who, reason string) diag.Diagnostic {
	return diag.Diagnostic{Code: diag.RecipientInvalid, At: at, Message: fmt.Sprintf("nothing can be sealed to %s: %s", who, reason)}
}

func secretOutside(at diag.Pos, module, field, input string) diag.Diagnostic {
	return diag.Diagnostic{
		Code: diag.SecretShows, At: at,
		Message: fmt.Sprintf("%s of module %s reads in.%s, a secret, which would show there; a secret can stand only in a file's content or data", field, module, input),
	}
}

// secretInput names a secret as an author knows it, or all of them.
func secretInput(input string) string {
	if input == "" {
		return "something that can hold a secret"
	}
	return "in." + input
}

func secretGiven(at diag.Pos, module, function, input string) diag.Diagnostic {
	return diag.Diagnostic{
		Code: diag.SecretComputed, At: at,
		Message: fmt.Sprintf("module %s gives %s to %s; the machine fills the secret in, so that the compiler does not have it: it can only be placed as it is, in one of the encodings value, urlencoded, json, base64, shell", module, secretInput(input), function),
	}
}

func secretCompared(at diag.Pos, module, input string) diag.Diagnostic {
	return diag.Diagnostic{
		Code: diag.SecretComputed, At: at,
		Message: fmt.Sprintf("module %s compares %s with something; the machine fills the secret in, so that the compiler does not have it", module, secretInput(input)),
	}
}

func notARange(t Text) diag.Diagnostic {
	return diag.Diagnostic{Code: diag.OtherCompiler, At: t.At, Message: fmt.Sprintf("%q is no range of versions", t.Value), Help: `meshc: ">=0.3"`}
}

func otherCompiler(t Text, version string) diag.Diagnostic {
	return diag.Diagnostic{Code: diag.OtherCompiler, At: t.At, Message: fmt.Sprintf("this mesh accepts meshc %s, and this is %s", t.Value, version)}
}

func noValue(at diag.Pos, subject string, path []string) diag.Diagnostic {
	return diag.Diagnostic{Code: diag.MissingField, At: at, Message: fmt.Sprintf("%s of %s has no value yet", dotted(path), subject)}
}

func badAddress(t Text, want string) diag.Diagnostic {
	return diag.Diagnostic{Code: diag.BadAddress, At: t.At, Message: fmt.Sprintf("%q is not %s", t.Value, want)}
}
