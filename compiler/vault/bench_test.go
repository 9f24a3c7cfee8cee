package vault

import (
	"fmt"
	"syscall"
	"testing"

	"meshc.dev/compiler/addr"
	"meshc.dev/compiler/lock"
	"meshc.dev/render/seal"
)

// thousand is a mesh of 1000 nodes with ten credentials each. Ten machines' keys
// stand in for all of them where only the public half is needed.
func thousand(b *testing.B) *home {
	h := newHome(b)
	for i := range 1000 {
		h.newKey(addr.Node(fmt.Sprintf("node%03d", i)))
	}
	for i := range 1000 {
		for j := range 10 {
			consumer := addr.Instance{Name: fmt.Sprintf("app%d", j), Node: addr.Node(fmt.Sprintf("node%03d", i))}
			provider := addr.Instance{Name: "postgres", Node: addr.Node(fmt.Sprintf("node%03d", (i*7+j*13)%1000))}
			p := addr.Pair{Provider: provider, Provision: "database", Consumer: addr.Consumer{Instance: consumer, Label: "database"}}
			h.want(Want{Name: Credential(p), Ends: []End{{Holder: consumer, Role: seal.Consumer}, {Holder: provider, Role: seal.Provider}}})
		}
	}
	return h
}

// cpu is the processor time of this process so far, in seconds: what a busy machine
// does not change.
func cpu(b *testing.B) float64 {
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		b.Fatal(err)
	}
	return float64(u.Utime.Nano()+u.Stime.Nano()) / 1e9
}

// 10,000 credentials made, sealed at both ends and written: less than 6 s on 2 cores.
func BenchmarkMakeTenThousand(b *testing.B) {
	used := 0.0
	for b.Loop() {
		b.StopTimer()
		h := thousand(b)
		b.StartTimer()
		begin := cpu(b)
		h.must(Mode{Step: Build})
		used += cpu(b) - begin
	}
	b.ReportMetric(used/float64(b.N), "cpu-s/op")
}

// A build that makes none of 10,000 reads the lock and the store in less than 0.5 s.
func BenchmarkCarryOverTenThousand(b *testing.B) {
	h := thousand(b)
	h.must(Mode{Step: Build})
	d := h.demand()
	b.Run("all", func(b *testing.B) {
		begin := cpu(b)
		for b.Loop() {
			v, err := Open(h.dir).Read()
			if err != nil {
				b.Fatal(err)
			}
			lk, faults := lock.Read(lock.File, v.Lock)
			if faults.HasErrors() {
				b.Fatal(faults)
			}
			p, faults, err := Review(d, lk, v, Mode{Step: Locked})
			if err != nil || len(faults) > 0 {
				b.Fatal(err, faults)
			}
			if c, err := p.Make(b.Context(), random); err != nil || !c.IsComplete() {
				b.Fatal(err)
			}
		}
		b.ReportMetric((cpu(b)-begin)/float64(b.N), "cpu-s/op")
	})
	b.Run("lock alone", func(b *testing.B) {
		v, _ := Open(h.dir).Read()
		b.SetBytes(int64(len(v.Lock)))
		for b.Loop() {
			if _, faults := lock.Read(lock.File, v.Lock); faults.HasErrors() {
				b.Fatal(faults)
			}
		}
	})
	b.Run("listing alone", func(b *testing.B) {
		for b.Loop() {
			if _, err := Open(h.dir).Read(); err != nil {
				b.Fatal(err)
			}
		}
	})
}
