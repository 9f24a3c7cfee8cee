package host

import (
	"context"
	"errors"
	"maps"
	"slices"

	"meshc.dev/host/machine"
	"meshc.dev/render/bundle"
)

// What the kernel is told by a file takes effect when the machine starts, or when somebody
// loads it: that is us, in the run in which the file changes, before any unit is started.

// oweSysctls comes before a file of the kernel's keys changes. How the kernel had each key
// is written down, and that they are to be loaded: whoever is killed leaves that to the
// next run.
func (r *run) oweSysctls(p string, next []byte) error {
	if r.dry || r.host.Machine.Kernel == nil || !machine.IsSysctl(p) {
		return nil
	}
	kernel := r.host.Machine.Kernel
	was, _ := r.host.Machine.Root.ReadFile(p) // one that is not there says nothing
	st := r.state
	for _, key := range slices.Concat(kernel.Named(string(next)), kernel.Named(string(was))) {
		if _, known := st.Sysctls[key]; !known {
			if st.Sysctls == nil {
				st.Sysctls = map[string]string{}
			}
			if value, has := kernel.Value(key); has {
				st.Sysctls[key] = value
			}
		}
		st.Unloaded = append(st.Unloaded, key)
	}
	slices.Sort(st.Unloaded)
	st.Unloaded = slices.Compact(st.Unloaded)
	return r.note()
}

// loadSysctls tells the kernel what is owed to it. A key that no file of the bundle has any
// more gets back what was found, unless another file of the machine's has it.
func (r *run) loadSysctls(ctx context.Context) error {
	st := r.state
	if r.dry || r.host.Machine.Kernel == nil || len(st.Unloaded) == 0 {
		return nil
	}
	kernel := r.host.Machine.Kernel
	declared := map[string]*wish{}
	for _, w := range r.wishes {
		f, ok := w.item.(*bundle.File)
		if !ok || !machine.IsSysctl(f.Path) || r.failed[f.ID] {
			continue
		}
		content, err := r.opened.content(f)
		if err != nil {
			return err
		}
		for _, key := range kernel.Named(string(content)) {
			declared[key] = w
		}
	}
	if err := r.touch(false); err != nil {
		return err
	}
	step("load sysctls")
	var errs []error
	for _, key := range st.Unloaded {
		if value, known := st.Sysctls[key]; known && declared[key] == nil {
			errs = append(errs, kernel.Set(key, value))
			delete(st.Sysctls, key)
		}
	}
	err := errors.Join(append(errs, kernel.Load(ctx, st.Unloaded))...)
	if err := stopped(ctx, err); err != nil {
		return err
	}
	if err != nil {
		whose := map[*wish]bool{}
		for _, key := range slices.Sorted(maps.Keys(declared)) {
			if w := declared[key]; slices.Contains(st.Unloaded, key) && !whose[w] {
				whose[w] = true
				r.fail(w, Failed, err.Error())
			}
		}
		if len(whose) == 0 {
			r.say(Failed, machine.Key{Kind: machine.File, Name: "/etc/sysctl.d"}, "", err.Error())
		}
		return nil // it is owed still
	}
	st.Unloaded = nil
	return r.note()
}
