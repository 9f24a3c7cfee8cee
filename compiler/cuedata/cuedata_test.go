package cuedata

import (
	"testing"

	"cuelang.org/go/cue"
	"cuelang.org/go/cue/cuecontext"
)

// SET-6: strings, numbers and bytes survive the way into CUE and out of it.
func TestRoundTrip(t *testing.T) {
	ctx := cuecontext.New()
	for src, want := range map[string]string{
		`"no"`: `"no"`, `"0123"`: `"0123"`, `"1e5"`: `"1e5"`, `9007199254740993`: `9007199254740993`,
		`0.1`: `0.1`, `1.0`: `1.0`, `1e3`: `1e3`, `-5`: `-5`, `null`: `null`, `"a\r\nb"`: `"a\r\nb"`,
		`0.30000000000000000000000000001`:  `0.30000000000000000000000000001`,
		`10000000000000000000000000000000`: `10000000000000000000000000000000`,
		`{b: 1, a: [true, {}]}`:            `{"a":[true,{}],"b":1}`, `'\x00\xff'`: `"AP8="`,
		`{"a-b": 1, "#x": 2, "_y": 3}`: `{"#x":2,"_y":3,"a-b":1}`,
	} {
		v, err := From(ctx.CompileString(src))
		if err != nil || v.String() != want {
			t.Errorf("From(%s) = %s, %v; want %s", src, v, err, want)
			continue
		}
		back, err := From(ctx.BuildExpr(Expr(v)))
		if err != nil || !back.Equal(v) {
			t.Errorf("From(Expr(%s)) = %s, %v", v, back, err)
		}
	}
}

// SCP-8: what is served without ports is known while the ports are not.
func TestKnown(t *testing.T) {
	v := cuecontext.New().CompileString(`in: ports: [string]: int, serves: {driver: "postgres", port: in.ports.x}`)
	got, whole := Known(v.LookupPath(cue.ParsePath("serves")))
	if whole || got.String() != `{"driver":"postgres"}` {
		t.Errorf("Known = %s, %v", got, whole)
	}
}
