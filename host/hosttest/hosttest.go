// Package hosttest makes bundles and machines for tests of the host: what meshc
// does for a real one, without a mesh.
package hosttest

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"meshc.dev/render/bundle"
	"meshc.dev/render/seal"
)

// Spec is a bundle to be made. What can be computed of it is: sources, sums and
// sealed blobs.
type Spec struct {
	Mesh, Node string
	Items      []bundle.Item
	// Content of files and blocks, and plaintext of secrets, by identity.
	Content map[bundle.ID]string
	// SealedAs is what a blob says that it is, where that is not what belongs there.
	SealedAs map[bundle.ID]string
	// To is the key that secrets are sealed to.
	To     seal.Recipient
	Origin bundle.Origin
	// Sign signs the provenance, where it is not nil.
	Sign func([]byte) []byte
}

// Make makes the bundle. The items of the spec are filled in.
func (s Spec) Make() (*bundle.Bundle, error) {
	d := &bundle.Declaration{Format: bundle.Format, Mesh: s.Mesh, Node: s.Node, Items: s.Items}
	var entries []bundle.Entry
	for _, item := range s.Items {
		content := []byte(s.Content[item.Identity()])
		switch i := item.(type) {
		case *bundle.File:
			e := bundle.NewEntry(bundle.FileSource(i.Path), content)
			i.Source, i.SHA256 = e.Name, e.Sum
			entries = append(entries, e)
		case *bundle.Block:
			e := bundle.NewEntry(bundle.BlockSource(i.Path, i.Marker), content)
			i.Source, i.SHA256 = e.Name, e.Sum
			entries = append(entries, e)
		case *bundle.Secret:
			if _, ok := s.Content[i.ID]; !ok {
				continue // one that was not made
			}
			e, err := s.seal(i, content)
			if err != nil {
				return nil, err
			}
			i.Sealed = e.Name
			entries = append(entries, e)
		}
	}
	s.Origin.Complete = true
	for _, item := range s.Items {
		if i, ok := item.(*bundle.Secret); ok && i.Sealed == "" {
			s.Origin.Complete = false
		}
	}
	if !s.To.IsZero() && s.Origin.Recipient == "" {
		s.Origin.Recipient = s.To.Fingerprint()
	}
	b, err := bundle.New(d, entries, s.Origin)
	if err == nil && s.Sign != nil {
		b.Signature = s.Sign(b.ProvenanceBytes())
	}
	return b, err
}

func (s Spec) seal(i *bundle.Secret, plain []byte) (bundle.Entry, error) {
	if i.Key == "" {
		i.Key, i.Role = "need "+strings.ReplaceAll(string(i.ID), "/", " "), "holder"
	}
	i.Generation = max(i.Generation, 1)
	if i.Mode == 0 {
		i.Mode = bundle.DefaultSecretMode
	}
	purpose := seal.Purpose{Mesh: s.Mesh, Name: i.Key, Role: seal.Role(i.Role), Generation: i.Generation}
	if as, ok := s.SealedAs[i.ID]; ok {
		purpose.Name = as
	}
	blob, err := seal.Seal(purpose, seal.NewSecret(plain), s.To)
	name := bundle.SealedSource(strings.NewReplacer("/", ".", " ", ".").Replace(string(i.ID)))
	return bundle.NewEntry(name, blob), err
}

// Write puts a bundle's files into a folder, or its tar into a file.
func Write(b *bundle.Bundle, to string) error {
	if filepath.Ext(to) == ".tar" {
		f, err := os.Create(to)
		if err != nil {
			return err
		}
		_, err = b.WriteTo(f)
		return errors.Join(err, f.Close())
	}
	if err := os.RemoveAll(to); err != nil {
		return err
	}
	for _, e := range b.Contents() {
		p := filepath.Join(to, filepath.FromSlash(e.Name))
		if err := os.MkdirAll(filepath.Dir(p), 0o755); err != nil {
			return err
		}
		if err := os.WriteFile(p, e.Data, 0o644); err != nil {
			return err
		}
	}
	return nil
}

// Tree makes a machine's file system in a folder: a few users, units, a hosts file.
func Tree(dir string) error {
	files := map[string]string{
		"etc/passwd":                         "root:x:0:0:root:/root:/bin/bash\nwww-data:x:33:33:www-data:/var/www:/usr/sbin/nologin\n",
		"etc/group":                          "root:x:0:\nadm:x:4:\nssl-cert:x:110:www-data\nwww-data:x:33:\n",
		"etc/shadow":                         "root:*:19000:0:99999:7:::\nwww-data:*:19000:0:99999:7:::\n",
		"etc/hosts":                          "127.0.0.1 localhost\n::1 localhost",
		"etc/default/redis":                  "ULIMIT=65536\n",
		"usr/lib/systemd/system/r.service":   "[Service]\nExecStart=/usr/bin/r\n[Install]\nWantedBy=multi-user.target\nAlias=redis.service\n",
		"usr/lib/systemd/system/cron.timer":  "[Timer]\nOnCalendar=daily\n[Install]\nWantedBy=timers.target\n",
		"var/lib/dpkg/status":                "Package: redis-server\nStatus: install ok installed\nArchitecture: amd64\n\nPackage: nginx\nStatus: deinstall ok config-files\nArchitecture: amd64\n",
		"usr/share/doc/nothing":              "",
		"etc/systemd/system/old.service":     "[Service]\nExecStart=/bin/old\n[Install]\nWantedBy=multi-user.target\n",
		"srv/data/precious":                  "data",
		"var/lib/mesh-host/tree.json":        "{\n  \"packages\": {},\n  \"running\": {\n    \"old.service\": true\n  },\n  \"enabled\": {}\n}\n",
		"etc/apt/sources.list.d/debian.list": "deb http://deb.debian.org/debian trixie main\n",
	}
	for name, content := range files {
		p := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(p), 0o755); err != nil {
			return err
		}
		if err := os.WriteFile(p, []byte(content), 0o644); err != nil {
			return err
		}
	}
	err := os.MkdirAll(filepath.Join(dir, "etc/systemd/system/multi-user.target.wants"), 0o755)
	if err == nil {
		err = os.Symlink("/etc/systemd/system/old.service", filepath.Join(dir, "etc/systemd/system/multi-user.target.wants/old.service"))
	}
	if err == nil {
		err = os.Symlink("../run/resolv.conf", filepath.Join(dir, "etc/resolv.conf"))
	}
	if err == nil {
		err = os.Chmod(filepath.Join(dir, "var/lib/mesh-host"), 0o700)
	}
	if err != nil {
		return fmt.Errorf("make a tree: %w", err)
	}
	return nil
}
