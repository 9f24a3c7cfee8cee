package seal

import (
	"bytes"
	"strings"
)

// Fault is a way in which a blob is not the one that is wanted.
type Fault int

// The faults, as far as they can be told apart.
const (
	// Foreign bytes are no age file, or one that no meshc made.
	Foreign Fault = iota + 1
	// Cut short blobs end too early.
	Cut
	// Altered blobs have other bytes than were sealed; a blob that was cut
	// within its sealed part cannot be told from one.
	Altered
	// OtherKey blobs are sealed to another key.
	OtherKey
	// OtherPurpose blobs open, and are for something else.
	OtherPurpose
	// Newer blobs have a form that a later meshc made.
	Newer
)

// BlobError is what is wrong with a blob; it never holds content.
type BlobError struct {
	Fault  Fault
	Reason string
}

func (e *BlobError) Error() string { return e.Reason }

const (
	// magic is the first line of every age file (age-encryption.org/v1).
	magic = "age-encryption.org/v1\n"
	// nonceSize and tagSize: the payload is a nonce of 16 bytes, then at least one chunk with a tag of 16.
	nonceSize, tagSize = 16, 16
	// maxHead bounds the header of a blob: a hybrid stanza takes some 1500 bytes.
	maxHead = 8192
	// MaxLen is the most bytes that a secret may have; and no blob of one has more than maxBlob.
	MaxLen  = 64 << 10
	maxBlob = maxHead + nonceSize + maxHeader + MaxLen + 4*tagSize
)

// inspection is what a blob shows of itself unopened.
type inspection struct {
	kind string // of its one recipient
	tag  string // of an SSH key
}

// inspect reads a blob's header, which the age library tells less about.
func inspect(blob []byte) (inspection, error) {
	var in inspection
	if len(blob) < len(magic) && strings.HasPrefix(magic, string(blob)) {
		return in, &BlobError{Cut, "it is cut short"} // an empty file too
	}
	body, ok := bytes.CutPrefix(blob, []byte(magic))
	if !ok {
		return in, &BlobError{Foreign, "it is not an age file"}
	}
	if len(blob) > maxBlob {
		return in, &BlobError{Foreign, "it is larger than any sealed secret"}
	}
	stanzas := 0
	for {
		line, rest, ok := bytes.Cut(body, []byte("\n"))
		if !ok {
			if len(body) > maxHead {
				return in, &BlobError{Altered, "it was altered"}
			}
			return in, &BlobError{Cut, "it is cut short"}
		}
		body = rest
		if bytes.HasPrefix(line, []byte("---")) {
			break
		}
		arguments, ok := strings.CutPrefix(string(line), "-> ")
		if !ok {
			continue // a stanza's body, which the age library reads
		}
		stanzas++
		kind, tag, _ := strings.Cut(arguments, " ")
		in.kind = kind
		if kind == string(Ed25519) {
			in.tag, _, _ = strings.Cut(tag, " ")
		}
	}
	switch {
	case stanzas != 1:
		return in, &BlobError{Foreign, "it does not have exactly one recipient, as every blob of ours has"}
	case len(body) < nonceSize+tagSize:
		return in, &BlobError{Cut, "it is cut short"}
	}
	return in, nil
}
