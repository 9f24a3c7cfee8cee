package lab

import (
	"errors"
	"fmt"
	"net/netip"
	"os"
	"runtime"
	"slices"
	"time"

	"golang.org/x/sys/unix"
)

// patience is as long as an answer is waited for. A packet that got lost is sent again
// after a second.
const patience = 1800 * time.Millisecond

// In calls f in the network of a machine, or of the router for "". The sockets that f
// makes itself, and no other goroutine for it, are that network's.
func In(machine string, f func() error) error {
	if machine == "" {
		return f()
	}
	done := make(chan error, 1)
	go func() {
		// The thread is not unlocked, so that it ends with the goroutine and nobody else
		// is put into that network.
		runtime.LockOSThread()
		ns, err := os.Open("/run/netns/" + machine)
		if err == nil {
			defer ns.Close()
			err = unix.Setns(int(ns.Fd()), unix.CLONE_NEWNET)
		}
		if err != nil {
			done <- fmt.Errorf("enter the network of %s: %w", machine, err)
			return
		}
		done <- f()
	}()
	return <-done
}

// LetIn says which of the ports of an address answer, when called from the network of
// a machine ("" is the router's): by taking the call, or by refusing it because nobody
// listens, which both mean that no packet filter was in the way.
func LetIn(from string, to netip.Addr, protocol string, ports []int) (letIn []int, err error) {
	kind := unix.SOCK_STREAM
	if protocol == "udp" {
		kind = unix.SOCK_DGRAM
	}
	err = In(from, func() error {
		letIn, err = letInHere(to, kind, ports)
		return err
	})
	return letIn, err
}

// letInHere calls as many ports at once as leaves files for other probes.
func letInHere(to netip.Addr, kind int, ports []int) ([]int, error) {
	var limit unix.Rlimit
	if err := unix.Getrlimit(unix.RLIMIT_NOFILE, &limit); err != nil {
		return nil, err
	}
	atOnce := max(int(min(limit.Cur, 1<<16))/5, 1)
	var letIn []int
	for some := range slices.Chunk(ports, atOnce) {
		answered, err := call(to, kind, some)
		if err != nil {
			return nil, err
		}
		letIn = append(letIn, answered...)
	}
	slices.Sort(letIn)
	return letIn, nil
}

func call(to netip.Addr, kind int, ports []int) ([]int, error) {
	calls := make([]unix.PollFd, 0, len(ports))
	defer func() {
		for _, c := range calls {
			if c.Fd >= 0 {
				unix.Close(int(c.Fd))
			}
		}
	}()
	for i, p := range ports {
		fd, err := unix.Socket(unix.AF_INET, kind|unix.SOCK_NONBLOCK|unix.SOCK_CLOEXEC, 0)
		if err != nil {
			return nil, err
		}
		calls = append(calls, unix.PollFd{Fd: int32(fd), Events: unix.POLLOUT})
		err = unix.Connect(fd, &unix.SockaddrInet4{Port: p, Addr: to.As4()})
		if err != nil && !errors.Is(err, unix.EINPROGRESS) && !errors.Is(err, unix.ECONNREFUSED) {
			return nil, fmt.Errorf("call %v:%d: %w", to, p, err)
		}
		if i%100 == 99 {
			time.Sleep(2 * time.Millisecond) // a tunnel's queue holds 500 packets
		}
	}
	if kind == unix.SOCK_DGRAM {
		return answeredDatagrams(calls, ports)
	}
	return answered(calls, ports, patience)
}

// datagrams is how often a datagram is sent: nobody else repeats one that got lost.
const datagrams = 4

// answeredDatagrams sends and waits for what comes back, which is an error only.
func answeredDatagrams(calls []unix.PollFd, ports []int) ([]int, error) {
	var letIn []int
	for range datagrams {
		for i := range calls {
			calls[i].Events = unix.POLLIN
			if calls[i].Fd < 0 {
				continue
			}
			_, err := unix.Write(int(calls[i].Fd), []byte("?"))
			if err != nil && !errors.Is(err, unix.ECONNREFUSED) {
				return nil, fmt.Errorf("send to port %d: %w", ports[i], err)
			}
			if err != nil { // the answer to the one before
				letIn = append(letIn, ports[i])
				unix.Close(int(calls[i].Fd))
				calls[i].Fd = -1
			}
			time.Sleep(20 * time.Millisecond) // a machine sends such errors slowly
		}
		more, err := answered(calls, ports, patience/2)
		if err != nil {
			return nil, err
		}
		letIn = append(letIn, more...)
	}
	return letIn, nil
}

// answered waits for what comes back.
func answered(calls []unix.PollFd, ports []int, patience time.Duration) ([]int, error) {
	var letIn []int
	open := 0
	for _, c := range calls {
		if c.Fd >= 0 {
			open++
		}
	}
	for end := time.Now().Add(patience); open > 0 && time.Now().Before(end); time.Sleep(50 * time.Millisecond) {
		if _, err := unix.Poll(calls, 100); err != nil && !errors.Is(err, unix.EINTR) {
			return nil, err
		}
		for i, c := range calls {
			if c.Fd < 0 || c.Revents == 0 {
				continue
			}
			errno, err := unix.GetsockoptInt(int(c.Fd), unix.SOL_SOCKET, unix.SO_ERROR)
			if err != nil {
				return nil, err
			}
			if errno == 0 || unix.Errno(errno) == unix.ECONNREFUSED {
				letIn = append(letIn, ports[i])
			}
			unix.Close(int(c.Fd))
			calls[i].Fd = -1
			open--
		}
	}
	return letIn, nil
}
