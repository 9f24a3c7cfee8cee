package dist

import (
	"errors"

	"golang.org/x/sys/unix"
)

// exchange makes two names change places in one step.
func exchange(a, b string) error {
	err := unix.Renameat2(unix.AT_FDCWD, a, unix.AT_FDCWD, b, unix.RENAME_EXCHANGE)
	if errors.Is(err, unix.EINVAL) || errors.Is(err, unix.ENOSYS) {
		return exchangeInTwo(a, b) // a file system or kernel that cannot
	}
	return err
}
