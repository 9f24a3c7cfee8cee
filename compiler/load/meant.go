package load

import (
	"fmt"
	"regexp"
	"slices"
	"strings"

	"meshc.dev/compiler/diag"
)

// What CUE's parser says of a line is what it expected, and not what the person meant who wrote it. This
// file is the one place where the one becomes the other (DIA-4): from the line, and from where the
// parser stopped on it.

// habit is something that people write who know another language.
type habit struct {
	// before and after match the line up to where the parser stopped, and from there on; said its words.
	before, after, said *regexp.Regexp
	// says and help may use what before and after matched, as $1, $2 …, before's first.
	says, help string
}

func re(s string) *regexp.Regexp { return regexp.MustCompile(s) }

var habits = []habit{
	{before: re(`^\s*#`), says: "a comment begins with //, not with #", help: "//"},
	{before: re(`[^\s#]\s+#\s*$`), says: "a comment begins with //, not with #", help: "//"},
	{before: re(`^\s*$`), after: re(`^/\*`), says: "a comment begins with // on each of its lines; there is no /* */", help: "//"},
	{after: re(`^#([\s!]|$)`), says: "a comment begins with //, not with #", help: "//"},
	{before: re(`^\s*-(-|\s*$)`), says: "this begins a document or a list in YAML; CUE has no such line, and a list stands in brackets: [\"a\", \"b\"]"},
	{said: re(`illegal integer number`), says: "a number does not begin with 0; a mode stands in quotes", help: `"0640"`},
	{said: re(`not terminated`), after: re(`^'`), says: `a text stands in "double quotes", and this one has no end on its line`},
	{said: re(`not terminated`), after: re(`^"""`), says: `this text of several lines is not closed: """ stands alone on the last one`},
	{said: re(`not terminated`), says: "this text has no end on its line: a closing \" is missing"},
	{said: re(`escape`), says: `a \ in a text is written \\, or the text as #"…"#, in which it stands for itself`},
	{after: re(`^(and|or)\b`), says: "CUE has no word `$1`: values that have to hold together are joined with &, and a choice between them with |"},
	{before: re(`\bnot\s+$`), says: "CUE has no word `not`: a condition is turned round with !"},
	{before: re(`([A-Za-z_][\w]*(?:-+\w+)+)$`), after: re(`^\s*[:?!]`), says: "a name with a hyphen stands in quotes", help: `"$1":`},
	{before: re(`(^|[\s{,:])(\d[\w.-]*)$`), after: re(`^\s*:`), says: "a name that begins with a digit stands in quotes", help: `"$2":`},
	{before: re(`((?:\w+\.)+\w+)$`), after: re(`^\s*:`), says: "what stands inside of something is written `a: b: …`, not `a.b: …`", help: "$dots:"},
	{before: re(`:\s*$`), after: re(`^=`), says: "a field is set with a colon alone", help: ":"},
	{before: re(`:=?\s*$`), after: re(`^=`), says: "a field is set with a colon alone", help: ":"},
	{after: re(`^;`), says: "fields are separated by commas or stand on lines of their own; there is no ;", help: ","},
	{before: re(`(\b\d+(?:\.\d+)*)$`), after: re(`^(\.\d[\d./:]*|[A-Za-z%]\w*)`), says: "what is not a number alone is a text and stands in quotes", help: `"$1$2"`},
	{said: re(`expected operand`), before: re(`:\s*$`), after: re(`^(/[^\s,}]*)`), says: "a path is a text and stands in quotes", help: `"$1"`},
	{said: re(`attribute`), says: "an @ begins an attribute in CUE; a text that holds one stands in quotes"},
	{said: re(`illegal character`), after: re(`^[“”„«»‘’]`), says: "this is a typographic quotation mark; a text stands in plain ones", help: `"`},
	{said: re(`illegal character`), after: re(`^(\S)`), says: "$1 is no character of CUE; inside of a text in quotes it may stand"},
	{after: re(`^(if|for)\b`), says: "`$1` stands before a struct: `$1 … {field: value}`, not after or inside of a value"},
	{before: re(`:\s*(if|for)\s+$`), says: "`$1` stands before a struct: `$1 … {field: value}`, not after or inside of a value"},
	{said: re(`^expected operand`), before: re(`^\s*-+\s*$`), says: "this begins a document or a list in YAML; CUE has no such line, and a list stands in brackets: [\"a\", \"b\"]"},
	{said: re(`found '?(EOF|newline)`), before: re(`[:&|+*=,-]\s*$`), says: "a value is missing at the end of this line"},
	{said: re(`^expected '(.)', found '?EOF`), says: "the file ends before this is closed: a closing $s1 is missing"},
	{said: re(`^expected 'EOF', found '(.)'`), says: "this $s1 closes nothing: there is one too many, or its opening one is missing"},
	{said: re(`expected label`), before: re(`([\w"]+)\s+$`), after: re(`^[\w"]`), says: "between $1 and what follows is a colon missing, or a comma"},
	{said: re(`missing ','`), after: re(`^\]`), says: "a { is closed by }, and this ] closes nothing"},
	{said: re(`missing ','`), after: re(`^\}`), says: "a [ is closed by ], and this } closes nothing"},
	{said: re(`missing ','`), says: "a comma is missing before this; or, where both are one text, the quotes around it"},
}

// meant says what is wrong with a line at which the parser stopped, in words of who wrote it,
// and what to write where that is known.
func meant(line string, column int, said string) (message, help string) {
	column = min(max(column, 1), len(line)+1)
	before, after := line[:column-1], line[column-1:]
	for _, h := range habits {
		names := []string{}
		fits := true
		for _, part := range []struct {
			re   *regexp.Regexp
			text string
			mark string
		}{{h.before, before, "$"}, {h.after, after, "$"}, {h.said, said, "$s"}} {
			if part.re == nil {
				continue
			}
			m := part.re.FindStringSubmatch(part.text)
			if m == nil {
				fits = false
				break
			}
			offset := 0
			if part.mark == "$" {
				offset = len(names) / 2
			}
			for i, group := range m[1:] {
				if part.mark == "$" {
					names = append(names, fmt.Sprintf("$%d", offset+i+1), group)
				} else {
					names = append(names, fmt.Sprintf("$s%d", i+1), group)
				}
			}
		}
		if !fits {
			continue
		}
		if len(names) > 1 {
			names = append(names, "$dots", strings.ReplaceAll(names[1], ".", ": "))
		}
		r := strings.NewReplacer(names...)
		return r.Replace(h.says), r.Replace(h.help)
	}
	return plainParser.Replace(said), ""
}

var plainParser = strings.NewReplacer("'IDENT' ", "the name ", "'EOF'", "the end of the file", "'STRING' ", "the text ", "'INT' ", "the number ", "'label'", "a name")

// line is a line of one of the files, without its end.
func (t tree) line(at diag.Pos) string {
	lines := strings.Split(string(t[at.File]), "\n")
	if at.Line < 1 || at.Line > len(lines) {
		return ""
	}
	return strings.TrimSuffix(lines[at.Line-1], "\r")
}

// packagesOfCUE are those of CUE's own packages that people use without an import, by the name that they have then.
var packagesOfCUE = map[string]string{
	"strings": "strings", "list": "list", "math": "math", "bits": "math/bits", "net": "net", "regexp": "regexp", "strconv": "strconv",
	"struct": "struct", "path": "path", "json": "encoding/json", "yaml": "encoding/yaml", "base64": "encoding/base64", "hex": "encoding/hex",
	"csv": "encoding/csv", "toml": "encoding/toml", "time": "time", "uuid": "uuid", "sha256": "crypto/sha256", "sha512": "crypto/sha512",
	"md5": "crypto/md5", "html": "html", "template": "text/template", "tabwriter": "text/tabwriter", "schema": "meshc.dev/schema",
}

// inputNames are what people leave `in.` away before.
var inputNames = []string{"node", "mesh", "instance", "ports", "addresses", "bindings", "secrets", "needs", "consumers"}

// yesNo are words for true and false in other languages.
var yesNo = map[string]string{
	"yes": "true", "on": "true", "True": "true", "TRUE": "true", "Yes": "true",
	"no": "false", "off": "false", "False": "false", "FALSE": "false", "No": "false",
	"nil": "null", "None": "null", "Null": "null", "NULL": "null", "undefined": "null",
}

// meantReferences says of every name that is nowhere what may have been meant.
func (t tree) meantReferences(ds diag.List) diag.List {
	for k, d := range ds {
		if name, plainly := strings.CutPrefix(d.Message, nothingCalled); plainly && d.Code == diag.UnknownReference && d.Help == "" {
			ds[k].Message, ds[k].Help = t.referenceMeant(d.At, name)
		}
	}
	return ds
}

const nothingCalled = "nothing here is called "

// referenceMeant says what somebody may have meant with a name that is nowhere.
func (t tree) referenceMeant(at diag.Pos, name string) (message, help string) {
	line := t.line(at)
	before := ""
	if at.Column >= 1 && at.Column <= len(line)+1 {
		before = line[:at.Column-1]
	}
	inModule := strings.HasPrefix(at.File, "modules/")
	message = nothingCalled + name
	switch {
	case yesNo[name] != "":
		return message + "; the value is written " + yesNo[name] + ", and a text stands in quotes", yesNo[name]
	case strings.TrimSpace(before) == "-":
		return "this is a list as YAML has it; in CUE a name that is assigned is a field, and a list stands in brackets: [\"a\", \"b\"]", name + ": {}"
	case name == "in" && inModule:
		return "nothing here is called `in`: a module that reads its inputs says `in: _` once, at its top", "in: _"
	case packagesOfCUE[name] != "":
		return fmt.Sprintf("nothing here is called %s: the package is not imported in this file", name), fmt.Sprintf("import %q", packagesOfCUE[name])
	case inModule && slices.Contains(inputNames, name):
		return message + "; what a module is told stands in `in`", "in." + name
	case strings.HasPrefix(name, "$"):
		return message + "; a value is put into a text as \"\\(name)\", and a text with a $ stands in quotes", ""
	case re(`\bassign:\s*(\{\s*)?\[[^\]]*$`).MatchString(before):
		return fmt.Sprintf("assign is no list: what is assigned are its fields, %s and the others each with {}", name), name + ": {}"
	case re(`\b(assign|requires|provides|claims|groups|omit):\s*(\[\s*)?$`).MatchString(before):
		return fmt.Sprintf("%s is a field of what it stands in, not its value", name), name + ": {}"
	}
	if slices.Contains(t.namesOf(at.File), name) {
		return message + " where this stands, only elsewhere; a text stands in quotes", fmt.Sprintf("%q", name)
	}
	if near := diag.Nearest(name, t.namesOf(at.File)); len(near) > 0 {
		return message + orNearest(near), near[0]
	}
	return message + "; a text stands in quotes", fmt.Sprintf("%q", name)
}

var nameOfField = re(`(?m)(?:^|[\s{,(])(?:let\s+)?([#_A-Za-z][\w#]*)\s*[?!]?(?::|\s=\s)`)

// namesOf are the names that fields and definitions of a file have.
func (t tree) namesOf(file string) []string {
	var out []string
	for _, m := range nameOfField.FindAllStringSubmatch(string(t[file]), -1) {
		if !slices.Contains(out, m[1]) {
			out = append(out, m[1])
		}
	}
	slices.Sort(out)
	return out
}

// belongsIn is where a field of the language stands that somebody wrote at the top, or empty.
func belongsIn(field string) string {
	for where, fields := range map[string][]string{
		"requires: LABEL": {"contributes", "where", "binds", "optional"},
		"provides: NAME":  {"serves", "accepts", "derives", "receives", "unique", "credential"},
		"listens: NAME":   {"port", "protocol", "reach"},
		"resources":       {"file", "directory", "unit", "package", "container", "block", "user", "rule"},
		"nodes: NAME":     {"recipient", "endpoint", "address", "runtime", "facts", "reserved", "omit", "site"},
		"sites: NAME":     {"prefix"},
		"network":         {"cidr"},
	} {
		if slices.Contains(fields, field) {
			return where
		}
	}
	return ""
}

// evaluators are CUE's words for what cannot be computed, and what they say to who wrote it.
var evaluators = []struct {
	said *regexp.Regexp
	says string
}{
	{re(`^unreferenced alias or let clause (\S+)`), "`$1 = …` only names a value for use elsewhere, and nothing uses it; a field is set with a colon: `$1: …`"},
	{re(`^imported and not used: "([^"]+)"`), "the import of $1 is not used; leave it out"},
	{re(`^cannot use .* as type bool in (\|\||&&)`), "$1 joins conditions; a choice between values is written a | b, and values that have to hold together a & b"},
	{re(`^invalid operands? .* to '\+' \(type (?:string and (?:int|float|number)|(?:int|float|number) and string)\)`), `a text and a number are not added; a number is written into a text as "\(…)"`},
	{re(`^invalid operation -(".*") \(- string\)`), "this is a list as YAML has it; in CUE it stands in brackets: [$1]"},
	{re(`^invalid operands? (.*) to '(.+)' \(type (\w+) and (\w+)\)`), "$1 are of the kinds $3 and $4, for which there is no $2"},
	{re(`^cannot use (.*) \(type (\w+)\) as (\w+) in argument (\d+) to (\S+)`), "$5 takes a $3 as its argument $4, not $1"},
	{re(`^invalid regexp: error parsing regexp: (.*)`), "not a regular expression: $1"},
	{re(`^failed arithmetic: (.*)`), "$1"},
	{re(`^undefined field: (\S+)`), "there is no field $1"},
	{re(`^invalid interpolation$`), `something inside of \(…) has no value`},
}

// computed says in a person's words why something cannot be computed.
func computed(said string) string {
	for _, e := range evaluators {
		if e.said.MatchString(said) {
			return e.said.ReplaceAllString(said, strings.NewReplacer("$1", "${1}", "$2", "${2}", "$3", "${3}", "$4", "${4}", "$5", "${5}").Replace(e.says))
		}
	}
	return said
}

var (
	unusedTag = re(`^(?:tag|no tag for) "([^"]*)"`)
	tagOfCUE  = re(`@tag\(\s*([\w-]+)`)
)

// tags are those that files of the mesh have values for.
func (t tree) tags() []string {
	var out []string
	for _, b := range t {
		for _, m := range tagOfCUE.FindAllSubmatch(b, -1) {
			out = append(out, string(m[1]))
		}
	}
	slices.Sort(out)
	return slices.Compact(out)
}
