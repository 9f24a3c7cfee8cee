package evaluate

import (
	"crypto/sha256"
	"maps"
	"slices"
	"strconv"
	"strings"
	"sync"

	"meshc.dev/compiler/data"
	"meshc.dev/compiler/load"
)

// kept holds answers by the digest of what they depend on.
type kept[T any] struct {
	mu sync.RWMutex
	m  map[[32]byte]T
}

func (k *kept[T]) get(key [32]byte) (T, bool) {
	k.mu.RLock()
	defer k.mu.RUnlock()
	v, ok := k.m[key]
	return v, ok
}

func (k *kept[T]) put(key [32]byte, v T) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.m == nil {
		k.m = map[[32]byte]T{}
	}
	k.m[key] = v
}

// key digests a module, an instance's name and settings, and those inputs that a
// question reads. The name is always part of it, since answers carry it.
func (in Inputs) key(m *load.Module, reads []string, question string) [32]byte {
	b := make([]byte, 0, 1024)
	b = append(b, question...)
	b = append(b, m.Name...)
	b = append(b, m.Digest[:]...)
	b = data.NewString(in.Instance).AppendKey(b)
	b = in.Settings.Data().AppendKey(b)
	parts := make([]string, 0, len(reads))
	for _, r := range reads {
		parts = append(parts, coarse(r))
	}
	slices.Sort(parts)
	for _, r := range slices.Compact(parts) {
		b = data.NewString(r).AppendKey(b)
		b = in.append(b, r)
	}
	return sha256.Sum256(b)
}

// coarse is the part of a path by which answers are kept: node.name, but all of ports.
func coarse(path string) string {
	p := strings.SplitN(path, ".", 3)
	if p[0] == "node" && len(p) > 1 {
		return p[0] + "." + p[1]
	}
	return p[0]
}

func (in Inputs) append(b []byte, read string) []byte {
	text := func(s string) { b = data.NewString(s).AppendKey(b) }
	switch read {
	case "mesh":
		text(in.Mesh.Name)
		text(in.Mesh.Domain)
	case "node.name":
		text(in.Node.Name)
	case "node.site":
		text(in.Node.Site)
	case "node.address":
		text(in.Node.Address)
	case "node.endpoint":
		text(in.Node.Endpoint)
	case "node.runtime":
		text(in.Node.Runtime)
	case "node.facts":
		b = in.Node.Facts.AppendKey(b)
	case "node":
		for _, r := range []string{"node.name", "node.site", "node.address", "node.endpoint", "node.runtime", "node.facts"} {
			b = in.append(b, r)
		}
	case "ports":
		b = ports(in.Ports).AppendKey(b)
	case "addresses":
		b = texts(in.Addresses).AppendKey(b)
	case "bindings":
		b = values(in.Bindings).AppendKey(b)
	case "consumers":
		b = values(in.Consumers).AppendKey(b)
	case "secrets":
		text(strings.Join(in.Secrets, " "))
	case "needs":
		text(strings.Join(in.Needs, " "))
	case "instance":
	default: // all of `in`
		for _, r := range []string{"mesh", "node", "ports", "addresses", "bindings", "consumers", "secrets", "needs"} {
			b = in.append(b, r)
		}
	}
	return b
}

func ports(m map[string]int) data.Value {
	var fields []data.Field
	for k, v := range m {
		fields = append(fields, data.Field{Name: k, Value: data.NewInt(strconv.Itoa(v))})
	}
	return data.NewStruct(fields...)
}

func texts(m map[string]string) data.Value {
	var fields []data.Field
	for k, v := range m {
		fields = append(fields, data.Field{Name: k, Value: data.NewString(v)})
	}
	return data.NewStruct(fields...)
}

func values(m map[string]data.Value) data.Value {
	var fields []data.Field
	for k, v := range m {
		fields = append(fields, data.Field{Name: k, Value: v})
	}
	return data.NewStruct(fields...)
}

// paths of reads, sorted, each once.
func paths(reads ...[]load.Read) []string {
	set := map[string]bool{}
	for _, rs := range reads {
		for _, r := range rs {
			set[r.Path] = true
		}
	}
	return slices.Sorted(maps.Keys(set))
}

func first(path string) string {
	f, _, _ := strings.Cut(path, ".")
	return f
}
