package bundle

import (
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"
)

// Append writes the declaration as HCL after dst, in the form that hclfmt keeps:
// one attribute a line, the equals signs of a block in one column. hclwrite does
// the same some thirty times slower, which for a thousand machines is the
// difference between a build and a coffee.
func (d *Declaration) Append(dst []byte) []byte {
	p := printer{buf: slices.Grow(dst, 64+320*len(d.Items))}
	p.open("declaration", "")
	p.number("format", d.Format)
	p.text("mesh", d.Mesh)
	p.text("node", d.Node)
	p.close()
	for _, item := range d.Items {
		p.buf = append(p.buf, '\n')
		p.open(item.Kind(), string(item.Identity()))
		p.item(item)
		p.close()
	}
	return p.buf
}

func (p *printer) item(item Item) {
	switch item := item.(type) {
	case *Package:
		p.text("name", item.Name)
		p.text("state", string(item.State))
	case *User:
		p.text("name", item.Name)
		p.numberIf("uid", item.UID)
		p.textIf("group", item.Group)
		p.listIf("groups", item.Groups)
		p.boolean("system", item.System)
		p.textIf("home", item.Home)
		p.textIf("shell", item.Shell)
	case *Directory:
		p.text("path", item.Path)
		p.ownership(item.Owner, item.Group)
		p.text("mode", item.Mode.String())
	case *File:
		p.text("path", item.Path)
		p.text("source", item.Source)
		p.text("sha256", item.SHA256.String())
		p.ownership(item.Owner, item.Group)
		p.text("mode", item.Mode.String())
		p.listIf("validate", item.Validate)
		for _, f := range item.Fills {
			p.fill(f)
		}
	case *Block:
		p.text("path", item.Path)
		p.text("marker", item.Marker)
		p.text("source", item.Source)
		p.text("sha256", item.SHA256.String())
	case *Secret:
		p.textIf("path", item.Path)
		p.textIf("sealed", item.Sealed)
		p.numberIf("generation", item.Generation)
		p.textIf("key", item.Key)
		p.textIf("role", item.Role)
		p.ownership(item.Owner, item.Group)
		if item.Mode != DefaultSecretMode {
			p.text("mode", item.Mode.String())
		}
	case *Unit:
		p.text("name", item.Name)
		p.boolean("enabled", item.Enabled)
		p.text("state", string(item.State))
		p.booleanIf("replaces", item.Replaces)
		p.listIf("restart_on", ids(item.RestartOn))
		p.listIf("reload_on", ids(item.ReloadOn))
	}
}

func (p *printer) ownership(owner, group string) {
	p.textIf("owner", owner)
	p.textIf("group", group)
}

func (p *printer) fill(f Fill) {
	p.align()
	p.buf = append(p.buf, '\n')
	p.open("fill", "")
	p.number("offset", f.Offset)
	p.text("secret", string(f.Secret))
	p.number("generation", f.Generation)
	p.text("encoding", string(f.Encoding))
	p.close()
}

func ids(list []ID) []string {
	out := make([]string, len(list))
	for i, id := range list {
		out[i] = string(id)
	}
	return out
}

// printer holds the attributes of the block it is in until their column is known:
// their values stand in values, one after the other.
type printer struct {
	buf    []byte
	depth  int
	attrs  []attr
	values []byte
}

type attr struct {
	name  string
	start int // of the value in values
}

const spaces = "                "

func (p *printer) open(kind, label string) {
	p.buf = append(p.buf, spaces[:2*p.depth]...)
	p.buf = append(p.buf, kind...)
	if label != "" {
		p.buf = append(p.buf, ' ')
		p.buf = appendQuoted(p.buf, label)
	}
	p.buf = append(p.buf, " {\n"...)
	p.depth++
}

func (p *printer) close() {
	p.align()
	p.depth--
	p.buf = append(p.buf, spaces[:2*p.depth]...)
	p.buf = append(p.buf, "}\n"...)
}

// align writes the attributes that wait, their equals signs in one column.
func (p *printer) align() {
	width := 0
	for _, a := range p.attrs {
		width = max(width, len(a.name))
	}
	for i, a := range p.attrs {
		end := len(p.values)
		if i+1 < len(p.attrs) {
			end = p.attrs[i+1].start
		}
		p.buf = append(p.buf, spaces[:2*p.depth]...)
		p.buf = append(p.buf, a.name...)
		p.buf = append(p.buf, spaces[:width-len(a.name)]...)
		p.buf = append(p.buf, " = "...)
		p.buf = append(p.buf, p.values[a.start:end]...)
		p.buf = append(p.buf, '\n')
	}
	p.attrs, p.values = p.attrs[:0], p.values[:0]
}

func (p *printer) attr(name string) { p.attrs = append(p.attrs, attr{name, len(p.values)}) }

func (p *printer) text(name, s string) {
	p.attr(name)
	p.values = appendQuoted(p.values, s)
}

func (p *printer) textIf(name, s string) {
	if s != "" {
		p.text(name, s)
	}
}

func (p *printer) number(name string, n int) {
	p.attr(name)
	p.values = strconv.AppendInt(p.values, int64(n), 10)
}

func (p *printer) numberIf(name string, n int) {
	if n != 0 {
		p.number(name, n)
	}
}

func (p *printer) boolean(name string, b bool) {
	p.attr(name)
	p.values = strconv.AppendBool(p.values, b)
}

func (p *printer) booleanIf(name string, b bool) {
	if b {
		p.boolean(name, b)
	}
}

func (p *printer) listIf(name string, list []string) {
	if len(list) == 0 {
		return
	}
	p.attr(name)
	p.values = append(p.values, '[')
	for i, s := range list {
		if i > 0 {
			p.values = append(p.values, ", "...)
		}
		p.values = appendQuoted(p.values, s)
	}
	p.values = append(p.values, ']')
}

// appendQuoted writes s as an HCL string. "${" and "%{" begin templates and are
// doubled; a "$" or "%" before such a pair is written by number, because HCL reads
// "$$${" otherwise than it was meant.
func appendQuoted(dst []byte, s string) []byte {
	if strings.IndexFunc(s, special) < 0 {
		dst = append(dst, '"')
		dst = append(dst, s...)
		return append(dst, '"')
	}
	dst = append(dst, '"')
	for i, r := range s {
		switch {
		case r == '"' || r == '\\':
			dst = append(dst, '\\', byte(r))
		case r == '\n':
			dst = append(dst, `\n`...)
		case r == '\r':
			dst = append(dst, `\r`...)
		case r == '\t':
			dst = append(dst, `\t`...)
		case r == '$' || r == '%':
			rest := s[i+1:]
			switch {
			case strings.HasPrefix(rest, "{"):
				dst = append(dst, byte(r), byte(r))
			case rest != "" && strings.HasPrefix(strings.TrimLeft(rest, "$%"), "{"):
				dst = appendEscape(dst, r)
			default:
				dst = append(dst, byte(r))
			}
		case r < ' ' || r == 0x7f || r == '\uFEFF' || r == '\u2028' || r == '\u2029':
			dst = appendEscape(dst, r)
		default:
			dst = utf8.AppendRune(dst, r)
		}
	}
	return append(dst, '"')
}

func special(r rune) bool {
	return r < ' ' || r >= 0x7f || r == '"' || r == '\\' || r == '$' || r == '%'
}

func appendEscape(dst []byte, r rune) []byte {
	const digits = "0123456789abcdef"
	return append(dst, '\\', 'u', digits[r>>12&15], digits[r>>8&15], digits[r>>4&15], digits[r&15])
}
