package container_test

import (
	"encoding/json"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"meshc.dev/compiler/plan"
	"meshc.dev/render/container"
	"meshc.dev/render/sink/sinktest"
)

// podmanTest reads --health-cmd as podman 5.4 does (MakeHealthCheckFromCli in pkg/specgenutil): a list of
// several words is run as it is, one that begins with a keyword is split at spaces, and anything
// else is for a shell.
func podmanTest(t *testing.T, s string) []string {
	t.Helper()
	var words []string
	isList := json.Unmarshal([]byte(s), &words) == nil
	if !isList {
		words = strings.SplitN(s, " ", 2)
	}
	if len(words) == 0 {
		t.Fatalf("no command in %q", s)
	}
	switch first := strings.ToUpper(words[0]); {
	case first == "CMD" || first == "NONE":
		return strings.Fields(s)
	case first == "CMD-SHELL":
		return words
	case isList && len(words) > 1:
		return append([]string{"CMD"}, words...)
	}
	return []string{"CMD-SHELL", strings.Join(words, " ")}
}

// O08: a container of random values is started with them by podman and by docker, or is refused
//
// BLD-6: what the process gets equals what was written
func TestRandomValues(t *testing.T) {
	alphabet := []string{"%", "$", "\\", "\"", "'", " ", ";", "#", "\n", "\t", "\r", "{", "}", "=", "a", "n", "x41", "i", "é", "\u0080", "\u0085", "\x7f", "\x1b", "\ufffe", "-", ",", "[", "]"}
	r := rand.New(rand.NewPCG(8, 8))
	word := func() string {
		var b strings.Builder
		for range r.IntN(6) {
			b.WriteString(alphabet[r.IntN(len(alphabet))])
		}
		return b.String()
	}
	accepted := 0
	// The generator reads a whole folder at once, and a value is one line of one container.
	c := plan.Container{Unit: "random", Image: "localhost/random"}
	for range 1500 {
		try := plan.Container{Unit: "random", Image: "localhost/random", Command: []string{word()}}
		if _, err := container.Lower(try, "podman", "", nil); err != nil {
			continue
		}
		accepted++
		c.Command = append(c.Command, try.Command...)
	}
	if accepted < 1000 {
		t.Errorf("only %d values are accepted", accepted)
	}
	_, argv := generated(t, c, container.Options{})
	if got := argv[slices.Index(argv, c.Image)+1:]; !slices.Equal(got, c.Command) {
		for i := range c.Command {
			if i >= len(got) || got[i] != c.Command[i] {
				t.Fatalf("argument %d is %q, want %q", i, got[min(i, len(got)-1)], c.Command[i])
			}
		}
	}
	_, commands := dockerCommands(t, c, container.Options{})
	run := commands("ExecStart")[0]
	if got := run[slices.Index(run, c.Image)+1:]; !slices.Equal(got, c.Command) {
		t.Error("docker is started with other arguments")
	}
}

// BLD-6: no value in any field makes another line, another key or another argument
func FuzzLower(f *testing.F) {
	for _, v := range values {
		f.Add(v)
	}
	f.Add("80:80\nPrivileged=true")
	f.Add("/a:/b\\\nPodmanArgs=--privileged")
	f.Fuzz(func(t *testing.T, s string) {
		if s == "" {
			return // leaves a key out
		}
		plain := plan.Container{
			Unit: "a", Image: "localhost/a", Command: []string{"x"}, Env: []plan.EnvVar{{Name: "A", Value: "x"}}, User: "1", Network: "n",
			Publishes: []plan.Publish{{Whole: "1:1"}}, Volumes: []string{"/a:/b"}, Health: []string{"x", "y"}, Capabilities: []string{"KILL"},
		}
		for _, change := range []func(*plan.Container){
			func(c *plan.Container) { c.Command = []string{s} },
			func(c *plan.Container) { c.Env = []plan.EnvVar{{Name: "A", Value: s}} },
			func(c *plan.Container) { c.Env = []plan.EnvVar{{Name: s, Value: "x"}} },
			func(c *plan.Container) { c.Image = s },
			func(c *plan.Container) { c.User = s },
			func(c *plan.Container) { c.Network = s },
			func(c *plan.Container) { c.Publishes = []plan.Publish{{Whole: s}} },
			func(c *plan.Container) { c.Volumes = []string{s} },
			func(c *plan.Container) { c.Health = []string{s, "y"} },
			func(c *plan.Container) { c.Capabilities = []string{s} },
			func(c *plan.Container) { c.Unit = s },
		} {
			c := plain
			change(&c)
			for _, runtime := range []string{"podman", "docker"} {
				want, err := container.Lower(plain, runtime, "d", nil)
				if err != nil {
					t.Fatal(err)
				}
				got, err := container.Lower(c, runtime, "d", nil)
				if err != nil {
					continue
				}
				sameShape(t, want.Content, got.Content)
			}
		}
	})
}

// sameShape says that two units have the same keys and that their commands have as many words.
func sameShape(t *testing.T, want, got []byte) {
	t.Helper()
	a, err := sinktest.ParseUnit(want)
	if err != nil {
		t.Fatal(err)
	}
	b, err := sinktest.ParseUnit(got)
	if err != nil {
		t.Fatalf("%v in\n%s", err, got)
	}
	keys := func(u sinktest.Unit) string {
		var out []string
		for _, l := range u {
			if l.Key != "Group" && l.Key != "RequiresMountsFor" { // a user's group, a volume that is no path
				out = append(out, l.Section+"."+l.Key)
			}
		}
		return strings.Join(out, "\n")
	}
	if keys(a) != keys(b) {
		t.Fatalf("the keys are others in\n%s", got)
	}
	for _, key := range []string{"ExecStart", "ExecStop", "ExecStartPre"} {
		x, _ := sinktest.Argv(a.Value("Service", key), "a")
		y, err := sinktest.Argv(b.Value("Service", key), "a")
		if err != nil || len(x) != len(y) {
			t.Fatalf("%s has %d words, want %d, %v in\n%s", key, len(y), len(x), err, got)
		}
	}
	for _, key := range []string{"Exec", "Environment"} {
		x, _ := sinktest.Words(a.Value("Container", key))
		y, err := sinktest.Words(b.Value("Container", key))
		if err != nil || len(x) != len(y) {
			t.Fatalf("%s has %d words, want %d, %v in\n%s", key, len(y), len(x), err, got)
		}
	}
}
