package container_test

import (
	"errors"
	"fmt"
	"net/netip"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"meshc.dev/compiler/addr"
	"meshc.dev/compiler/diag"
	"meshc.dev/compiler/plan"
	"meshc.dev/render/container"
	"meshc.dev/render/sink/sinktest"
)

// gitea is a container with everything that there is.
func gitea() plan.Container {
	return plan.Container{
		Unit:  "gitea",
		Image: "docker.io/gitea/gitea:1.22",
		Publishes: []plan.Publish{
			{Port: 20311, Inside: 3000},
			{Address: "10.86.0.2", Port: 20312, To: 20321, Inside: 40000, InTo: 40009, Protocol: "udp"},
			{Address: "fd00::1", Port: 2222, To: 2222, Inside: 22, InTo: 22, Protocol: "tcp"},
			{Whole: "127.0.0.1:8080:80"},
		},
		Volumes:      []string{"/var/lib/gitea:/data", "/etc/gitea:/etc/gitea:ro", "cache:/cache"},
		Env:          []plan.EnvVar{{Name: "TZ", Value: "Europe/Berlin"}, {Name: "discovery.type", Value: "50%20off for $HOME"}},
		User:         "1000:1000",
		Capabilities: []string{"NET_BIND_SERVICE", "cap_chown"},
		ReadOnly:     true,
		Health:       []string{"curl", "-fsS", "http://127.0.0.1:3000/api/healthz?a=1&b=$x"},
		Command:      []string{"web", "--port=3000"},
		ReloadOn:     []addr.Resource{{Instance: "gitea", Kind: "file", Name: "config"}},
	}
}

// BLD-6: a container is a quadlet under podman and a unit under docker, at its place and with its name
func TestLower(t *testing.T) {
	for runtime, want := range map[string][2]string{
		"podman": {"/etc/containers/systemd/gitea.container", podmanGitea},
		"docker": {"/etc/systemd/system/gitea.service", dockerGitea},
	} {
		f, err := container.Lower(gitea(), runtime, "Git forge, 100% ours", []string{"postgres.service", "mesh.target"})
		if err != nil {
			t.Fatal(err)
		}
		if f.Path != want[0] || f.Unit != "gitea.service" || string(f.Content) != want[1] {
			t.Errorf("%s: %s %s\n%s", runtime, f.Path, f.Unit, f.Content)
		}
	}
	if _, err := container.Lower(gitea(), "lxc", "", nil); err == nil {
		t.Error("an unknown runtime is accepted")
	}
}

const podmanGitea = `[Unit]
Description=Git forge, 100%% ours
Wants=postgres.service
Wants=mesh.target
After=postgres.service
After=mesh.target
StartLimitIntervalSec=0

[Container]
Image=docker.io/gitea/gitea:1.22
ContainerName=gitea
Exec="web" "--port=3000"
Environment="TZ=Europe/Berlin"
Environment="discovery.type=50%%20off for $$HOME"
User=1000
Group=1000
DropCapability=all
AddCapability=CAP_NET_BIND_SERVICE
AddCapability=CAP_CHOWN
NoNewPrivileges=true
ReadOnly=true
PublishPort=20311:3000
PublishPort=10.86.0.2:20312-20321:40000-40009/udp
PublishPort=[fd00::1]:2222:22
PublishPort=127.0.0.1:8080:80
Volume=/var/lib/gitea:/data
Volume=/etc/gitea:/etc/gitea:ro
Volume=cache:/cache
HealthCmd=["curl","-fsS","http://127.0.0.1:3000/api/healthz?a=1&b=$$x"]
StopTimeout=30

[Service]
ExecReload=/usr/bin/podman kill --signal=HUP gitea
Restart=always
RestartSec=5
TimeoutStartSec=900
TimeoutStopSec=45

[Install]
WantedBy=multi-user.target
`

const dockerGitea = `[Unit]
Description=Git forge, 100%% ours
Requires=docker.service
Wants=postgres.service
Wants=mesh.target
After=docker.service
After=postgres.service
After=mesh.target
StartLimitIntervalSec=0
RequiresMountsFor=/var/lib/gitea
RequiresMountsFor=/etc/gitea

[Service]
Type=exec
ExecStartPre=-/usr/bin/docker rm --force gitea
ExecStart=/usr/bin/docker run \
    --name=gitea \
    --rm \
    --log-driver=none \
    --cap-drop=ALL \
    --cap-add=CAP_NET_BIND_SERVICE \
    --cap-add=CAP_CHOWN \
    --security-opt=no-new-privileges \
    --read-only \
    --tmpfs=/tmp \
    --tmpfs=/run \
    --tmpfs=/var/tmp \
    --user=1000:1000 \
    --add-host=host.docker.internal:host-gateway \
    --add-host=host.containers.internal:host-gateway \
    --publish=20311:3000 \
    --publish=10.86.0.2:20312-20321:40000-40009/udp \
    "--publish=[fd00::1]:2222:22" \
    --publish=127.0.0.1:8080:80 \
    --mount=type=bind,source=/var/lib/gitea,target=/data \
    --mount=type=bind,source=/etc/gitea,target=/etc/gitea,readonly \
    --volume=cache:/cache \
    --env=TZ=Europe/Berlin \
    "--env=discovery.type=50%%20off for $$HOME" \
    "--health-cmd=curl -fsS 'http://127.0.0.1:3000/api/healthz?a=1&b=$$x'" \
    --stop-timeout=30 \
    docker.io/gitea/gitea:1.22 \
    web \
    --port=3000
ExecReload=/usr/bin/docker kill --signal=HUP gitea
ExecStop=-/usr/bin/docker stop -t 30 gitea
ExecStopPost=-/usr/bin/docker rm --force gitea
SuccessExitStatus=143
Restart=always
RestartSec=5
TimeoutStartSec=900
TimeoutStopSec=45

[Install]
WantedBy=multi-user.target
`

// values are those of case O08 and more that a reader on the way takes for something else.
var values = []string{
	"50%20off", "--x=1 --y=2", `a\.b`, "$HOME", `it's "q"`, " lead", "#x", ";y", "line1\nline2",
	"", " ", ";", "%", "%%", "%i", "%n", "$", "$$", "${x}", "a$", "$(ls)", "trail ", `\`, `a\`, `\n`, `\x41`, "\ttab", "a\r\nb\n", "\"", "'", `"quoted"`, "'quoted'",
	"é", "😀", "\u0085", "\u00a0", "\u2028", "\x7f", "\x1b[0m", "\x01", "`ls`", "a,b", "a=b", "=", "-", "--", "[x]", "{}", "@x", "+x", "!x", ":x", "|", "s7@o8\\p=\"u$0#!", "p&|\\\"#'%${x}\n",
}

func vars() []plan.EnvVar {
	var out []plan.EnvVar
	for i, v := range values {
		out = append(out, plan.EnvVar{Name: fmt.Sprintf("V%03d", i), Value: v})
	}
	return out
}

func withValues() plan.Container {
	return plan.Container{Unit: "probe", Image: "localhost/probe", Env: vars(), Command: values}
}

// O08: what is put into a quadlet's environment and command is what podman is started with
//
// BLD-6: a value arrives in the process as it was written
func TestQuadletValues(t *testing.T) {
	_, argv := generated(t, withValues(), container.Options{})
	env := option(argv, "--env")
	if len(env) != len(values) {
		t.Fatalf("%d of %d variables arrive: %q", len(env), len(values), env)
	}
	for i, v := range vars() {
		if want := v.Name + "=" + v.Value; env[i] != want {
			t.Errorf("%q arrives as %q", want, env[i])
		}
	}
	at := slices.Index(argv, "localhost/probe")
	if got := argv[at+1:]; !slices.Equal(got, values) {
		t.Errorf("the command arrives as\n%q, want\n%q", got, values)
	}
}

// O08: the same through a unit that runs docker, as docker's client reads it
//
// BLD-6: a value arrives in the process as it was written
func TestDockerValues(t *testing.T) {
	_, commands := dockerCommands(t, withValues(), container.Options{})
	c := sinktest.DockerCreates(t, commands("ExecStart")[0])
	var want []string
	for _, v := range vars() {
		want = append(want, v.Name+"="+v.Value)
	}
	slices.Sort(c.Env) // its client keeps no order
	slices.Sort(want)
	if !slices.Equal(c.Env, want) {
		t.Errorf("the environment arrives as\n%q, want\n%q", c.Env, want)
	}
	if !slices.Equal(c.Cmd, values) {
		t.Errorf("the command arrives as\n%q, want\n%q", c.Cmd, values)
	}
}

// BLD-6: a health check runs the words that were written, without a shell under podman
//
// O08: so also with quotes, dollars and backslashes in them
func TestHealth(t *testing.T) {
	words := []string{"probe", "it's \"q\"", "$HOME", "50%", `a\b`, "", "#x", "<&>", "é"}
	c := plan.Container{Unit: "probe", Image: "localhost/probe", Health: words}
	_, argv := generated(t, c, container.Options{})
	if got := option(argv, "--health-cmd"); len(got) != 1 || !slices.Equal(podmanTest(t, got[0]), append([]string{"CMD"}, words...)) {
		t.Errorf("podman is given %q", got)
	}
	_, commands := dockerCommands(t, c, container.Options{})
	asked := sinktest.DockerCreates(t, commands("ExecStart")[0]).Healthcheck
	if asked == nil || len(asked.Test) != 2 || asked.Test[0] != "CMD-SHELL" {
		t.Fatalf("docker is asked for %+v", asked)
	}
	out, err := exec.Command("sh", "-c", strings.Replace(asked.Test[1], "probe", `printf '%s\0'`, 1)).Output()
	if got := strings.Split(strings.TrimSuffix(string(out), "\x00"), "\x00"); err != nil || !slices.Equal(got, words[1:]) {
		t.Errorf("a shell runs %q with %q, %v", asked.Test[1], got, err)
	}

	for word, want := range map[string][]string{
		"/healthy":   {"CMD", "/healthy"},
		"my program": {"CMD-SHELL", "'my program'"},
	} {
		c.Health = []string{word}
		_, argv := generated(t, c, container.Options{})
		if got := podmanTest(t, option(argv, "--health-cmd")[0]); !slices.Equal(got, want) {
			t.Errorf("podman runs %q as %q, want %q", word, got, want)
		}
	}
	for _, first := range []string{"CMD", "CMD-SHELL", "none"} {
		c.Health = []string{first, "true"}
		for _, runtime := range []string{"podman", "docker"} {
			refused(t, c, runtime, "health.0", diag.ContainerValue)
		}
	}
}

// O22: an IPv6 address stands in brackets, once; PRT-3: a range is a range
//
// PRT-2: the container maps the number that the mesh assigned, and nothing else (O02)
//
// PRT-4: a mapping written whole is left as it is
func TestPublishes(t *testing.T) {
	c := plan.Container{Unit: "web", Image: "localhost/web", Publishes: []plan.Publish{
		{Port: 20000, Inside: 5432},
		{Address: "0.0.0.0", Port: 80, To: 80, Inside: 8080, InTo: 8080, Protocol: "tcp"},
		{Address: "2001:db8::1", Port: 443, Inside: 443, Protocol: "udp"},
		{Address: "::", Port: 20100, To: 20199, Inside: 40000, InTo: 40099, Protocol: "udp"},
		{Whole: "127.0.0.1:8080:80"},
		{Whole: "[::1]:53:53/udp"},
		{Whole: "9000-9002:9000-9002/tcp"},
	}}
	want := []string{
		"20000:5432", "0.0.0.0:80:8080", "[2001:db8::1]:443:443/udp", "[::]:20100-20199:40000-40099/udp",
		"127.0.0.1:8080:80", "[::1]:53:53/udp", "9000-9002:9000-9002/tcp",
	}
	_, argv := generated(t, c, container.Options{})
	if got := option(argv, "--publish"); !slices.Equal(got, want) {
		t.Errorf("podman is given %q, want %q", got, want)
	}
	_, commands := dockerCommands(t, c, container.Options{})
	run := commands("ExecStart")[0]
	if got := option(run, "--publish"); !slices.Equal(got, want) {
		t.Errorf("docker is given %q, want %q", got, want)
	}
	bindings := sinktest.DockerCreates(t, run).HostConfig.PortBindings
	for port, host := range map[string]string{"5432/tcp": ":20000", "8080/tcp": "0.0.0.0:80", "443/udp": "2001:db8::1:443", "40099/udp": ":::20199", "53/udp": "::1:53"} {
		if b := bindings[port]; len(b) != 1 || b[0].HostIp+":"+b[0].HostPort != host {
			t.Errorf("docker binds %s to %v, want %s", port, b, host)
		}
	}
	if len(bindings) != 5+100+3 {
		t.Errorf("docker binds %d ports, want no more than were published", len(bindings))
	}
}

// O02: a container with one mapping has one, and one with none has none
func TestPublishesNothingElse(t *testing.T) {
	c := plan.Container{Unit: "web", Image: "localhost/web", Publishes: []plan.Publish{{Port: 8080, Inside: 80}}}
	for n := len(c.Publishes); n >= 0; n-- {
		c.Publishes = c.Publishes[:n]
		_, argv := generated(t, c, container.Options{})
		_, commands := dockerCommands(t, c, container.Options{})
		for _, got := range [][]string{option(argv, "--publish"), option(commands("ExecStart")[0], "--publish")} {
			if len(got) != n {
				t.Errorf("%d mappings became %q", n, got)
			}
		}
	}
}

// BLD-6: both runtimes are asked for the same container: no capability but those listed, no new
// privileges, read-only where asked, volumes as written, made anew and removed
func TestHardening(t *testing.T) {
	unit, argv := generated(t, gitea(), container.Options{})
	for name, want := range map[string][]string{
		"--cap-drop": {"all"}, "--cap-add": {"cap_net_bind_service", "cap_chown"}, "--security-opt": {"no-new-privileges"},
		"--user": {"1000:1000"}, "-v": {"/var/lib/gitea:/data", "/etc/gitea:/etc/gitea:ro", "cache:/cache"}, "--name": {"gitea"}, "--stop-timeout": {"30"},
	} {
		if got := option(argv, name); !slices.Equal(got, want) {
			t.Errorf("podman %s is %q, want %q", name, got, want)
		}
	}
	for _, flag := range []string{"--read-only", "--rm", "--replace"} {
		if !slices.Contains(argv, flag) {
			t.Errorf("podman is not given %s: %q", flag, argv)
		}
	}
	if slices.Contains(argv, "--network") {
		t.Error("a container without a network is given one")
	}
	if got := unit.Values("Unit", "RequiresMountsFor"); !slices.Contains(got, "/var/lib/gitea") || !slices.Contains(got, "/etc/gitea") {
		t.Errorf("the unit waits for %q", got)
	}
	if unit.Value("Service", "Restart") != "always" || unit.Value("Unit", "StartLimitIntervalSec") != "0" || unit.Value("Install", "WantedBy") != "multi-user.target" {
		t.Errorf("the unit does not come back: %v", unit)
	}

	_, commands := dockerCommands(t, gitea(), container.Options{})
	c := sinktest.DockerCreates(t, commands("ExecStart")[0])
	h := c.HostConfig
	switch {
	case c.Name != "gitea", c.User != "1000:1000", c.StopTimeout == nil || *c.StopTimeout != 30:
		t.Errorf("docker is asked for %+v", c)
	case !slices.Equal(h.CapDrop, []string{"ALL"}), !slices.Equal(h.CapAdd, []string{"CAP_NET_BIND_SERVICE", "CAP_CHOWN"}), !slices.Equal(h.SecurityOpt, []string{"no-new-privileges"}):
		t.Errorf("docker's container can do more: %+v", h)
	case !h.ReadonlyRootfs, len(h.Tmpfs) != 3, !h.AutoRemove, h.LogConfig.Type != "none", h.NetworkMode != "default" && h.NetworkMode != "bridge":
		t.Errorf("docker is asked for %+v", h)
	}
	wantMounts := []sinktest.Mount{{Type: "bind", Source: "/var/lib/gitea", Target: "/data"}, {Type: "bind", Source: "/etc/gitea", Target: "/etc/gitea", ReadOnly: true}}
	if !slices.Equal(h.Mounts, wantMounts) || !slices.Equal(h.Binds, []string{"cache:/cache"}) {
		t.Errorf("docker mounts %+v and %q", h.Mounts, h.Binds)
	}
	if got := commands("ExecStop")[0]; !slices.Equal(got, []string{"/usr/bin/docker", "stop", "-t", "30", "gitea"}) {
		t.Errorf("docker stops with %q", got)
	}
}

// BLD-6: a volume's options reach each runtime in its own way, and those of the other are refused
func TestVolumes(t *testing.T) {
	c := plan.Container{Unit: "v", Image: "localhost/v", ReadOnly: true, Volumes: []string{"/a:/tmp", "/b:/b:ro,rslave", "/c:/c:Z", "/d%h:/d"}}
	_, argv := generated(t, c, container.Options{})
	if got := option(argv, "-v"); !slices.Equal(got, c.Volumes) {
		t.Errorf("podman mounts %q", got)
	}
	unit, commands := dockerCommands(t, c, container.Options{})
	if got := unit.Values("Unit", "RequiresMountsFor"); !slices.Equal(got, []string{"/a", "/b", "/c", "/d%%h"}) {
		t.Errorf("the unit waits for %q", got)
	}
	h := sinktest.DockerCreates(t, commands("ExecStart")[0]).HostConfig
	if len(h.Mounts) != 3 || h.Mounts[1].BindOptions == nil || h.Mounts[1].BindOptions.Propagation != "rslave" || !h.Mounts[1].ReadOnly || h.Mounts[2].Source != "/d%h" {
		t.Errorf("docker mounts %+v", h.Mounts)
	}
	if !slices.Equal(h.Binds, []string{"/c:/c:Z"}) {
		t.Errorf("docker relabels %q", h.Binds)
	}
	if _, twice := h.Tmpfs["/tmp"]; twice || len(h.Tmpfs) != 2 {
		t.Errorf("docker mounts over a volume: %v", h.Tmpfs)
	}
	c.Volumes = []string{"/a:/a:U"}
	refused(t, c, "docker", "volumes.0", diag.ContainerValue)
	if _, err := container.Lower(c, "podman", "", nil); err != nil {
		t.Errorf("podman: %v", err)
	}
}

// O26: where packets have to be smaller, a container joins a network of that size, and its unit makes it
func TestMTU(t *testing.T) {
	c := plan.Container{Unit: "m", Image: "localhost/m"}
	o := container.Options{MTU: 1420, Hosts: []container.Host{{Name: "anchor.home.mesh", Address: netip.MustParseAddr("10.86.0.1")}, {Name: "six.home.mesh", Address: netip.MustParseAddr("fd00::6")}}}
	unit, argv := generated(t, c, o)
	pre, err := sinktest.Argv(unit.Value("Service", "ExecStartPre"), "m")
	if err != nil || !slices.Contains(pre, "--opt=mtu=1420") || !slices.Equal(option(argv, "--network"), pre[len(pre)-1:]) {
		t.Errorf("podman makes %q and joins %q", pre, option(argv, "--network"))
	}
	_, commands := dockerCommands(t, c, o)
	asked := sinktest.DockerCreates(t, commands("ExecStart")[0])
	made := commands("ExecStartPre")[0]
	if !slices.Contains(made, "--opt=com.docker.network.driver.mtu=1420") || asked.HostConfig.NetworkMode != made[len(made)-1] {
		t.Errorf("docker makes %q and joins %q", made, asked.HostConfig.NetworkMode)
	}
	if got := asked.HostConfig.ExtraHosts; !slices.Equal(got, []string{"host.docker.internal:host-gateway", "host.containers.internal:host-gateway", "anchor.home.mesh:10.86.0.1", "six.home.mesh:fd00::6"}) {
		t.Errorf("docker is told the hosts %q", got)
	}
	c.Network = "host"
	if unit, argv := generated(t, c, o); !slices.Equal(option(argv, "--network"), []string{"host"}) || unit.Value("Service", "ExecStartPre") != "" {
		t.Errorf("the machine's own network is %q", option(argv, "--network"))
	}
	_, commands = dockerCommands(t, c, o)
	if h := sinktest.DockerCreates(t, commands("ExecStart")[0]).HostConfig; h.NetworkMode != "host" || len(h.ExtraHosts) != 0 {
		t.Errorf("in the machine's network docker is told %+v", h)
	}
}

// BLD-6: systemd itself takes the unit that runs docker, and reads the arguments as they are meant
func TestDockerUnitProgram(t *testing.T) {
	analyze := sinktest.Tool(t, "systemd-analyze")
	f, err := container.Lower(gitea(), "docker", "Git forge", []string{"network-online.target"})
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	stub := filepath.Join(dir, "docker")
	for name, content := range map[string]string{
		f.Unit:           strings.ReplaceAll(string(f.Content), "/usr/bin/docker", stub),
		"docker.service": "[Service]\nExecStart=" + stub + "\n",
		"docker":         "#!/bin/sh\n",
	} {
		mode := map[bool]os.FileMode{true: 0o755, false: 0o644}[name == "docker"]
		if err := os.WriteFile(filepath.Join(dir, name), []byte(content), mode); err != nil {
			t.Fatal(err)
		}
	}
	cmd := exec.Command(analyze, "verify", "--man=no", filepath.Join(dir, f.Unit))
	cmd.Env = []string{"SYSTEMD_UNIT_PATH=" + dir + ":", "PATH=/usr/bin:/bin"}
	if out, err := cmd.CombinedOutput(); err != nil || strings.Contains(string(out), f.Unit) {
		t.Errorf("%v\n%s\n%s", err, out, f.Content)
	}
	dump := sinktest.Loaded(t, dir, f.Unit)
	for _, want := range []string{`"--publish=[fd00::1]:2222:22"`, `"--env=discovery.type=50%20off for \$\$HOME"`, "--volume=cache:/cache", "web --port=3000", "Requires: docker.service"} {
		if !strings.Contains(dump, want) {
			t.Errorf("systemd does not read %s:\n%s", want, dump)
		}
	}
}

// refused says that a container is refused for a field of it, without its value being said.
func refused(t *testing.T, c plan.Container, runtime, field string, code diag.Code) {
	t.Helper()
	f, err := container.Lower(c, runtime, "a test", nil)
	var e *container.Error
	if !errors.As(err, &e) || e.Field != field || e.Code != code || e.Reason == "" || f.Content != nil {
		t.Errorf("%s: %v for %s, want a refusal of %s", runtime, err, field, field)
		return
	}
	d := e.Diagnostic(diag.Pos{File: "x.cue", Line: 1}, addr.Resource{Instance: "app", Kind: "container", Name: "server"})
	if _, known := diag.Lookup(d.Code); !known || !strings.HasPrefix(d.Message, field+" of app/container.server ") || strings.Contains(d.Message, "s3cret") {
		t.Errorf("%+v", d)
	}
}

// BLD-6: what a runtime cannot be given is refused when the mesh is built
func TestRefusals(t *testing.T) {
	for name, c := range map[string]struct {
		change func(*plan.Container)
		field  string
		code   diag.Code
	}{
		"zero byte":          {func(c *plan.Container) { c.Env = []plan.EnvVar{{Name: "A", Value: "s3cret\x00"}} }, "env.A", ""},
		"not UTF-8":          {func(c *plan.Container) { c.Env = []plan.EnvVar{{Name: "A", Value: "s3cret\xff"}} }, "env.A", ""},
		"too long":           {func(c *plan.Container) { c.Env = []plan.EnvVar{{Name: "A", Value: strings.Repeat("s3cret", 30000)}} }, "env.A", ""},
		"too much":           {func(c *plan.Container) { c.Command = slices.Repeat([]string{strings.Repeat("x", 100000)}, 3) }, "env", ""},
		"variable":           {func(c *plan.Container) { c.Env = []plan.EnvVar{{Name: "A B", Value: "x"}} }, "env.A B", ""},
		"argument":           {func(c *plan.Container) { c.Command = []string{"a", "b\x00"} }, "command.1", ""},
		"unit":               {func(c *plan.Container) { c.Unit = "../gitea" }, "name", ""},
		"image":              {func(c *plan.Container) { c.Image = "x y" }, "image", ""},
		"image option":       {func(c *plan.Container) { c.Image = "--privileged" }, "image", ""},
		"user":               {func(c *plan.Container) { c.User = "a b" }, "user", ""},
		"network":            {func(c *plan.Container) { c.Network = "container:other" }, "network", ""},
		"network file":       {func(c *plan.Container) { c.Network = "x.network" }, "network", ""},
		"host publishes":     {func(c *plan.Container) { c.Network = "host" }, "publishes", diag.PublishedNowhere},
		"capability":         {func(c *plan.Container) { c.Capabilities = []string{"NET_BIND"} }, "capabilities.0", ""},
		"every capability":   {func(c *plan.Container) { c.Capabilities = []string{"ALL"} }, "capabilities.0", ""},
		"anonymous volume":   {func(c *plan.Container) { c.Volumes = []string{"/data"} }, "volumes.0", ""},
		"relative source":    {func(c *plan.Container) { c.Volumes = []string{"./data:/data"} }, "volumes.0", ""},
		"relative target":    {func(c *plan.Container) { c.Volumes = []string{"/data:data"} }, "volumes.0", ""},
		"unclean source":     {func(c *plan.Container) { c.Volumes = []string{"/a/../b:/data"} }, "volumes.0", ""},
		"root":               {func(c *plan.Container) { c.Volumes = []string{"/a:/"} }, "volumes.0", ""},
		"spaces in a source": {func(c *plan.Container) { c.Volumes = []string{"/a b:/data"} }, "volumes.0", ""},
		"volume option":      {func(c *plan.Container) { c.Volumes = []string{"/a:/data:readonly"} }, "volumes.0", ""},
		"ranges":             {func(c *plan.Container) { c.Publishes = []plan.Publish{{Port: 1, To: 3, Inside: 1, InTo: 2}} }, "publishes.0", ""},
		"no port":            {func(c *plan.Container) { c.Publishes = []plan.Publish{{Port: 0, Inside: 80}} }, "publishes.0", ""},
		"name for address":   {func(c *plan.Container) { c.Publishes = []plan.Publish{{Address: "anchor", Port: 1, Inside: 1}} }, "publishes.0", ""},
		"protocol":           {func(c *plan.Container) { c.Publishes = []plan.Publish{{Port: 1, Inside: 1, Protocol: "icmp"}} }, "publishes.0", ""},
		"whole mapping":      {func(c *plan.Container) { c.Publishes = []plan.Publish{{Whole: "80:80\nPrivileged=true"}} }, "publishes.0", ""},
		"health":             {func(c *plan.Container) { c.Health = []string{"a", "b\x00"} }, "health.1", ""},
	} {
		for _, runtime := range []string{"podman", "docker"} {
			t.Run(name+" "+runtime, func(t *testing.T) {
				g := gitea()
				c.change(&g)
				code := c.code
				if code == "" {
					code = diag.ContainerValue
				}
				refused(t, g, runtime, c.field, code)
			})
		}
	}
	c := plan.Container{Unit: "a", Image: "quay.io/x.image"}
	refused(t, c, "podman", "image", diag.ContainerValue)
	if _, err := container.Lower(c, "docker", "", nil); err != nil {
		t.Errorf("docker: %v", err)
	}
	if _, err := container.Lower(gitea(), "docker", "two\nlines", nil); err == nil {
		t.Error("a description of two lines is accepted")
	}
	if _, err := container.Lower(gitea(), "docker", "", []string{"a b"}); err == nil {
		t.Error("anything is accepted as a unit's name")
	}
	for _, o := range []container.Options{{MTU: 100}, {Hosts: []container.Host{{Name: "a b", Address: netip.MustParseAddr("::1")}}}, {Hosts: []container.Host{{Name: "a"}}}} {
		if _, err := o.Lower(gitea(), "docker", "", nil); err == nil {
			t.Errorf("%+v is accepted", o)
		}
	}
}
