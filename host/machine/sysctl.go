package machine

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
)

// sysctlDirs are where systemd-sysctl finds what the kernel is told (sysctl.d(5)).
var sysctlDirs = []string{"/etc/sysctl.d", "/run/sysctl.d", "/usr/local/lib/sysctl.d", "/usr/lib/sysctl.d"}

// Kernel is what a running machine's kernel is told: by the files below a folder, and by a
// program that knows which of the machine's files says what of each.
type Kernel struct{ Keys, Program string }

// IsSysctl says whether a file is one that the kernel is told by when the machine starts.
func IsSysctl(p string) bool {
	return p == "/etc/sysctl.conf" || path.Ext(p) == ".conf" && slices.Contains(sysctlDirs, path.Dir(p))
}

// Named are the keys in such a file, as paths below /proc/sys; one with a pattern is
// given as those that it stands for now.
func (k *Kernel) Named(text string) []string {
	var out []string
	for line := range strings.Lines(text) {
		line = strings.TrimPrefix(strings.TrimSpace(line), "-")
		key, _, ok := strings.Cut(line, "=")
		key = strings.TrimSpace(key)
		if !ok || key == "" || strings.HasPrefix(line, "#") || strings.HasPrefix(line, ";") {
			continue
		}
		// The first of the two signs says which is the separator; the other one stands for it in names.
		if i := strings.IndexAny(key, "./"); i >= 0 && key[i] == '.' {
			key = strings.NewReplacer(".", "/", "/", ".").Replace(key)
		}
		key = path.Clean("/" + key)[1:]
		if !strings.ContainsAny(key, "*?[") {
			out = append(out, key)
			continue
		}
		for _, dir := range must(filepath.Glob(filepath.Join(k.Keys, key))) {
			out = append(out, strings.TrimPrefix(dir, k.Keys+"/"))
		}
	}
	slices.Sort(out)
	return slices.Compact(out)
}

func must(paths []string, err error) []string {
	if err != nil {
		return nil // a pattern that is none stands for nothing
	}
	return paths
}

// Value is what the kernel has for a key, and whether it has that key.
func (k *Kernel) Value(key string) (string, bool) {
	data, err := os.ReadFile(filepath.Join(k.Keys, key))
	return strings.TrimSpace(string(data)), err == nil
}

// Set gives the kernel a value for a key, if it has that.
func (k *Kernel) Set(key, value string) error {
	f, err := os.OpenFile(filepath.Join(k.Keys, key), os.O_WRONLY, 0)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	_, err = f.WriteString(value + "\n")
	return errors.Join(err, f.Close())
}

// Load tells the kernel what all the machine's files together say of some keys.
func (k *Kernel) Load(ctx context.Context, keys []string) error {
	if len(keys) == 0 {
		return nil
	}
	var args []string
	for _, key := range keys {
		args = append(args, "--prefix=/"+key)
	}
	out, err := run(ctx, k.Program, args...)
	if err != nil {
		return fmt.Errorf("the kernel was not told all of it: %w", failed(ctx, "systemd-sysctl", out, err))
	}
	return nil
}
