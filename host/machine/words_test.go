package machine

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"
)

// What systemctl says of a unit, and what it means.
func TestUnitCondition(t *testing.T) {
	for name, c := range map[string]struct {
		show string
		want Condition
	}{
		"runs and is enabled": {"LoadState=loaded\nActiveState=active\nUnitFileState=enabled\nType=notify\n", Condition{Running: true, Enabled: true}},
		"starting":            {"LoadState=loaded\nActiveState=activating\nUnitFileState=disabled\n", Condition{Running: true}},
		"failed":              {"LoadState=loaded\nActiveState=failed\nUnitFileState=enabled\nType=oneshot\nResult=exit-code\nExecMainExitTimestampMonotonic=5\n", Condition{Enabled: true, Broken: true}},
		"oneshot, done":       {"LoadState=loaded\nActiveState=inactive\nUnitFileState=static\nType=oneshot\nResult=success\nExecMainExitTimestampMonotonic=5\n", Condition{Running: true, Generated: true}},
		"oneshot, never":      {"LoadState=loaded\nActiveState=inactive\nUnitFileState=static\nType=oneshot\nResult=success\nExecMainExitTimestampMonotonic=0\n", Condition{Generated: true}},
		"of a quadlet":        {"LoadState=loaded\nActiveState=active\nUnitFileState=generated\n", Condition{Running: true, Generated: true}},
		"not there":           {"LoadState=not-found\nActiveState=inactive\nUnitFileState=\n", Condition{Absent: true}},
	} {
		if got := unitCondition(properties(c.show)); got != c.want {
			t.Errorf("%s: %+v, not %+v", name, got, c.want)
		}
	}
	stopped := Condition{Absent: true}
	if !stopped.Meets(Unit, Condition{}) || stopped.Meets(Unit, Condition{Running: true}) {
		t.Error("a unit that does not exist is not one that does not run")
	}
}

// O08: a version of the generator that drops a key says so and succeeds; the file is
// refused all the same, and no other.
func TestRefusedQuadlets(t *testing.T) {
	files := map[string][]byte{QuadletDir + "/a.container": nil, QuadletDir + "/b.container": nil, QuadletDir + "/c.network": nil}
	said := `quadlet-generator[10]: Loading source unit file /tmp/x/a.container
quadlet-generator[10]: converting "b.container": unsupported key 'Frob' in group 'Container' in /tmp/x/b.container
---a.service---
ExecStart=/usr/bin/podman run --error c.network
quadlet-generator[10]: processing encountered some errors`
	refused := refusedQuadlets(t.Context(), said, files)
	if len(refused) != 1 || refused[QuadletDir+"/b.container"] == nil {
		t.Errorf("got %v", refused)
	}
}

func TestQuadletUnit(t *testing.T) {
	for p, want := range map[string]string{
		QuadletDir + "/gitea.container": "gitea.service", QuadletDir + "/mtu.network": "mtu-network.service", QuadletDir + "/d.volume": "d-volume.service",
	} {
		if got := QuadletUnit(p); got != want || !IsQuadlet(p) {
			t.Errorf("%s makes %s, not %s", p, got, want)
		}
	}
	if IsQuadlet(QuadletDir+"/readme.md") || IsQuadlet("/etc/x.container") {
		t.Error("what is no Quadlet file counts as one")
	}
}

// What a program says is cut to its end, where the reason stands.
func TestShorten(t *testing.T) {
	if got := shorten(t.Context(), "1\n2\n3\n4\n5\n\n6\n7"); got != "3; 4; 5; 6; 7" {
		t.Errorf("got %q", got)
	}
}

// HST-9: what a program says goes through the context's hide before it is cut short or told.
func TestHiding(t *testing.T) {
	secret := strings.Repeat("s3cret", 200)
	ctx := Hiding(t.Context(), func(s string) string { return strings.ReplaceAll(s, secret, "(secret)") })
	var told []string
	out, err := runWith(ctx, nil, func(line string) { told = append(told, line) }, "sh", "-c", "echo it says "+secret+"; exit 1")
	if err == nil {
		t.Fatal("it succeeded")
	}
	quadlet := refusedQuadlets(ctx, "quadlet-generator[1]: error in a.container: "+secret, map[string][]byte{"/a.container": nil})
	for what, text := range map[string]string{
		"an error": failed(ctx, "sh", out, err).Error(), "a validator's": notAccepted(ctx, "sh", out, err).Error(),
		"progress": strings.Join(told, "\n"), "the generator's": fmt.Sprint(quadlet["/a.container"]),
	} {
		if strings.Contains(text, "s3cret") || !strings.Contains(text, "(secret)") {
			t.Errorf("%s: %s", what, text)
		}
	}
}

// O08: of two files of which one's name ends in the other's, only the one that is meant is
// refused; and a generator that fails and names none has accepted none.
func TestRefusedQuadletNames(t *testing.T) {
	files := map[string][]byte{QuadletDir + "/app.container": nil, QuadletDir + "/my-app.container": nil, QuadletDir + "/my.app.container": nil}
	refused := refusedQuadlets(t.Context(), `quadlet-generator[1]: converting "my-app.container": unsupported key 'Frob'
quadlet-generator[1]: error loading /tmp/x/my.app.container.`, files)
	if len(refused) != 2 || refused[QuadletDir+"/app.container"] != nil {
		t.Errorf("got %v", refused)
	}
}

// HST-11: programs are found where the machine has them, whatever the caller's PATH, and
// what one says when it fails is told.
func TestAsk(t *testing.T) {
	t.Setenv("PATH", "/nowhere")
	out, err := Ask(t.Context(), "sh", "-c", "echo yes; echo said >&2")
	if err != nil || string(out) != "yes\n" {
		t.Errorf("got %q, %v", out, err)
	}
	if _, err := Ask(t.Context(), "sh", "-c", "echo why >&2; exit 3"); err == nil || !strings.Contains(err.Error(), "exit status 3: why") {
		t.Errorf("got %v", err)
	}
	if _, err := Ask(t.Context(), "no-such-program", "x"); !errors.Is(err, exec.ErrNotFound) {
		t.Errorf("got %v", err)
	}
	if out, err := run(t.Context(), "sh", "-c", "echo yes"); err != nil || out != "yes" {
		t.Errorf("got %q, %v", out, err)
	}
}

// O08: a generator that fails and names no file has accepted none of them.
func TestGeneratorFails(t *testing.T) {
	generator := filepath.Join(t.TempDir(), "generator")
	was := quadletGenerators
	quadletGenerators = []string{generator}
	t.Cleanup(func() { quadletGenerators = was })
	files := map[string][]byte{QuadletDir + "/a.container": []byte("[Container]\n")}
	for script, want := range map[string]string{"exit 0": "", "echo panic: boom; exit 2": "panic: boom"} {
		if err := os.WriteFile(generator, []byte("#!/bin/sh\n"+script+"\n"), 0o755); err != nil {
			t.Fatal(err)
		}
		refused, err := systemd{}.Try(t.Context(), files)
		if len(refused) > 0 || (err != nil) != (want != "") || err != nil && !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, %v", script, refused, err)
		}
	}
}

// HST-2, T54: of what a program prints the end is kept, however much it is, and each line
// is told; what is asked for is taken whole or not at all.
func TestProgramWithoutAnEnd(t *testing.T) {
	ctx, stop := context.WithTimeout(t.Context(), 300*time.Millisecond)
	defer stop()
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	out, _ := run(ctx, "sh", "-c", "yes; echo last")
	runtime.ReadMemStats(&after)
	if len(out) > maxTold || after.HeapAlloc > before.HeapAlloc+16*maxTold {
		t.Errorf("%d bytes were kept, the heap grew from %d to %d", len(out), before.HeapAlloc, after.HeapAlloc)
	}
	if out, err := run(t.Context(), "sh", "-c", "yes | head -c 9000000; echo; echo last"); err != nil || !strings.HasSuffix(out, "y\n\nlast") {
		t.Errorf("got …%q, %v", out[max(0, len(out)-20):], err)
	}
	var told []string
	if _, err := runWith(t.Context(), nil, func(s string) { told = append(told, s) }, "sh", "-c", "printf a; sleep 0.1; printf 'b\nc\n\nd'"); err != nil || strings.Join(told, "|") != "ab|c|" {
		t.Errorf("told %q, %v", told, err)
	}
	if _, err := Ask(t.Context(), "sh", "-c", "head -c 40000000 /dev/zero"); err == nil {
		t.Error("40 MB were taken for an answer")
	}
}

// T33: systemctl answers about none where one is a name it does not take; the others are
// asked about one by one.
func TestLookAllOneByOne(t *testing.T) {
	m, _ := newTree(t)
	programs(t, map[string]string{"systemctl": `
		while [ "$1" != -- ]; do shift; done; shift
		case "$*" in *bad*) echo "Failed to get properties: $*" >&2; exit 1;; esac
		first=
		for u; do [ -z "$first" ] || echo; first=no; printf 'LoadState=loaded\nActiveState=active\n'; done`})
	all, err := systemd{m.Root}.LookAll(t.Context(), []string{"a.service", "bad.service", "b@.service", "c.service"})
	unknown := Unknowable{}
	if !errors.As(err, &unknown) || len(unknown) != 2 || unknown["bad.service"] == nil || unknown["b@.service"] == nil {
		t.Errorf("got %v", err)
	}
	if len(all) != 2 || !all["a.service"].Running || !all["c.service"].Running {
		t.Errorf("got %v", all)
	}
}

// T34: a socket is started by stopping the service that it listens for, which runs again
// afterwards.
func TestSocketOfARunningService(t *testing.T) {
	m, dir := newTree(t)
	log := filepath.Join(dir, "log")
	programs(t, map[string]string{"systemctl": `
		case "$*" in
		*Triggers*) echo app.service;;
		show*) printf 'LoadState=loaded\nActiveState=active\n';;
		*) for last; do :; done; shift; echo "$1 $last" >>` + log + `;;
		esac`})
	if err := (systemd{m.Root}).Restart(t.Context(), "app.socket"); err != nil {
		t.Fatal(err)
	}
	did, _ := os.ReadFile(log)
	if got, want := strings.ReplaceAll(strings.TrimSpace(string(did)), "\n", ", "), "reset-failed app.socket, stop app.service, restart app.socket, start app.service"; got != want {
		t.Errorf("it did %s, want %s", got, want)
	}
}
