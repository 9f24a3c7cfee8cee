// Package data is plain values as they travel from a mesh into files: null,
// booleans, numbers with the digits they were written with, strings, bytes,
// lists and structs. Struct fields are kept sorted, so that equal values are
// equal whatever order they were written in (BLD-1), and numbers are text, so
// that none is ever rounded (SET-6).
package data

import (
	"cmp"
	"slices"
	"strings"
)

// Kind tells what a Value is.
type Kind int

// The kinds of value. The zero Kind is Absent: no value at all, which is not null.
const (
	Absent Kind = iota
	Null
	Bool
	Int
	Float
	String
	Bytes
	List
	Struct
)

var kindNames = [...]string{"absent", "null", "bool", "int", "float", "string", "bytes", "list", "struct"}

func (k Kind) String() string { return kindNames[k] }

// Value is one value; it is never changed once made.
type Value struct {
	kind   Kind
	text   string // "true"/"false", the number's digits, the string or the bytes
	list   []Value
	fields []Field // sorted by Name
}

// Field is a named value of a struct.
type Field struct {
	Name  string
	Value Value
}

// NewNull, NewBool, NewString and NewBytes make scalar values.
func NewNull() Value           { return Value{kind: Null} }
func NewString(s string) Value { return Value{kind: String, text: s} }
func NewBytes(b []byte) Value  { return Value{kind: Bytes, text: string(b)} }
func NewBool(b bool) Value {
	if b {
		return Value{kind: Bool, text: "true"}
	}
	return Value{kind: Bool, text: "false"}
}

// NewInt makes an integer of any size from its decimal digits.
func NewInt(digits string) Value { return Value{kind: Int, text: digits} }

// NewFloat makes a number with a fraction or exponent, printed as written.
func NewFloat(text string) Value { return Value{kind: Float, text: text} }

// NewList makes a list.
func NewList(items ...Value) Value { return Value{kind: List, list: items} }

// NewStruct makes a struct; of two fields of one name the later counts. Absent values are left out.
func NewStruct(fields ...Field) Value {
	fields = slices.DeleteFunc(slices.Clone(fields), func(f Field) bool { return f.Value.kind == Absent })
	slices.SortStableFunc(fields, func(a, b Field) int { return cmp.Compare(a.Name, b.Name) })
	out := fields[:0]
	for i, f := range fields {
		if i+1 < len(fields) && fields[i+1].Name == f.Name {
			continue
		}
		out = append(out, f)
	}
	return Value{kind: Struct, fields: out}
}

// Kind tells what the value is.
func (v Value) Kind() Kind { return v.kind }

// IsNumber says whether the value is an Int or a Float.
func (v Value) IsNumber() bool { return v.kind == Int || v.kind == Float }

// Text is the string, the bytes, a number's digits, or "true" and "false"; empty otherwise.
func (v Value) Text() string { return v.text }

// True says whether the value is the boolean true.
func (v Value) True() bool { return v.kind == Bool && v.text == "true" }

// Items are a list's values. The caller must not change them.
func (v Value) Items() []Value { return v.list }

// Fields are a struct's fields, sorted by name. The caller must not change them.
func (v Value) Fields() []Field { return v.fields }

// Get is a struct's field, or the Absent value.
func (v Value) Get(name string) Value {
	i, ok := slices.BinarySearchFunc(v.fields, name, func(f Field, n string) int { return cmp.Compare(f.Name, n) })
	if !ok {
		return Value{}
	}
	return v.fields[i].Value
}

// Lookup follows a path of field names.
func (v Value) Lookup(path ...string) Value {
	for _, p := range path {
		v = v.Get(p)
	}
	return v
}

// With is the struct with one more field, or another value for one it has.
func (v Value) With(name string, x Value) Value {
	return NewStruct(append(slices.Clone(v.fields), Field{name, x})...)
}

// Strings are the texts of a list's values.
func (v Value) Strings() []string {
	out := make([]string, len(v.list))
	for i, x := range v.list {
		out[i] = x.text
	}
	return out
}

// Equal says whether two values are the same value of the same kind.
func (v Value) Equal(o Value) bool {
	return v.kind == o.kind && v.text == o.text &&
		slices.EqualFunc(v.list, o.list, Value.Equal) &&
		slices.EqualFunc(v.fields, o.fields, func(a, b Field) bool { return a.Name == b.Name && a.Value.Equal(b.Value) })
}

// Walk calls f for the value and everything in it, with the path to it.
func (v Value) Walk(f func(path []string, v Value)) { v.walk(nil, f) }

func (v Value) walk(path []string, f func([]string, Value)) {
	f(path, v)
	for i, x := range v.list {
		x.walk(append(path, itoa(i)), f)
	}
	for _, x := range v.fields {
		x.Value.walk(append(path, x.Name), f)
	}
}

// AppendKey appends a form in which two values are equal exactly if Equal says so; it is for
// digests and map keys, not for people.
func (v Value) AppendKey(b []byte) []byte {
	b = append(b, byte('0'+v.kind))
	switch v.kind {
	case List:
		for _, x := range v.list {
			b = x.AppendKey(b)
		}
		return append(b, ';')
	case Struct:
		for _, f := range v.fields {
			b = appendText(b, f.Name)
			b = f.Value.AppendKey(b)
		}
		return append(b, ';')
	default:
		return appendText(b, v.text)
	}
}

func appendText(b []byte, s string) []byte {
	b = append(b, itoa(len(s))...)
	b = append(b, ':')
	return append(b, s...)
}

// String draws the value as compact JSON, bytes as a string; for messages.
func (v Value) String() string {
	var b strings.Builder
	v.print(&b)
	return b.String()
}
