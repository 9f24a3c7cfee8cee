package machine

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"slices"

	"meshc.dev/render/bundle"
)

// Blocks is the backend of marked blocks: lines between two markers in a file that
// belongs to somebody else, whose other bytes stay as they are (HST-5).
type Blocks struct{ root *Root }

// maxBlockFile bounds a file that a block is put into.
const maxBlockFile = 16 << 20

func beginLine(marker string) string { return bundle.BeginMarker + marker }
func endLine(marker string) string   { return bundle.EndMarker + marker }

// span is where a block stands in a file's bytes, with its markers.
type span struct{ from, inside, insideEnd, to int }

// find looks for the block of a marker. A marker is a whole line, whatever blanks
// or carriage return end it, so that "mesh home" is not found in "mesh home2".
// Anything but one begin before one end is damaged. So is one with a marker of another
// block inside: no content of ours has any (package bundle refuses it), so somebody's
// own lines would be lost with ours.
func find(p string, file []byte, marker string) (span, bool, error) {
	var s span
	begins, ends := 0, 0
	foreign := ""
	for at := 0; at < len(file); {
		end := len(file)
		if i := bytes.IndexByte(file[at:], '\n'); i >= 0 {
			end = at + i + 1
		}
		switch line := string(bytes.TrimRight(file[at:end], " \t\r\n")); line {
		case beginLine(marker):
			if begins++; ends > 0 && begins == 1 {
				return s, false, damagedBlock(p, marker, "its end stands before its beginning")
			}
			s.from, s.inside = at, end
		case endLine(marker):
			if ends++; begins == 0 {
				return s, false, damagedBlock(p, marker, "its end stands without a beginning before it")
			}
			s.insideEnd, s.to = at, end
		default:
			if begins == 1 && ends == 0 && foreign == "" && bundle.IsMarkerLine(file[at:end]) {
				foreign = line
			}
		}
		at = end
	}
	switch {
	case begins == 0 && ends == 0:
		return s, false, nil
	case begins > 1:
		return s, false, damagedBlock(p, marker, fmt.Sprintf("it begins %d times", begins))
	case ends == 0:
		return s, false, damagedBlock(p, marker, "it begins and does not end")
	case ends > 1:
		return s, false, damagedBlock(p, marker, fmt.Sprintf("it ends %d times", ends))
	case foreign != "":
		return s, false, damagedBlock(p, marker, fmt.Sprintf("the line %q, which is another block's, stands inside it", foreign))
	}
	return s, true, nil
}

// Look says what the block holds; where there is none, what its file is like.
func (b *Blocks) Look(_ context.Context, key Key) (Condition, error) {
	file, _, err := b.read(key.Name)
	if errors.Is(err, fs.ErrNotExist) {
		return Condition{Absent: true, NoFile: true}, nil
	}
	if err != nil {
		return Condition{}, err
	}
	s, ok, err := find(key.Name, file, key.Marker)
	if err != nil {
		return Condition{}, err
	}
	if !ok {
		return Condition{Absent: true, NoNewline: len(file) > 0 && file[len(file)-1] != '\n'}, nil
	}
	sum := sha256.Sum256(file[s.inside:s.insideEnd])
	return Condition{Sum: hex.EncodeToString(sum[:])}, nil
}

// BlockContent is what Look sees of a block that was made with a content: whole lines.
func BlockContent(content []byte) []byte {
	if len(content) > 0 && content[len(content)-1] != '\n' {
		return append(bytes.Clone(content), '\n')
	}
	return content
}

// Make writes the block, in its place if it has one and at the end of the file
// otherwise, or takes it out.
func (b *Blocks) Make(_ context.Context, key Key, want Want) error {
	file, was, err := b.read(key.Name)
	missing := errors.Is(err, fs.ErrNotExist)
	if missing && want.Absent {
		return nil
	}
	if err != nil && !missing {
		return err
	}
	s, ok, err := find(key.Name, file, key.Marker)
	if err != nil {
		return err
	}
	var next []byte
	switch {
	case want.Absent && !ok:
		return nil
	case want.Absent:
		next = takeOut(file, s, want.NoNewline)
		if len(next) == 0 && want.NoFile {
			return b.root.Remove(key.Name)
		}
	default:
		next = putIn(file, s, ok, key.Marker, BlockContent(want.Content))
	}
	if bytes.Equal(next, file) && !missing {
		return nil
	}
	if missing {
		was = Condition{Mode: 0o644}
	}
	return b.write(key.Name, next, was)
}

func takeOut(file []byte, s span, noNewline bool) []byte {
	before, after := file[:s.from], file[s.to:]
	if noNewline && len(after) == 0 && !endsInBlock(before) {
		before = bytes.TrimSuffix(before, []byte("\n"))
	}
	return append(bytes.Clone(before), after...)
}

// endsInBlock says whether another block stands at the end: its line end is its own.
func endsInBlock(file []byte) bool {
	lines := bytes.Split(bytes.TrimSuffix(file, []byte("\n")), []byte("\n"))
	return bytes.HasPrefix(lines[len(lines)-1], []byte(endLine("")))
}

// Order brings the blocks of a file into an order, and says whether they were in
// another. They change places among themselves; nothing else moves, and in a dry run
// nothing does.
func (b *Blocks) Order(p string, markers []string, dry bool) (another bool, err error) {
	file, was, err := b.read(p)
	if err != nil {
		return false, err
	}
	var wanted, is []span
	for _, m := range markers {
		s, ok, err := find(p, file, m)
		if err != nil {
			return false, err
		}
		if ok {
			wanted = append(wanted, s)
		}
	}
	is = slices.Clone(wanted)
	slices.SortFunc(is, func(a, b span) int { return a.from - b.from })
	if slices.Equal(is, wanted) || dry {
		return !slices.Equal(is, wanted), nil
	}
	var next []byte
	at := 0
	for i, place := range is {
		next = append(next, file[at:place.from]...)
		next = append(next, file[wanted[i].from:wanted[i].to]...)
		at = place.to
	}
	return true, b.write(p, append(next, file[at:]...), was)
}

func putIn(file []byte, s span, replace bool, marker string, content []byte) []byte {
	block := fmt.Appendf(nil, "%s\n%s%s\n", beginLine(marker), content, endLine(marker))
	if replace {
		out := append(bytes.Clone(file[:s.from]), block...)
		return append(out, file[s.to:]...)
	}
	out := bytes.Clone(file)
	if len(out) > 0 && out[len(out)-1] != '\n' {
		out = append(out, '\n')
	}
	return append(out, block...)
}

// Outside gives the lines of a file that stand in none of the blocks named.
func (b *Blocks) Outside(p string, markers []string) ([]byte, error) {
	file, _, err := b.read(p)
	if err != nil {
		return nil, err
	}
	for _, m := range markers {
		if s, ok, err := find(p, file, m); err == nil && ok {
			file = takeOut(file, s, false)
		}
	}
	return file, nil
}

func (b *Blocks) read(p string) ([]byte, Condition, error) {
	at, err := b.root.target(p)
	if err != nil {
		return nil, Condition{}, err
	}
	defer at.close()
	f, err := at.open()
	if err != nil {
		return nil, Condition{}, err
	}
	defer f.Close()
	st, err := at.stat()
	if err != nil {
		return nil, Condition{}, err
	}
	file, err := io.ReadAll(io.LimitReader(f, maxBlockFile+1))
	if err == nil && len(file) > maxBlockFile {
		err = at.err("read", tooLong(maxBlockFile))
	}
	return file, Condition{Mode: st.Mode & 0o7777, UID: int(st.Uid), GID: int(st.Gid)}, err
}

func (b *Blocks) write(p string, content []byte, was Condition) error {
	at, err := b.root.target(p)
	if err != nil {
		return err
	}
	defer at.close()
	if err := at.stageFile(content, Owner{was.UID, was.GID}, was.Mode); err != nil {
		return err
	}
	return at.commit()
}

// Clear removes what a run that was killed has left beside a block's file.
func (b *Blocks) Clear(p string) {
	if at, err := b.root.target(p); err == nil {
		at.discard()
		at.close()
	}
}
