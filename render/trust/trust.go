// Package trust puts the roots of the mesh's certificate authorities into one PEM
// file (CMP-3). It looks at each before it does: a machine that trusts a file trusts
// everything in it, and one that is sent a private key has it for good.
package trust

import (
	"bytes"
	"crypto/x509"
	"encoding/pem"
	"errors"
	"slices"
	"strings"

	"meshc.dev/compiler/addr"
	"meshc.dev/compiler/diag"
	"meshc.dev/compiler/plan"
)

// Bundle is the roots of a plan, in the order of the authorities that they come
// from, each certificate once and with a line that says whose it is. Without an
// authority it is that line alone: a file that holds no root.
func Bundle(p *plan.Plan) ([]byte, diag.List) {
	roots := slices.Clone(p.Roots)
	slices.SortStableFunc(roots, func(a, b plan.Root) int { return a.Authority.Compare(b.Authority) })
	var l diag.List
	var all []certificate
	for _, r := range roots {
		certs, err := read(r.PEM)
		if err != nil {
			l = append(l, badRoot(p, r.Authority, err))
			continue
		}
		for _, c := range certs {
			i := slices.IndexFunc(all, func(o certificate) bool { return bytes.Equal(o.der, c) })
			if i < 0 {
				all = append(all, certificate{der: c, of: []addr.Instance{r.Authority}})
			} else if !slices.Contains(all[i].of, r.Authority) {
				all[i].of = append(all[i].of, r.Authority)
			}
		}
	}
	return write(p.Mesh, all), l.Sorted()
}

// certificate is a root, and the instances that gave it.
type certificate struct {
	der []byte
	of  []addr.Instance
}

func write(mesh string, all []certificate) []byte {
	var b bytes.Buffer
	if len(all) == 0 {
		b.WriteString("# no certificate authority in the mesh " + mesh + "\n")
	}
	for _, c := range all {
		var names []string
		for _, i := range c.of {
			names = append(names, i.String())
		}
		b.WriteString("# " + strings.Join(names, ", ") + " in the mesh " + mesh + "\n")
		b.Write(pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: c.der}))
	}
	return b.Bytes()
}

// What can be wrong with a root. None of them repeats anything of what was read.
var (
	errKey        = errors.New("it holds a private key")
	errNothing    = errors.New("it holds no certificate in PEM")
	errDamaged    = errors.New("a block of it is damaged or not closed")
	errOther      = errors.New("it holds something that is no certificate")
	errUnreadable = errors.New("a certificate of it cannot be read")
	errNotCA      = errors.New("a certificate of it is not one of an authority")
	errNotRoot    = errors.New("a certificate of it was issued by another authority, and is no root")
)

// read gives the certificates in a text, in DER. Words around the blocks, which
// programs like to put there, are passed over.
func read(text string) ([][]byte, error) {
	if strings.Contains(text, "PRIVATE KEY-----") {
		return nil, errKey
	}
	var out [][]byte
	rest := []byte(text)
	for {
		block, after := pem.Decode(rest)
		if block == nil {
			break
		}
		// Decode skips a block that it cannot read and goes on to the next.
		if bytes.Count(rest[:len(rest)-len(after)], []byte("-----BEGIN ")) != 1 {
			return nil, errDamaged
		}
		if block.Type != "CERTIFICATE" {
			return nil, errOther
		}
		if err := judge(block.Bytes); err != nil {
			return nil, err
		}
		out = append(out, block.Bytes)
		rest = after
	}
	if bytes.Contains(rest, []byte("-----BEGIN ")) {
		return nil, errDamaged
	}
	if len(out) == 0 {
		return nil, errNothing
	}
	return out, nil
}

// judge says whether a certificate is the root of an authority.
func judge(der []byte) error {
	c, err := x509.ParseCertificate(der)
	if err != nil {
		return errUnreadable
	}
	if !c.BasicConstraintsValid || !c.IsCA || c.KeyUsage != 0 && c.KeyUsage&x509.KeyUsageCertSign == 0 {
		return errNotCA
	}
	if !bytes.Equal(c.RawIssuer, c.RawSubject) {
		return errNotRoot
	}
	// A root that was signed with an algorithm of old is still one: nobody checks its
	// own signature.
	var old x509.InsecureAlgorithmError
	if err := c.CheckSignatureFrom(c); err != nil && !errors.As(err, &old) {
		return errNotRoot
	}
	return nil
}
