package container

import (
	"encoding/json"
	"fmt"
	"strings"
	"unicode"

	"meshc.dev/render/sink"
)

const (
	// stopSeconds is how long a container may take to stop before it is killed: databases
	// need more than the runtimes' 10.
	stopSeconds = 30
	// restartSeconds is the pause before it is started again.
	restartSeconds = 5
	// startSeconds is how long a start may take, the image's download in it.
	startSeconds = 900
)

// writer puts a unit together. The first value that its sink refuses is kept as the error.
type writer struct {
	b   strings.Builder
	err error
}

func (w *writer) section(name string) {
	if w.b.Len() > 0 {
		w.b.WriteByte('\n')
	}
	w.b.WriteString("[" + name + "]\n")
}

// set writes a key whose value is a unit's text already.
func (w *writer) set(key, text string) { w.b.WriteString(key + "=" + text + "\n") }

func (w *writer) setInt(key string, n int) { w.set(key, fmt.Sprint(n)) }

// carried notes what a sink said about a field and gives its text.
func (w *writer) carried(field, text string, err error) string {
	if err != nil && w.err == nil {
		w.err = cannotCarry(field, err)
	}
	return text
}

func (w *writer) finish() (string, error) {
	if w.err != nil {
		return "", w.err
	}
	return w.b.String(), nil
}

// unitSection writes what both runtimes' units begin with.
func (w *writer) unitSection(s settled, before ...string) {
	w.section("Unit")
	if s.description != "" {
		text, err := sink.SystemdValue(s.description)
		w.set("Description", w.carried("description", text, err))
	}
	for _, u := range before {
		w.set("Requires", u)
	}
	// Order alone starts nothing: who starts the container first brings the others up too.
	for _, u := range s.after {
		w.set("Wants", u)
	}
	for _, u := range append(before, s.after...) {
		w.set("After", u)
	}
	w.set("StartLimitIntervalSec", "0")
}

// restarts writes how the service is started again and how long it may take.
func (w *writer) restarts() {
	w.set("Restart", "always")
	w.setInt("RestartSec", restartSeconds)
	w.setInt("TimeoutStartSec", startSeconds)
	w.setInt("TimeoutStopSec", stopSeconds+15)
}

func (w *writer) install() {
	w.section("Install")
	w.set("WantedBy", "multi-user.target")
}

// mtuNetwork is the network for containers without one of their own where packets have to be
// smaller. Its name has the size in it, so another size is another network.
func mtuNetwork(mtu int) string { return fmt.Sprintf("meshc-mtu%d", mtu) }

// joinsMTUNetwork says whether the container is put into that network.
func (s settled) joinsMTUNetwork() bool { return s.options.MTU != 0 && s.Network == "" }

// shellCommand writes a command as one line for a shell.
func shellCommand(words []string) (string, error) {
	quoted := make([]string, len(words))
	for i, word := range words {
		q, err := sink.ShellQuote(word)
		if err != nil {
			return "", err
		}
		quoted[i] = q
	}
	return strings.Join(quoted, " "), nil
}

// podmanHealth writes a command in the form in which podman's --health-cmd runs it without a
// shell: a JSON list of several words, or CMD before a single one. A single word with
// spaces in it is left to a shell, in quotes.
func podmanHealth(words []string) (string, error) {
	if len(words) > 1 {
		var b strings.Builder
		e := json.NewEncoder(&b)
		e.SetEscapeHTML(false)
		if err := e.Encode(words); err != nil {
			return "", err
		}
		return strings.TrimSuffix(b.String(), "\n"), nil
	}
	if words[0] != "" && !strings.ContainsFunc(words[0], unicode.IsSpace) {
		return "CMD " + words[0], nil
	}
	return shellCommand(words)
}

// checkHealth refuses the words with which image files begin a check: podman would take the
// command apart again behind them.
func checkHealth(words []string) error {
	switch strings.ToUpper(words[0]) {
	case "CMD", "CMD-SHELL", "NONE":
		return healthKeyword(words[0])
	}
	for i, w := range words {
		if _, err := sink.SystemdArg(w); err != nil {
			return cannotCarry(indexed("health", i), err)
		}
	}
	return nil
}
