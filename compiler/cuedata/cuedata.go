// Package cuedata carries values between CUE and package data without losing
// anything: numbers keep their digits, null stays null, bytes stay bytes. CUE's own
// decoding into Go values does not promise that.
package cuedata

import (
	"fmt"
	"math/big"
	"strings"

	"cuelang.org/go/cue"
	"cuelang.org/go/cue/ast"
	"cuelang.org/go/cue/literal"
	"cuelang.org/go/cue/token"

	"meshc.dev/compiler/data"
)

// Incomplete is a value that is not known yet, or never will be.
type Incomplete struct {
	Path  cue.Path
	Value cue.Value
}

func (e *Incomplete) Error() string { return fmt.Sprintf("%s has no value", e.Path) }

// From reads a concrete value, taking defaults. The error is an *Incomplete
// where something in it is no concrete value.
func From(v cue.Value) (data.Value, error) {
	v, _ = v.Default()
	switch v.Kind() {
	case cue.NullKind:
		return data.NewNull(), nil
	case cue.BoolKind:
		b, err := v.Bool()
		return data.NewBool(b), err
	case cue.IntKind:
		i, err := whole(v)
		if err != nil {
			return data.Value{}, err
		}
		return data.NewInt(i.String()), nil
	case cue.FloatKind, cue.NumberKind:
		b, err := v.MarshalJSON()
		if err != nil {
			return data.Value{}, err
		}
		return data.NewFloat(strings.Replace(strings.ToLower(string(b)), "e+", "e", 1)), nil
	case cue.StringKind:
		s, err := v.String()
		return data.NewString(s), err
	case cue.BytesKind:
		b, err := v.Bytes()
		return data.NewBytes(b), err
	case cue.ListKind:
		it, err := v.List()
		if err != nil {
			return data.Value{}, &Incomplete{v.Path(), v}
		}
		var items []data.Value
		for it.Next() {
			x, err := From(it.Value())
			if err != nil {
				return data.Value{}, err
			}
			items = append(items, x)
		}
		return data.NewList(items...), nil
	case cue.StructKind:
		it, err := v.Fields()
		if err != nil {
			return data.Value{}, &Incomplete{v.Path(), v}
		}
		var fields []data.Field
		for it.Next() {
			x, err := From(it.Value())
			if err != nil {
				return data.Value{}, err
			}
			fields = append(fields, data.Field{Name: Label(it.Selector()), Value: x})
		}
		return data.NewStruct(fields...), nil
	}
	return data.Value{}, &Incomplete{v.Path(), v}
}

// whole is a whole number. CUE computes with 34 digits and panics where it would have to say
// a whole number that it rounded to them (SET-6, DIA-5).
func whole(v cue.Value) (i *big.Int, err error) {
	defer func() {
		if recover() != nil {
			err = &Rounded{v.Path(), v}
		}
	}()
	return v.Int(nil)
}

// Rounded is a whole number that CUE computed with fewer digits than it has.
type Rounded struct {
	Path  cue.Path
	Value cue.Value
}

func (e *Rounded) Error() string {
	return fmt.Sprintf("%s is a whole number of more digits than CUE computes with", e.Path)
}

// Known reads what of a value is concrete and leaves the rest out; whole says
// whether nothing was left out.
func Known(v cue.Value) (known data.Value, whole bool) {
	if v.IncompleteKind() == cue.StructKind {
		it, err := v.Fields()
		if err != nil {
			return data.Value{}, false
		}
		whole = true
		var fields []data.Field
		for it.Next() {
			x, w := Known(it.Value())
			whole = whole && w
			fields = append(fields, data.Field{Name: Label(it.Selector()), Value: x})
		}
		return data.NewStruct(fields...), whole
	}
	x, err := From(v)
	return x, err == nil
}

// Label is a field's name. What has no name, as an item of a list that cannot be
// computed, is called as CUE writes it.
func Label(s cue.Selector) string {
	if s.IsString() {
		return s.Unquoted()
	}
	return s.String()
}

// Expr writes a value as CUE syntax.
func Expr(v data.Value) ast.Expr {
	switch v.Kind() {
	case data.Null:
		return ast.NewNull()
	case data.Bool:
		return ast.NewBool(v.True())
	case data.Int:
		return number(token.INT, v.Text())
	case data.Float:
		return number(token.FLOAT, v.Text())
	case data.String:
		return &ast.BasicLit{Kind: token.STRING, Value: literal.String.Quote(v.Text())}
	case data.Bytes:
		return &ast.BasicLit{Kind: token.STRING, Value: literal.Bytes.Quote(v.Text())}
	case data.List:
		items := make([]ast.Expr, len(v.Items()))
		for i, x := range v.Items() {
			items[i] = Expr(x)
		}
		return ast.NewList(items...)
	case data.Struct:
		s := &ast.StructLit{Elts: make([]ast.Decl, len(v.Fields()))}
		for i, f := range v.Fields() {
			s.Elts[i] = Field(f.Name, Expr(f.Value))
		}
		return s
	}
	return ast.NewIdent("_")
}

// Field is a field of a struct in CUE syntax.
func Field(name string, x ast.Expr) *ast.Field {
	return &ast.Field{Label: ast.NewString(name), Value: x}
}

// number writes digits that may begin with a sign, which CUE takes for an operator.
func number(kind token.Token, digits string) ast.Expr {
	if rest, ok := strings.CutPrefix(digits, "-"); ok {
		return &ast.UnaryExpr{Op: token.SUB, X: &ast.BasicLit{Kind: kind, Value: rest}}
	}
	return &ast.BasicLit{Kind: kind, Value: digits}
}
