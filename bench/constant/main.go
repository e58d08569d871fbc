// Command constant answers every query with one row, (1, NULL, 0), without looking at it: no parser, no plan,
// no storage, no transaction. What pgbench reaches against it is the limit of any server in Go that reads and
// writes PostgreSQL's messages over the same connection, which is all that it is for.
package main

import (
	"bufio"
	"encoding/binary"
	"errors"
	"flag"
	"fmt"
	"io"
	"net"
	"os"
)

// maxMessage bounds a message; pgbench's are some hundred bytes.
const maxMessage = 1 << 20

func main() {
	listen := flag.String("listen", "127.0.0.1:5440", "address to listen on; a path is a Unix socket")
	flag.Parse()
	network := "tcp"
	if (*listen)[0] == '/' {
		network = "unix"
	}
	l, err := net.Listen(network, *listen)
	if err != nil {
		fmt.Fprintln(os.Stderr, "constant:", err)
		os.Exit(1)
	}
	for {
		c, err := l.Accept()
		if err != nil {
			fmt.Fprintln(os.Stderr, "constant:", err)
			os.Exit(1)
		}
		go serve(c)
	}
}

func serve(c net.Conn) {
	s := session{conn: c, in: bufio.NewReaderSize(c, 8192)}
	err := s.startup()
	for err == nil {
		err = s.message()
	}
	if !errors.Is(err, io.EOF) && !errors.Is(err, errTerminate) && !errors.Is(err, net.ErrClosed) {
		fmt.Fprintln(os.Stderr, "constant:", err)
	}
	if err := c.Close(); err != nil {
		fmt.Fprintln(os.Stderr, "constant:", err)
	}
}

var errTerminate = errors.New("the client left")

type session struct {
	conn net.Conn
	in   *bufio.Reader
	out  []byte
}

const (
	codeSSL    = 80877103
	codeGSSENC = 80877104
)

// startup refuses encryption and lets the client in.
func (s *session) startup() error {
	for {
		var head [8]byte
		if _, err := io.ReadFull(s.in, head[:]); err != nil {
			return err
		}
		size := binary.BigEndian.Uint32(head[:4])
		if size < 8 || size > maxMessage {
			return fmt.Errorf("a startup message of %d bytes", size)
		}
		if _, err := s.in.Discard(int(size) - 8); err != nil {
			return err
		}
		switch binary.BigEndian.Uint32(head[4:]) {
		case codeSSL, codeGSSENC:
			if _, err := s.conn.Write([]byte{'N'}); err != nil {
				return err
			}
			continue
		}
		s.put('R', []byte{0, 0, 0, 0})
		s.put('S', []byte("server_version\x0015.0\x00"))
		s.put('S', []byte("client_encoding\x00UTF8\x00"))
		s.put('S', []byte("standard_conforming_strings\x00on\x00"))
		s.put('K', make([]byte, 8))
		return s.ready()
	}
}

// message answers one message. Responses go out with ReadyForQuery.
func (s *session) message() error {
	var head [5]byte
	if _, err := io.ReadFull(s.in, head[:]); err != nil {
		return err
	}
	size := binary.BigEndian.Uint32(head[1:])
	if size < 4 || size > maxMessage {
		return fmt.Errorf("a message of %d bytes", size)
	}
	if _, err := s.in.Discard(int(size) - 4); err != nil {
		return err
	}
	switch head[0] {
	case 'Q':
		s.put('T', rowDescription)
		s.put('D', dataRow)
		s.put('C', []byte("SELECT 1\x00"))
		return s.ready()
	case 'P':
		s.put('1', nil)
	case 'B':
		s.put('2', nil)
	case 'D':
		s.put('T', rowDescription)
	case 'E':
		s.put('D', dataRow)
		s.put('C', []byte("SELECT 1\x00"))
	case 'C':
		s.put('3', nil)
	case 'S':
		return s.ready()
	case 'H':
		return s.flush()
	case 'X':
		return errTerminate
	default:
		return fmt.Errorf("a message of type %q", head[0])
	}
	return nil
}

// The row has the columns in which pgbench looks for the number of branches and for partitions.
var (
	rowDescription = describe("n", "partstrat", "partitions")
	dataRow        = []byte{0, 3, 0, 0, 0, 1, '1', 0xff, 0xff, 0xff, 0xff, 0, 0, 0, 1, '0'}
)

func describe(names ...string) []byte {
	b := binary.BigEndian.AppendUint16(nil, uint16(len(names)))
	for _, name := range names {
		b = append(append(b, name...), 0)
		b = append(b, 0, 0, 0, 0, 0, 0) // of no table
		b = append(b, 0, 0, 0, 25)      // text
		b = append(b, 0xff, 0xff)       // of any length
		b = append(b, 0xff, 0xff, 0xff, 0xff, 0, 0)
	}
	return b
}

func (s *session) put(kind byte, body []byte) {
	s.out = append(s.out, kind)
	s.out = binary.BigEndian.AppendUint32(s.out, uint32(len(body)+4))
	s.out = append(s.out, body...)
}

func (s *session) ready() error {
	s.put('Z', []byte{'I'})
	return s.flush()
}

func (s *session) flush() error {
	_, err := s.conn.Write(s.out)
	s.out = s.out[:0]
	return err
}
