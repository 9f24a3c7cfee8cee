package plan

import (
	"encoding/base64"
	"encoding/hex"
	"slices"
	"strings"
	"sync"

	"meshc.dev/compiler/addr"
)

// Placeholder is a text that stands for a secret until the machine fills it in (SEC-10).
type Placeholder struct {
	Text     string
	Secret   addr.Resource
	Encoding string // one of value, urlencoded, json, base64, shell
}

// What a placeholder begins and ends with: letters and digits, so that no writer has to
// escape it. Between them stands in hex what it is for: "needs.NAME ENCODING", or
// "requires.NAME ENCODING".
const (
	PlaceholderBegin = "Mshc0"
	PlaceholderEnd   = "0cshM"
)

// Remains says whether bytes for a machine hold what is left of a placeholder that
// something was done to: a piece, one in other letters or backwards, or one within base64
// or hex, in any of its alignments. It is asked after every whole placeholder was taken
// out. Whoever decides what a module may do with a secret looks before; here no hole in
// that can reach a machine.
func Remains(b []byte) bool {
	next, piece := remains()
	state := int32(0)
	for _, c := range b {
		state = next[state][fold[c]]
		if piece[state] {
			return true
		}
	}
	return false
}

// pieces of placeholders, long enough that nobody writes one by chance (fewer than one in
// 10^10 letters of base64).
func pieces() []string {
	inHex := func(s string) string { return hex.EncodeToString([]byte(s)) }
	var plain []string
	for _, of := range []string{"needs.", "requires."} {
		plain = append(plain, PlaceholderBegin+inHex(of)[:2], inHex(of))
	}
	for _, encoding := range []string{"value", "urlencoded", "json", "base64", "shell"} {
		plain = append(plain, inHex(encoding[len(encoding)-1:])+PlaceholderEnd)
	}
	for _, p := range slices.Clone(plain) {
		backwards := []byte(p)
		slices.Reverse(backwards)
		plain = append(plain, string(backwards))
	}
	out := slices.Clone(plain)
	for _, p := range plain {
		for _, p := range []string{p, strings.ToLower(p), strings.ToUpper(p), strings.ToLower(p[:1]) + p[1:]} {
			out = append(out, inHex(p))
			for before := range 3 {
				out = append(out, inBase64(p, before))
			}
		}
	}
	return out
}

// inBase64 is what base64 writes for a text wherever it stands, that many bytes after
// three: the letters that nothing before or behind it has a part in.
func inBase64(s string, before int) string {
	all := base64.RawStdEncoding.EncodeToString([]byte(strings.Repeat("\x00", before) + s))
	return all[(before*8+5)/6 : (before+len(s))*8/6]
}

// fold gives letters of both cases, and the ones that two kinds of base64 write
// differently, one number, from 1; what is in no piece is 0.
var fold = func() (out [256]byte) {
	for i, c := range "0123456789abcdefghijklmnopqrstuvwxyz+/" {
		out[c] = byte(i + 1)
	}
	for c := 'A'; c <= 'Z'; c++ {
		out[c] = out[c-'A'+'a']
	}
	out['-'], out['_'] = out['+'], out['/']
	return out
}()

// remains is the automaton that finds all pieces in one pass (Aho and Corasick): where it
// is after each letter, and where it has read a whole piece.
var remains = sync.OnceValues(func() (next [][39]int32, piece []bool) {
	next, piece = make([][39]int32, 1), make([]bool, 1)
	for _, p := range pieces() {
		at := int32(0)
		for _, c := range []byte(p) {
			if next[at][fold[c]] == 0 {
				next[at][fold[c]] = int32(len(next))
				next, piece = append(next, [39]int32{}), append(piece, false)
			}
			at = next[at][fold[c]]
		}
		piece[at] = true
	}
	// The longest end of what was read that begins a piece, level by level.
	shorter := make([]int32, len(next))
	queue := []int32{0}
	for len(queue) > 0 {
		at := queue[0]
		queue = queue[1:]
		for c, to := range next[at] {
			back := int32(0)
			if at != 0 {
				back = next[shorter[at]][c]
			}
			if to == 0 || c == 0 {
				next[at][c] = back
				continue
			}
			shorter[to] = back
			piece[to] = piece[to] || piece[back]
			queue = append(queue, to)
		}
	}
	return next, piece
})
