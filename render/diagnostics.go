package render

import (
	"errors"
	"fmt"

	"meshc.dev/compiler/addr"
	"meshc.dev/compiler/diag"
	"meshc.dev/compiler/plan"
	"meshc.dev/render/bundle"
	"meshc.dev/render/container"
)

func notABundle(n *plan.Node, err error) diag.Diagnostic {
	return diag.Diagnostic{Code: diag.NotABundle, At: n.At, Message: fmt.Sprintf("what %s runs does not make a bundle: %v", n.Name, err)}
}

func tooLarge(r plan.Resource, size int) diag.Diagnostic {
	return diag.Diagnostic{Code: diag.NotABundle, At: r.At, Message: fmt.Sprintf("%s has %d MB, and a machine's program takes files of at most %d MB", r.ID, size>>20, bundle.MaxFile>>20)}
}

// notItems says at a module's line what the machine's program would not take of the module's
// resources: it is told with the same words as there, since the same function says it.
func notItems(n *plan.Node, of map[bundle.ID]plan.Resource, err error) diag.List {
	if err == nil {
		return nil
	}
	var ds diag.List
	items, rest := bundle.ItemErrors(err)
	for _, e := range items {
		if r, ok := of[e.ID]; ok {
			d := diag.Diagnostic{Code: diag.BadResource, At: r.At, Message: fmt.Sprintf("%s: %v", r.ID, e.Err)}
			ds = append(ds, diag.List{d}.FoundAt(addr.Instance{Node: n.Name, Name: r.ID.Instance})...)
		} else {
			rest = errors.Join(rest, e)
		}
	}
	if rest != nil {
		ds = append(ds, notABundle(n, rest))
	}
	return ds
}

func notSafeIn(r plan.Resource, secret addr.Resource, format, encoding string) diag.Diagnostic {
	return diag.Diagnostic{
		Code: diag.SecretNotSafe, At: r.At,
		Message: fmt.Sprintf("%s places %s as %s in %s, where a value that a person supplied could be read as something else", r.ID, secret, encoding, format),
	}
}

func secretChanged(r plan.Resource) diag.Diagnostic {
	return diag.Diagnostic{
		Code: diag.SecretComputed, At: r.At,
		Message: fmt.Sprintf("%s has a piece of a secret, or a secret that was changed; the machine fills it in, so it can only be placed as it is, in one of its encodings", r.ID),
	}
}

func notCarried(at diag.Pos, id addr.Resource, format string, err error) diag.Diagnostic {
	var c *container.Error
	if errors.As(err, &c) {
		return c.Diagnostic(at, id)
	}
	return diag.Diagnostic{Code: diag.FormatValue, At: at, Message: fmt.Sprintf("%s cannot be written as %s: %v", id, format, err)}
}
