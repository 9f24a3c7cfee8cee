package machine

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
)

// StateDir is where mesh-host keeps what is its own.
const StateDir = "/var/lib/mesh-host"

const recordFile = StateDir + "/tree.json"

// record keeps what a tree is to be once it runs.
type record struct{ root *Root }

type recorded struct {
	// Packages that are to be present, or absent, and are not so yet.
	Packages map[string]bool `json:"packages"`
	// Running are the units that are to run.
	Running map[string]bool `json:"running"`
	// Enabled are units that are to be enabled and have no text in the tree yet.
	Enabled map[string]bool `json:"enabled"`
}

func (r *record) read() (recorded, error) {
	var out recorded
	data, err := r.root.ReadFile(recordFile)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return out, err
	}
	if err == nil {
		if err := json.Unmarshal(data, &out); err != nil {
			return out, fmt.Errorf("%s is damaged: %w", recordFile, err)
		}
	}
	// After reading, since a null in the file takes a map away.
	for _, m := range []*map[string]bool{&out.Packages, &out.Running, &out.Enabled} {
		if *m == nil {
			*m = map[string]bool{}
		}
	}
	return out, nil
}

func (r *record) change(f func(*recorded)) error {
	is, err := r.read()
	if err != nil {
		return err
	}
	f(&is)
	data, err := json.MarshalIndent(is, "", "  ")
	if err != nil {
		return err
	}
	if err := r.root.MkdirAll(StateDir, 0o700); err != nil {
		return err
	}
	return r.root.WriteFile(recordFile, append(data, '\n'), Owner{}, 0o600)
}
