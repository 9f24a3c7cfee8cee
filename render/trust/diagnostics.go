package trust

import (
	"fmt"

	"meshc.dev/compiler/addr"
	"meshc.dev/compiler/diag"
	"meshc.dev/compiler/plan"
)

// badRoot names the instance and never the text, which may hold a secret.
func badRoot(p *plan.Plan, of addr.Instance, err error) diag.Diagnostic {
	d := diag.Diagnostic{Code: diag.NotARoot, Message: fmt.Sprintf("the root that %s provides cannot be trusted: %v", of, err)}
	if err == errKey {
		d.Code = diag.RootWithKey
		d.Message = fmt.Sprintf("the root that %s provides would be given to every machine, and %v", of, err)
	}
	if n := p.Node(of.Node); n != nil {
		d.At = n.At
	}
	return d
}
