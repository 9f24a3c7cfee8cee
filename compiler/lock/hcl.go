package lock

import (
	"bytes"
	"cmp"
	"slices"
	"strings"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"

	"meshc.dev/compiler/diag"
)

// source is the text that HCL's reader is given, and the start of each of its
// lines: HCL counts columns in characters as people see them, diag in bytes.
type source struct {
	file  string
	src   []byte
	lines []int
}

func newSource(file string, src []byte) *source {
	s := &source{file, src, []int{0}}
	for i, c := range src {
		if c == '\n' {
			s.lines = append(s.lines, i+1)
		}
	}
	return s
}

func (s *source) span(r hcl.Range) span {
	line, column := s.place(r.Start.Byte)
	endLine, endColumn := s.place(r.End.Byte)
	return span{line, column, endLine, endColumn}
}

func (s *source) place(offset int) (line, column int32) {
	offset = min(offset, len(s.src))
	i, found := slices.BinarySearch(s.lines, offset)
	if !found {
		i--
	}
	return int32(i + 1), int32(offset - s.lines[i] + 1)
}

func (s *source) pos(r hcl.Range) diag.Pos { return s.span(r).pos(s.file) }

// maxDepth is how deep brackets of a lock nest at most: a list in an object in a section.
const maxDepth = 3

// readHCL reads any HCL that says what a lock says.
func readHCL(s *source) (document, diag.List) {
	if d, ok := s.check(); !ok {
		return document{}, diag.List{d}
	}
	f, faults := hclsyntax.ParseConfig(s.src, s.file, hcl.InitialPos)
	if faults.HasErrors() {
		// The first alone: what follows is mostly its consequence.
		return document{}, diag.List{s.fault(faults)}
	}
	body := f.Body.(*hclsyntax.Body)
	var l diag.List
	for _, b := range body.Blocks {
		l = append(l, unknownSection(s.pos(b.TypeRange), b.Type))
	}
	attributes := make([]*hclsyntax.Attribute, 0, len(body.Attributes))
	for _, a := range body.Attributes {
		attributes = append(attributes, a)
	}
	slices.SortFunc(attributes, func(a, b *hclsyntax.Attribute) int {
		return cmp.Compare(a.NameRange.Start.Byte, b.NameRange.Start.Byte)
	})

	var d document
	hasFormat := false
	for _, a := range attributes {
		if a.Name == "format" {
			hasFormat = true
			v := s.value(a.Expr)
			if v.kind != number || !isNumber(v.text) {
				l = append(l, badFormat(s.pos(a.Expr.Range())))
				continue
			}
			d.format = atoi(v.text)
			continue
		}
		if a.Name == "mesh" {
			v := s.value(a.Expr)
			if v.kind != text || v.text == "" {
				l = append(l, badMesh(s.pos(a.Expr.Range())))
				continue
			}
			d.mesh, d.meshAt = v.text, s.span(a.SrcRange)
			continue
		}
		entries, ok := a.Expr.(*hclsyntax.ObjectConsExpr)
		if !ok {
			l = append(l, notSection(s.pos(a.NameRange), a.Name))
			continue
		}
		d.kept = d.kept || a.Name == kept
		if len(entries.Items) == 0 {
			d.empty = append(d.empty, section{a.Name, s.span(a.NameRange)})
		}
		for _, it := range entries.Items {
			key, ok := s.key(it.KeyExpr)
			if !ok {
				l = append(l, badKey(s.pos(it.KeyExpr.Range()), a.Name))
				continue
			}
			at := s.span(hcl.RangeBetween(it.KeyExpr.Range(), it.ValueExpr.Range()))
			d.entries = append(d.entries, entry{a.Name, key, s.value(it.ValueExpr), at})
		}
	}
	if !hasFormat && len(l) == 0 {
		l = append(l, noFormat(s.file))
	}
	return d, l
}

// check refuses what a lock never holds before HCL's parser sees it. The parser
// recurses into brackets and expressions, and a file of many MB of them would end
// the program, which no recover can prevent.
func (s *source) check() (diag.Diagnostic, bool) {
	tokens, faults := hclsyntax.LexConfig(s.src, s.file, hcl.InitialPos)
	if faults.HasErrors() {
		return s.fault(faults), false
	}
	depth := 0
	for _, t := range tokens {
		switch t.Type {
		case hclsyntax.TokenOBrace, hclsyntax.TokenOBrack:
			depth++
		case hclsyntax.TokenCBrace, hclsyntax.TokenCBrack:
			depth--
		case hclsyntax.TokenIdent, hclsyntax.TokenNumberLit, hclsyntax.TokenOQuote, hclsyntax.TokenQuotedLit, hclsyntax.TokenCQuote,
			hclsyntax.TokenEqual, hclsyntax.TokenColon, hclsyntax.TokenComma, hclsyntax.TokenNewline, hclsyntax.TokenComment, hclsyntax.TokenEOF:
		default:
			return notLiteral(s.pos(t.Range), string(t.Bytes)), false
		}
		if depth > maxDepth {
			return tooDeep(s.pos(t.Range)), false
		}
	}
	return diag.Diagnostic{}, true
}

func (s *source) fault(faults hcl.Diagnostics) diag.Diagnostic {
	for _, f := range faults {
		if f.Severity == hcl.DiagError {
			at := diag.Pos{File: s.file}
			if f.Subject != nil {
				at = s.pos(*f.Subject)
			}
			return syntax(at, strings.ToLower(f.Summary))
		}
	}
	panic("lock: HCL refused a file without saying why")
}

// key reads the name of an entry, with or without quotes.
func (s *source) key(e hclsyntax.Expression) (string, bool) {
	if word := hcl.ExprAsKeyword(e); word != "" {
		return word, true
	}
	if k, ok := e.(*hclsyntax.ObjectConsKeyExpr); ok {
		e = k.Wrapped
	}
	v := s.value(e)
	return v.text, v.kind == text
}

// value reads what an entry says. Numbers are kept as they are written: HCL would
// take 1e999999999 and be busy with it.
func (s *source) value(e hclsyntax.Expression) value {
	switch e := e.(type) {
	case *hclsyntax.LiteralValueExpr:
		if n := bytes.TrimSpace(s.src[e.SrcRange.Start.Byte:e.SrcRange.End.Byte]); len(n) > 0 && n[0] >= '0' && n[0] <= '9' {
			return value{kind: number, text: string(n)}
		}
	case *hclsyntax.TemplateExpr:
		var b strings.Builder
		for _, part := range e.Parts {
			literal, ok := part.(*hclsyntax.LiteralValueExpr)
			if !ok {
				return value{kind: other}
			}
			b.WriteString(literal.Val.AsString())
		}
		return value{kind: text, text: b.String()}
	case *hclsyntax.TupleConsExpr:
		v := value{kind: list}
		for _, it := range e.Exprs {
			v.items = append(v.items, item{value: s.value(it)})
		}
		return v
	case *hclsyntax.ObjectConsExpr:
		v := value{kind: object}
		for _, it := range e.Items {
			name, ok := s.key(it.KeyExpr)
			if !ok {
				return value{kind: other}
			}
			v.items = append(v.items, item{name, s.value(it.ValueExpr)})
		}
		return v
	}
	return value{kind: other}
}
