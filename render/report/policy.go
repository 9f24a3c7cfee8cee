package report

import (
	"crypto/sha256"
	"encoding/base64"
)

// policy is the page's Content-Security-Policy: nothing is fetched, nothing is sent,
// and nothing runs but the page's own style and script, named by their digests.
func policy(style, script string) string {
	digest := func(s string) string {
		sum := sha256.Sum256([]byte(s))
		return "'sha256-" + base64.StdEncoding.EncodeToString(sum[:]) + "'"
	}
	return "default-src 'none'; style-src " + digest(style) + "; script-src " + digest(script) + "; base-uri 'none'; form-action 'none'"
}
