package build

import (
	"crypto/rand"
	"io"
	"os"
	"testing"
	"time"

	"meshc.dev/compiler/settle"
	"meshc.dev/compiler/vault"
)

// slow is a source of random bytes that takes its time, as compiling a large mesh does.
type slow struct{ time.Duration }

func (s slow) Read(b []byte) (int, error) {
	time.Sleep(s.Duration)
	return rand.Read(b)
}

// SEC-7, T73: how long to wait for the folder says nothing of how long the work may take then.
func TestWaitingIsNotWorking(t *testing.T) {
	dir := t.TempDir()
	if err := os.CopyFS(dir, os.DirFS("../../testdata/fixture/secrets")); err != nil {
		t.Fatal(err)
	}
	const wait = 50 * time.Millisecond
	o := Options{
		Dir: dir, Wait: wait, Settle: settle.Mode{Step: settle.Relock}, Seal: vault.Mode{Step: vault.Relock},
		Random: func() io.Reader { return slow{2 * wait} },
	}
	r, faults, err := Begin(t.Context(), o)
	if err != nil || faults.HasErrors() {
		t.Fatal(err, faults)
	}
	if err := r.Commit(); err != nil {
		t.Fatal(err)
	}
	if made := r.Reviewed.Of(vault.Made); len(made) == 0 {
		t.Error("nothing was to be made, so this shows nothing")
	}
	// Whoever comes meanwhile waits that long and no longer.
	if _, _, err := Begin(t.Context(), o); err == nil {
		t.Error("two have the folder")
	}
	if err := r.Close(); err != nil {
		t.Fatal(err)
	}
	o.Wait = 0
	r, _, err = Begin(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	if err := r.Close(); err != nil {
		t.Fatal(err)
	}
}
