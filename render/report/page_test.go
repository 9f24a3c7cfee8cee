package report_test

import (
	"bytes"
	"context"
	"io/fs"
	"os"
	"strings"
	"sync"
	"testing"
	"testing/fstest"

	"meshc.dev/compiler/evaluate"
	"meshc.dev/render/build"
	"meshc.dev/render/diff"
	"meshc.dev/render/report"
)

// home is meshes/home, and the same with a change: gitea is called otherwise, so it restarts.
var home = sync.OnceValues(func() (report.Input, error) {
	before, after := fstest.MapFS{}, fstest.MapFS{}
	dir := os.DirFS("../../meshes/home")
	err := fs.WalkDir(dir, ".", func(p string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		b, err := fs.ReadFile(dir, p)
		before[p] = &fstest.MapFile{Data: b}
		after[p] = &fstest.MapFile{Data: bytes.ReplaceAll(b, []byte(`app_name: "House"`), []byte(`app_name: "Cottage"`))}
		return err
	})
	if err != nil {
		return report.Input{}, err
	}
	cache := &evaluate.Cache{}
	from, _, err := build.State(before, build.Options{}, cache)
	if err != nil {
		return report.Input{}, err
	}
	to, _, err := build.State(after, build.Options{}, cache)
	if err != nil {
		return report.Input{}, err
	}
	of, and, _ := build.BundlesOfBoth(from, to)
	d := diff.Compare(
		diff.Side{Name: "main", Plan: from.Plan, Lock: from.Lock, Bundles: of},
		diff.Side{Name: "this folder", Plan: to.Plan, Lock: to.Lock, Bundles: and},
	)
	return report.Input{Plan: to.Plan, Bundles: and, Diff: d}, nil
})

func homeChanged(t *testing.T) report.Input {
	t.Helper()
	in, err := home()
	if err != nil {
		t.Fatal(err)
	}
	return in
}

func page(t *testing.T, in report.Input) []byte {
	t.Helper()
	var b bytes.Buffer
	if err := report.Write(context.Background(), &b, in); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// REV-6: the page opens without a network and without complaint; a node is found by
// search and opened with the keyboard; what changed is seen first and in the picture.
func TestInABrowser(t *testing.T) {
	b := newBrowser(t)
	for _, screen := range []struct {
		name          string
		width, height int
		scheme        string
	}{{"desktop", 1280, 900, "light"}, {"phone", 390, 844, "light"}, {"dark", 1280, 900, "dark"}} {
		b.open(page(t, homeChanged(t)), screen.width, screen.height, screen.scheme)
		b.picture(screen.name + "-opened")

		if b.is("document.documentElement.scrollWidth > innerWidth") {
			t.Errorf("%s: the page is wider than the screen: %s of %d", screen.name, b.text("document.documentElement.scrollWidth"), screen.width)
		}
		if first := b.text("document.querySelector('main > section').id"); first != "changes" {
			t.Errorf("%s: the page begins with %s and not with what changes", screen.name, first)
		}
		if verdict := b.text("document.querySelector('.verdict').textContent"); !strings.Contains(verdict, "restart") {
			t.Errorf("%s: first it is said %q, and gitea restarts", screen.name, verdict)
		}
		if at := b.text("[...document.querySelectorAll('.mesh-picture .changed')].map(e => e.dataset.nodes)"); at != "board" {
			t.Errorf("%s: the picture marks %q, and only board changes", screen.name, at)
		}
		if mark := b.text("document.querySelector('.mesh-picture .changed .impact').textContent"); !strings.Contains(mark, "restart") {
			t.Errorf("%s: the mark of board is %q", screen.name, mark)
		}

		b.press("/", "gitea")
		if hits := b.text("[...document.querySelectorAll('details.node:not([hidden])')].map(e => e.id)"); !strings.Contains(hits, "node-board") || strings.Contains(hits, "node-wren") {
			t.Errorf("%s: a search for gitea shows %q", screen.name, hits)
		}
		if status := b.text("document.querySelector('[role=status]').textContent"); !strings.Contains(status, "of 5 nodes") {
			t.Errorf("%s: it is said of the search: %q", screen.name, status)
		}
		b.press("Escape", "board", "Enter")
		if !b.is("document.getElementById('node-board').open") || b.text("document.activeElement.parentElement.id") != "node-board" {
			t.Errorf("%s: Enter in the search opens %s", screen.name, b.text("document.activeElement.parentElement.id"))
		}
		inside := b.text("document.getElementById('node-board').innerText")
		for _, want := range []string{"gitea.service restarts", "assigned", "takes database from postgres@anchor as gitea_board", "/etc/gitea/app.ini", "credential postgres@anchor database gitea@board"} {
			if !strings.Contains(inside, want) {
				t.Errorf("%s: of board it is not said: %s", screen.name, want)
			}
		}
		b.picture(screen.name + "-node")

		// Tab leads on within the node, Space opens a file there, Escape closes it again.
		b.value("(() => { document.querySelector('#node-board details.file > summary').focus(); return true })()", new(bool))
		b.press(" ")
		if !b.is("document.querySelector('#node-board details.file').open") {
			t.Errorf("%s: Space on a file's name does not open it", screen.name)
		}
		b.picture(screen.name + "-file")
		b.press("Escape")
		if b.is("document.querySelector('#node-board details.file').open") {
			t.Errorf("%s: Escape does not close the file", screen.name)
		}

		// A box of the picture is a link that the keyboard reaches.
		b.value("(() => { document.querySelector('.mesh-picture a[data-nodes=anchor]').focus(); return true })()", new(bool))
		b.press("Enter")
		if !b.becomes("document.getElementById('node-anchor').open") {
			t.Errorf("%s: Enter on anchor in the picture does not open it", screen.name)
		}
	}
	for _, r := range b.requests {
		if !strings.HasPrefix(r, "file://") || !strings.HasSuffix(r, "/page.html") {
			t.Errorf("the page asks for %s", r)
		}
	}
	if len(b.requests) == 0 {
		t.Error("no request was seen, not even the one for the page")
	}
	for _, e := range b.errors {
		t.Errorf("the browser says: %s", e)
	}
}

// REV-6: everything that can be reached has a name, and text stands out from what is behind it.
func TestReadableByAll(t *testing.T) {
	b := newBrowser(t)
	for _, scheme := range []string{"light", "dark"} {
		b.open(page(t, homeChanged(t)), 1280, 900, scheme)
		if landmarks := b.text("['header','main','footer','[role=search]','h1'].filter(s => document.querySelectorAll(s).length !== 1)"); landmarks != "" {
			t.Errorf("not there exactly once: %s", landmarks)
		}
		if levels := b.text(`(() => { let last = 0; return [...document.querySelectorAll('h1,h2,h3,h4')].filter(h => { const l = +h.tagName[1], bad = l > last + 1; last = l; return bad }).map(h => h.textContent) })()`); levels != "" {
			t.Errorf("headings that leave a level out: %s", levels)
		}
		if nameless := b.text("[...document.querySelectorAll('a,summary,input,[role=region],svg')].filter(e => !(e.getAttribute('aria-label') || e.getAttribute('aria-labelledby') || e.textContent.trim() || (e.labels && e.labels.length))).map(e => e.outerHTML.slice(0, 80))"); nameless != "" {
			t.Errorf("these have no name for a screen reader: %s", nameless)
		}
		if twice := b.text("(() => { const seen = new Set(); return [...document.querySelectorAll('[id]')].filter(e => seen.has(e.id) || !seen.add(e.id)).map(e => e.id) })()"); twice != "" {
			t.Errorf("these ids are there twice: %s", twice)
		}
		if dangling := b.text("[...document.querySelectorAll(\"a[href^='#']\")].filter(a => !document.getElementById(a.getAttribute('href').slice(1))).map(a => a.getAttribute('href'))"); dangling != "" {
			t.Errorf("these links lead nowhere: %s", dangling)
		}
		if weak := b.text(contrast); weak != "" {
			t.Errorf("%s: text with too little contrast (WCAG AA asks for 4.5): %s", scheme, weak)
		}
	}
}

// contrast lists texts whose colour is too near to that of what is behind them.
const contrast = `(() => {
  const rgb = (c) => (c.match(/[\d.]+/g) || []).map(Number);
  const lum = ([r, g, b]) => { const f = (v) => { v /= 255; return v <= .04045 ? v / 12.92 : ((v + .055) / 1.055) ** 2.4 }; return .2126 * f(r) + .7152 * f(g) + .0722 * f(b) };
  const ratio = (a, b) => { const [x, y] = [lum(a), lum(b)].sort((p, q) => q - p); return (x + .05) / (y + .05) };
  const behind = (e) => { for (; e; e = e.parentElement) { const c = rgb(getComputedStyle(e).backgroundColor); if (c.length === 3 || c[3] > 0) return c } return [255, 255, 255] };
  const svgBehind = (e) => { const g = e.closest('.box, .site'); const r = g ? g.querySelector('rect') : document.querySelector('.mesh-picture .paper'); return rgb(getComputedStyle(r).fill) };
  const out = new Set();
  for (const d of document.querySelectorAll('details')) d.open = true;
  const walk = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  for (let n; (n = walk.nextNode());) {
    const e = n.parentElement;
    if (!n.textContent.trim() || ['SCRIPT', 'STYLE', 'title', 'desc'].includes(e.tagName) || !e.getClientRects().length) continue;
    const s = getComputedStyle(e), svg = e.closest('svg');
    const r = svg ? ratio(rgb(s.fill), svgBehind(e)) : ratio(rgb(s.color), behind(e));
    if (r < 4.5) out.add(e.tagName + '.' + (e.getAttribute('class') || '') + ' ' + r.toFixed(2) + ' ' + n.textContent.trim().slice(0, 30));
  }
  return [...out].join('; ');
})()`
