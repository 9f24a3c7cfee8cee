package evaluate

import (
	"fmt"
	"regexp"
	"strings"
)

// The grammar of a reference to an image, as registries and both runtimes have it
// (github.com/distribution/reference): [host[:port]/]path[:tag][@digest].
var (
	imageHost = regexp.MustCompile(`^(?:(?:[a-zA-Z0-9]|[a-zA-Z0-9][a-zA-Z0-9-]*[a-zA-Z0-9])(?:\.(?:[a-zA-Z0-9]|[a-zA-Z0-9][a-zA-Z0-9-]*[a-zA-Z0-9]))*|\[[0-9a-fA-F:]+\])(?::[0-9]+)?$`)
	imagePart = regexp.MustCompile(`^[a-z0-9]+(?:(?:\.|_|__|-+)[a-z0-9]+)*$`)
	imageTag  = regexp.MustCompile(`^[A-Za-z0-9_][A-Za-z0-9_.-]{0,127}$`)
	imageSum  = regexp.MustCompile(`^(?:sha256:[0-9a-f]{64}|sha384:[0-9a-f]{96}|sha512:[0-9a-f]{128})$`)
	imageID   = regexp.MustCompile(`^[0-9a-f]{64}$`)
)

// BadImage says why a text names no image that a runtime could fetch, or gives nothing;
// moves says that neither tag nor digest holds it to one.
func BadImage(s string) (why string, moves bool) {
	if scheme, _, ok := strings.Cut(s, "://"); ok {
		return fmt.Sprintf("is a URL; an image is written without %s://, as docker.io/library/nginx:1.27", scheme), false
	}
	name, sum, hasSum := strings.Cut(s, "@")
	tag, hasTag := "", false
	if at := strings.LastIndexByte(name, ':'); at > strings.LastIndexByte(name, '/') {
		name, tag, hasTag = name[:at], name[at+1:], true
	}
	path := name
	// What stands first is a host where it has a dot or a port, or is localhost.
	if host, rest, ok := strings.Cut(name, "/"); ok && (strings.ContainsAny(host, ".:") || host == "localhost") {
		if !imageHost.MatchString(host) {
			return fmt.Sprintf("has no host with the name %q", host), false
		}
		path = rest
	}
	for part := range strings.SplitSeq(path, "/") {
		switch {
		case imagePart.MatchString(part):
		case part == "":
			return "has an empty part; it is [host/]path[:tag][@digest], as docker.io/library/nginx:1.27", false
		case imagePart.MatchString(strings.ToLower(part)):
			return fmt.Sprintf("has the capitals of %q, and a registry knows names in lower case only", part), false
		default:
			return fmt.Sprintf("has the part %q; each is lower-case letters and digits, with single . or _, __ or - between them", part), false
		}
	}
	switch {
	case len(name) > 255:
		return "is longer than the 255 characters that an image's name can have", false
	case imageID.MatchString(name):
		return "is the number of an image on one machine, which no registry knows; name it, with @sha256: and its digest behind", false
	case hasTag && !imageTag.MatchString(tag):
		return fmt.Sprintf("has the tag %q; one is at most 128 letters, digits and _ . -, and begins with none of the last two", tag), false
	case hasSum && !imageSum.MatchString(sum):
		return fmt.Sprintf("has the digest %q; one is sha256: and 64 lower-case hexadecimal digits", sum), false
	}
	return "", !hasTag && !hasSum
}
