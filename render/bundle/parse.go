package bundle

import (
	"fmt"
	"math/big"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"
	"github.com/zclconf/go-cty/cty"
)

// MaxDeclaration is the most bytes a declaration may have: some 15,000 items.
const MaxDeclaration = 4 << 20

// ParseDeclaration reads a declaration strictly: literals only, no block, label or
// attribute that is not known, none twice. What it returns was checked.
func ParseDeclaration(src []byte) (*Declaration, error) {
	if len(src) > MaxDeclaration {
		return nil, tooLarge(DeclarationName, int64(len(src)), MaxDeclaration)
	}
	if marks(src) > maxMarks {
		return nil, tooManyMarks()
	}
	if err := checkNesting(src); err != nil {
		return nil, err
	}
	file, diags := hclsyntax.ParseConfig(src, DeclarationName, hcl.InitialPos)
	if diags.HasErrors() {
		return nil, fmt.Errorf("%s:%d: %s", DeclarationName, diags[0].Subject.Start.Line, diags[0].Summary)
	}
	body := file.Body.(*hclsyntax.Body)
	for _, a := range body.Attributes {
		return nil, at(a.NameRange, "unknown attribute %q", a.Name)
	}
	d := &Declaration{Items: make([]Item, 0, len(body.Blocks))}
	for i, b := range body.Blocks {
		if (b.Type == "declaration") != (i == 0) {
			return nil, at(b.TypeRange, "the first block, and no other, is called declaration")
		}
		if err := d.block(b); err != nil {
			return nil, err
		}
	}
	if len(body.Blocks) == 0 {
		return nil, fmt.Errorf("%s is empty", DeclarationName)
	}
	if err := d.Check(); err != nil {
		return nil, fmt.Errorf("%s: %w", DeclarationName, err)
	}
	return d, nil
}

// maxMarks bounds what the parser is given: it takes hundreds of bytes for each word and
// sign, and in 4 MB there may be millions. Of what is printed, 4 MB have some 500,000.
const maxMarks = 700_000

// marks counts words, texts and signs, more where it cannot be sure: behind the beginning
// of a template, every quote may be another's.
func marks(src []byte) int {
	n := 0
	inWord, inText, template := false, false, false
	for i := 0; i < len(src); i++ {
		b := src[i]
		isWord := b >= '0' && b <= '9' || b >= 'a' && b <= 'z' || b >= 'A' && b <= 'Z' || b == '_' || b >= 0x80
		switch {
		case b == '{' && i > 0 && (src[i-1] == '$' || src[i-1] == '%'):
			template = true
			n++
		case inText && b == '\\' && !template:
			i++
		case b == '"':
			inText = !inText
			n++
		case inText && !template, isWord && inWord, b == ' ', b == '\t', b == '\r':
		default:
			n++
		}
		inWord = isWord
	}
	return n
}

// checkNesting refuses what the parser would have to recurse into: our form has
// nothing deeper than a list in a block in a block, and no templates.
func checkNesting(src []byte) error {
	tokens, diags := hclsyntax.LexConfig(src, DeclarationName, hcl.InitialPos)
	if diags.HasErrors() {
		return fmt.Errorf("%s:%d: %s", DeclarationName, diags[0].Subject.Start.Line, diags[0].Summary)
	}
	depth := 0
	for _, t := range tokens {
		switch t.Type {
		case hclsyntax.TokenOBrace, hclsyntax.TokenOBrack:
			depth++
		case hclsyntax.TokenCBrace, hclsyntax.TokenCBrack:
			depth--
		case hclsyntax.TokenTemplateInterp, hclsyntax.TokenTemplateControl, hclsyntax.TokenOHeredoc,
			hclsyntax.TokenOParen, hclsyntax.TokenBang, hclsyntax.TokenMinus, hclsyntax.TokenQuestion:
			return at(t.Range, "%q stands where only words, numbers and lists may", t.Bytes)
		}
		if depth > 3 {
			return at(t.Range, "brackets are nested too deeply")
		}
	}
	return nil
}

func (d *Declaration) block(b *hclsyntax.Block) error {
	r := reader{block: b, seen: make(map[string]bool, len(b.Body.Attributes))}
	if b.Type == "declaration" {
		r.labels(0)
		d.Format, d.Mesh, d.Node = r.number("format"), r.text("mesh"), r.text("node")
		return r.done()
	}
	id := ID(r.labels(1))
	if item := r.item(id); item != nil {
		d.Items = append(d.Items, item)
	}
	return r.done()
}

// item reads the attributes of each kind in the order in which they are printed.
func (r *reader) item(id ID) Item {
	switch r.block.Type {
	case "package":
		return &Package{ID: id, Name: r.text("name"), State: PackageState(r.text("state"))}
	case "user":
		return &User{
			ID: id, Name: r.text("name"), UID: r.numberOr("uid", 0), Group: r.textOr("group", ""),
			Groups: r.list("groups"), System: r.boolean("system"), Home: r.textOr("home", ""), Shell: r.textOr("shell", ""),
		}
	case "directory":
		i := &Directory{ID: id, Path: r.text("path"), Mode: r.mode("mode", 0)}
		i.Owner, i.Group = r.textOr("owner", ""), r.textOr("group", "")
		return i
	case "file":
		i := &File{
			ID: id, Path: r.text("path"), Source: r.text("source"), SHA256: r.sum("sha256"),
			Mode: r.mode("mode", 0), Validate: r.list("validate"),
		}
		i.Owner, i.Group = r.textOr("owner", ""), r.textOr("group", "")
		i.Fills = r.fills()
		return i
	case "block":
		return &Block{ID: id, Path: r.text("path"), Marker: r.text("marker"), Source: r.text("source"), SHA256: r.sum("sha256")}
	case "secret":
		i := &Secret{
			ID: id, Path: r.textOr("path", ""), Sealed: r.textOr("sealed", ""), Generation: r.numberOr("generation", 0),
			Key: r.textOr("key", ""), Role: r.textOr("role", ""), Mode: r.mode("mode", DefaultSecretMode),
		}
		i.Owner, i.Group = r.textOr("owner", ""), r.textOr("group", "")
		return i
	case "unit":
		return &Unit{
			ID: id, Name: r.text("name"), Enabled: r.boolean("enabled"), State: UnitState(r.text("state")), Replaces: r.booleanOr("replaces", false),
			RestartOn: asIDs(r.list("restart_on")), ReloadOn: asIDs(r.list("reload_on")),
		}
	}
	r.fail(r.block.TypeRange, "unknown block %q", r.block.Type)
	return nil
}

func (r *reader) fills() []Fill {
	var out []Fill
	for _, b := range r.block.Body.Blocks {
		in := reader{block: b, seen: make(map[string]bool, 4)}
		if b.Type != "fill" {
			r.fail(b.TypeRange, "unknown block %q", b.Type)
			continue
		}
		in.labels(0)
		out = append(out, Fill{
			Offset: in.number("offset"), Secret: ID(in.text("secret")),
			Generation: in.number("generation"), Encoding: Encoding(in.text("encoding")),
		})
		if err := in.done(); err != nil && r.err == nil {
			r.err = err
		}
	}
	return out
}

// reader takes attributes out of one block and keeps the first thing wrong.
type reader struct {
	block *hclsyntax.Block
	seen  map[string]bool
	err   error
}

func at(rng hcl.Range, format string, args ...any) error {
	return fmt.Errorf("%s:%d: %s", rng.Filename, rng.Start.Line, fmt.Sprintf(format, args...))
}

func (r *reader) fail(rng hcl.Range, format string, args ...any) {
	if r.err == nil {
		r.err = at(rng, format, args...)
	}
}

// labels gives the only label of a block that has to have one, and refuses others.
func (r *reader) labels(n int) string {
	if len(r.block.Labels) != n {
		r.fail(r.block.TypeRange, "block %s has %d labels, not %d", r.block.Type, len(r.block.Labels), n)
		return ""
	}
	if n == 0 {
		return ""
	}
	return r.block.Labels[0]
}

// done refuses what was not asked for, the first by line.
func (r *reader) done() error {
	var first *hclsyntax.Attribute
	for name, a := range r.block.Body.Attributes {
		if !r.seen[name] && (first == nil || a.NameRange.Start.Byte < first.NameRange.Start.Byte) {
			first = a
		}
	}
	if first != nil && r.err == nil {
		r.fail(first.NameRange, "unknown attribute %q in block %s", first.Name, r.block.Type)
	}
	if r.block.Type != "file" {
		for _, b := range r.block.Body.Blocks {
			r.fail(b.TypeRange, "unknown block %q in block %s", b.Type, r.block.Type)
		}
	}
	return r.err
}

func (r *reader) find(name string) hclsyntax.Expression {
	r.seen[name] = true
	if a, ok := r.block.Body.Attributes[name]; ok {
		return a.Expr
	}
	return nil
}

func (r *reader) missing(name string) {
	r.fail(r.block.TypeRange, "block %s has no %s", r.block.Type, name)
}

func (r *reader) text(name string) string {
	e := r.find(name)
	if e == nil {
		r.missing(name)
		return ""
	}
	s, ok := literalText(e)
	if !ok {
		r.fail(e.Range(), "%s is not a quoted string", name)
	}
	return s
}

func (r *reader) textOr(name, otherwise string) string {
	if r.find(name) == nil {
		return otherwise
	}
	return r.text(name)
}

func (r *reader) number(name string) int {
	e := r.find(name)
	if e == nil {
		r.missing(name)
		return 0
	}
	if v, ok := literal(e); ok && v.Type() == cty.Number {
		if n, accuracy := v.AsBigFloat().Int64(); accuracy == big.Exact && n >= 0 && n < 1<<40 {
			return int(n)
		}
	}
	r.fail(e.Range(), "%s is not a whole number", name)
	return 0
}

func (r *reader) numberOr(name string, otherwise int) int {
	if r.find(name) == nil {
		return otherwise
	}
	return r.number(name)
}

func (r *reader) boolean(name string) bool {
	e := r.find(name)
	if e == nil {
		r.missing(name)
		return false
	}
	v, ok := literal(e)
	if !ok || v.Type() != cty.Bool {
		r.fail(e.Range(), "%s is not true or false", name)
		return false
	}
	return v.True()
}

func (r *reader) booleanOr(name string, otherwise bool) bool {
	if r.find(name) == nil {
		return otherwise
	}
	return r.boolean(name)
}

func (r *reader) list(name string) []string {
	e := r.find(name)
	if e == nil {
		return nil
	}
	tuple, ok := e.(*hclsyntax.TupleConsExpr)
	if !ok {
		r.fail(e.Range(), "%s is not a list", name)
		return nil
	}
	out := make([]string, len(tuple.Exprs))
	for i, e := range tuple.Exprs {
		s, ok := literalText(e)
		if !ok {
			r.fail(e.Range(), "%s holds something else than quoted strings", name)
		}
		out[i] = s
	}
	return out
}

func (r *reader) mode(name string, otherwise Mode) Mode {
	e := r.find(name)
	if e == nil {
		if otherwise == 0 {
			r.missing(name)
		}
		return otherwise
	}
	m, err := ParseMode(r.text(name))
	if err != nil {
		r.fail(e.Range(), "%v", err)
	}
	return m
}

func (r *reader) sum(name string) Sum {
	var s Sum
	text := r.text(name)
	if e := r.find(name); e != nil {
		if err := s.UnmarshalText([]byte(text)); err != nil {
			r.fail(e.Range(), "%v", err)
		}
	}
	return s
}

func literal(e hclsyntax.Expression) (cty.Value, bool) {
	l, ok := e.(*hclsyntax.LiteralValueExpr)
	if !ok || l.Val.IsNull() {
		return cty.NilVal, false
	}
	return l.Val, true
}

// literalText is a quoted string without templates; an empty one has no parts, and
// the parser splits one at an escaped template into several.
func literalText(e hclsyntax.Expression) (string, bool) {
	t, ok := e.(*hclsyntax.TemplateExpr)
	if !ok {
		return "", false
	}
	s := ""
	for _, part := range t.Parts {
		v, ok := literal(part)
		if !ok || v.Type() != cty.String {
			return "", false
		}
		s += v.AsString()
	}
	return s, true
}

func asIDs(list []string) []ID {
	if list == nil {
		return nil
	}
	out := make([]ID, len(list))
	for i, s := range list {
		out[i] = ID(s)
	}
	return out
}
