package report_test

import (
	"crypto/sha256"
	"encoding/base64"
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"regexp"
	"strings"
	"testing"

	"meshc.dev/compiler/addr"
	"meshc.dev/compiler/plan"
	"meshc.dev/render/bundle"
	"meshc.dev/render/diff"
	"meshc.dev/render/report"
)

// machine is a node with a bundle of its files, and of a secret where there is one.
func machine(t *testing.T, name string, files map[string]string) (*plan.Node, *bundle.Bundle) {
	t.Helper()
	n := &plan.Node{Name: addr.Node(name), Site: "house", Managed: true, Instances: []*plan.Instance{{Name: "app", Module: "app", Because: []string{"assigned"}}}}
	var entries []bundle.Entry
	d := &bundle.Declaration{Format: bundle.Format, Mesh: "try", Node: name}
	k := 0
	for path, content := range files {
		k++
		e := bundle.NewEntry(bundle.FileSource(path), []byte(content))
		entries = append(entries, e)
		d.Items = append(d.Items, &bundle.File{ID: bundle.ID(fmt.Sprintf("app/file.f%d", k)), Path: path, Source: e.Name, SHA256: e.Sum, Mode: 0o644})
	}
	b, err := bundle.New(d, entries, bundle.Origin{})
	if err != nil {
		t.Fatal(err)
	}
	return n, b
}

var policyIn = regexp.MustCompile(`http-equiv="Content-Security-Policy" content="([^"]*)"`)

// REV-6: the page asks for nothing: its policy lets through its own style and script and
// nothing else, and it names no other place.
func TestPageIsWhole(t *testing.T) {
	p := string(page(t, homeChanged(t)))
	m := policyIn.FindStringSubmatch(p)
	if m == nil {
		t.Fatal("the page has no policy")
	}
	policy := strings.ReplaceAll(strings.ReplaceAll(m[1], "&#39;", "'"), "&#43;", "+")
	if !strings.HasPrefix(policy, "default-src 'none'; ") || strings.Contains(policy, "unsafe") {
		t.Errorf("the policy is %s", policy)
	}
	for _, tag := range []string{"style", "script"} {
		_, rest, _ := strings.Cut(p, "<"+tag+">")
		content, _, ok := strings.Cut(rest, "</"+tag+">")
		sum := sha256.Sum256([]byte(content))
		if want := tag + "-src 'sha256-" + base64.StdEncoding.EncodeToString(sum[:]) + "'"; !ok || !strings.Contains(policy, want) {
			t.Errorf("the policy does not have %s", want)
		}
		if n := strings.Count(p, "<"+tag); n != 1 {
			t.Errorf("there are %d %s elements", n, tag)
		}
	}
	for _, reach := range regexp.MustCompile(`(?i)\b(src|href|action|data|poster|style)="([^"]*)"`).FindAllStringSubmatch(p, -1) {
		if reach[1] == "style" || !strings.HasPrefix(reach[2], "#") {
			t.Errorf("the page has %s", reach[0])
		}
	}
}

// REV-6: what a mesh says is text, wherever it is shown, and hides nothing.
func TestNothingOfAMeshIsMarkup(t *testing.T) {
	const evil = "\"'><script>alert(1)</script><img src=x onerror=alert(2)>\u202etxt\x1b[2J"
	n, b := machine(t, "anchor", map[string]string{"/etc/evil": evil + "</pre></details>"})
	n.Site, n.Endpoint, n.Recipient = evil, evil, evil
	n.Instances[0].Name, n.Instances[0].Module, n.Instances[0].Because = evil, evil, []string{evil}
	n.Instances[0].Listens = []plan.Listen{{Name: evil, Protocol: evil, Address: evil, Reach: evil}}
	n.Instances[0].Resources = []plan.Resource{{Secret: &plan.Secret{Key: evil, Role: evil, Path: evil}}}
	n.Takes = []plan.Take{{Instance: evil, Provision: evil, Licence: evil}, {Instance: evil, Provision: evil, Node: addr.Node("other"), Provider: evil, As: evil, HostPort: evil}}
	n.Networks = []plan.Network{{Network: evil, Name: evil, Prefix: evil, Interface: evil}}
	n.Reserved = []plan.Reserved{{From: 1, To: 1, Reason: evil}}
	other, ob := machine(t, "other", nil)
	d := &diff.Diff{From: evil, To: evil, Impact: diff.Restart, Compiler: evil, Nodes: map[string]diff.Impact{"anchor": diff.Restart}, Changes: []diff.Change{
		{Impact: diff.Restart, Kind: diff.OfFile, Nodes: []string{"anchor"}, What: evil, Because: []string{evil}, At: evil, Detail: "+" + evil + "\n"},
	}}
	in := report.Input{Plan: &plan.Plan{Mesh: evil, Domain: evil, Nodes: []*plan.Node{n, other}}, Bundles: []*bundle.Bundle{b, ob}, Diff: d, Version: evil}
	p := page(t, in)
	if k := strings.Count(string(p), "<script"); k != 1 {
		t.Errorf("the page has %d scripts", k)
	}
	if strings.Contains(string(p), "<img") {
		t.Error("the page has an image of the mesh's")
	}
	if strings.Contains(string(p), "\u202e") || strings.Contains(string(p), "\x1b") {
		t.Error("the page has characters that turn text around, or drive terminals")
	}
	b2 := newBrowser(t)
	b2.open(p, 1280, 900, "light")
	if got := b2.text("document.querySelectorAll('img').length + ' ' + document.querySelectorAll('script').length"); got != "0 1" {
		t.Errorf("images and scripts in the browser: %s", got)
	}
	if !b2.is("[...document.querySelectorAll('pre')].some(e => e.textContent.includes('onerror=alert(2)>'))") {
		t.Error("the file is not shown as it is")
	}
	for _, e := range b2.errors {
		t.Errorf("the browser says: %s", e)
	}
}

// SEC-9: a blob is not in the page, and where a file has a secret the page has its name.
func TestNoSecretInThePage(t *testing.T) {
	n, _ := machine(t, "anchor", nil)
	const blob = "age-encryption.org/v1 THE-BLOB"
	text := "password=\nuser=app\n"
	file, sealed := bundle.NewEntry(bundle.FileSource("/etc/app"), []byte(text)), bundle.NewEntry("sealed/app.age", []byte(blob))
	d := &bundle.Declaration{Format: bundle.Format, Mesh: "try", Node: "anchor", Items: []bundle.Item{
		&bundle.Secret{ID: "app/secret.needs.key", Sealed: sealed.Name, Generation: 1, Key: "need app@anchor key", Role: "holder", Mode: 0o600},
		&bundle.File{
			ID: "app/file.config", Path: "/etc/app", Source: file.Name, SHA256: file.Sum, Mode: 0o600,
			Fills: []bundle.Fill{{Offset: len("password="), Secret: "app/secret.needs.key", Generation: 1, Encoding: bundle.Value}},
		},
	}}
	b, err := bundle.New(d, []bundle.Entry{file, sealed}, bundle.Origin{Complete: true})
	if err != nil {
		t.Fatal(err)
	}
	p := string(page(t, report.Input{Plan: &plan.Plan{Mesh: "try", Nodes: []*plan.Node{n}}, Bundles: []*bundle.Bundle{b}}))
	if strings.Contains(p, "THE-BLOB") {
		t.Error("the page has a sealed blob")
	}
	if !strings.Contains(p, "password=<mark>‹secret app/secret.needs.key, value›</mark>\nuser=app") {
		t.Error("the place of the secret in the file is not shown")
	}
}

// REV-6: however large a mesh is, the page stays small enough to open; it says what it
// left out, has every node, and has most of those that change.
func TestPageIsBounded(t *testing.T) {
	p := &plan.Plan{Mesh: "try"}
	var bundles []*bundle.Bundle
	for k := range 400 {
		n, b := machine(t, fmt.Sprintf("n%03d", k), map[string]string{"/etc/one": strings.Repeat(fmt.Sprintf("line of n%03d\n", k), 600)})
		p.Nodes, bundles = append(p.Nodes, n), append(bundles, b)
	}
	d := &diff.Diff{Impact: diff.Restart, Nodes: map[string]diff.Impact{"n399": diff.Restart}, Changes: []diff.Change{
		{Impact: diff.Restart, Kind: diff.OfUnit, Nodes: []string{"n399"}, What: "app.service restarts"},
		{Impact: diff.Nothing, Kind: diff.OfFile, Nodes: []string{"n399"}, What: "/etc/one", Detail: strings.Repeat("+a line that is new\n", 40000)},
	}}
	const most = 600 << 10
	out := string(page(t, report.Input{Plan: p, Bundles: bundles, Diff: d, MaxBytes: most}))
	if len(out) > most {
		t.Errorf("the page has %d bytes, more than %d", len(out), most)
	}
	for _, n := range p.Nodes {
		if !strings.Contains(out, `id="node-`+string(n.Name)+`"`) {
			t.Fatalf("%s is not in the page", n.Name)
		}
	}
	if !strings.Contains(out, "line of n399") {
		t.Error("the files of the one node that changes are left out")
	}
	if !regexp.MustCompile(`leaves out: what is changed in 1 file; the contents of files of \d+ nodes\.`).MatchString(out) {
		_, rest, _ := strings.Cut(out, "leaves out")
		t.Errorf("of what is left out it is said: %.200s", rest)
	}
	if strings.Contains(string(page(t, report.Input{Plan: p, Bundles: bundles})), `id="left-out"`) {
		t.Error("with room for everything something is left out")
	}
}

// The page is well-formed enough that every element that is opened is closed in order.
func TestElementsAreClosed(t *testing.T) {
	p := string(page(t, homeChanged(t)))
	_, body, _ := strings.Cut(p, "<body>")
	body, _, _ = strings.Cut(body, "<script>")
	body = regexp.MustCompile(`<(input|br)\b([^>]*)>`).ReplaceAllString(body, "<$1$2/>")
	d := xml.NewDecoder(strings.NewReader("<body>" + body + "</body>"))
	d.Entity = xml.HTMLEntity
	for {
		_, err := d.Token()
		if errors.Is(err, io.EOF) {
			return
		}
		if err != nil {
			t.Fatal(err)
		}
	}
}
