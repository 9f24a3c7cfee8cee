package machine

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// HST-5: a block that is not exactly one, or has another's marker inside, is said to be
// damaged, and its file stays as it is, whatever is to become of the block.
func TestDamagedBlocks(t *testing.T) {
	const begin, end = "# BEGIN mesh home\n", "# END mesh home\n"
	for file, want := range map[string]string{
		begin + "a\n":                        "it begins and does not end",
		end + begin:                          "its end stands without a beginning",
		begin + end + begin + end:            "it begins 2 times",
		begin + "a\n" + end + end:            "it ends 2 times",
		begin + "# BEGIN mesh home2\n" + end: `the line "# BEGIN mesh home2", which is another block's, stands inside it`,
		begin + "a\n# END ANSIBLE MANAGED BLOCK \r\nb\n" + end:                `the line "# END ANSIBLE MANAGED BLOCK", which is another block's`,
		begin + "# BEGIN mesh home2\nb\n# END mesh home2\n" + end:             `the line "# BEGIN mesh home2", which is another block's`,
		"# BEGIN mesh home2\n" + begin + "# END mesh home2\n" + end:           `the line "# END mesh home2", which is another block's`,
		"# BEGIN x\n" + begin + "a\n# END x\n" + end + "# BEGIN x\n# END x\n": `the line "# END x", which is another block's`,
		// what is no marker, or stands outside
		"# BEGIN mesh home2\n" + begin + end + "# END mesh home2\n":              "",
		begin + "-----BEGIN X-----\n#BEGIN mesh home\n# END\n" + end + "# END x": "",
	} {
		m, dir := newTree(t)
		p := filepath.Join(dir, "etc/hosts")
		if err := os.WriteFile(p, []byte(file), 0o644); err != nil {
			t.Fatal(err)
		}
		key := Key{Kind: Block, Name: "/etc/hosts", Marker: "mesh home"}
		says := func(err error) bool {
			return (err == nil) == (want == "") && (err == nil || strings.Contains(err.Error(), want))
		}
		if _, err := m.Blocks.Look(t.Context(), key); !says(err) {
			t.Errorf("%q: got %v", file, err)
		}
		for _, w := range []Want{blockOf("new\n"), {Condition: Condition{Absent: true}}} {
			if err := m.Blocks.Make(t.Context(), key, w); !says(err) {
				t.Errorf("%q: got %v", file, err)
			}
			is, err := os.ReadFile(p)
			if err != nil || want != "" && string(is) != file {
				t.Errorf("%q became %q (%v)", file, is, err)
			}
		}
	}
}
