package lock

import (
	"strings"
	"testing"
)

// DIA-5: no bytes make Read panic; both readers agree, and what was read is printed and read again.
func FuzzRead(f *testing.F) {
	for _, s := range []string{
		printed, byHand, "", "format = 1\n", "format = 1\nports = {\n  \"a/b/c\" = 1\n}\n", "format = 2\nx = {\n}\n",
		"format = 1\nsecrets = {\n  \"need a/b/c\" = { generation = 1, ends = [], to = [], blobs = [], sha256 = [] }\n}\n",
		"format = 1\nports = {\n  \"a\" = { for = 1 }\n}\n", "format = 1\nports = {\n  \"a\" = { }\n  \"b\" = []\n}\n",
		"<<<<<<< a\n=======\n>>>>>>> b\n", "format = 1\nports = <<E\nE\n", "a = \"$${\"", "format = 0x1", "\ufeffformat = 1\n",
	} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, src []byte) {
		fast, ok := readPrinted(string(src))
		if ok {
			slow, faults := readHCL(newSource(File, src))
			if len(faults) > 0 {
				t.Fatalf("HCL refuses what our own reader takes: %v", faults)
			}
			if diff := difference(fast, slow); diff != "" {
				t.Fatal(diff)
			}
		}
		l, faults := Read(File, src)
		if (l == nil) != faults.HasErrors() {
			t.Fatalf("both a lock and %v", faults)
		}
		for _, d := range faults {
			if d.At.File != File || d.Message == "" || strings.ContainsAny(d.Message, "\n\x00") {
				t.Fatalf("%+v", d)
			}
		}
		if l == nil {
			return
		}
		b := l.Bytes()
		if _, ok := readPrinted(string(b)); !ok {
			t.Fatalf("our own reader does not take what was printed:\n%s", b)
		}
		again, faults := Read(File, b)
		if len(faults) > 0 || !same(l, again) {
			t.Fatalf("printed and read again it is another: %v\n%s", faults, b)
		}
	})
}

// A lock of 5 MB: 1000 nodes with twenty modules and ten credentials each.
func BenchmarkRead(b *testing.B) {
	src := generate(1000).Bytes()
	b.SetBytes(int64(len(src)))
	for b.Loop() {
		if _, faults := Read(File, src); len(faults) > 0 {
			b.Fatal(faults)
		}
	}
}

// The same through HCL's own parser, to which the reader above is compared.
func BenchmarkReadHCL(b *testing.B) {
	src := generate(1000).Bytes()
	b.SetBytes(int64(len(src)))
	for b.Loop() {
		if _, faults := readHCL(newSource(File, src)); len(faults) > 0 {
			b.Fatal(faults)
		}
	}
}

func BenchmarkBytes(b *testing.B) {
	l := generate(1000)
	b.SetBytes(int64(len(l.Bytes())))
	for b.Loop() {
		l.Bytes()
	}
}
