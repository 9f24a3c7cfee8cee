package provision

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/netip"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"

	"meshc.dev/render/seal"
)

// Config is what a module renders for a loop. There is no credential in it.
type Config struct {
	Receives  string          `json:"receives"`
	Provision string          `json:"provision"`
	Provider  string          `json:"provider"`
	Server    Server          `json:"server"`
	Standing  string          `json:"standing"`
	Listen    string          `json:"listen"`
	Bus       *Server         `json:"bus"`
	Interval  Duration        `json:"interval"`
	Recheck   Duration        `json:"recheck"`
	Limit     Duration        `json:"limit"`
	Options   json.RawMessage `json:"options"`
}

// Server says where a server is and how the administrator comes in.
type Server struct {
	// Address is a folder with a socket, a socket's path, or host:port.
	Address string `json:"address"`
	Port    int    `json:"port"`
	User    string `json:"user"`
	Secret  string `json:"secret"` // the path of a file; empty where the socket trusts its peer
}

// Socket says whether the address is a path.
func (s Server) Socket() bool { return strings.HasPrefix(s.Address, "/") }

// Credential reads the administrator's secret (PRV-15); the zero Secret where there is none.
func (s Server) Credential() (seal.Secret, error) {
	if s.Secret == "" {
		return seal.Secret{}, nil
	}
	return readCredential(s.Secret)
}

// Duration is a time span written as Go writes it: "5s", "1m".
type Duration time.Duration

// UnmarshalJSON implements json.Unmarshaler.
func (d *Duration) UnmarshalJSON(b []byte) error {
	var s string
	if err := json.Unmarshal(b, &s); err != nil {
		return fmt.Errorf(`%s is no time span, such as "5s"`, b)
	}
	span, err := time.ParseDuration(s)
	if err != nil || span <= 0 {
		return fmt.Errorf(`%q is no time span, such as "5s"`, s)
	}
	*d = Duration(span)
	return nil
}

// ReadConfig reads a loop's configuration and refuses what cannot be meant: a key that is
// unknown, a path that is not absolute, a secret that others can read.
func ReadConfig(path string) (Config, error) {
	raw, err := readPlain(path, 1<<20)
	if err != nil {
		return Config{}, err
	}
	c := Config{Interval: Duration(5 * time.Second), Recheck: Duration(time.Minute), Limit: Duration(30 * time.Second)}
	if err := Strict(raw, &c); err != nil {
		return Config{}, fmt.Errorf("%s: %w", path, err)
	}
	if err := c.check(); err != nil {
		return Config{}, fmt.Errorf("%s: %w", path, err)
	}
	return c, nil
}

// Strict decodes one JSON value, in which no key may be unknown. No value at all is {}.
func Strict(raw []byte, into any) error {
	if len(bytes.TrimSpace(raw)) == 0 {
		raw = []byte("{}")
	}
	d := json.NewDecoder(bytes.NewReader(raw))
	d.DisallowUnknownFields()
	if err := d.Decode(into); err != nil {
		return errors.New(strings.TrimPrefix(err.Error(), "json: "))
	}
	if _, err := d.Token(); !errors.Is(err, io.EOF) {
		return errors.New("something follows the configuration")
	}
	return nil
}

func (c Config) check() error {
	absolute := func(key, path string) error {
		if path != "" && (!filepath.IsAbs(path) || filepath.Clean(path) != path) {
			return fmt.Errorf("%s: %q is no absolute path", key, path)
		}
		return nil
	}
	switch {
	case c.Receives == "":
		return errors.New("receives: the path of the list is missing")
	case c.Provider == "" || strings.Count(c.Provider, "@") != 1:
		return fmt.Errorf("provider: %q is not of the form INSTANCE@NODE", c.Provider)
	}
	type file struct{ key, path string }
	paths := []file{{"receives", c.Receives}, {"standing", c.Standing}, {"server.secret", c.Server.Secret}}
	secrets := []file{{"server.secret", c.Server.Secret}}
	if c.Bus != nil {
		paths = append(paths, file{"bus.secret", c.Bus.Secret})
		secrets = append(secrets, file{"bus.secret", c.Bus.Secret})
	}
	for _, f := range paths {
		if err := absolute(f.key, f.path); err != nil {
			return err
		}
	}
	for _, f := range secrets {
		if f.path == "" {
			continue
		}
		if err := private(f.path); err != nil {
			return fmt.Errorf("%s: %w", f.key, err)
		}
	}
	if err := c.Server.check(); err != nil {
		return fmt.Errorf("server: %w", err)
	}
	if c.Listen != "" {
		at, err := netip.ParseAddrPort(c.Listen)
		if err != nil {
			return fmt.Errorf("listen: %q is no address with a port, such as 127.0.0.1:29700", c.Listen)
		}
		if at.Addr().IsUnspecified() {
			return fmt.Errorf("listen: %q is every address of the machine; name one", c.Listen)
		}
	}
	return nil
}

func (s Server) check() error {
	if s.Port < 0 || s.Port > 65535 {
		return fmt.Errorf("port: %d is no port", s.Port)
	}
	if s.Address == "" || s.Socket() {
		if s.Socket() && filepath.Clean(s.Address) != s.Address {
			return fmt.Errorf("address: %q is no absolute path", s.Address)
		}
		return nil
	}
	_, port, err := net.SplitHostPort(s.Address)
	if n, nerr := strconv.Atoi(port); err != nil || nerr != nil || n < 1 || n > 65535 {
		return fmt.Errorf("address: %q is neither a path nor host:port", s.Address)
	}
	return nil
}

// private refuses a secret that others than its owner and group can read. One that is not
// there yet is a matter of the pass.
func private(path string) error {
	info, err := os.Lstat(path)
	if errors.Is(err, os.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	switch {
	case info.Mode()&os.ModeSymlink != 0:
		return fmt.Errorf("%s is a link", path)
	case info.Mode().Perm()&0o007 != 0:
		return fmt.Errorf("others can read %s (mode %04o); it has to be 0640 or narrower", path, info.Mode().Perm())
	case info.Sys().(*syscall.Stat_t).Mode&syscall.S_IFMT != syscall.S_IFREG:
		return fmt.Errorf("%s is no plain file", path)
	}
	return nil
}
