package bundle

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
)

// Manifest is bundle.json: what belongs to the bundle and to whom.
type Manifest struct {
	Format    int            `json:"format"`
	Mesh      string         `json:"mesh"`
	Node      string         `json:"node"`
	Recipient string         `json:"recipient,omitempty"`
	Complete  bool           `json:"complete"`
	Files     map[string]Sum `json:"files"`
}

// Provenance is provenance.json: where the bundle comes from. It is not part of
// what the bundle is, and left out of every comparison.
type Provenance struct {
	Bundle  Sum    `json:"bundle"`
	Commit  string `json:"commit,omitempty"`
	Serial  int64  `json:"serial,omitempty"`
	Version string `json:"meshc,omitempty"`
}

func (m Manifest) encode() []byte { return encodeJSON(m) }

func (p Provenance) encode() []byte { return encodeJSON(p) }

// encodeJSON writes a value over several lines, which git merges and people read;
// encoding/json sorts the keys of a map.
func encodeJSON(v any) []byte {
	var buf bytes.Buffer
	enc := json.NewEncoder(&buf)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", "  ")
	if err := enc.Encode(v); err != nil {
		panic(err) // only strings, numbers and sums
	}
	return buf.Bytes()
}

// decodeJSON reads a document strictly. One that would not be written again with
// the same bytes is refused: an unknown or doubled key, or anything after it.
func decodeJSON(name string, data []byte, v any) error {
	dec := json.NewDecoder(bytes.NewReader(data))
	dec.DisallowUnknownFields()
	if err := dec.Decode(v); err != nil {
		return fmt.Errorf("%s: %w", name, err)
	}
	if _, err := dec.Token(); err != io.EOF {
		return fmt.Errorf("%s: something follows the document", name)
	}
	if !bytes.Equal(data, encodeJSON(v)) {
		return fmt.Errorf("%s is not written as meshc writes it", name)
	}
	return nil
}
