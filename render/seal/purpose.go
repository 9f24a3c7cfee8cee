package seal

import (
	"bytes"
	"fmt"
	"strconv"
	"strings"
)

// Role is what a holder of a secret is to it.
type Role string

// The roles: the two ends of a credential, a holder of a secret that has no two
// ends (a need or a licence), and a recovery key.
const (
	Consumer Role = "consumer"
	Provider Role = "provider"
	Holder   Role = "holder"
	Recovery Role = "recovery"
)

// Purpose is what one blob is for. It is sealed together with the secret
// (SEC-5), so that a blob which sits where another belongs is noticed by the
// machine that opens it.
type Purpose struct {
	Mesh string
	// Name is the secret's name in the lock. That of a credential names both
	// ends: "credential postgres@anchor database gitea@board". After a move it is
	// still the name under which the secret was sealed.
	Name string
	Role Role
	// Generation counts how often the secret was made, from 1.
	Generation int
}

func (p Purpose) String() string {
	return fmt.Sprintf("%s for its %s (mesh %s, generation %d)", p.Name, p.Role, p.Mesh, p.Generation)
}

// The header is text, so that whoever opens a blob with the age program reads
// what it is for. The secret is exactly what follows the first empty line, as
// in `age -d -i KEY BLOB | sed '1,/^$/d'`.
const (
	headerKind = "meshc secret "
	headerForm = 1
	// maxHeader is above any header: names have at most 63 bytes, and a name in the lock at most six of them.
	maxHeader = 4096
)

var headerFields = [...]string{"mesh", "secret", "role", "generation"}

func (p Purpose) values() [len(headerFields)]string {
	return [...]string{p.Mesh, p.Name, string(p.Role), strconv.Itoa(p.Generation)}
}

// header is the purpose as it stands before the secret. Different purposes have
// different headers, and none is the beginning of another's.
func (p Purpose) header() ([]byte, error) {
	if p.Generation < 1 {
		return nil, fmt.Errorf("generation %d of a secret, where they count from 1", p.Generation)
	}
	b := []byte(headerKind)
	b = strconv.AppendInt(b, headerForm, 10)
	b = append(b, '\n')
	for i, v := range p.values() {
		if !isPlain(v) {
			return nil, fmt.Errorf("%q cannot be the %s that a secret is for", v, headerFields[i])
		}
		b = append(b, headerFields[i]...)
		b = append(b, ": "...)
		b = append(b, v...)
		b = append(b, '\n')
	}
	b = append(b, '\n')
	if len(b) > maxHeader {
		return nil, fmt.Errorf("what a secret is for takes %d bytes, more than %d", len(b), maxHeader)
	}
	return b, nil
}

// isPlain says whether a value can stand in a header: printable ASCII, not empty.
func isPlain(s string) bool {
	for i := range len(s) {
		if s[i] < ' ' || s[i] > '~' {
			return false
		}
	}
	return s != ""
}

// parseHeader takes the header off a plaintext. It accepts exactly what header writes.
func parseHeader(plain []byte) (p Purpose, secret []byte, err error) {
	head, _, ok := bytes.Cut(plain[:min(len(plain), maxHeader)], []byte("\n\n"))
	if !ok || !bytes.HasPrefix(head, []byte(headerKind)) {
		return p, nil, errNoHeader
	}
	lines := strings.Split(string(head), "\n")
	form := strings.TrimPrefix(lines[0], headerKind)
	if n, err := strconv.Atoi(form); err == nil && n > headerForm {
		return p, nil, errNewerForm
	}
	if form != strconv.Itoa(headerForm) || len(lines) != 1+len(headerFields) {
		return p, nil, errNoHeader
	}
	var v [len(headerFields)]string
	for i, line := range lines[1:] {
		value, ok := strings.CutPrefix(line, headerFields[i]+": ")
		if !ok || !isPlain(value) {
			return p, nil, errNoHeader
		}
		v[i] = value
	}
	generation, err := strconv.Atoi(v[3])
	if err != nil || generation < 1 || strconv.Itoa(generation) != v[3] {
		return p, nil, errNoHeader
	}
	p = Purpose{Mesh: v[0], Name: v[1], Role: Role(v[2]), Generation: generation}
	return p, plain[len(head)+len("\n\n"):], nil
}
