package sink_test

import (
	"net/url"
	"strings"
	"testing"

	"meshc.dev/render/sink"
	"meshc.dev/render/sink/sinktest"
)

// checkWords writes a string with every helper that makes a piece of a line and reads it back.
func checkWords(t *testing.T, s string) {
	t.Helper()
	if w, err := sink.SystemdEnv("NAME", s); err == nil {
		env, err := sinktest.Environment([]string{w + " " + w})
		if err != nil || env["NAME"] != s || len(env) != 1 {
			t.Errorf("Environment=%s gives %q, %v; want %q", w, env, err, s)
		}
		oneLine(t, w)
	}
	if w, err := sink.SystemdArg(s); err == nil {
		if !argv(t, "/bin/x "+w+" end "+w, "/bin/x", s, "end", s) {
			t.Errorf("ExecStart=%s is not %q", w, s)
		}
		oneLine(t, w)
	}
	if w, err := sink.SystemdValue(s); err == nil {
		u, err := sinktest.ParseUnit([]byte("[Unit]\nDescription=" + w + "\nAfter=x\n"))
		if err != nil || len(u) != 2 {
			t.Errorf("Description=%s: %v, %v", w, u, err)
		} else if got, err := sinktest.Specifiers(u[0].Value, "x"); err != nil || got != s {
			t.Errorf("Description=%s is %q, %v; want %q", w, got, err, s)
		}
	}
	// The generator takes a quadlet's words apart, puts them together, and systemd reads that.
	if w, err := sink.QuadletEnv("a.b-C", s); err == nil {
		words, err := sinktest.Words(w)
		if err != nil || len(words) != 1 || !argv(t, requote(words[0]), "a.b-C="+s) {
			t.Errorf("Environment=%s is not %q, %v", w, s, err)
		}
		oneLine(t, w)
	}
	if w, err := sink.QuadletArg(s); err == nil {
		words, err := sinktest.Words("a " + w + " b")
		if err != nil || len(words) != 3 || words[1] == "" || words[1] == ";" || !argv(t, requote(words[1]), s) {
			t.Errorf("Exec=%s is not %q, %v", w, s, err)
		}
		oneLine(t, w)
	}
	if w, err := sink.QuadletValue(s); err == nil {
		u, err := sinktest.ParseUnit([]byte("[Container]\nImage=" + w + "\nUser=x\n"))
		if err != nil || len(u) != 2 || u[0].Value != w || strings.Trim(w, "\" \t") != w || !argv(t, requote(w), s) {
			t.Errorf("Image=%s is not %q: %v, %v", w, s, u, err)
		}
	}
	if w, err := sink.ShellQuote(s); err == nil {
		oneWord(t, w, s)
	}
	if back, err := url.PathUnescape(sink.URLEncode(s)); err != nil || back != s || strings.Trim(sink.URLEncode(s), "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._~%") != "" {
		t.Errorf("%s is not %q", sink.URLEncode(s), s)
	}
}

// requote writes a word as Quadlet's generator does into ExecStart=: in quotes where it
// holds a space, a quote or a backslash, and bare otherwise.
func requote(s string) string {
	return `"` + strings.NewReplacer(`\`, `\\`, `"`, `\"`, "\n", `\n`, "\r", `\r`, "\t", `\t`).Replace(s) + `"`
}

func oneLine(t *testing.T, w string) {
	t.Helper()
	if strings.ContainsAny(w, "\n\r\x00") || strings.HasSuffix(w, `\`) {
		t.Errorf("%q is not one line of a unit", w)
	}
}

// oneWord reads a shell word: plain characters and parts in single quotes.
func oneWord(t *testing.T, w, want string) {
	t.Helper()
	var b strings.Builder
	for i := 0; i < len(w); i++ {
		switch {
		case w[i] == '\'':
			n := strings.IndexByte(w[i+1:], '\'')
			if n < 0 {
				t.Fatalf("%s is not closed", w)
			}
			b.WriteString(w[i+1 : i+1+n])
			i += n + 1
		case w[i] == '\\':
			i++
			b.WriteByte(w[i])
		case strings.IndexByte(" \t\n\"$`&|;<>()*?[#~={}!", w[i]) >= 0:
			t.Errorf("%s has a bare %c", w, w[i])
		default:
			b.WriteByte(w[i])
		}
	}
	if b.String() != want {
		t.Errorf("the shell reads %q, want %q", b.String(), want)
	}
}

// BLD-6: pieces of units, quadlets, shell commands and URLs arrive as they were written
//
// O08: so do percent, dollar, space and backslash
func TestWords(t *testing.T) {
	for _, s := range nasty {
		checkWords(t, s)
	}
	for name, s := range o08 {
		checkWords(t, s)
		for _, f := range []func(string, string) (string, error){sink.SystemdEnv, sink.QuadletEnv} {
			if _, err := f(name, s); err != nil {
				t.Errorf("%q is refused: %v", s, err)
			}
		}
	}
	for want, got := range map[string]string{
		`"A=50%%20 $x"`:   must(sink.SystemdEnv("A", "50%20 $x")),
		`"A=50%%20 $$x"`:  must(sink.QuadletEnv("A", "50%20 $x")),
		`"$$HOME %%h\n"`:  must(sink.SystemdArg("$HOME %h\n")),
		`--a=b`:           must(sink.SystemdArg("--a=b")),
		`""`:              must(sink.SystemdArg("")),
		`%i`:              must(sink.QuadletArg("")),
		`%i;`:             must(sink.QuadletArg(";")),
		`/a b:/c`:         must(sink.QuadletValue("/a b:/c")),
		`'it'\''s'`:       must(sink.ShellQuote("it's")),
		`''`:              must(sink.ShellQuote("")),
		`plain/word`:      must(sink.ShellQuote("plain/word")),
		`p%40ss%2F%23~-_`: sink.URLEncode("p@ss/#~-_"),
	} {
		if got != want {
			t.Errorf("%s, want %s", got, want)
		}
	}
}

func must(s string, err error) string {
	if err != nil {
		return err.Error()
	}
	return s
}

// BLD-6: no string makes these write anything that is read as another
func FuzzWords(f *testing.F) {
	for _, s := range nasty {
		f.Add(s)
	}
	f.Fuzz(checkWords)
}
