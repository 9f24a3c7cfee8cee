package host

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"path"

	"meshc.dev/host/machine"
	"meshc.dev/render/bundle"
)

const stateFormat = 1

// maxFound bounds a file that is kept to be given back.
const maxFound = 64 << 20

// state is what was applied on a machine and what was found there, in the order of
// application. It is one file, replaced whole; contents that were found lie beside
// it under their sums, and are there before the state names them.
type state struct {
	Format int    `json:"format"`
	Mesh   string `json:"mesh"`
	Node   string `json:"node"`
	Bundle string `json:"bundle"`
	Commit string `json:"commit,omitempty"`
	Serial int64  `json:"serial,omitempty"`
	// SerialOf is the bundle that the serial was of: a later one may have had none.
	SerialOf string `json:"serial_of,omitempty"`
	// Secrets are those that were taken, by what the lock calls them and for whom.
	Secrets map[string]taken `json:"secrets,omitempty"`
	// Sysctls are how the kernel had the keys that files of bundles have, and Unloaded
	// those that it is yet to be told.
	Sysctls  map[string]string `json:"sysctls,omitempty"`
	Unloaded []string          `json:"unloaded,omitempty"`
	// Complete says that the last run did all there was to do.
	Complete bool `json:"complete"`
	// Reread says that systemd has to read its files again before units are made.
	Reread bool     `json:"reread,omitempty"`
	Things []*thing `json:"things"`

	saved []byte
}

// taken is a secret that was taken: which generation, and the sum of its blob.
type taken struct {
	Generation int        `json:"generation"`
	Sum        bundle.Sum `json:"sha256"`
}

// takenName is what a secret is remembered by.
func takenName(s *bundle.Secret) string { return s.Key + " " + s.Role }

// thing is one thing on the machine that a bundle has, or had, a say in.
type thing struct {
	machine.Key
	ID bundle.ID `json:"id"`
	// Found is how it was before any bundle touched it; nil until that is known.
	Found *machine.Condition `json:"found,omitempty"`
	// Made is how it was last made; a thing that is otherwise has drifted.
	Made *machine.Condition `json:"made,omitempty"`
	// Generations of the secrets in it.
	Generations string `json:"generations,omitempty"`
	// Implied is a directory that nobody declared and something lies in.
	Implied bool `json:"implied,omitempty"`
	// Kept is one that is not declared any more and stays, because it holds data.
	Kept bool `json:"kept,omitempty"`
	// Data is where there is data of a user that is kept.
	Data string `json:"data,omitempty"`
	// Secret is a file that is a secret, Holds are the secrets that stand in it.
	Secret bool        `json:"secret,omitempty"`
	Holds  []bundle.ID `json:"holds,omitempty"`
	// Seen is how the things that a unit restarts or reloads on were when it last
	// did, or was first met.
	Seen map[bundle.ID]string `json:"seen,omitempty"`
	// Failed is what went wrong with it in the last run.
	Failed string `json:"failed,omitempty"`
}

// state reads what was applied; the zero state where nothing was.
func (h *Host) state() (*state, error) {
	data, err := h.Machine.Root.ReadFile(stateFile)
	if errors.Is(err, fs.ErrNotExist) {
		return &state{Format: stateFormat}, nil
	}
	if err != nil {
		return nil, err
	}
	st := &state{}
	if err := json.Unmarshal(data, st); err != nil {
		return nil, damagedState(err)
	}
	if st.Format != stateFormat {
		return nil, otherStateFormat(st.Format)
	}
	for i, t := range st.Things {
		if t == nil || !t.Kind.Known() || t.Name == "" {
			return nil, damagedState(fmt.Errorf("thing %d is none that is known", i+1))
		}
	}
	st.saved = data
	return st, nil
}

// save writes the state, if it is another than the one on disk.
func (h *Host) save(st *state) error {
	data, err := json.MarshalIndent(st, "", " ")
	if err != nil {
		return err
	}
	data = append(data, '\n')
	if string(data) == string(st.saved) {
		return nil
	}
	step("save")
	if err := h.Machine.Root.MkdirAll(machine.StateDir, 0o700); err != nil {
		return err
	}
	if err := h.Machine.Root.WriteFile(stateFile, data, machine.Owner{}, 0o600); err != nil {
		return err
	}
	st.saved = data
	return nil
}

func (st *state) find(k machine.Key) *thing {
	for _, t := range st.Things {
		if t.Key == k {
			return t
		}
	}
	return nil
}

// keep stores the content of a file that was found.
func (h *Host) keep(p string, c machine.Condition) error {
	if c.Sum == "" {
		return nil
	}
	to := path.Join(foundDir, c.Sum)
	if data, err := h.Machine.Root.ReadFile(to); err == nil && sumOf(data) == c.Sum {
		return nil
	}
	data, err := h.Machine.Files.Read(p, maxFound)
	if err != nil {
		return err
	}
	if sumOf(data) != c.Sum {
		return fmt.Errorf("%s is being changed by somebody else; try again", p)
	}
	if err := h.Machine.Root.MkdirAll(foundDir, 0o700); err != nil {
		return err
	}
	return h.Machine.Root.WriteFile(to, data, machine.Owner{}, 0o600)
}

// kept gives back the content of a file that was found.
func (h *Host) kept(c machine.Condition) ([]byte, error) {
	if c.Sum == "" {
		return nil, nil
	}
	p := path.Join(foundDir, c.Sum)
	data, err := h.Machine.Root.ReadFile(p)
	if err == nil && sumOf(data) != c.Sum {
		err = fmt.Errorf("%s is damaged, so what was found cannot be given back; put it back from a backup", p)
	}
	return data, err
}

// forget removes contents that no thing needs any more.
func (h *Host) forget(st *state) error {
	names, err := h.Machine.Root.ReadDir(foundDir)
	if err != nil || len(names) == 0 {
		return err
	}
	needed := map[string]bool{}
	for _, t := range st.Things {
		if t.Found != nil {
			needed[t.Found.Sum] = true
		}
	}
	for _, name := range names {
		if !needed[name] {
			if err := h.Machine.Root.Remove(path.Join(foundDir, name)); err != nil {
				return err
			}
		}
	}
	return nil
}
