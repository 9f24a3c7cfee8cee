package graphviz

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"os"
	"strings"
	"testing"
)

// What the notice says of the module is true of the one that is built in.
func TestNotice(t *testing.T) {
	notice, err := os.ReadFile("NOTICE")
	if err != nil {
		t.Fatal(err)
	}
	sum := sha256.Sum256(module)
	if !strings.Contains(string(notice), hex.EncodeToString(sum[:])) {
		t.Errorf("NOTICE does not name sha256 %x", sum)
	}
}

func TestPlace(t *testing.T) {
	ls, err := Place(context.Background(),
		`digraph { subgraph cluster_s { a [shape=box fixedsize=true width=1 height=0.5]; b [width=1] } a -> b [id=e label=metrics] }`,
		`digraph { c }`)
	if err != nil {
		t.Fatal(err)
	}
	l := ls[0]
	if l.Nodes["a"].Y >= l.Nodes["b"].Y {
		t.Errorf("a is to stand above b: %v", l.Nodes)
	}
	box := l.Clusters["cluster_s"]
	for name, p := range l.Nodes {
		if p.X < box.Min.X || p.X > box.Max.X || p.Y < box.Min.Y || p.Y > box.Max.Y {
			t.Errorf("%s at %v is outside its cluster %v", name, p, box)
		}
	}
	e := l.Edges["e"]
	if len(e.Curve)%3 != 1 || !e.HasLabel || e.Tip.Y < e.Curve[0].Y {
		t.Errorf("the edge is %+v", e)
	}
	if len(ls[1].Nodes) != 1 || ls[1].Width >= l.Width {
		t.Errorf("the second graph is %+v", ls[1])
	}
}

func TestWhatCannotBeReadIsAnError(t *testing.T) {
	if _, err := Place(context.Background(), `digraph { a -> `); err == nil || !strings.Contains(err.Error(), "syntax error in line 1") {
		t.Errorf("the error is %v", err)
	}
}

func TestALayoutEndsWithItsContext(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if _, err := Place(ctx, `digraph { a }`); err == nil {
		t.Error("it was laid out all the same")
	}
}
