// Package redistest tells the tests where the server under test is, starts further servers for tests that need their
// own, and has the few assertions that all of them share.
package redistest

import (
	"bufio"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"reflect"
	"regexp"
	"runtime"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"
)

// Addr returns the address of this suite's server.
func Addr() string {
	return net.JoinHostPort(os.Getenv("REDIS_HOST"), os.Getenv("REDIS_PORT"))
}

// TestAddr returns the address of the server with the command TEST. It skips the test if there is none.
func TestAddr(t testing.TB) string {
	t.Helper()
	addr := os.Getenv("REDIS_TEST_SERVER")
	if addr == "" {
		t.Skip("the server has no test commands")
	}
	return addr
}

// Lua returns one of the scripts in tests/external/clients/scripts. A test runs in the folder of its package.
func Lua(name string) string {
	return string(Must(os.ReadFile(filepath.Join("..", "..", "scripts", name))))
}

// Server is a server that belongs to one test. Its folder stays the same over Kill and Start, so that data files
// survive.
type Server struct {
	Addr   string
	Folder string
	args   []string
	pid    int
	ended  chan error
}

// NewServer starts a server on a free port; it ends with the test.
func NewServer(t testing.TB, args ...string) *Server {
	t.Helper()
	folder := t.TempDir()
	port := freePort(t)
	s := &Server{
		Addr:   net.JoinHostPort("127.0.0.1", port),
		Folder: folder,
		args: append([]string{"--port", port, "--bind", "127.0.0.1", "--save", "", "--dir", folder,
			"--logfile", filepath.Join(folder, "log")}, args...),
	}
	s.Start(t)
	t.Cleanup(func() { s.Kill(t) })
	return s
}

// Start starts or restarts the server and waits until it answers.
func (s *Server) Start(t testing.TB) {
	t.Helper()
	started := make(chan error)
	ended := make(chan error, 1)
	go func() {
		// The kernel ends the server when the thread that started it ends, so the thread lives as long as the server. Thus no
		// server outlives a test binary that was killed.
		runtime.LockOSThread()
		defer runtime.UnlockOSThread()
		cmd := exec.Command(os.Getenv("REDIS_SERVER"), s.args...)
		cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
		err := cmd.Start()
		if err == nil {
			s.pid = cmd.Process.Pid
		}
		started <- err
		if err == nil {
			ended <- cmd.Wait()
		}
	}()
	NoError(t, <-started)
	s.ended = ended
	Eventually(t, "the server answers", func() bool {
		answer, err := inline(s.Addr, "PING")
		return err == nil && (answer == "+PONG" || strings.HasPrefix(answer, "-NOAUTH"))
	})
}

// Kill ends the server immediately, as a crash would.
func (s *Server) Kill(t testing.TB) {
	t.Helper()
	if s.ended == nil {
		return
	}
	NoError(t, syscall.Kill(s.pid, syscall.SIGKILL))
	<-s.ended
	s.ended = nil
}

// Log returns what the server has logged so far.
func (s *Server) Log(t testing.TB) string {
	t.Helper()
	log, err := os.ReadFile(filepath.Join(s.Folder, "log"))
	NoError(t, err)
	return string(log)
}

// NeedsVersion skips the test on servers older than major.minor.
func NeedsVersion(t testing.TB, major, minor int) {
	t.Helper()
	out, err := exec.Command(os.Getenv("REDIS_SERVER"), "--version").Output()
	NoError(t, err)
	version := regexp.MustCompile(`v=(\d+)\.(\d+)\.`).FindSubmatch(out)
	if version == nil {
		t.Fatalf("no version in %q", out)
	}
	has, _ := strconv.Atoi(string(version[1]))
	hasMinor, _ := strconv.Atoi(string(version[2]))
	if has < major || (has == major && hasMinor < minor) {
		t.Skipf("the server is a %d.%d, this needs %d.%d", has, hasMinor, major, minor)
	}
}

// OnlyAll skips a test that is too slow or too special for the short run.
func OnlyAll(t testing.TB) {
	t.Helper()
	if testing.Short() {
		t.Skip("only in the full run")
	}
}

// Eventually polls until the condition holds, for at most ten seconds.
func Eventually(t testing.TB, what string, condition func() bool) {
	t.Helper()
	EventuallyWithin(t, 10*time.Second, what, condition)
}

// EventuallyWithin is Eventually with another time limit.
func EventuallyWithin(t testing.TB, limit time.Duration, what string, condition func() bool) {
	t.Helper()
	deadline := time.Now().Add(limit)
	for !condition() {
		if time.Now().After(deadline) {
			t.Fatalf("in vain waited until %s", what)
		}
		time.Sleep(5 * time.Millisecond)
	}
}

// NoError ends the test on an error.
func NoError(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// Must returns the value of a call that must succeed. It panics otherwise, and the stack names the test.
func Must[T any](value T, err error) T {
	if err != nil {
		panic(err)
	}
	return value
}

// Equal compares deeply, and continues after a difference.
func Equal(t testing.TB, got, want any) {
	t.Helper()
	if !reflect.DeepEqual(got, want) {
		t.Errorf("got  %#v\nwant %#v", got, want)
	}
}

// ErrorText checks that the answer was an error with exactly this text.
func ErrorText(t testing.TB, err error, want string) {
	t.Helper()
	if err == nil || err.Error() != want {
		t.Errorf("got the error %v\nwant          %s", err, want)
	}
}

// ErrorBegins checks the first words of an error.
func ErrorBegins(t testing.TB, err error, want string) {
	t.Helper()
	if err == nil || !strings.HasPrefix(err.Error(), want) {
		t.Errorf("got the error %v\nwant one that begins %s", err, want)
	}
}

func freePort(t testing.TB) string {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	NoError(t, err)
	defer listener.Close()
	return fmt.Sprint(listener.Addr().(*net.TCPAddr).Port)
}

func inline(addr, words string) (string, error) {
	conn, err := net.DialTimeout("tcp", addr, time.Second)
	if err != nil {
		return "", err
	}
	defer conn.Close()
	conn.SetDeadline(time.Now().Add(time.Second))
	fmt.Fprintf(conn, "%s\r\n", words)
	line, err := bufio.NewReader(conn).ReadString('\n')
	return strings.TrimRight(line, "\r\n"), err
}
