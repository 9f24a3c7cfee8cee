package evaluate

import (
	"strings"
	"testing"
)

// BLD-6, T43: an image is one that a runtime could fetch, and what holds it to one version is seen.
func TestBadImage(t *testing.T) {
	sum := "@sha256:" + strings.Repeat("0a", 32)
	for image, want := range map[string]struct {
		why   string
		moves bool
	}{
		"docker.io/library/nginx:1.27":        {},
		"nginx":                               {"", true},
		"docker.io/library/nginx":             {"", true},
		"localhost:5000/app":                  {"", true},
		"localhost:5000/app:1":                {},
		"Registry.Example:5000/a/b-c__d.e:V1": {},
		"[fd00::1]:5000/app:1":                {},
		"nginx" + sum:                         {},
		"nginx:1.27" + sum:                    {},
		"NGINX:1":                             {"capitals", false},
		"docker.io/Library/nginx:1":           {"capitals", false},
		"https://docker.io/library/nginx:1":   {"a URL", false},
		"docker://nginx:1":                    {"without docker://", false},
		"oci-archive:/tmp/x.tar":              {"no host", false},
		"docker.io//nginx:1":                  {"empty part", false},
		"/nginx:1":                            {"empty part", false},
		"nginx:":                              {"tag", false},
		"nginx:-1":                            {"tag", false},
		"nginx:" + strings.Repeat("x", 129):   {"tag", false},
		"nginx@sha256:abc":                    {"digest", false},
		"nginx@":                              {"digest", false},
		"a._b:1":                              {"part", false},
		"-a:1":                                {"part", false},
		"ex_ample.org/app:1":                  {"no host", false},
		strings.Repeat("0a", 32):              {"number", false},
		strings.Repeat("a/", 127) + "ab:1":    {"255", false},
	} {
		why, moves := BadImage(image)
		if (why == "") != (want.why == "") || !strings.Contains(why, want.why) || moves != want.moves {
			t.Errorf("BadImage(%q) is %q and %v, not %q and %v", image, why, moves, want.why, want.moves)
		}
	}
}
