// Package unit knows what systemd, and Podman's generator, read in a unit: which sections a kind of
// unit has, which keys a section has, and what has to be there. systemd ignores what it does not
// know, and the program then runs as somebody else or not at all. Check and CheckText are the ways in;
// how a unit is written is render/sink's.
package unit

import (
	_ "embed" // of the lists
	"path"
	"slices"
	"strconv"
	"strings"

	"meshc.dev/compiler/data"
	"meshc.dev/compiler/diag"
)

//go:embed systemd.txt
var systemdKeys string

//go:embed quadlet.txt
var quadletKeys string

// Fault is one thing that its reader would not take, or would pass over.
type Fault struct {
	Path []string // section, or section and key; empty for the whole unit
	Why  string
	Near string // the name that was probably meant
}

// Kind is what reads a file, by its path: a unit of systemd's, or a file for Podman's generator.
// Part says that the file adds to a unit, and need not be whole.
type Kind struct {
	suffix string
	part   bool
}

// KindOf tells what reads a file; nothing that is known here, where ok is false.
func KindOf(p string) (kind Kind, ok bool) {
	dir := path.Dir(p)
	kind = Kind{suffix: path.Ext(p)}
	if kind.suffix == ".conf" && strings.HasSuffix(dir, ".d") {
		name := strings.TrimSuffix(path.Base(dir), ".d")
		kind = Kind{suffix: path.Ext(name), part: true}
		if kind.suffix == "" {
			kind.suffix = "." + name // service.d holds for every service
		}
		dir = path.Dir(dir)
	}
	switch {
	case slices.Contains([]string{"/etc/systemd/system", "/usr/lib/systemd/system", "/lib/systemd/system", "/usr/local/lib/systemd/system", "/etc/systemd/user", "/usr/lib/systemd/user"}, dir):
		return kind, systemdSections[kind.suffix] != nil
	case dir == "/etc/containers/systemd" || dir == "/usr/share/containers/systemd" || strings.HasPrefix(dir, "/etc/containers/systemd/"):
		return kind, quadletSections[kind.suffix] != ""
	}
	return Kind{}, false
}

// Named is the kind of a unit by its name.
func Named(name string) Kind { return Kind{suffix: path.Ext(name)} }

// systemdSections are the sections of each kind of unit besides [Unit].
var systemdSections = map[string][]string{
	".service": {"Service", "Install"}, ".socket": {"Socket", "Install"}, ".mount": {"Mount", "Install"}, ".automount": {"Automount", "Install"},
	".swap": {"Swap", "Install"}, ".timer": {"Timer", "Install"}, ".path": {"Path", "Install"}, ".slice": {"Slice", "Install"}, ".target": {"Install"},
}

// quadletSections are the sections of the generator's own, by the kind of file.
var quadletSections = map[string]string{
	".container": "Container", ".pod": "Pod", ".kube": "Kube", ".network": "Network", ".volume": "Volume", ".build": "Build", ".image": "Image",
}

// lists are the keys of each section, and the kind of value where it is checked.
func lists(text string) map[string]map[string]string {
	out := map[string]map[string]string{}
	section := ""
	for line := range strings.Lines(text) {
		line = strings.TrimSpace(line)
		switch {
		case line == "", strings.HasPrefix(line, "#"):
		case strings.HasPrefix(line, "["):
			section = strings.Trim(line, "[]")
			out[section] = map[string]string{}
		default:
			key, kind, _ := strings.Cut(line, "=")
			out[section][key] = kind
		}
	}
	return out
}

var (
	systemd = lists(systemdKeys)
	quadlet = lists(quadletKeys)
)

// keys are the keys of a section in this kind of file, or nothing where it has no such section.
func (k Kind) keys(section string) map[string]string {
	if own := quadletSections[k.suffix]; own != "" {
		switch section {
		case own, "Quadlet":
			return quadlet[section]
		case "Unit", "Service", "Install":
			return systemd[section]
		}
		return nil
	}
	if section == "Unit" || slices.Contains(systemdSections[k.suffix], section) {
		return systemd[section]
	}
	return nil
}

func (k Kind) sections() []string {
	if own := quadletSections[k.suffix]; own != "" {
		return []string{"Unit", own, "Service", "Install", "Quadlet"}
	}
	return append([]string{"Unit"}, systemdSections[k.suffix]...)
}

// Check holds sections of keys to what reads them.
func (k Kind) Check(content data.Value) []Fault {
	var out []Fault
	for _, s := range content.Fields() {
		if s.Value.Kind() == data.Null || strings.HasPrefix(s.Name, "X-") {
			continue
		}
		known := k.keys(s.Name)
		if known == nil {
			out = append(out, k.unknownSection(s.Name))
			continue
		}
		for _, f := range s.Value.Fields() {
			if f.Value.Kind() == data.Null || strings.HasPrefix(f.Name, "X-") {
				continue
			}
			kind, ok := known[f.Name]
			if !ok {
				out = append(out, k.unknownKey(s.Name, f.Name))
				continue
			}
			for _, v := range texts(f.Value) {
				if why := badValue(s.Name, f.Name, kind, v); why != "" {
					out = append(out, Fault{Path: []string{s.Name, f.Name}, Why: why})
				}
			}
		}
	}
	if len(out) == 0 && !k.part {
		out = append(out, k.missing(content)...)
	}
	return out
}

func (k Kind) unknownSection(name string) Fault {
	f := Fault{Path: []string{name}, Why: "a " + k.suffix[1:] + " has no section [" + name + "], and it would be passed over; it has [" + strings.Join(k.sections(), "], [") + "]"}
	if near := diag.Nearest(name, k.sections()); len(near) > 0 {
		f.Near = near[0]
	}
	return f
}

func (k Kind) unknownKey(section, key string) Fault {
	f := Fault{Path: []string{section, key}, Why: "[" + section + "] has no key " + key + ", and it would be passed over"}
	var names []string
	for name := range k.keys(section) {
		names = append(names, name)
		if strings.EqualFold(name, key) {
			f.Near = name
		}
	}
	for _, s := range k.sections() {
		if _, ok := k.keys(s)[key]; ok && f.Near == "" {
			f.Why += "; it belongs in [" + s + "]"
			return f
		}
	}
	slices.Sort(names)
	if near := diag.Nearest(key, names); len(near) > 0 && f.Near == "" {
		f.Near = near[0]
	}
	return f
}

// texts are the values of a key, a list being a repeated key.
func texts(v data.Value) []string {
	switch v.Kind() {
	case data.List:
		var out []string
		for _, x := range v.Items() {
			out = append(out, texts(x)...)
		}
		return out
	case data.Struct, data.Null, data.Absent:
		return nil
	}
	return []string{v.Text()}
}

func badValue(section, key, kind, v string) string {
	if v == "" || strings.Contains(v, "%") {
		return "" // reset, or known on the machine only
	}
	words, ok := enumerations[key]
	if section == "Mount" && key == "Type" {
		ok = false // that of a file system
	}
	if ok && slices.Contains(words, "BOOLEAN") && isBoolean(v) {
		return ""
	}
	if ok && !slices.Contains(words, v) {
		return strconv.Quote(v) + " is not one of " + strings.Replace(strings.Join(words, ", "), "BOOLEAN", "yes, no", 1)
	}
	if !ok && kind == "BOOLEAN" && !isBoolean(v) {
		return strconv.Quote(v) + " is neither yes nor no"
	}
	if isCommand(section, key) && !startable(v) {
		return "the program stands by a relative path, which systemd does not start; write it from / on"
	}
	return ""
}

func isBoolean(v string) bool {
	return slices.Contains([]string{"1", "0", "yes", "no", "y", "n", "true", "false", "t", "f", "on", "off"}, strings.ToLower(v))
}

func isCommand(section, key string) bool {
	return section != "Unit" && slices.Contains(commands, key)
}

var commands = []string{"ExecStart", "ExecStartPre", "ExecStartPost", "ExecCondition", "ExecReload", "ExecStop", "ExecStopPre", "ExecStopPost"}

// startable says whether systemd finds the program of a command: by its path from / on, or by its bare name.
func startable(v string) bool {
	program := strings.Trim(strings.TrimLeft(strings.Fields(v + " x")[0], "@-:+!|"), `"'`)
	return strings.HasPrefix(program, "/") || strings.HasPrefix(program, "$") || !strings.Contains(program, "/")
}

// missing is what the unit has to have and does not.
func (k Kind) missing(content data.Value) []Fault {
	get := func(section, key string) []string {
		var out []string
		for _, t := range texts(content.Get(section).Get(key)) {
			if t != "" {
				out = append(out, t)
			} else {
				out = nil
			}
		}
		return out
	}
	has := func(section string, keys ...string) bool {
		return slices.ContainsFunc(keys, func(key string) bool { return len(get(section, key)) > 0 })
	}
	one := func(section, why string) []Fault {
		if content.Get(section).Kind() == data.Absent {
			return []Fault{{Why: why}}
		}
		return []Fault{{Path: []string{section}, Why: why}}
	}
	switch k.suffix {
	case ".service":
		return missingCommand(get, one)
	case ".timer":
		if !has("Timer", "OnActiveSec", "OnBootSec", "OnStartupSec", "OnUnitActiveSec", "OnUnitInactiveSec", "OnCalendar", "OnClockChange", "OnTimezoneChange") {
			return one("Timer", "it says no time, such as OnCalendar, and systemd refuses it")
		}
	case ".path":
		if !has("Path", "PathExists", "PathExistsGlob", "PathChanged", "PathModified", "DirectoryNotEmpty") {
			return one("Path", "it says no path, such as PathChanged, and systemd refuses it")
		}
	case ".socket":
		if !has("Socket", "ListenStream", "ListenDatagram", "ListenSequentialPacket", "ListenFIFO", "ListenSpecial", "ListenNetlink", "ListenMessageQueue", "ListenUSBFunction") {
			return one("Socket", "it listens nowhere, such as on ListenStream, and systemd refuses it")
		}
	case ".mount":
		if !has("Mount", "What") {
			return one("Mount", "it does not say What it mounts, and systemd refuses it")
		}
	case ".swap":
		if !has("Swap", "What") {
			return one("Swap", "it does not say What it swaps to, and systemd refuses it")
		}
	case ".container":
		if !has("Container", "Image", "Rootfs") {
			return one("Container", "it has no Image, and Podman's generator makes no unit of it")
		}
	}
	return nil
}

// missingCommand is what systemd says of a service in service_verify (src/core/service.c).
func missingCommand(get func(section, key string) []string, one func(section, why string) []Fault) []Fault {
	last := func(section, key, otherwise string) string {
		if v := get(section, key); len(v) > 0 {
			return v[len(v)-1]
		}
		return otherwise
	}
	starts, stops := len(get("Service", "ExecStart")), len(get("Service", "ExecStop"))
	kind := "simple"
	if last("Service", "BusName", "") != "" {
		kind = "dbus"
	}
	if starts == 0 {
		kind = "oneshot"
	}
	kind = last("Service", "Type", kind)
	action := last("Unit", "SuccessAction", "none") != "none"
	remains := slices.Contains([]string{"1", "yes", "y", "true", "t", "on"}, strings.ToLower(last("Service", "RemainAfterExit", "no")))
	restart := last("Service", "Restart", "no")
	switch {
	case starts == 0 && stops == 0 && !action:
		return one("Service", "it has no ExecStart, and systemd refuses it")
	case starts == 0 && kind != "oneshot":
		return one("Service", "it has no ExecStart, which only one of Type=oneshot may lack")
	case starts == 0 && !remains && !action:
		return one("Service", "it has no ExecStart, which one may lack only with RemainAfterExit=yes")
	case starts > 1 && kind != "oneshot":
		return one("Service", "it has more than one ExecStart, which only one of Type=oneshot may have")
	case kind == "oneshot" && (restart == "always" || restart == "on-success"):
		return one("Service", "it is of Type=oneshot, for which systemd does not take Restart="+restart)
	case kind == "dbus" && last("Service", "BusName", "") == "":
		return one("Service", "it is of Type=dbus, and has no BusName")
	}
	return nil
}
