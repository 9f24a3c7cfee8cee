package host

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"path"
	"slices"

	"meshc.dev/host/provision"
)

// standingsDir holds what the loops of providers say of themselves, a folder an instance.
const standingsDir = "/var/lib/mesh-standing"

// Provider is one provider's loop, by what it says of itself.
type Provider struct {
	Name string `json:"name"` // the instance's folder
	// Standing is the file, whole; nil where it cannot be read, and then Unreadable says why.
	Standing   json.RawMessage `json:"standing,omitempty"`
	Unreadable string          `json:"unreadable,omitempty"`
	// Failing are the consumers that are not as they asked for, in words.
	Failing []string `json:"failing"`
}

// providers reads the standing files. They are other users' files: one that is no plain file
// or cannot be read is said, and nothing else comes of it.
func (h *Host) providers() []Provider {
	out := []Provider{}
	names, err := h.Machine.Root.ReadDir(standingsDir)
	if err != nil {
		return out
	}
	slices.Sort(names)
	for _, name := range names {
		p := Provider{Name: name, Failing: []string{}}
		raw, err := h.Machine.Files.Read(path.Join(standingsDir, name, "standing.json"), provision.MaxStanding)
		var s provision.Standing
		switch {
		case errors.Is(err, fs.ErrNotExist):
			p.Unreadable = "it has said nothing yet"
		case err != nil:
			p.Unreadable = err.Error()
		default:
			if err := json.Unmarshal(raw, &s); err != nil {
				p.Unreadable = "its standing file is not whole: " + err.Error()
				break
			}
			p.Standing = raw
			p.Failing = append(p.Failing, failing(s)...)
		}
		out = append(out, p)
	}
	return out
}

func failing(s provision.Standing) []string {
	var out []string
	if !s.Receives.Read {
		out = append(out, fmt.Sprintf("the list of consumers cannot be read since %s: %s", s.Receives.Since.Format("2006-01-02 15:04"), s.Receives.Error))
	}
	for _, c := range s.Consumers {
		if c.State == provision.Holds || c.State == provision.Applied {
			continue
		}
		text := fmt.Sprintf("%s of %s is %s since %s", c.As, c.Consumer, c.State, c.Since.Format("2006-01-02 15:04"))
		if c.Error != "" {
			text += ": " + c.Error
		}
		out = append(out, text)
	}
	return out
}
