//go:build unix

package bounded

import "golang.org/x/sys/unix"

const withoutWaiting = unix.O_NONBLOCK
