package seal

import (
	"bytes"
	"encoding/gob"
	"encoding/json"
	"encoding/xml"
	"fmt"
	"log/slog"
	"reflect"
	"strings"
	"testing"

	"go.yaml.in/yaml/v3"
)

const canary = "Kanarienvogel7"

func secretOf(s string) Secret { return NewSecret([]byte(s)) }

// SEC-1: a secret cannot be printed, not even from within something else
func TestSecretDoesNotPrint(t *testing.T) {
	s := secretOf(canary)
	type holder struct {
		Public  Secret
		private Secret
		Pointer *Secret
		Any     any
		List    []Secret
		Map     map[string]Secret
	}
	h := holder{s, s, &s, s, []Secret{s}, map[string]Secret{"x": s}}
	values := []any{s, &s, h, &h, []any{s}, []holder{h}, fmt.Errorf("wrapped: %v", s), struct{ error }{fmt.Errorf("%w", fmt.Errorf("%+v", h))}}
	for _, verb := range []string{"%v", "%+v", "%#v", "%s", "%q", "%x", "%X", "%d", "%o", "%b", "%c", "%U", "%t", "%T", "%p", "%08.3f", "%w"} {
		for _, v := range values {
			noLeak(t, verb, fmt.Sprintf(verb, v))
		}
		if got := fmt.Sprintf(verb, s); got != shown && verb != "%T" && verb != "%p" && verb != "%w" {
			t.Errorf("%s prints %s", verb, got)
		}
	}
	noLeak(t, "Print", fmt.Sprint(values...)+fmt.Sprintln(values...)+s.String()+s.GoString())

	var log bytes.Buffer
	slog.New(slog.NewTextHandler(&log, nil)).Info("x", "secret", s, "holder", h)
	slog.New(slog.NewJSONHandler(&log, nil)).Info("x", "secret", s, "holder", h)
	noLeak(t, "slog", log.String())
	if !strings.Contains(log.String(), "secret="+shown) || !strings.Contains(log.String(), `"secret":"`+shown+`"`) {
		t.Errorf("a log does not show that there is a secret: %s", log.String())
	}
	noLeak(t, "a panic", func() (out string) {
		defer func() { out = fmt.Sprint(recover()) }()
		panic(s)
	}())
}

func noLeak(t *testing.T, how, printed string) {
	t.Helper()
	for _, form := range []string{canary, fmt.Sprintf("%x", canary), fmt.Sprintf("%X", canary), fmt.Sprint([]byte(canary)), strings.Trim(fmt.Sprintf("%#v", []byte(canary)), "[]byte{}")} {
		if strings.Contains(printed, form) {
			t.Errorf("%s shows the secret: %s", how, printed)
		}
	}
}

// SEC-1: a secret cannot be encoded, and what holds one cannot either
func TestSecretDoesNotMarshal(t *testing.T) {
	s := secretOf(canary)
	type holder struct{ S Secret }
	for _, v := range []any{s, &s, holder{s}, []Secret{s}, map[string]Secret{"x": s}} {
		if out, err := json.Marshal(v); err == nil {
			t.Errorf("JSON of %T: %s", v, out)
		}
		if out, err := yaml.Marshal(v); err == nil {
			t.Errorf("YAML of %T: %s", v, out)
		}
	}
	for _, v := range []any{s, holder{s}} {
		var b bytes.Buffer
		if err := gob.NewEncoder(&b).Encode(v); err == nil {
			t.Errorf("gob of %T: %x", v, b.Bytes())
		}
		if out, err := xml.Marshal(v); err == nil {
			t.Errorf("XML of %T: %s", v, out)
		}
	}
	if out, err := s.MarshalBinary(); err == nil {
		t.Errorf("binary: %x", out)
	}
	if reflect.TypeFor[Secret]().Comparable() {
		t.Error("secrets can be compared with ==")
	}
}

// SEC-1: a printer that walks through every value finds no secret in it
func TestSecretIsOutOfReflectionsReach(t *testing.T) {
	var walk func(v reflect.Value, depth int)
	walk = func(v reflect.Value, depth int) {
		if depth > 10 || !v.IsValid() {
			return
		}
		switch v.Kind() {
		case reflect.Pointer, reflect.Interface:
			walk(v.Elem(), depth+1)
		case reflect.Struct:
			for i := range v.NumField() {
				walk(v.Field(i), depth+1)
			}
		case reflect.Slice, reflect.Array, reflect.String:
			t.Errorf("a value of type %s is within reach", v.Type())
		}
	}
	walk(reflect.ValueOf(secretOf(canary)), 0)
}

// SEC-1: wiped is wiped, for every copy
func TestWipe(t *testing.T) {
	raw := []byte(canary)
	s := NewSecret(raw)
	other := s
	if !s.Equal(other) || s.Equal(secretOf("x")) || s.Len() != len(canary) || s.IsZero() {
		t.Error("a secret is not what it was made of")
	}
	s.Wipe()
	if strings.Trim(string(raw), "\x00") != "" {
		t.Errorf("%q is left", raw)
	}
	defer func() {
		if recover() == nil {
			t.Error("a wiped secret can be used")
		}
	}()
	other.Use(func([]byte) {})
}

func TestZeroSecret(t *testing.T) {
	var s Secret
	s.Wipe()
	if !s.IsZero() || s.Len() != 0 || s.String() != shown {
		t.Error("the zero secret is something")
	}
}

// O31: the line end behind a value of one line is taken off once, when it comes in
func TestForPerson(t *testing.T) {
	pem := "-----BEGIN KEY-----\nabc\n-----END KEY-----\n"
	for in, want := range map[string]string{
		"abc": "abc", "abc\n": "abc", "abc\r\n": "abc", " abc ": " abc ", "a\tb": "a\tb",
		pem: pem, "two\nlines": "two\nlines", "\x00\xff\n": "\x00\xff",
	} {
		s, err := ForPerson([]byte(in))
		if err != nil || text(s) != want {
			t.Errorf("%q becomes %q, want %q (%v)", in, text(s), want, err)
		}
	}
	for in, says := range map[string]string{
		"": "empty", "\n": "empty", " \r\n": "empty",
		"abc\n\n":                       "empty lines",
		"abc\r\n\r\n":                   "empty lines",
		strings.Repeat("x", MaxLen+1):   "more than",
		strings.Repeat("x\n", MaxLen/2): "",
	} {
		_, err := ForPerson([]byte(in))
		if says == "" {
			if err != nil {
				t.Error(err)
			}
			continue
		}
		if err == nil || !strings.Contains(err.Error(), says) {
			t.Errorf("%.20q: got %v, want it to say %q", in, err, says)
		}
	}
}
