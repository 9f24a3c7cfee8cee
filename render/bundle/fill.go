package bundle

import "slices"

// Encoding is how a secret is written into its place in a file. Package seal
// knows how to write each.
type Encoding string

// The encodings of a secret in a file.
const (
	Value      Encoding = "value"
	URLEncoded Encoding = "urlencoded"
	JSON       Encoding = "json"
	Base64     Encoding = "base64"
	Shell      Encoding = "shell"
)

var encodings = []Encoding{Value, URLEncoded, JSON, Base64, Shell}

// Valid says whether the encoding is one of those there are.
func (e Encoding) Valid() bool { return slices.Contains(encodings, e) }

// Filled gives the bytes of a file from those of its source. What stands in each
// place is asked for: the secret, already encoded.
func (f *File) Filled(source []byte, put func(Fill) ([]byte, error)) ([]byte, error) {
	if len(f.Fills) == 0 {
		return source, nil
	}
	out := make([]byte, 0, len(source)+64*len(f.Fills))
	at := 0
	for _, fill := range f.Fills {
		if fill.Offset < at || fill.Offset > len(source) {
			return nil, fillBeyondEnd(f.ID, f.Source)
		}
		encoded, err := put(fill)
		if err != nil {
			return nil, err
		}
		out = append(out, source[at:fill.Offset]...)
		out = append(out, encoded...)
		at = fill.Offset
	}
	return append(out, source[at:]...), nil
}
