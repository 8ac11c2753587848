// Package respitetest starts a Respite server, which is compatible with Redis, for a test:
//
//	func TestLock(t *testing.T) {
//		s := respitetest.Run(t)
//		client := redis.NewClient(&redis.Options{Addr: s.Addr()})
//		client.SetNX(ctx, "lock", "me", 30*time.Second)
//		s.FastForward(31 * time.Second)
//		if s.Exists("lock") { t.Error("still locked") }
//	}
//
// Methods have the names of miniredis' methods, but a real server does the work.
package respitetest

import (
	"bufio"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"testing"
	"time"
)

const (
	ownName = "~respitetest"
	named   = "respitetest:named"
	unnamed = "respitetest:unnamed"
)

// database has the methods of DB, which Server has for database 0.
type database = DB

// Server is a running server.
type Server struct {
	*database
	// Ports has the port of each node of --nodes; without nodes it has one port.
	Ports   []int
	command *exec.Cmd
}

// Run starts a server on a free port, which ends with the test. The arguments are passed to respite-server.
func Run(t testing.TB, arguments ...string) *Server {
	t.Helper()
	s, err := Start(arguments...)
	if err != nil {
		t.Fatalf("respitetest: %v", err)
	}
	t.Cleanup(s.Close)
	return s
}

// RunT is Run, under the name that it has in miniredis.
func RunT(t testing.TB) *Server {
	t.Helper()
	return Run(t)
}

// Start starts a server, which ends with Close, or at the latest with this process.
func Start(arguments ...string) (*Server, error) {
	program, err := Program()
	if err != nil {
		return nil, err
	}
	reader, writer, err := os.Pipe()
	if err != nil {
		return nil, err
	}
	defer reader.Close()
	command := exec.Command(program, append(append([]string{"--test"}, arguments...), "--ready-fd", "3")...)
	command.ExtraFiles = []*os.File{writer}
	log := &beginning{}
	command.Stdout, command.Stderr = log, log
	err = command.Start()
	writer.Close()
	if err != nil {
		return nil, err
	}
	ports, err := readPorts(reader)
	if err != nil {
		command.Process.Kill()
		command.Wait()
		return nil, fmt.Errorf("%s did not start: %w\n%s", command, err, log.text)
	}
	c, err := dial(net.JoinHostPort("127.0.0.1", strconv.Itoa(ports[0])))
	if err != nil {
		command.Process.Kill()
		command.Wait()
		return nil, err
	}
	return &Server{database: &DB{connection: c}, Ports: ports, command: command}, nil
}

// beginning keeps the first lines of a log, which show why a server does not start.
type beginning struct{ text []byte }

func (b *beginning) Write(octets []byte) (int, error) {
	const most = 1 << 16
	b.text = append(b.text, octets[:min(len(octets), most-len(b.text))]...)
	return len(octets), nil
}

func readPorts(reader io.Reader) ([]int, error) {
	var ports []int
	for lines := bufio.NewScanner(reader); lines.Scan(); {
		port, err := strconv.Atoi(lines.Text())
		if err != nil {
			return nil, err
		}
		ports = append(ports, port)
	}
	if ports == nil {
		return nil, io.ErrUnexpectedEOF
	}
	return ports, nil
}

// Close ends the server.
func (s *Server) Close() {
	s.connection.socket.Close()
	s.command.Process.Signal(os.Interrupt)
	s.command.Wait()
}

// Addr is the address for clients: 127.0.0.1 and the port.
func (s *Server) Addr() string { return net.JoinHostPort(s.Host(), s.Port()) }

// Host is the address of the server.
func (s *Server) Host() string { return "127.0.0.1" }

// Port is the port of the server.
func (s *Server) Port() string { return strconv.Itoa(s.Ports[0]) }

// DB returns another database.
func (s *Server) DB(number int) *DB { return &DB{connection: s.connection, number: number} }

// Test sends a TEST command: Test("FAULT", "CLEAR").
func (s *Server) Test(words ...any) (any, error) {
	return s.connection.askIn(0, append([]any{"TEST"}, words...)...)
}

func (s *Server) must(words ...any) {
	if _, err := s.Test(words...); err != nil {
		panic(fmt.Sprintf("TEST %v: %v", words, err))
	}
}

// FastForward lets time pass: everything that falls due has happened when it returns.
func (s *Server) FastForward(duration time.Duration) {
	s.must("CLOCK", "ADVANCE", duration.Milliseconds())
}

// SetTime stops the clock at a time.
func (s *Server) SetTime(at time.Time) { s.must("CLOCK", "FREEZE", at.UnixMilli()) }

// SetError makes each command of all clients fail with this text, until SetError(""). The methods of this package
// continue to work.
func (s *Server) SetError(text string) {
	if text == "" {
		s.Test("FAULT", "DEL", named)
		s.Test("FAULT", "DEL", unnamed)
		return
	}
	s.SetError("")
	s.must("FAULT", "ADD", named, "WHEN", "CLIENT", "[^~]*", "DO", "ERROR", text)
	s.must("FAULT", "ADD", unnamed, "WHEN", "CLIENT", "", "DO", "ERROR", text)
}

// Seed makes random choices the same in each run.
func (s *Server) Seed(seed int) { s.must("SEED", seed) }

// RequireAuth sets the password of the default user; "" removes it.
func (s *Server) RequireAuth(password string) { s.do("CONFIG", "SET", "requirepass", password) }

// RequireUserAuth creates a user who may do everything.
func (s *Server) RequireUserAuth(user, password string) {
	s.do("ACL", "SETUSER", user, "reset", "on", ">"+password, "~*", "&*", "+@all")
}

// FlushAll empties all databases.
func (s *Server) FlushAll() { s.do("FLUSHALL") }

// Publish returns how many clients got the message.
func (s *Server) Publish(channel, message string) int {
	return number(s.do("PUBLISH", channel, message))
}

// PubSubChannels returns the channels with subscribers that match the pattern ("": all).
func (s *Server) PubSubChannels(pattern string) []string {
	if pattern == "" {
		pattern = "*"
	}
	return sorted(texts(s.do("PUBSUB", "CHANNELS", pattern)))
}

// Dump returns all keys of database 0 with their values, as requests. Equal data gives equal text.
func (s *Server) Dump() string {
	text, err := s.Test("DUMP")
	if err != nil {
		return err.Error()
	}
	return strings.TrimSpace(fmt.Sprint(text))
}
