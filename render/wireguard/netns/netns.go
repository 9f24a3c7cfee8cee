//go:build linux

// Package netns makes networks for tests: namespaces in which a rendered file is
// loaded by the program that it is for, and connections that show what it does. The
// machine's own network is never touched. Enter with Possible, then New.
package netns

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"runtime"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

// inner is set in the environment of a test that runs again as root of a user namespace.
const inner = "MESHC_TEST_NETNS"

// Possible says whether the calling test is to go on here. Without root it runs the
// test again in a user namespace, where it is root, and then there is nothing left to do.
// A missing program skips the test, or fails it where MESHC_TEST_TOOLS=required; a
// machine that lets nobody make a network skips it always, since nothing can be installed.
func Possible(t *testing.T, programs ...string) bool {
	t.Helper()
	for _, p := range append(programs, "ip") {
		if _, err := exec.LookPath(p); err != nil {
			missing(t, "%s is not installed", p)
		}
	}
	if os.Geteuid() == 0 {
		if err := tryNamespace(); err != nil {
			t.Skipf("no network namespace can be made here: %v", err)
		}
		return true
	}
	unshare := []string{"--user", "--map-root-user", "--net", "--mount", "--"}
	if out, err := exec.Command("unshare", append(unshare, "true")...).CombinedOutput(); err != nil || os.Getenv(inner) != "" {
		t.Skipf("no user namespace can be made here: %v %s", err, out)
	}
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command("unshare", append(unshare, "sh", "-c", `mount -t tmpfs none /run && exec "$@"`, "sh",
		self, "-test.run", "^"+t.Name()+"$", "-test.v")...)
	cmd.Env = append(os.Environ(), inner+"=1")
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Errorf("as root of a user namespace: %v\n%s", err, out)
	}
	return false
}

func missing(t *testing.T, format string, args ...any) {
	t.Helper()
	if os.Getenv("MESHC_TEST_TOOLS") == "required" {
		t.Fatalf(format, args...)
	}
	t.Skipf(format, args...)
}

func tryNamespace() error {
	done := make(chan error)
	go func() {
		runtime.LockOSThread() // and never unlocked: the thread ends with its namespace
		done <- unix.Unshare(unix.CLONE_NEWNET)
	}()
	return <-done
}

// Namespace is a network of its own, as a machine has one.
type Namespace struct {
	t    *testing.T
	file *os.File
}

// New makes a namespace that lasts as long as the test, with its loopback up.
func New(t *testing.T) *Namespace {
	t.Helper()
	type made struct {
		file *os.File
		err  error
	}
	c := make(chan made)
	go func() {
		runtime.LockOSThread()
		if err := unix.Unshare(unix.CLONE_NEWNET); err != nil {
			c <- made{nil, err}
			return
		}
		f, err := os.Open(fmt.Sprintf("/proc/self/task/%d/ns/net", unix.Gettid()))
		c <- made{f, err}
	}()
	m := <-c
	if m.err != nil {
		t.Fatal(m.err)
	}
	t.Cleanup(func() { m.file.Close() })
	n := &Namespace{t, m.file}
	n.Run("ip", "link", "set", "lo", "up")
	return n
}

// do calls f on a thread that is in the namespace.
func (n *Namespace) do(f func() error) error {
	c := make(chan error)
	go func() {
		runtime.LockOSThread()
		if err := unix.Setns(int(n.file.Fd()), unix.CLONE_NEWNET); err != nil {
			c <- err
			return
		}
		c <- f()
	}()
	return <-c
}

// Run runs a program in the namespace; it has to succeed.
func (n *Namespace) Run(name string, args ...string) string {
	n.t.Helper()
	out, err := n.Try(name, args...)
	if err != nil {
		n.t.Fatalf("%s %s: %v\n%s", name, strings.Join(args, " "), err, out)
	}
	return out
}

// Try runs a program in the namespace.
func (n *Namespace) Try(name string, args ...string) (string, error) {
	var out bytes.Buffer
	err := n.do(func() error {
		cmd := exec.Command(name, args...)
		cmd.Stdout, cmd.Stderr = &out, &out
		return cmd.Run()
	})
	return out.String(), err
}

// Set writes a setting of the namespace's network, such as net/ipv4/ip_forward.
func (n *Namespace) Set(name, value string) {
	n.t.Helper()
	if err := n.do(func() error { return os.WriteFile("/proc/sys/"+name, []byte(value), 0) }); err != nil {
		n.t.Fatal(err)
	}
}

// Get reads a setting of the namespace's network.
func (n *Namespace) Get(name string) string {
	n.t.Helper()
	var b []byte
	if err := n.do(func() (err error) { b, err = os.ReadFile("/proc/sys/" + name); return err }); err != nil {
		n.t.Fatal(err)
	}
	return strings.TrimSpace(string(b))
}

// Wire joins two namespaces with a cable. Each end has a name and addresses.
func Wire(a *Namespace, nameA string, addrsA []string, b *Namespace, nameB string, addrsB []string) {
	a.t.Helper()
	other := fmt.Sprintf("/proc/%d/fd/%d", os.Getpid(), b.file.Fd())
	a.Run("ip", "link", "add", "name", nameA, "type", "veth", "peer", "name", nameB, "netns", other)
	a.up(nameA, addrsA)
	b.up(nameB, addrsB)
}

func (n *Namespace) up(name string, addrs []string) {
	n.t.Helper()
	for _, a := range addrs {
		args := []string{"address", "add", a, "dev", name}
		if strings.Contains(a, ":") {
			args = append(args, "nodad")
		}
		n.Run("ip", args...)
	}
	n.Run("ip", "link", "set", "dev", name, "up")
}

// Answer listens in the namespace and says its name to whoever connects, or sends a
// datagram, until the test ends.
func (n *Namespace) Answer(network, address, name string) {
	n.t.Helper()
	err := n.do(func() error {
		if strings.HasPrefix(network, "udp") {
			c, err := net.ListenPacket(network, address)
			if err != nil {
				return err
			}
			n.t.Cleanup(func() { c.Close() })
			go func() {
				buf := make([]byte, 64)
				for {
					_, from, err := c.ReadFrom(buf)
					if err != nil {
						return
					}
					c.WriteTo([]byte(name), from)
				}
			}()
			return nil
		}
		l, err := net.Listen(network, address)
		if err != nil {
			return err
		}
		n.t.Cleanup(func() { l.Close() })
		go func() {
			for {
				c, err := l.Accept()
				if err != nil {
					return
				}
				io.WriteString(c, name)
				c.Close()
			}
		}()
		return nil
	})
	if err != nil {
		n.t.Fatal(err)
	}
}

// Ask connects from the namespace and gives what is answered, empty where nothing
// is within the time.
func (n *Namespace) Ask(network, address string, wait time.Duration) string {
	n.t.Helper()
	var answer string
	err := n.do(func() error {
		c, err := (&net.Dialer{Timeout: wait}).Dial(network, address)
		if err != nil {
			return nil // nobody there is an answer too
		}
		defer c.Close()
		if err := c.SetDeadline(time.Now().Add(wait)); err != nil {
			return err
		}
		if strings.HasPrefix(network, "udp") {
			if _, err := c.Write([]byte("who")); err != nil {
				return nil
			}
		}
		buf := make([]byte, 64)
		k, err := c.Read(buf)
		if err != nil && !errors.Is(err, io.EOF) && !errors.Is(err, os.ErrDeadlineExceeded) && !errors.Is(err, unix.ECONNREFUSED) {
			return err
		}
		answer = string(buf[:k])
		return nil
	})
	if err != nil {
		n.t.Fatal(err)
	}
	return answer
}
