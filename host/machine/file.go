package machine

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"strings"
	"time"

	"golang.org/x/sys/unix"
)

// Files is the backend of whole files. A link in a file's place is a thing of its
// own, replaced and given back as one.
type Files struct {
	root *Root
	// isTree is true where the programs that accept files need not be there yet.
	isTree bool
}

// maxLook bounds a file that is looked at: a bundle has none nearly as large, and whoever
// owns a folder could keep a run busy for ever with one.
const maxLook = 64 << 20

// Look says what is in the file's place.
func (b *Files) Look(ctx context.Context, key Key) (Condition, error) {
	at, err := b.root.place(key.Name)
	if errors.Is(err, fs.ErrNotExist) {
		return Condition{Absent: true}, nil
	}
	if err != nil {
		return Condition{}, err
	}
	defer at.close()
	st, err := at.stat()
	if errors.Is(err, fs.ErrNotExist) {
		return Condition{Absent: true}, nil
	}
	if err != nil {
		return Condition{}, err
	}
	c := Condition{Mode: st.Mode & 0o7777, UID: int(st.Uid), GID: int(st.Gid)}
	switch st.Mode & unix.S_IFMT {
	case unix.S_IFREG:
		c.Sum, err = at.sum(ctx)
	case unix.S_IFLNK:
		c.Mode = 0
		c.Target, err = readlink(at.fd, at.base)
	default:
		err = inTheWay(key, st.Mode)
	}
	return c, err
}

// Read gives a file's content, for keeping what was found.
func (b *Files) Read(p string, limit int64) ([]byte, error) {
	at, err := b.root.place(p)
	if err != nil {
		return nil, err
	}
	defer at.close()
	f, err := at.open()
	if err != nil {
		return nil, err
	}
	defer f.Close()
	data, err := io.ReadAll(io.LimitReader(f, limit+1))
	if err == nil && int64(len(data)) > limit {
		err = at.err("keep", fmt.Errorf("it has more than %d bytes, too many to be given back later", limit))
	}
	return data, err
}

// Make puts a file, a link or nothing there.
func (b *Files) Make(ctx context.Context, key Key, want Want) error {
	at, err := b.root.place(key.Name)
	if want.Absent && errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	defer at.close()
	if st, err := at.stat(); err == nil {
		if kind := st.Mode & unix.S_IFMT; kind != unix.S_IFREG && kind != unix.S_IFLNK {
			return inTheWay(key, st.Mode)
		}
	}
	owner := Owner{want.UID, want.GID}
	switch {
	case want.Absent:
		at.discard()
		if err := unix.Unlinkat(at.fd, at.base, 0); err != nil && !errors.Is(err, unix.ENOENT) {
			return at.err("remove", err)
		}
		return at.err("write", unix.Fsync(at.fd))
	case want.Target != "":
		return at.link(want.Target, owner)
	}
	if err := at.stageFile(want.Content, owner, want.Mode); err != nil {
		return err
	}
	if len(want.Validate) > 0 {
		if err := b.validate(ctx, at, key.Name, want); err != nil {
			at.discard()
			return err
		}
	}
	return at.commit()
}

// Clear removes what a run that was killed has left beside a file.
func (b *Files) Clear(p string) {
	if at, err := b.root.place(p); err == nil {
		at.discard()
		at.close()
	}
}

// validate asks the file's command about the new content, under the name it has
// until it is swapped in (HST-10). For a tree that has the command, it is run in the
// tree; for one that has not, this machine's is asked, if there is one.
func (b *Files) validate(ctx context.Context, at place, p string, want Want) error {
	next := p[:len(p)-len(lastPart(p))] + at.next()
	dir := ""
	if b.isTree && CanChown() && b.root.hasProgram(want.Validate[0]) {
		dir = b.root.dir
	} else {
		// Where the folder is, whatever links of the tree lead there.
		real, err := os.Readlink(fmt.Sprintf("/proc/self/fd/%d", at.fd))
		if err != nil {
			return err
		}
		next = real + "/" + at.next()
	}
	args := make([]string, len(want.Validate))
	for i, a := range want.Validate {
		args[i] = fillPath(a, next)
	}
	ctx, cancel := context.WithTimeout(ctx, validateTime)
	defer cancel()
	out, err := runIn(ctx, dir, args[0], args[1:]...)
	if err == nil {
		return nil
	}
	if errors.Is(err, exec.ErrNotFound) || errors.Is(err, fs.ErrNotExist) {
		if b.isTree {
			return nil
		}
		return validatorMissing(args[0])
	}
	if errors.Is(ctx.Err(), context.DeadlineExceeded) {
		return noAnswer(args[0])
	}
	if want.Quiet {
		out = "its output is not shown, because the file holds a secret"
	}
	return notAccepted(ctx, args[0], out, err)
}

// validateTime is as long as a command may take to accept a file.
var validateTime = time.Minute

// hasProgram says whether a program is on the machine that the root is of.
func (r *Root) hasProgram(name string) bool {
	for _, dir := range programDirs {
		p := dir + "/" + name
		if strings.Contains(name, "/") {
			p = name
		}
		at, err := r.target(p)
		if err != nil {
			continue
		}
		st, err := at.stat()
		at.close()
		if err == nil && st.Mode&unix.S_IFMT == unix.S_IFREG && st.Mode&0o111 != 0 {
			return true
		}
	}
	return false
}

// fillPath replaces "%" in an argument by the path, and "%%" by "%".
func fillPath(arg, p string) string {
	parts := strings.Split(arg, "%%")
	for i := range parts {
		parts[i] = strings.ReplaceAll(parts[i], "%", p)
	}
	return strings.Join(parts, "%")
}

func lastPart(p string) string { return p[strings.LastIndexByte(p, '/')+1:] }

// next is the name of a file until it is swapped in: hidden, and with an ending
// that no program takes for one of its own. One that would be longer than a name can
// be has a sum of the file's name instead of it.
func (p place) next() string {
	const ending = ".mesh-host-next"
	if len(p.base) > unix.NAME_MAX-len("."+ending) {
		sum := sha256.Sum256([]byte(p.base))
		return "." + hex.EncodeToString(sum[:]) + ending
	}
	return "." + p.base + ending
}

// stageFile writes the file under its next name. It is given to its owner with its
// final mode before it holds anything, and is on disk at the end.
func (p place) stageFile(content []byte, o Owner, mode uint32) error {
	p.discard()
	fd, err := unix.Openat(p.fd, p.next(), unix.O_WRONLY|unix.O_CREAT|unix.O_EXCL|unix.O_NOFOLLOW|unix.O_CLOEXEC, 0o600&mode)
	if err != nil {
		return p.err("write", err)
	}
	f := os.NewFile(uintptr(fd), p.path)
	defer f.Close()
	err = chown(fd, o)
	if err == nil {
		err = unix.Fchmod(fd, mode)
	}
	if err == nil {
		step("write " + p.path)
		_, err = f.Write(content[:len(content)/2])
	}
	if err == nil {
		step("written half " + p.path)
		_, err = f.Write(content[len(content)/2:])
	}
	if err == nil && mode&0o6000 != 0 {
		err = unix.Fchmod(fd, mode) // writing took setuid and setgid away
	}
	if err == nil {
		err = f.Sync()
	}
	if err != nil {
		p.discard()
		return p.err("write", unwrapPath(err))
	}
	step("staged " + p.path)
	return nil
}

// commit swaps the next file in.
func (p place) commit() error {
	if err := unix.Renameat(p.fd, p.next(), p.fd, p.base); err != nil {
		p.discard()
		return p.err("replace", err)
	}
	return p.err("replace", unix.Fsync(p.fd))
}

func (p place) discard() { _ = unix.Unlinkat(p.fd, p.next(), 0) }

// link puts a link in the place of whatever is there.
func (p place) link(target string, o Owner) error {
	p.discard()
	err := unix.Symlinkat(target, p.fd, p.next())
	if err == nil && CanChown() {
		err = unix.Fchownat(p.fd, p.next(), o.UID, o.GID, unix.AT_SYMLINK_NOFOLLOW)
	}
	if err != nil {
		p.discard()
		return p.err("link", err)
	}
	return p.commit()
}

// sum is the sha256 of a plain file of some size. It ends with the context.
func (p place) sum(ctx context.Context) (string, error) {
	f, err := p.open()
	if err != nil {
		return "", err
	}
	defer f.Close()
	if info, err := f.Stat(); err != nil || info.Size() > maxLook {
		return "", p.err("read", cmp.Or(unwrapPath(err), tooLong(maxLook)))
	}
	h := sha256.New()
	n, err := io.Copy(h, io.LimitReader(until{ctx, f}, maxLook+1))
	if err == nil && n > maxLook {
		err = tooLong(maxLook)
	}
	if err != nil {
		return "", p.err("read", unwrapPath(err))
	}
	return hex.EncodeToString(h.Sum(nil)), nil
}

// until reads until a context ends.
type until struct {
	ctx context.Context
	r   io.Reader
}

func (u until) Read(b []byte) (int, error) {
	if err := u.ctx.Err(); err != nil {
		return 0, err
	}
	return u.r.Read(b)
}

// chown gives a file away, where that can be done.
func chown(fd int, o Owner) error {
	if !CanChown() {
		return nil
	}
	return unix.Fchown(fd, o.UID, o.GID)
}

// unwrapPath takes the path off an error that will get it again.
func unwrapPath(err error) error {
	if p := (*fs.PathError)(nil); errors.As(err, &p) {
		return p.Err
	}
	return err
}

// directories is the backend of directories. One that is not empty is never
// removed: what lies in it is somebody's data.
type directories struct{ root *Root }

// Look says what is in the directory's place; a link that may be followed counts
// as what it leads to.
func (b directories) Look(_ context.Context, key Key) (Condition, error) {
	at, err := b.root.target(key.Name)
	if errors.Is(err, fs.ErrNotExist) {
		return Condition{Absent: true}, nil
	}
	if err != nil {
		return Condition{}, err
	}
	defer at.close()
	st, err := at.stat()
	if errors.Is(err, fs.ErrNotExist) {
		return Condition{Absent: true}, nil
	}
	if err != nil {
		return Condition{}, err
	}
	if st.Mode&unix.S_IFMT != unix.S_IFDIR {
		return Condition{}, inTheWay(key, st.Mode)
	}
	return Condition{Mode: st.Mode & 0o7777, UID: int(st.Uid), GID: int(st.Gid)}, nil
}

// ErrNotEmpty is said of a directory that stays because something is in it.
var ErrNotEmpty = errors.New("not empty")

// Make makes, changes or removes the directory.
func (b directories) Make(_ context.Context, key Key, want Want) error {
	at, err := b.root.target(key.Name)
	if want.Absent && errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	defer at.close()
	if want.Absent {
		err := unix.Unlinkat(at.fd, at.base, unix.AT_REMOVEDIR)
		switch {
		case errors.Is(err, unix.ENOTEMPTY), errors.Is(err, unix.EEXIST), errors.Is(err, unix.EBUSY):
			return fmt.Errorf("%s: %w", key.Name, ErrNotEmpty)
		case errors.Is(err, unix.ENOENT):
			return nil
		}
		return at.err("remove", err)
	}
	if err := unix.Mkdirat(at.fd, at.base, 0o700&want.Mode); err != nil && !errors.Is(err, unix.EEXIST) {
		return at.err("make", err)
	}
	fd, err := unix.Openat(at.fd, at.base, unix.O_RDONLY|unix.O_DIRECTORY|unix.O_NOFOLLOW|unix.O_CLOEXEC, 0)
	if err != nil {
		return at.err("open", err)
	}
	defer unix.Close(fd)
	if err := chown(fd, Owner{want.UID, want.GID}); err != nil {
		return at.err("give away", err)
	}
	return at.err("change", errors.Join(unix.Fchmod(fd, want.Mode), unix.Fsync(fd)))
}
