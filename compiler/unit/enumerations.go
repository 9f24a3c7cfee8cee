package unit

// enumerations are the keys of which systemd takes a few words only: the tables of strings in its
// source, version 257. BOOLEAN stands for yes and no in all their spellings.
var enumerations = map[string][]string{
	"Type":                    {"simple", "exec", "forking", "oneshot", "dbus", "notify", "notify-reload", "idle"},
	"ExitType":                {"main", "cgroup"},
	"Restart":                 {"no", "on-success", "on-failure", "on-abnormal", "on-watchdog", "on-abort", "always"},
	"RestartMode":             {"normal", "direct", "debug"},
	"NotifyAccess":            {"none", "main", "exec", "all"},
	"OOMPolicy":               {"continue", "stop", "kill"},
	"KillMode":                {"control-group", "process", "mixed", "none"},
	"TimeoutStartFailureMode": {"terminate", "abort", "kill"},
	"TimeoutStopFailureMode":  {"terminate", "abort", "kill"},
	"ProtectSystem":           {"BOOLEAN", "full", "strict"},
	"ProtectHome":             {"BOOLEAN", "read-only", "tmpfs"},
	"ProtectProc":             {"noaccess", "invisible", "ptraceable", "default"},
	"ProcSubset":              {"all", "pid"},
	"PrivateTmp":              {"BOOLEAN", "disconnected"},
	"PrivateUsers":            {"BOOLEAN", "self", "identity", "full"},
	"ProtectControlGroups":    {"BOOLEAN", "private", "strict"},
	"DevicePolicy":            {"auto", "closed", "strict"},
	"CPUSchedulingPolicy":     {"other", "batch", "idle", "fifo", "rr", "0", "1", "2", "3", "5"},
	"IOSchedulingClass":       {"none", "realtime", "best-effort", "idle", "0", "1", "2", "3"},
	"KeyringMode":             {"inherit", "private", "shared"},
	"CollectMode":             {"inactive", "inactive-or-failed"},
	"BindIPv6Only":            {"default", "both", "ipv6-only"},
	"FailureAction":           actions,
	"SuccessAction":           actions,
	"JobTimeoutAction":        actions,
	"StartLimitAction":        actions,
}

var actions = []string{
	"none", "reboot", "reboot-force", "reboot-immediate", "poweroff", "poweroff-force", "poweroff-immediate", "exit", "exit-force",
	"soft-reboot", "soft-reboot-force", "kexec", "kexec-force", "halt", "halt-force", "halt-immediate",
}
