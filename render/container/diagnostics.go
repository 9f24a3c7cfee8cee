package container

import (
	"fmt"
	"strings"

	"meshc.dev/compiler/addr"
	"meshc.dev/compiler/diag"
	"meshc.dev/render/sink"
)

// Error says what of a container cannot be given to its runtime. Field is the container's
// field with the index or name inside it: volumes.0, env.PATH.
type Error struct {
	Code   diag.Code
	Field  string
	Reason string // lower case, without a full stop; never the value itself
}

func (e *Error) Error() string { return e.Field + ": " + e.Reason }

// Diagnostic is the error as said to a person, about a container of a module.
func (e *Error) Diagnostic(at diag.Pos, id addr.Resource) diag.Diagnostic {
	return diag.Diagnostic{Code: e.Code, At: at, Message: fmt.Sprintf("%s of %s %s", e.Field, id, e.Reason)}
}

// cannotCarry is what a sink said about a part of a field.
func cannotCarry(field string, err error) error {
	reason := err.Error()
	if e, ok := err.(*sink.Error); ok {
		reason = e.Reason
	}
	return &Error{diag.ContainerValue, field, reason}
}

func refuse(field, format string, args ...any) error {
	return &Error{diag.ContainerValue, field, fmt.Sprintf(format, args...)}
}

func badUnitName() error {
	return refuse("name", "is no name for a unit: lower-case letters, digits and inner hyphens")
}

func badImage() error {
	return refuse("image", "is no reference to an image: letters, digits and . _ - / : @ +, beginning with a letter or digit")
}

func quadletImage() error {
	return refuse("image", "ends in .image or .build, which Quadlet takes for another file of its own; give it a tag")
}

func badEnvName(name string) error {
	return refuse(indexed("env", name), "is no name for a variable: letters, digits and _ . - with a letter or _ first")
}

func badUser() error { return refuse("user", "is not of the form uid, name, uid:gid or name:group") }

func badNetwork() error {
	return refuse("network", "is neither host, none, nor the name of a network: letters, digits and _ . -, not ending in .network or .container")
}

func unknownCapability(i int) error {
	return refuse(indexed("capabilities", i), "is not a capability of Linux, such as NET_BIND_SERVICE")
}

func badVolume(i int, why string) error { return refuse(indexed("volumes", i), "%s", why) }

func unknownVolumeOption(i int, runtime, option string, known []string) error {
	return refuse(indexed("volumes", i), "has the option %q, which %s does not have; it has %s", option, runtime, strings.Join(known, ", "))
}

func badPublish(i int, why string) error { return refuse(indexed("publishes", i), "%s", why) }

// publishesWithoutNetwork is a port that would be told to others and opened and that nothing maps.
func publishesWithoutNetwork(network string) error {
	return &Error{diag.PublishedNowhere, "publishes", fmt.Sprintf("has no effect in the network %s, where no port is mapped; the program itself listens on the machine's port (in.ports)", network)}
}

func healthKeyword(word string) error {
	return refuse("health.0", "is %s, a word of image files; health is the command alone, and [\"sh\", \"-c\", …] where it needs a shell", word)
}

func badMTU() error {
	return refuse("mtu", "is not between 1280 and 65535")
}

func badHost() error { return refuse("hosts", "holds something that is no name with an address") }

func badAfter() error { return refuse("after", "holds something that is no unit's name") }

func tooLarge() error {
	return refuse("env", "and the rest make a unit of more than %d kB, beyond which systemd no longer reads all of it", maxUnit>>10)
}

// unknownRuntime is a broken promise of the caller's, who chose it.
func unknownRuntime(name string) error { return fmt.Errorf("there is no container runtime %q", name) }

func indexed(field string, i any) string { return fmt.Sprintf("%s.%v", field, i) }
