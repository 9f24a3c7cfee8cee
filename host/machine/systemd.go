package machine

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path"
	"path/filepath"
	"strings"
	"time"
)

// systemd is the backend of units on a machine that runs, through systemctl.
type systemd struct{ root *Root }

// startTime is as long as a unit may take to start or stop; systemd's own limit is
// 90 s unless the unit says otherwise.
const startTime = 5 * time.Minute

// Look asks systemd about one unit.
func (s systemd) Look(ctx context.Context, key Key) (Condition, error) {
	all, err := s.LookAll(ctx, []string{key.Name})
	return all[key.Name], err
}

// LookAll asks systemd about several units in one go.
func (s systemd) LookAll(ctx context.Context, names []string) (map[string]Condition, error) {
	if len(names) == 1 && strings.Contains(names[0], "@.") {
		return nil, isTemplate(names[0])
	}
	args := []string{"show", "--property=LoadState,ActiveState,SubState,UnitFileState,Type,Result,ExecMainExitTimestampMonotonic,FragmentPath", "--"}
	out, err := Ask(ctx, "systemctl", append(args, names...)...)
	answers := strings.Split(strings.TrimSpace(string(out)), "\n\n")
	if err == nil && len(answers) != len(names) {
		err = fmt.Errorf("systemctl show told of %d units, asked for %d", len(answers), len(names))
	}
	if err != nil && len(names) > 1 && ctx.Err() == nil {
		return s.lookEach(ctx, names) // it answers about none where it cannot about one
	}
	if err != nil {
		return nil, err
	}
	links, err := allLinks(s.root)
	if err != nil {
		return nil, err
	}
	all := make(map[string]Condition, len(names))
	unknown := Unknowable{}
	for i, name := range names {
		p := properties(answers[i])
		c := unitCondition(p)
		if c.Enabled || p["UnitFileState"] == "indirect" {
			// "indirect" is a unit that only a name is left to which its text does not give it.
			t, err := unitText(s.root, name, nil)
			if err != nil {
				unknown[name] = err
				continue
			}
			if knownStale(name, t, links[name]) {
				c.Stale, c.Enabled, c.Generated = true, true, false
			}
		}
		all[name] = c
	}
	return all, unknown.orNil()
}

// lookEach asks about each unit on its own.
func (s systemd) lookEach(ctx context.Context, names []string) (map[string]Condition, error) {
	all := make(map[string]Condition, len(names))
	unknown := Unknowable{}
	for _, name := range names {
		one, err := s.LookAll(ctx, []string{name})
		if more := Unknowable(nil); err != nil && errors.As(err, &more) {
			err = more[name]
		}
		if err != nil && ctx.Err() != nil {
			return nil, err
		}
		if err != nil {
			unknown[name] = err
			continue
		}
		all[name] = one[name]
	}
	return all, unknown.orNil()
}

// knownStale says whether a unit is enabled by other links than its text asks for, which
// systemd does not tell. It is known of texts that are in the place of ours.
func knownStale(name string, t text, links []string) bool {
	return len(links) > 0 && path.Dir(t.at) == unitDirs[0] && isPlain(name, t) && stale(name, t.all, links)
}

// isPlain says whether it is known what a unit's text asks for: not so of an instance of
// a template, nor of a word that systemd replaces.
func isPlain(name string, t text) bool { return !strings.Contains(name, "@") && knowable(t.all) }

// properties of one unit, as systemctl shows them.
func properties(show string) map[string]string {
	p := map[string]string{}
	for line := range strings.Lines(show) {
		k, v, _ := strings.Cut(strings.TrimSpace(line), "=")
		p[k] = v
	}
	return p
}

// unitCondition reads one unit's properties. A oneshot unit that has done its work
// counts as running, since to start it again would be to do it again.
func unitCondition(p map[string]string) Condition {
	c := Condition{Absent: p["LoadState"] == "not-found"}
	switch p["ActiveState"] {
	case "active", "activating", "reloading", "refreshing":
		c.Running = true
		// It ended by itself, and systemd waits until it starts it once more.
		c.Broken = strings.HasPrefix(p["SubState"], "auto-restart")
	case "failed":
		c.Broken = true
	case "inactive":
		exited := p["ExecMainExitTimestampMonotonic"]
		c.Running = p["Type"] == "oneshot" && p["Result"] == "success" && exited != "" && exited != "0"
	}
	switch p["UnitFileState"] {
	case "enabled", "enabled-runtime", "alias":
		c.Enabled = true
	case "generated", "transient", "static", "indirect":
		c.Generated = true
	case "":
		c.Generated = strings.Contains(p["FragmentPath"], "/generator")
	}
	return c
}

// Make enables or disables the unit, and starts or stops it. Systemd does not read
// its files again for it: that is done once for all units.
func (s systemd) Make(ctx context.Context, key Key, want Want) error {
	is, err := s.Look(ctx, key)
	if err != nil {
		return err
	}
	if (is.Enabled != want.Enabled || is.Stale) && !is.Generated {
		if err := s.Enable(ctx, key.Name, want.Enabled); err != nil && (want.Enabled || want.Running) {
			return err
		}
	}
	switch {
	case want.Either, is.Running == want.Running && !is.Broken:
		return nil
	case !is.Running && !want.Running:
		return s.control(ctx, "reset-failed", "--", key.Name)
	case want.Running:
		_ = s.control(ctx, "reset-failed", "--", key.Name)
		return s.startWith(ctx, "start", key.Name)
	}
	if err := s.control(ctx, "stop", "--", key.Name); err != nil {
		return err
	}
	// Many a program ends with an error when it is told to stop; it has not failed, and a
	// unit that is gone would be listed as failed for good.
	_ = s.control(ctx, "reset-failed", "--", key.Name)
	return nil
}

// Enable says whether a unit starts with the machine: by exactly the links that its
// text asks for, or none.
func (s systemd) Enable(ctx context.Context, name string, on bool) error {
	verb := "disable"
	if on {
		verb = "reenable"
	}
	return s.control(ctx, verb, "--no-reload", "--", name)
}

// Reread makes systemd and its generators read their files again.
func (s systemd) Reread(ctx context.Context) error { return s.control(ctx, "daemon-reload") }

// Restart restarts a unit. One that failed too often before may start again.
func (s systemd) Restart(ctx context.Context, name string) error {
	_ = s.control(ctx, "reset-failed", "--", name)
	return s.startWith(ctx, "restart", name)
}

// startWith starts a unit, or restarts it. A socket is refused where the service that it
// listens for runs, which is stopped meanwhile.
func (s systemd) startWith(ctx context.Context, verb, name string) error {
	var running []string
	if strings.HasSuffix(name, ".socket") {
		out, err := Ask(ctx, "systemctl", "show", "--property=Triggers", "--value", "--", name)
		if err != nil {
			return err
		}
		if triggers := strings.Fields(string(out)); len(triggers) > 0 {
			is, err := s.LookAll(ctx, triggers)
			if err != nil {
				return err
			}
			for _, u := range triggers {
				if is[u].Running {
					running = append(running, u)
				}
			}
		}
	}
	for _, u := range running {
		if err := s.control(ctx, "stop", "--", u); err != nil {
			return err
		}
	}
	err := s.control(ctx, verb, "--", name)
	for _, u := range running {
		err = errors.Join(err, s.control(ctx, "start", "--", u))
	}
	return err
}

// Reload reloads a unit, or restarts one that cannot.
func (s systemd) Reload(ctx context.Context, name string) error {
	return s.control(ctx, "reload-or-restart", "--", name)
}

func (systemd) control(ctx context.Context, args ...string) error {
	ctx, cancel := context.WithTimeout(ctx, startTime)
	defer cancel()
	out, err := run(ctx, "systemctl", append([]string{"--no-ask-password"}, args...)...)
	if err != nil {
		verb := args[0]
		if len(args) > 1 {
			verb += " " + args[len(args)-1]
		}
		return failed(ctx, "systemctl "+verb, out, err)
	}
	return nil
}

// quadletGenerators are where Debian's podman has its generator.
var quadletGenerators = []string{
	"/usr/lib/systemd/system-generators/podman-system-generator", "/usr/libexec/podman/quadlet",
}

// Try runs Podman's generator over the files in a folder of their own. Some versions
// drop a unit with an unknown key and still succeed, so what it says is read too.
func (systemd) Try(ctx context.Context, files map[string][]byte) (map[string]error, error) {
	generator := ""
	for _, g := range quadletGenerators {
		if _, err := os.Stat(g); err == nil {
			generator = g
			break
		}
	}
	if generator == "" {
		return nil, errors.New("the generator of podman is not there, which makes units of Quadlet files")
	}
	dir, err := os.MkdirTemp("", "mesh-host-quadlet-")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(dir)
	for p, content := range files {
		if err := os.WriteFile(filepath.Join(dir, path.Base(p)), content, 0o600); err != nil {
			return nil, err
		}
	}
	ctx, cancel := context.WithTimeout(ctx, time.Minute)
	defer cancel()
	var said strings.Builder // of the files, between the units that were made of them
	about := func(line string) {
		if strings.Contains(line, quadletWord) && said.Len() < maxAnswer {
			said.WriteString(line + "\n")
		}
	}
	out, err := runWith(ctx, []string{"QUADLET_UNIT_DIRS=" + dir}, about, generator, "--dryrun")
	refused := refusedQuadlets(ctx, said.String(), files)
	if err != nil && len(refused) == 0 { // it says of none that it is bad, so all of them may be
		return nil, failed(ctx, generator, out, err)
	}
	return refused, nil
}

// quadletWord begins what the generator says of itself.
const quadletWord = "quadlet-generator["

// namesFile says whether a message names a file, and not one whose name only ends so.
func namesFile(said, name string) bool {
	for rest := said; ; {
		i := strings.Index(rest, name)
		if i < 0 {
			return false
		}
		before, after := rest[:i], rest[i+len(name):]
		if !strings.ContainsAny(before[max(0, len(before)-1):], fileNameBytes) && !strings.ContainsAny(after[:min(1, len(after))], strings.TrimSuffix(fileNameBytes, ".")) { // a dot behind it ends a sentence
			return true
		}
		rest = rest[i+1:]
	}
}

const fileNameBytes = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-@."

// refusedQuadlets reads what the generator says about each file: that it could not
// be converted, or that it has a key that is not known.
func refusedQuadlets(ctx context.Context, out string, files map[string][]byte) map[string]error {
	refused := map[string]error{}
	for line := range strings.Lines(out) {
		line = strings.TrimSpace(line)
		if !strings.Contains(line, quadletWord) {
			continue
		}
		_, said, _ := strings.Cut(line, "]: ")
		lower := strings.ToLower(said)
		if !strings.Contains(lower, "error") && !strings.Contains(lower, "unsupported") && !strings.Contains(lower, "unable") && !strings.Contains(lower, "invalid") {
			continue
		}
		for p := range files {
			if namesFile(said, path.Base(p)) {
				refused[p] = fmt.Errorf("the generator of podman does not accept it, and the old one stays: %s", shorten(ctx, said))
			}
		}
	}
	return refused
}
