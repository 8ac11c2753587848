package respitetest

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"net"
	"strconv"
	"strings"
	"sync"
)

// connection implements enough of RESP2 to send commands, so that the module needs no other module.
type connection struct {
	mutex  sync.Mutex
	socket net.Conn
	reader *bufio.Reader
	db     int
}

func dial(addr string) (*connection, error) {
	socket, err := net.Dial("tcp", addr)
	if err != nil {
		return nil, err
	}
	c := &connection{socket: socket, reader: bufio.NewReader(socket)}
	// SetError does not affect clients whose name begins with this.
	_, err = c.ask("CLIENT", "SETNAME", ownName)
	return c, err
}

// askIn sends a command to a database.
func (c *connection) askIn(db int, words ...any) (any, error) {
	c.mutex.Lock()
	defer c.mutex.Unlock()
	if db != c.db {
		if _, err := c.ask("SELECT", db); err != nil {
			return nil, err
		}
		c.db = db
	}
	return c.ask(words...)
}

func (c *connection) ask(words ...any) (any, error) {
	var request strings.Builder
	fmt.Fprintf(&request, "*%d\r\n", len(words))
	for _, word := range words {
		text := fmt.Sprint(word)
		fmt.Fprintf(&request, "$%d\r\n%s\r\n", len(text), text)
	}
	if _, err := io.WriteString(c.socket, request.String()); err != nil {
		return nil, err
	}
	return c.reply()
}

// reply returns nil, a string, an int64 or a []any; an error reply is an error.
func (c *connection) reply() (any, error) {
	line, err := c.reader.ReadString('\n')
	if err != nil {
		return nil, err
	}
	kind, text := line[0], strings.TrimSuffix(line[1:], "\r\n")
	switch kind {
	case '+':
		return text, nil
	case '-':
		return nil, errors.New(text)
	}
	number, err := strconv.ParseInt(text, 10, 64)
	if err != nil || kind == ':' {
		return number, err
	}
	if number < 0 {
		return nil, nil
	}
	if kind == '$' {
		octets := make([]byte, number+2)
		_, err := io.ReadFull(c.reader, octets)
		return string(octets[:number]), err
	}
	return c.many(int(number))
}

// many reads all elements, also after one that is an error.
func (c *connection) many(count int) (any, error) {
	values := make([]any, count)
	var failed error
	for i := range values {
		value, err := c.reply()
		values[i] = value
		failed = errors.Join(failed, err)
	}
	return values, failed
}
