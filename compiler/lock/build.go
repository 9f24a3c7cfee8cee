package lock

import (
	"encoding/hex"
	"net/netip"
	"slices"
	"strings"

	"meshc.dev/compiler/addr"
	"meshc.dev/compiler/diag"
)

// build understands a document of the newest format: every name, number and
// digest is looked at here, so that nothing malformed gets any further.
func build(file string, d document) (*Lock, diag.List) {
	b := builder{lock: New(), file: file}
	b.lock.file = file
	b.lock.places = make(map[place]int, len(d.entries))
	b.lock.spans = make([]span, len(d.entries))
	if b.lock.Mesh = d.mesh; d.mesh != "" && !addr.IsName(d.mesh) {
		b.faults = append(b.faults, badMesh(d.meshAt.pos(file)))
	}
	if d.kept {
		b.lock.Data = map[string][]string{}
	}
	for _, s := range d.empty {
		if !slices.Contains([]string{ports, addresses, logins, secrets, moved, kept}, s.name) {
			b.faults = append(b.faults, unknownSection(s.at.pos(file), s.name))
		}
	}
	for i := range d.entries {
		b.lock.spans[i] = d.entries[i].at
		b.add(d.entries, i)
	}
	return b.lock, b.faults
}

type builder struct {
	lock   *Lock
	file   string
	faults diag.List
}

func (b *builder) add(entries []entry, i int) {
	e := &entries[i]
	p := place{e.section, e.key}
	if first, ok := b.lock.places[p]; ok {
		// The same line twice says the same: it is what is left when both sides of
		// a merge are kept. Two values for one key say nothing.
		if o := &entries[first]; !e.value.equal(o.value) && e.section == kept {
			// Of where data is, the next lock says what is true; until then nothing is.
			delete(b.lock.Data, e.key)
		} else if !e.value.equal(o.value) {
			b.faults = append(b.faults, entryTwice(e.at.pos(b.file), o.at.pos(b.file), e.key))
		}
		return
	}
	b.lock.places[p] = i

	var problem string
	switch e.section {
	case ports:
		problem = b.port(e)
	case addresses:
		problem = b.address(e)
	case logins:
		problem = b.login(e)
	case secrets:
		problem = b.secret(e)
	case moved:
		problem = b.move(e)
	case kept:
		problem = b.data(e)
	default:
		b.faults = append(b.faults, unknownSection(e.at.pos(b.file), e.section))
		return
	}
	if problem != "" {
		b.faults = append(b.faults, badEntry(e.at.pos(b.file), e.key, problem))
	}
}

func (b *builder) port(e *entry) string {
	k, err := addr.ParseListen(e.key)
	if err != nil {
		return "a port belongs to node/instance/listen"
	}
	if e.value.kind != number || !isNumber(e.value.text) {
		return notPort
	}
	port := atoi(e.value.text)
	if port < 1 || port > 65535 {
		return notPort
	}
	b.lock.Ports[k] = port
	return ""
}

func (b *builder) address(e *entry) string {
	if !addr.IsName(e.key) {
		return "an address belongs to a node"
	}
	a, err := netip.ParseAddr(e.value.text)
	if err != nil || e.value.kind != text || a.Zone() != "" || a.Is4In6() {
		return "its value is not an IPv4 or IPv6 address in quotes"
	}
	b.lock.Addresses[addr.Node(e.key)] = a
	return ""
}

func (b *builder) login(e *entry) string {
	k, err := addr.ParsePair(e.key)
	if err != nil {
		return "a login belongs to provider@node provision consumer@node"
	}
	if e.value.kind != text || !IsLogin(e.value.text) {
		return "a login is 1 to 63 of a-z, 0-9 and _, in quotes"
	}
	b.lock.Logins[k] = e.value.text
	return ""
}

func (b *builder) secret(e *entry) string {
	kind, rest, _ := strings.Cut(e.key, " ")
	if !addr.IsName(kind) || rest == "" || !isPlain(rest) {
		return `a secret's name is "credential …" or "need …"`
	}
	if kind == "credential" {
		if _, err := addr.ParsePair(rest); err != nil {
			return "a credential belongs to provider@node provision consumer@node"
		}
	}
	if e.value.kind != object {
		return "a secret is { generation = …, ends = […], to = […], blobs = […], sha256 = […] }"
	}
	s := Secret{Sealed: e.key}
	var lists [len(endFields)][]string
	for i, it := range e.value.items {
		for _, o := range e.value.items[:i] {
			if o.name == it.name {
				return it.name + " stands in it twice"
			}
		}
		if it.name == "generation" {
			if it.value.kind != number || !isNumber(it.value.text) || it.value.text == "0" {
				return "its generation is a number from 1"
			}
			s.Generation = atoi(it.value.text)
			continue
		}
		if it.name == "sealed" {
			if s.Sealed = it.value.text; it.value.kind != text || s.Sealed == "" || !isPlain(s.Sealed) {
				return "the name under which it was sealed is a string"
			}
			continue
		}
		f := slices.Index(endFields[:], it.name)
		if f < 0 {
			return "a secret has no " + it.name
		}
		var ok bool
		if lists[f], ok = it.value.texts(); !ok {
			return it.name + " is a list of strings"
		}
	}
	if s.Generation == 0 {
		return "it has no generation"
	}
	for f, l := range lists {
		if len(l) != len(lists[0]) {
			return "it has " + plural(len(lists[0]), "end") + " and " + plural(len(l), "value") + " of " + endFields[f]
		}
	}
	for i := range lists[0] {
		end, problem := newEnd(lists[0][i], lists[1][i], lists[2][i], lists[3][i])
		if problem != "" {
			return problem
		}
		s.Ends = append(s.Ends, end)
	}
	slices.SortFunc(s.Ends, End.Compare)
	b.lock.Secrets[e.key] = s
	return ""
}

// endFields are the lists of a secret that have one value for each end.
var endFields = [...]string{"ends", "to", "blobs", "sha256"}

func newEnd(end, to, blob, digest string) (e End, problem string) {
	role, holder, _ := strings.Cut(end, " ")
	if !addr.IsName(role) || !isWord(holder) {
		return e, "an end is a role and who holds it, such as \"consumer gitea@board\""
	}
	if !isWord(to) {
		return e, "it is sealed to a fingerprint, SHA256:…"
	}
	if !isBlobName(blob) {
		return e, "a blob is a plain path below sealed/"
	}
	if sum, err := hex.DecodeString(digest); err != nil || len(sum) != 32 || strings.ToLower(digest) != digest {
		return e, "the sha256 of a blob is 64 lower-case hex digits"
	}
	return End{role, holder, to, blob, digest}, ""
}

func (b *builder) move(e *entry) string {
	what, old, _ := strings.Cut(e.key, " ")
	to := e.value.text
	ok := e.value.kind == text
	switch what {
	case "node":
		ok = ok && addr.IsName(old) && addr.IsName(to)
	case "instance":
		_, err1 := addr.ParseInstance(old)
		_, err2 := addr.ParseInstance(to)
		ok = ok && err1 == nil && err2 == nil
	default:
		ok = false
	}
	if !ok {
		return "a move is \"node old\" or \"instance old@node\" and the new name"
	}
	b.lock.Moved[e.key] = to
	return ""
}

func (b *builder) data(e *entry) string {
	values, ok := e.value.texts()
	if !ok || !isPlain(e.key) || slices.ContainsFunc(values, func(s string) bool { return !isPlain(s) }) {
		return "where data is, is a list of strings"
	}
	b.lock.Data[e.key] = values
	return ""
}

// IsLogin says whether s can be the login of a consumer: 1 to 63 bytes of
// [a-z0-9_]. That is what PostgreSQL keeps of a name without cutting it
// (NAMEDATALEN - 1), and needs no quotes anywhere.
func IsLogin(s string) bool {
	for i := range len(s) {
		c := s[i]
		if (c < 'a' || c > 'z') && (c < '0' || c > '9') && c != '_' {
			return false
		}
	}
	return s != "" && len(s) <= 63
}

// isWord says whether s is plain and has no space in it.
func isWord(s string) bool { return s != "" && isPlain(s) && !strings.Contains(s, " ") }

// isBlobName says whether s is a relative path that stays where it is put (BLD-4).
func isBlobName(s string) bool {
	if !isWord(s) {
		return false
	}
	for part := range strings.SplitSeq(s, "/") {
		if part == "" || part == "." || part == ".." {
			return false
		}
	}
	return true
}

func (v value) equal(o value) bool {
	return v.kind == o.kind && v.text == o.text && slices.EqualFunc(v.items, o.items, func(a, b item) bool {
		return a.name == b.name && a.value.equal(b.value)
	})
}

// texts gives the strings of a list.
func (v value) texts() ([]string, bool) {
	if v.kind != list {
		return nil, false
	}
	out := make([]string, len(v.items))
	for i, it := range v.items {
		if it.value.kind != text {
			return nil, false
		}
		out[i] = it.value.text
	}
	return out, true
}
