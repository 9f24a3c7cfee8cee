package sink_test

import (
	"encoding/base64"
	"math/big"
	"strconv"

	"meshc.dev/compiler/data"
)

// nasty are strings that some reader takes for something else, from the field cases and from the
// grammars of the readers.
var nasty = []string{
	"", " ", "~", "no", "NO", "yes", "on", "off", "Off", "y", "n", "true", "null", "none", "0123", "1e5", "0x1f", "0o17", "1_000", "1:20", "12:30:45",
	".5", "1.", "+1", "-", "--", "---", "...", ".inf", ".nan", "=", "<<", "2001-12-14", "0b1", "!x", "&a", "*a", "@a", "`a", "%a", "? a", "- a", ": a", "a: b",
	"a #b", "a#b", "a;b", "#x", ";y", " lead", "trail ", "\ttab", "tab\tinside", "a\r\nb\nc", "a\nb", "\n", "\n\n", "end\n", "end\r", "a\rb", "\r\n", "  two\n   three\n\tfour\n ", "\\", "a\\", "a\\\\", "a\\.b", "C:\\x",
	"\"", "'", "it's \"q\"", "\"\"\"", "'''", "\"quoted\"", "'quoted'", "$HOME", "${x}", "$$", "$", "a$", "$a", "%", "%%", "%h", "50%20off", "%(x)s", "--x=1 --y=2", "`ls`",
	"p&|\\\"#'%${x}\n", `s7@o8\p="u$0#!`, "p@ss/#?[%25]:", "[section]", "[", "]", "{}", "{a: b}", "[a, b]", "a,b", "a=b", "E_ALL", "PHP_VERSION", "INF",
	"é", "日本", "😀", "\u0085", "\u00a0", "\u2028", "\ufeff", "\ufeffbom", "\ufffe", "\U0001ffff", "\u0080", "\x7f", "\x1b[0m", "\x00", "a\x00b", "\x01", "\b", "a\fb\v\a", "\xff", "\xff\xfe\x00", "\xed\xa0\x80",
	"http://x:80/a?b=c#d", "/var/lib/x", "user@host", "<tag>&amp;", "//x", "/* x */",
}

var names = []string{"a", "B", "HTTP_PORT", "Environment", "Unit", "Install", "Service", "x-y", "a.b", "a", "key1", "ExecStart", "_u"}

var numbers = []data.Value{
	data.NewInt("0"), data.NewInt("-0"), data.NewInt("-7"), data.NewInt("1048576"), data.NewInt("356136738"), data.NewInt("9007199254740993"),
	data.NewInt("9223372036854775807"), data.NewInt("-9223372036854775808"), data.NewInt("9223372036854775808"), data.NewInt("123456789012345678901234567890"),
	data.NewFloat("0.1"), data.NewFloat("1.0"), data.NewFloat("1e3"), data.NewFloat("-1.5e-7"), data.NewFloat("1E+21"), data.NewFloat("1e400"), data.NewFloat("1e-400"), data.NewFloat("3"),
	data.NewInt("012"), data.NewFloat("1."), data.NewFloat(".5"), data.NewFloat("NaN"), data.NewInt("1.5"), data.NewInt(""), data.NewFloat("1e"), data.NewFloat("e1"),
}

// source makes values from bytes, so that one generator serves property tests and fuzzing.
type source struct {
	bytes []byte
	// wild names are any strings; otherwise they are such as most formats take.
	wild bool
}

func (s *source) next() int {
	if len(s.bytes) == 0 {
		return 0
	}
	b := s.bytes[0]
	s.bytes = s.bytes[1:]
	return int(b)
}

func (s *source) text() string {
	if n := s.next(); n%3 != 0 {
		return nasty[(n*256+s.next())%len(nasty)]
	}
	n := min(s.next()%24, len(s.bytes))
	raw := string(s.bytes[:n])
	s.bytes = s.bytes[n:]
	return raw
}

func (s *source) name() string {
	if s.wild && s.next()%4 == 0 {
		return s.text()
	}
	return names[s.next()%len(names)]
}

func (s *source) scalar() data.Value {
	switch s.next() % 10 {
	case 0:
		return data.NewNull()
	case 1:
		return data.NewBool(s.next()%2 == 0)
	case 2, 3:
		return numbers[s.next()%len(numbers)]
	case 4:
		return data.NewBytes([]byte(s.text()))
	default:
		return data.NewString(s.text())
	}
}

func (s *source) value(depth int) data.Value {
	switch n := s.next() % 8; {
	case depth > 0 && n == 0:
		items := make([]data.Value, s.next()%4)
		for i := range items {
			items[i] = s.value(depth - 1)
		}
		return data.NewList(items...)
	case depth > 0 && n <= 3:
		return s.structure(depth)
	default:
		return s.scalar()
	}
}

func (s *source) structure(depth int) data.Value {
	fields := make([]data.Field, s.next()%5)
	for i := range fields {
		fields[i] = data.Field{Name: s.name(), Value: s.value(depth - 1)}
	}
	return data.NewStruct(fields...)
}

// object and list build values in tests.
func object(kv ...any) data.Value {
	var fields []data.Field
	for i := 0; i < len(kv); i += 2 {
		v, ok := kv[i+1].(data.Value)
		if !ok {
			v = data.NewString(kv[i+1].(string))
		}
		fields = append(fields, data.Field{Name: kv[i].(string), Value: v})
	}
	return data.NewStruct(fields...)
}

// mapped is a value with every scalar changed and, if so wanted, null fields left out.
func mapped(v data.Value, dropNull bool, change func(data.Value) data.Value) data.Value {
	switch v.Kind() {
	case data.List:
		items := make([]data.Value, len(v.Items()))
		for i, x := range v.Items() {
			items[i] = mapped(x, dropNull, change)
		}
		return data.NewList(items...)
	case data.Struct:
		var fields []data.Field
		for _, f := range v.Fields() {
			if dropNull && f.Value.Kind() == data.Null {
				continue
			}
			fields = append(fields, data.Field{Name: f.Name, Value: mapped(f.Value, dropNull, change)})
		}
		return data.NewStruct(fields...)
	}
	return change(v)
}

// exact gives numbers one spelling each, so that only their value and kind count.
func exact(v data.Value) data.Value {
	switch v.Kind() {
	case data.Int:
		if n, ok := new(big.Int).SetString(v.Text(), 10); ok {
			return data.NewInt(n.String())
		}
	case data.Float:
		if r, ok := new(big.Rat).SetString(v.Text()); ok {
			return data.NewFloat(r.String())
		}
	}
	return v
}

// double is exact for a reader that keeps floats as doubles.
func double(v data.Value) data.Value {
	if v.Kind() == data.Float {
		f, _ := strconv.ParseFloat(v.Text(), 64)
		return data.NewFloat(strconv.FormatFloat(f, 'g', -1, 64))
	}
	return exact(v)
}

func base64Bytes(v data.Value) data.Value {
	if v.Kind() == data.Bytes {
		return data.NewString(base64.StdEncoding.EncodeToString([]byte(v.Text())))
	}
	return v
}
