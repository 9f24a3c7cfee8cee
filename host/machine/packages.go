package machine

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"time"

	"golang.org/x/sys/unix"
)

// dpkg reads which packages are installed from dpkg's own file, once for as long as
// that stays the same.
type dpkg struct {
	root *Root
	was  string // what the file was when it was read
	have map[string]packageStatus
}

type packageStatus int

const (
	notInstalled packageStatus = iota
	configFiles                // removed, and its configuration files are still there
	installed
)

func (s packageStatus) condition() Condition {
	return Condition{Absent: s != installed, Remains: s == configFiles}
}

const dpkgStatus = "/var/lib/dpkg/status"

// status of a package, by name or name:architecture.
func (d *dpkg) status(name string) (packageStatus, error) {
	at, err := d.root.target(dpkgStatus)
	if errors.Is(err, fs.ErrNotExist) {
		return notInstalled, nil
	}
	if err != nil {
		return notInstalled, err
	}
	defer at.close()
	st, err := at.stat()
	if errors.Is(err, fs.ErrNotExist) {
		return notInstalled, nil
	}
	if err != nil {
		return notInstalled, err
	}
	if is := fmt.Sprint(st.Ino, st.Size, st.Mtim); is != d.was {
		data, err := d.root.ReadFile(dpkgStatus)
		if err != nil {
			return notInstalled, err
		}
		d.was, d.have = is, parseStatus(string(data))
	}
	return d.have[name], nil
}

// parseStatus lists the packages that dpkg knows, each with and without its architecture.
func parseStatus(status string) map[string]packageStatus {
	have := map[string]packageStatus{}
	for stanza := range strings.SplitSeq(status, "\n\n") {
		var name, arch string
		is := notInstalled
		for line := range strings.Lines(stanza) {
			switch key, value, _ := strings.Cut(strings.TrimSuffix(line, "\n"), ": "); key {
			case "Package":
				name = value
			case "Status":
				switch {
				case strings.HasSuffix(value, " ok installed"):
					is = installed
				case strings.HasSuffix(value, " config-files"):
					is = configFiles
				}
			case "Architecture":
				arch = value
			}
		}
		have[name], have[name+":"+arch] = max(have[name], is), is
	}
	return have
}

// treePackages records what a tree is to have. To install it is for whoever builds
// the image, who runs it.
type treePackages struct {
	dpkg   *dpkg
	record *record
}

// Look says whether the package is there, or recorded as to be.
func (b *treePackages) Look(_ context.Context, key Key) (Condition, error) {
	r, err := b.record.read()
	if err != nil {
		return Condition{}, err
	}
	if present, ok := r.Packages[key.Name]; ok {
		return Condition{Absent: !present}, nil
	}
	is, err := b.dpkg.status(key.Name)
	return is.condition(), err
}

// Make records the package.
func (b *treePackages) Make(_ context.Context, key Key, want Want) error {
	is, err := b.dpkg.status(key.Name)
	if err != nil {
		return err
	}
	return b.record.change(func(r *recorded) {
		if (is == installed) == !want.Absent {
			delete(r.Packages, key.Name)
		} else {
			r.Packages[key.Name] = !want.Absent
		}
	})
}

// Clear has nothing to clear away in a tree.
func (b *treePackages) Clear(context.Context) error { return nil }

// MakeAll records several.
func (b *treePackages) MakeAll(ctx context.Context, install, remove []string, _ func(string)) error {
	var errs []error
	for _, name := range install {
		errs = append(errs, b.Make(ctx, Key{Kind: Package, Name: name}, Want{}))
	}
	for _, name := range remove {
		errs = append(errs, b.Make(ctx, Key{Kind: Package, Name: name}, Want{Condition: Condition{Absent: true}}))
	}
	return errors.Join(errs...)
}

// apt installs and removes packages on the machine itself. It lives for one run, in
// which every package that cannot be had would cost as much as the first.
type apt struct {
	dpkg *dpkg
	// updated is what the sources of packages were when their lists were updated.
	updated string
	// noLists is why they could not be.
	noLists error
	// gaveUp says that another package manager was waited for in vain.
	gaveUp bool
}

// Look says whether the package is installed.
func (b *apt) Look(_ context.Context, key Key) (Condition, error) {
	is, err := b.dpkg.status(key.Name)
	return is.condition(), err
}

// Make installs or removes one.
func (b *apt) Make(ctx context.Context, key Key, want Want) error {
	is, err := b.Look(ctx, key)
	if err != nil || is.Meets(Package, want.Condition) {
		return err
	}
	if want.Absent {
		err = b.MakeAll(ctx, nil, []string{key.Name}, nil)
	} else {
		err = b.MakeAll(ctx, []string{key.Name}, nil, nil)
	}
	if err != nil {
		return err
	}
	// apt-get is content with a name that other packages stand for.
	is, err = b.Look(ctx, key)
	if err == nil && !is.Meets(Package, want.Condition) {
		return notMade(key.Name, want.Absent)
	}
	return err
}

// MakeAll does both in one transaction. A package that is removed leaves its
// configuration files, as `apt-get remove` does: to purge it would be to let it remove
// its data too.
func (b *apt) MakeAll(ctx context.Context, install, remove []string, progress func(string)) error {
	if len(install)+len(remove) == 0 {
		return nil
	}
	if err := errors.Join(ctx.Err(), b.await(ctx)); err != nil {
		return err
	}
	// An interrupt ends the run after this: packages are not left half installed for it.
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), 30*time.Minute)
	defer cancel()
	env := []string{"DEBIAN_FRONTEND=noninteractive", "APT_LISTCHANGES_FRONTEND=none", "NEEDRESTART_SUSPEND=1", quietly + "=1"}
	undo, err := beQuiet(ctx, b.dpkg.root)
	if err != nil {
		return err
	}
	return errors.Join(b.makeAll(ctx, env, install, remove, progress), undo())
}

// Clear takes away what a run that was killed has left, unless the apt-get that it has
// started is still at work; then whoever installs packages next does.
func (b *apt) Clear(ctx context.Context) error {
	if awaitUnlocked(ctx, 0, dpkgLocks...) != nil {
		return nil
	}
	return endQuiet(b.dpkg.root)
}

// makeAll is MakeAll where nothing that is installed starts anything.
func (b *apt) makeAll(ctx context.Context, env, install, remove []string, progress func(string)) error {
	// A dpkg that was cut short has to finish first, or apt refuses everything.
	if out, err := runWith(ctx, env, nil, "dpkg", "--configure", "-a", "--force-confold"); err != nil {
		return failed(ctx, "dpkg --configure -a", out, err)
	}
	if err := b.known(ctx, env, install, progress); err != nil {
		return err
	}
	args := []string{
		"-y", "-q", "--no-install-recommends", "-o", "Dpkg::Options::=--force-confold", "-o", "Dpkg::Options::=--force-confdef",
		"-o", "DPkg::Lock::Timeout=120", "install", "--",
	}
	args = append(args, install...)
	for _, name := range remove {
		args = append(args, name+"-")
	}
	out, err := runWith(ctx, env, progress, "apt-get", args...)
	if err != nil && isExit(err) && len(install) > 0 && b.update(ctx, env, progress) {
		out, err = runWith(ctx, env, progress, "apt-get", args...)
	}
	if err != nil {
		err = failed(ctx, "apt-get install", out, err)
		if b.noLists != nil && len(install) > 0 {
			err = fmt.Errorf("%w; the lists of packages are old: %w", err, b.noLists)
		}
	}
	return err
}

// known says which names no package has. To apt-get these are more than names: one that
// ends in "-" is removed, and others are patterns that it looks for in every name.
func (b *apt) known(ctx context.Context, env, names []string, progress func(string)) error {
	var errs []error
	for _, name := range names {
		is, err := b.hasName(ctx, name)
		if err == nil && !is && b.update(ctx, env, progress) {
			is, err = b.hasName(ctx, name)
		}
		if err == nil && !is {
			err = unknownPackage(name)
			if b.noLists != nil {
				err = fmt.Errorf("%w; the lists of packages are old: %w", err, b.noLists)
			}
		}
		errs = append(errs, err)
	}
	return errors.Join(errs...)
}

var architecture = regexp.MustCompile(`^[a-z0-9]+(-[a-z0-9]+)*$`)

// hasName says whether there is a package of exactly this name; one behind a colon is an
// architecture's.
func (b *apt) hasName(ctx context.Context, name string) (bool, error) {
	name, arch, has := strings.Cut(name, ":")
	if has && !architecture.MatchString(arch) {
		return false, nil
	}
	out, err := Ask(ctx, "apt-cache", "pkgnames", "--", name)
	return slices.Contains(strings.Fields(string(out)), name), err
}

// update fetches the lists of packages, which may be older than what they point to:
// once, and again where a source was added since. It says whether they are new.
func (b *apt) update(ctx context.Context, env []string, progress func(string)) bool {
	is := b.sources()
	if is == b.updated {
		return false
	}
	b.updated = is
	out, err := runWith(ctx, env, progress, "apt-get", "-q", "update")
	if err != nil {
		b.noLists = failed(ctx, "apt-get update", out, err)
	}
	return err == nil
}

// sources tells where packages come from, and what vouches for them, from how it was
// before. It is never empty.
func (b *apt) sources() string {
	out := "sources"
	for _, dir := range []string{"/etc/apt", "/usr/share/keyrings"} {
		_ = filepath.WalkDir(b.dpkg.root.Outside(dir), func(p string, e fs.DirEntry, err error) error {
			if err != nil {
				return nil // what cannot be read here, apt-get will speak of
			}
			if info, err := e.Info(); err == nil && !e.IsDir() {
				out += fmt.Sprintf("\n%s %d %d", p, info.Size(), info.ModTime().UnixNano())
			}
			return nil
		})
	}
	return out
}

// await waits for another package manager, unless that was in vain before.
func (b *apt) await(ctx context.Context) error {
	wait := lockTime
	if b.gaveUp {
		wait = 0
	}
	err := awaitUnlocked(ctx, wait, dpkgLocks...)
	if held := (*heldError)(nil); errors.As(err, &held) {
		b.gaveUp = true
	}
	return err
}

// dpkgLocks are held while packages are changed, by whoever does it (fcntl(2) locks on
// the whole file).
var dpkgLocks = []string{"/var/lib/dpkg/lock-frontend", "/var/lib/dpkg/lock"}

// awaitUnlocked waits until no other process holds any of these locks. An apt-get whose
// mesh-host was killed goes on to its end, and dpkg would not wait for it.
func awaitUnlocked(ctx context.Context, wait time.Duration, locks ...string) error {
	ctx, cancel := context.WithTimeout(ctx, wait)
	defer cancel()
	for _, name := range locks {
		f, err := os.OpenFile(name, os.O_RDWR, 0)
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err != nil {
			return err
		}
		defer f.Close()
		for {
			lock := unix.Flock_t{Type: unix.F_WRLCK}
			if err := unix.FcntlFlock(f.Fd(), unix.F_GETLK, &lock); err != nil {
				return fmt.Errorf("%s: %w", name, err)
			}
			if lock.Type == unix.F_UNLCK {
				break
			}
			select {
			case <-ctx.Done():
				return &heldError{name, int(lock.Pid)}
			case <-time.After(min(wait/100, time.Second/2)):
			}
		}
	}
	return nil
}

// lockTime is as long as another package manager is waited for.
var lockTime = 5 * time.Minute

func isExit(err error) bool {
	exit := (*exec.ExitError)(nil)
	return errors.As(err, &exit)
}
