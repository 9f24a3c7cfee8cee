package sinktest

import (
	"context"
	"encoding/json"
	"io"
	"net"
	"net/http"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
)

// Created is what docker's client asks its daemon for: the part of the API that matters here.
type Created struct {
	Name string `json:"-"`

	Image       string
	Cmd         []string
	Env         []string
	User        string
	StopTimeout *int
	Healthcheck *struct{ Test []string }
	HostConfig  struct {
		Binds          []string
		Mounts         []Mount
		CapAdd         []string
		CapDrop        []string
		SecurityOpt    []string
		ReadonlyRootfs bool
		Tmpfs          map[string]string
		NetworkMode    string
		ExtraHosts     []string
		AutoRemove     bool
		LogConfig      struct{ Type string }
		PortBindings   map[string][]struct{ HostIp, HostPort string }
	}
}

// Mount is one of its mounts.
type Mount struct {
	Type, Source, Target string
	ReadOnly             bool
	BindOptions          *struct{ Propagation string }
}

// DockerCreates runs a docker run command with docker's real client against a daemon of the
// test's, which only listens to what is to be created.
func DockerCreates(t testing.TB, argv []string) Created {
	t.Helper()
	client := Container(t, "docker")
	dir := t.TempDir() // a socket's path is at most 107 bytes
	socket := filepath.Join(dir, "docker.sock")
	listener, err := net.Listen("unix", socket)
	if err != nil {
		t.Fatal(err)
	}
	var once sync.Once
	got := make(chan Created, 1)
	daemon := &http.Server{Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Api-Version", "1.45")
		w.Header().Set("Content-Type", "application/json")
		if !strings.HasSuffix(r.URL.Path, "/containers/create") {
			_, _ = io.WriteString(w, "{}")
			return
		}
		c := Created{Name: r.URL.Query().Get("name")}
		if err := json.NewDecoder(r.Body).Decode(&c); err != nil {
			t.Error(err)
		}
		once.Do(func() { got <- c })
		w.WriteHeader(http.StatusTeapot)
		_, _ = io.WriteString(w, `{"message": "seen"}`)
	})}
	go func() { _ = daemon.Serve(listener) }()
	t.Cleanup(func() { _ = daemon.Shutdown(context.Background()) })

	cmd := exec.Command(client, argv[1:]...)
	cmd.Env = []string{"DOCKER_HOST=unix://" + socket, "DOCKER_CONFIG=" + dir, "HOME=" + dir}
	out, err := cmd.CombinedOutput()
	if err == nil || !strings.Contains(string(out), "seen") {
		t.Fatalf("docker did not come to create anything: %v\n%s\n%q", err, out, argv)
	}
	return <-got
}
