package respitetest

import (
	"fmt"
	"os"
	"os/exec"
	"runtime"
)

// packed is the compressed program for this platform; nil if the module has none.
var packed []byte

// unpack writes the program to a file; it is set on the platforms for which the module has a program.
var unpack func() (string, error)

// Program returns the path of respite-server: $RESPITE_SERVER, or the program in this module, which is unpacked once
// into the user's cache, or the first one in PATH.
func Program() (string, error) {
	if given := os.Getenv("RESPITE_SERVER"); given != "" {
		return given, nil
	}
	if packed != nil {
		return unpack()
	}
	path, err := exec.LookPath("respite-server")
	if err != nil {
		return "", fmt.Errorf("this module has no respite-server for %s/%s: Respite runs on Linux only, so far; use a Linux "+
			"container or virtual machine, or WSL 2; RESPITE_SERVER can name another program", runtime.GOOS, runtime.GOARCH)
	}
	return path, nil
}
