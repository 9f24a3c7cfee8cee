package report_test

import (
	"bufio"
	"bytes"
	"encoding/base64"
	"encoding/json"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// browser is a headless Chromium with one tab, driven over a pipe in the DevTools protocol.
type browser struct {
	t       *testing.T
	to      *os.File
	replies chan message
	id      int
	session string

	// requests and errors are what the page asked of a network and what it complained of.
	requests, errors []string
}

type message struct {
	ID     int             `json:"id"`
	Method string          `json:"method"`
	Params json.RawMessage `json:"params"`
	Result json.RawMessage `json:"result"`
	Error  *struct{ Message string }
}

// patience is how long a browser may take on a busy machine.
const patience = 2 * time.Minute

func newBrowser(t *testing.T) *browser {
	t.Helper()
	program, err := exec.LookPath("chromium")
	if err != nil {
		if os.Getenv("MESHC_TEST_TOOLS") == "required" {
			t.Fatal("chromium is missing, and MESHC_TEST_TOOLS says that it is required")
		}
		t.Skip("chromium is not installed")
	}
	fromUs, to, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	from, toUs, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(program, "--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking",
		"--disable-component-update", "--disable-sync", "--disable-dev-shm-usage", "--user-data-dir="+t.TempDir(), "--remote-debugging-pipe", "about:blank")
	cmd.ExtraFiles = []*os.File{fromUs, toUs}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	_ = fromUs.Close()
	_ = toUs.Close()
	b := &browser{t: t, to: to, replies: make(chan message, 1000)}
	go b.listen(from)
	t.Cleanup(func() {
		// Asked to close, it ends its own processes and lets go of its folder.
		b.session = ""
		b.send("Browser.close", nil)
		done := make(chan error, 1)
		go func() { done <- cmd.Wait() }()
		select {
		case <-done:
		case <-time.After(20 * time.Second):
			_ = cmd.Process.Kill()
			<-done
		}
		_ = to.Close()
		_ = from.Close()
	})
	var target struct{ TargetID string }
	b.call("Target.createTarget", map[string]any{"url": "about:blank"}, &target)
	var session struct{ SessionID string }
	b.call("Target.attachToTarget", map[string]any{"targetId": target.TargetID, "flatten": true}, &session)
	b.session = session.SessionID
	for _, domain := range []string{"Page", "Runtime", "Network", "Log"} {
		b.call(domain+".enable", nil, nil)
	}
	return b
}

func (b *browser) listen(from *os.File) {
	r := bufio.NewReader(from)
	for {
		text, err := r.ReadBytes(0)
		if err != nil {
			close(b.replies)
			return
		}
		var m message
		if json.Unmarshal(bytes.TrimRight(text, "\x00"), &m) == nil {
			b.replies <- m
		}
	}
}

func (b *browser) send(method string, params any) int {
	b.id++
	m := map[string]any{"id": b.id, "method": method}
	if params != nil {
		m["params"] = params
	}
	if b.session != "" {
		m["sessionId"] = b.session
	}
	text, err := json.Marshal(m)
	if err != nil {
		b.t.Fatal(err)
	}
	if _, err := b.to.Write(append(text, 0)); err != nil && !errors.Is(err, os.ErrClosed) {
		b.t.Logf("%s: %v", method, err)
	}
	return b.id
}

// call sends a command and waits for its answer.
func (b *browser) call(method string, params, result any) {
	b.t.Helper()
	id := b.send(method, params)
	b.until(method, func(m message) bool {
		if m.ID != id {
			return false
		}
		if m.Error != nil {
			b.t.Fatalf("%s: %s", method, m.Error.Message)
		}
		if result != nil {
			if err := json.Unmarshal(m.Result, result); err != nil {
				b.t.Fatalf("%s: %v", method, err)
			}
		}
		return true
	})
}

// until reads what the browser says until it is what is waited for.
func (b *browser) until(what string, found func(message) bool) {
	b.t.Helper()
	late := time.After(patience)
	for {
		select {
		case m, ok := <-b.replies:
			if !ok {
				b.t.Fatalf("chromium ended while it was to do %s", what)
			}
			b.note(m)
			if found(m) {
				return
			}
		case <-late:
			b.t.Fatalf("chromium does not answer %s", what)
		}
	}
}

func (b *browser) note(m message) {
	var p struct {
		Request struct{ URL string }
		Entry   struct{ Level, Text, URL string }
		Type    string
	}
	_ = json.Unmarshal(m.Params, &p)
	switch {
	case m.Method == "Network.requestWillBeSent":
		b.requests = append(b.requests, p.Request.URL)
	case m.Method == "Runtime.exceptionThrown", m.Method == "Runtime.consoleAPICalled" && p.Type == "error":
		b.errors = append(b.errors, string(m.Params))
	case m.Method == "Log.entryAdded" && (p.Entry.Level == "error" || p.Entry.Level == "warning"):
		b.errors = append(b.errors, p.Entry.Level+": "+p.Entry.Text)
	case m.Method == "Page.javascriptDialogOpening":
		b.t.Fatalf("the page opens a dialog: %s", m.Params)
	}
}

// open shows a page of a certain width, light or dark.
func (b *browser) open(page []byte, width, height int, scheme string) {
	b.t.Helper()
	file := filepath.Join(b.t.TempDir(), "page.html")
	if err := os.WriteFile(file, page, 0o644); err != nil {
		b.t.Fatal(err)
	}
	b.call("Emulation.setDeviceMetricsOverride", map[string]any{"width": width, "height": height, "deviceScaleFactor": 1, "mobile": width < 600}, nil)
	b.call("Emulation.setEmulatedMedia", map[string]any{"features": []map[string]string{{"name": "prefers-color-scheme", "value": scheme}}}, nil)
	b.send("Page.navigate", map[string]any{"url": "file://" + file})
	b.until("Page.navigate", func(m message) bool { return m.Method == "Page.loadEventFired" })
}

// value is what an expression gives in the page.
func (b *browser) value(expression string, into any) {
	b.t.Helper()
	var r struct {
		Result           struct{ Value json.RawMessage }
		ExceptionDetails any
	}
	b.call("Runtime.evaluate", map[string]any{"expression": expression, "returnByValue": true}, &r)
	if r.ExceptionDetails != nil {
		b.t.Fatalf("%s: %v", expression, r.ExceptionDetails)
	}
	if err := json.Unmarshal(r.Result.Value, into); err != nil {
		b.t.Fatalf("%s gives %s: %v", expression, r.Result.Value, err)
	}
}

func (b *browser) text(expression string) string {
	b.t.Helper()
	var s string
	b.value("String("+expression+")", &s)
	return s
}

func (b *browser) is(expression string) bool {
	b.t.Helper()
	var is bool
	b.value("!!("+expression+")", &is)
	return is
}

// becomes waits a little for what an event brings about.
func (b *browser) becomes(expression string) bool {
	b.t.Helper()
	for range 50 {
		if b.is(expression) {
			return true
		}
		time.Sleep(50 * time.Millisecond)
	}
	return false
}

// press presses keys one after another: a name of the DevTools protocol, or a text to type.
func (b *browser) press(keys ...string) {
	b.t.Helper()
	codes := map[string]int{"Enter": 13, "Escape": 27, "Tab": 9, " ": 32, "ArrowDown": 40, "ArrowUp": 38}
	for _, k := range keys {
		names := []string{k}
		if codes[k] == 0 {
			names = strings.Split(k, "")
		}
		for _, name := range names {
			text := name
			switch {
			case name == "Enter":
				text = "\r"
			case len(name) > 1:
				text = ""
			}
			down := map[string]any{"type": "keyDown", "key": name, "windowsVirtualKeyCode": codes[name]}
			if text != "" {
				down["text"] = text
			}
			b.call("Input.dispatchKeyEvent", down, nil)
			b.call("Input.dispatchKeyEvent", map[string]any{"type": "keyUp", "key": name, "windowsVirtualKeyCode": codes[name]}, nil)
		}
	}
}

// picture writes what is seen into the folder that MESHC_SCREENSHOTS names, for a person to look at.
func (b *browser) picture(name string) {
	b.t.Helper()
	dir := os.Getenv("MESHC_SCREENSHOTS")
	if dir == "" {
		return
	}
	var shot struct{ Data string }
	b.call("Page.captureScreenshot", map[string]any{"captureBeyondViewport": false}, &shot)
	png, err := base64.StdEncoding.DecodeString(shot.Data)
	if err != nil {
		b.t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, name+".png"), png, 0o644); err != nil {
		b.t.Fatal(err)
	}
}
