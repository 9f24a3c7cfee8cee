package machine

import (
	"context"
	"fmt"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"time"
)

// Verify asks systemd about unit texts, given by path, without installing anything, and
// says which of them have what it would leave out, and why: an unknown key is ignored
// with a line in the journal, and a program then runs as root, say. Of what a text names,
// such as a program that is yet to come, nothing is asked.
func (s systemd) Verify(ctx context.Context, files map[string][]byte) (map[string]error, error) {
	dir, err := os.MkdirTemp("", "mesh-host-units-")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(dir)
	ours := map[string]string{} // where each file lies meanwhile, and which it is
	var asked []string
	for p, content := range files {
		unit, at := path.Base(p), filepath.Join(dir, path.Base(p))
		if below := path.Base(path.Dir(p)); strings.HasSuffix(below, ".d") && path.Ext(p) == ".conf" {
			unit, at = strings.TrimSuffix(below, ".d"), filepath.Join(dir, below, path.Base(p))
		}
		if !slices.Contains(verifiable, path.Ext(unit)) {
			continue
		}
		if err := putFile(at, content); err != nil {
			return nil, err
		}
		ours[at] = p
		asked = append(asked, filepath.Join(dir, unit))
	}
	slices.Sort(asked)
	asked = slices.Compact(asked)
	for _, at := range asked { // one that only something is added to is somebody else's
		if _, err := os.Stat(at); err == nil {
			continue
		}
		t, err := unitText(s.root, filepath.Base(at), nil)
		if err != nil || t.at == "" {
			continue // systemd says nothing of what it does not know
		}
		text, err := s.root.ReadFile(t.at)
		if err == nil {
			err = putFile(at, text)
		}
		if err != nil {
			return nil, err
		}
	}
	ctx, cancel := context.WithTimeout(ctx, time.Minute)
	defer cancel()
	// It fails for much that is none of ours; what it says of ours is what counts.
	out, _ := runWith(ctx, []string{"SYSTEMD_UNIT_PATH=" + dir + ":", "SYSTEMD_LOG_LEVEL=warning"}, nil, "systemd-analyze", append([]string{"verify", "--man=no", "--"}, asked...)...)
	return refusedUnits(ctx, out, ours), ctx.Err()
}

// verifiable are the endings of units that systemd reads a text of.
var verifiable = []string{".service", ".socket", ".timer", ".mount", ".automount", ".path", ".target", ".slice", ".swap"}

func putFile(at string, content []byte) error {
	if err := os.MkdirAll(filepath.Dir(at), 0o700); err != nil {
		return err
	}
	return os.WriteFile(at, content, 0o600)
}

var unitLine = regexp.MustCompile(`^(/[^:]+):([0-9]+): (.*)$`)

// refusedUnits reads what systemd says of lines of texts: those that it ignores. Of what is
// only out of fashion it says that it takes it all the same.
func refusedUnits(ctx context.Context, out string, ours map[string]string) map[string]error {
	refused := map[string]error{}
	for line := range strings.Lines(out) {
		line = strings.TrimSpace(line)
		said, at := "", ""
		if m := unitLine.FindStringSubmatch(line); m != nil && (strings.Contains(m[3], "gnoring") || strings.Contains(m[3], "ailed")) {
			at, said = m[1], "line "+m[2]+": "+m[3]
		} else if name, why, ok := strings.Cut(line, ": "); ok && strings.HasSuffix(why, "Refusing.") {
			for p := range ours {
				if filepath.Base(p) == name {
					at, said = p, why
				}
			}
		}
		if p := ours[at]; p != "" && refused[p] == nil {
			refused[p] = fmt.Errorf("systemd does not accept it, and the old one stays: %s", shorten(ctx, said))
		}
	}
	return refused
}
