package host

import (
	"context"
	"slices"
	"strings"

	"meshc.dev/host/machine"
	"meshc.dev/render/bundle"
	"meshc.dev/render/seal"
)

// Status is what was applied, and what is not as it was made.
type Status struct {
	Mesh     string `json:"mesh,omitempty"`
	Node     string `json:"node"`
	Bundle   string `json:"bundle,omitempty"`
	Commit   string `json:"commit,omitempty"`
	Serial   int64  `json:"serial,omitempty"`
	Complete bool   `json:"complete"`
	Things   int    `json:"things"`
	// Drifted are things that somebody changed since, Failed those that could not be
	// made, Kept those that stay for the data in them.
	Drifted []Event `json:"drifted"`
	Failed  []Event `json:"failed"`
	Kept    []Event `json:"kept"`
	// Secrets are the generations of the secrets that were applied, by what the lock calls them.
	Secrets map[string]int `json:"secrets"`
	// Providers are the loops that make logins for consumers here.
	Providers []Provider `json:"providers"`
}

// Status looks at everything that was applied.
func (h *Host) Status(ctx context.Context) (Status, error) {
	node, err := h.Node()
	if err != nil {
		return Status{}, err
	}
	st, err := h.state()
	if err != nil {
		return Status{}, err
	}
	s := Status{
		Mesh: st.Mesh, Node: node, Bundle: st.Bundle, Commit: st.Commit, Serial: st.Serial, Complete: st.Complete,
		Drifted: []Event{}, Failed: []Event{}, Kept: []Event{}, Secrets: map[string]int{}, Providers: h.providers(),
	}
	for name, taken := range st.Secrets {
		s.Secrets[name] = taken.Generation
	}
	units, err := h.lookUnits(ctx, st)
	if err != nil {
		return Status{}, err
	}
	for _, t := range st.Things {
		switch {
		case t.Kept:
			why := "not declared any more, and holds data"
			if t.Data != "" {
				why = "not declared any more, and owns data in " + t.Data
			}
			s.Kept = append(s.Kept, Event{Kept, t.Key, t.ID, why})
			continue
		case t.Failed != "":
			verb := Failed
			if strings.HasPrefix(t.Failed, because) {
				verb = Skipped
			}
			s.Failed = append(s.Failed, Event{verb, t.Key, t.ID, t.Failed})
		}
		s.Things++
		if t.Made == nil {
			continue
		}
		is, ok := units[t.Name]
		if t.Kind != machine.Unit || !ok {
			if is, err = h.Machine.Backend(t.Kind).Look(ctx, t.Key); err != nil {
				s.Drifted = append(s.Drifted, Event{Changed, t.Key, t.ID, err.Error()})
				continue
			}
		}
		if !is.Meets(t.Kind, *t.Made) {
			s.Drifted = append(s.Drifted, Event{Changed, t.Key, t.ID, drift(t, is)})
		}
	}
	return s, nil
}

func (h *Host) lookUnits(ctx context.Context, st *state) (map[string]machine.Condition, error) {
	var names []string
	for _, t := range st.Things {
		if t.Kind == machine.Unit && t.Made != nil {
			names = append(names, t.Name)
		}
	}
	if len(names) == 0 {
		return nil, nil
	}
	all, _, err := knowable(h.Machine.Units.LookAll(ctx, names)) // one that cannot be looked at is said on its own
	return all, err
}

// drift says in which way a thing is not as it was made.
func drift(t *thing, is machine.Condition) string {
	switch {
	case is.Absent && !t.Made.Absent:
		return "it is gone"
	case t.Kind == machine.Unit && t.Made.Either:
		return "whether it starts with the machine was changed"
	case t.Kind == machine.Unit && is.Broken && !t.Made.Broken:
		return "it failed, or ends again and again"
	case t.Kind == machine.Unit && t.Made.Running && !is.Running:
		return "it does not run"
	case t.Kind == machine.Unit && !t.Made.Running && is.Running:
		return "it runs"
	case t.Kind == machine.Unit:
		return "whether it starts with the machine was changed"
	case !is.Absent && t.Made.Absent:
		return "it is there again"
	}
	return difference(&wish{key: t.Key, thing: t}, *t.Made, is)
}

// Secret gives one secret that was applied, by its identity or path.
func (h *Host) Secret(ctx context.Context, name string) (seal.Secret, error) {
	st, err := h.state()
	if err != nil {
		return seal.Secret{}, err
	}
	var known, in []string
	for _, t := range st.Things {
		if slices.Contains(t.Holds, bundle.ID(name)) {
			in = append(in, t.Name)
		}
		if !t.Secret || t.Made == nil {
			continue
		}
		known = append(known, string(t.ID))
		if string(t.ID) != name && t.Name != name {
			continue
		}
		is, err := h.Machine.Files.Look(ctx, t.Key)
		if err != nil {
			return seal.Secret{}, err
		}
		if is.Sum != t.Made.Sum {
			return seal.Secret{}, driftedSecret(t.Key)
		}
		data, err := h.Machine.Files.Read(t.Name, seal.MaxLen)
		return seal.NewSecret(data), err
	}
	if len(in) > 0 {
		return seal.Secret{}, filledSecret(name, in)
	}
	slices.Sort(known)
	return seal.Secret{}, unknownSecret(name, known)
}
