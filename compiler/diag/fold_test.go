package diag_test

import (
	"testing"

	"meshc.dev/compiler/addr"
	"meshc.dev/compiler/diag"
)

// DIA-1, T29: what differs in nothing but the names of whom it was found at is one fault, and only that.
func TestSaidOnceWithAllItStrikes(t *testing.T) {
	at := diag.Pos{File: "modules/app/app.cue", Line: 3, Column: 1}
	fault := func(message, instance, node string) diag.Diagnostic {
		l := diag.List{{Code: diag.BadResource, At: at, Message: message}}
		return l.FoundAt(addr.Instance{Name: instance, Node: addr.Node(node)})[0]
	}
	for _, c := range []struct {
		name string
		list diag.List
		want []string
	}{
		{"one instance", diag.List{fault("app/file.a is bad", "app", "n1")}, []string{"app/file.a is bad"}},
		{"two nodes", diag.List{fault("app/file.a is bad", "app", "n2"), fault("app/file.a is bad", "app", "n1")}, []string{"app/file.a is bad (for app on n1 and n2)"}},
		{"two instances", diag.List{fault("other/file.a is bad", "other", "n1"), fault("app/file.a is bad", "app", "n1")}, []string{"app/file.a is bad (for app@n1 and other@n1)"}},
		{"another value", diag.List{fault("app/file.a is 1", "app", "n1"), fault("other/file.a is 2", "other", "n1")}, []string{"app/file.a is 1", "other/file.a is 2"}},
		{"a name inside of another", diag.List{fault("app-b/file.a is bad", "app", "n1"), fault("c-b/file.a is bad", "c", "n1")}, []string{"app-b/file.a is bad", "c-b/file.a is bad"}},
		{"named as its module", diag.List{fault("module app is bad", "app", "n1"), fault("module app is bad", "other", "n1")}, []string{"module app is bad (for app@n1 and other@n1)"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			var got []string
			for _, d := range c.list.Sorted() {
				got = append(got, d.Message)
			}
			if len(got) != len(c.want) {
				t.Fatalf("said %q, want %q", got, c.want)
			}
			for k := range got {
				if got[k] != c.want[k] {
					t.Errorf("said %q, want %q", got[k], c.want[k])
				}
			}
		})
	}
}
