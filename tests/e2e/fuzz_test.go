package e2e

import (
	"encoding/binary"
	"math/rand/v2"
	"net"
	"testing"
	"time"

	"github.com/jackc/pgproto3/v2"

	"github.com/minipg/minipg/minipgtest"
)

// TestMalformed sends broken messages: each ends in an error or the end of that connection, and
// never harms the server.
func TestMalformed(t *testing.T) {
	dsn := minipgtest.New(t, minipgtest.InMemory()).DSN("postgres")
	message := func(kind byte, length int32, body string) []byte {
		return append(binary.BigEndian.AppendUint32([]byte{kind}, uint32(length)), body...)
	}
	cases := map[string][]byte{
		"an empty Query":            message('Q', 4, ""),
		"a Query without its end":   message('Q', 9, "SELEC"),
		"a length of nothing":       message('Q', 0, ""),
		"a negative length":         message('Q', -5, ""),
		"a length of 2 GB":          message('Q', 0x7fffffff, "SELECT 1\x00"),
		"an empty Function call":    message('F', 4, ""),
		"an empty CopyFail":         message('f', 4, ""),
		"an unknown message":        message('!', 4, ""),
		"a password":                message('p', 9, "pass\x00"),
		"an empty Parse":            message('P', 4, ""),
		"a Parse cut off":           message('P', 7, "s\x00S"),
		"a Parse with many types":   message('P', 13, "\x00SELECT\x00\xff"),
		"an empty Bind":             message('B', 4, ""),
		"a Bind with length -2":     message('B', 16, "\x00\x00\x00\x00\x00\x01\xff\xff\xff\xfe\x00\x00"),
		"a Bind of 65535":           message('B', 10, "\x00\x00\xff\xff\x00\x00"),
		"a Describe of nothing":     message('D', 4, ""),
		"a Describe of X":           message('D', 6, "X\x00"),
		"a Close of X":              message('C', 6, "X\x00"),
		"an Execute cut off":        message('E', 7, "\x00\x00\x00"),
		"a Sync with a body":        message('S', 8, "body"),
		"a Flush with a body":       message('H', 8, "body"),
		"a Terminate with a body":   message('X', 8, "body"),
		"a Query with a second end": message('Q', 15, "SELECT 1\x00\x00\x00"),
		"an Execute with minus one": message('E', 9, "\x00\xff\xff\xff\xff"),
	}
	for name, bytes := range cases {
		t.Run(name, func(t *testing.T) {
			w := connect(t, dsn)
			if _, err := w.conn.Write(bytes); err != nil {
				t.Fatal(err)
			}
			drain(t, w.conn)
			alive(t, dsn)
		})
	}
}

// drain reads until the connection ends or nothing more comes.
func drain(t *testing.T, conn net.Conn) {
	t.Helper()
	// A Sync ends whatever an error discarded; a server that waits for the rest of a message gets none.
	if _, err := conn.Write(encode(syncMessage)); err != nil {
		return
	}
	if err := conn.SetReadDeadline(time.Now().Add(100 * time.Millisecond)); err != nil {
		t.Fatal(err)
	}
	buf := make([]byte, 4096)
	for {
		if _, err := conn.Read(buf); err != nil {
			return
		}
	}
}

func alive(t *testing.T, dsn string) {
	t.Helper()
	if got := query(t, dsn, "SELECT 1"); got != "1" {
		t.Fatalf("the server answers %q", got)
	}
}

// TestRandomBytes mutates valid conversations; the seed is printed.
func TestRandomBytes(t *testing.T) {
	seed := uint64(time.Now().UnixNano())
	t.Logf("seed %d", seed)
	rng := rand.New(rand.NewPCG(seed, 2))
	dsn := minipgtest.New(t, minipgtest.InMemory()).DSN("postgres")
	query(t, dsn, "CREATE TABLE fz (a int PRIMARY KEY, b text)")
	var valid []byte
	for _, m := range []pgproto3.FrontendMessage{
		q("SELECT 1"), parse("s", "INSERT INTO fz VALUES ($1, $2)", 23, 25), bind("p", "s", "1", "x"), describePortal,
		&pgproto3.Execute{Portal: "p", MaxRows: 1}, syncMessage, q("COPY fz FROM STDIN"), &pgproto3.CopyData{Data: []byte("2\ty\n")},
		&pgproto3.CopyDone{}, parse("", "SELECT * FROM fz WHERE b = $1"), describeStatement(""), bind("", "", "x"), executeAll,
		&pgproto3.Close{ObjectType: 'S', Name: "s"}, &pgproto3.Flush{}, syncMessage,
	} {
		valid = append(valid, encode(m)...)
	}
	for range 150 {
		conn := connect(t, dsn).conn
		bytes := append([]byte(nil), valid...)
		for range 1 + rng.IntN(6) {
			switch i := rng.IntN(len(bytes)); rng.IntN(4) {
			case 0:
				bytes[i] = byte(rng.IntN(256))
			case 1:
				bytes[i] ^= 1 << rng.IntN(8)
			case 2:
				bytes = append(bytes[:i:i], bytes[min(len(bytes), i+1+rng.IntN(4)):]...)
			case 3:
				bytes = append(bytes[:i:i], append([]byte{byte(rng.IntN(256)), 0}, bytes[i:]...)...)
			}
		}
		if _, err := conn.Write(bytes); err != nil {
			continue
		}
		if err := conn.SetReadDeadline(time.Now().Add(20 * time.Millisecond)); err != nil {
			t.Fatal(err)
		}
		buf := make([]byte, 4096)
		for {
			if _, err := conn.Read(buf); err != nil {
				break
			}
		}
		conn.Close()
	}
	alive(t, dsn)
	for range 100 { // before the startup message
		conn := dial(t, dsn)
		junk := make([]byte, 4+rng.IntN(40))
		for i := range junk {
			junk[i] = byte(rng.IntN(256))
		}
		if rng.IntN(2) == 0 {
			binary.BigEndian.PutUint32(junk, uint32(len(junk)))
		}
		if _, err := conn.Write(junk); err == nil {
			if err := conn.SetReadDeadline(time.Now().Add(10 * time.Millisecond)); err != nil {
				t.Fatal(err)
			}
			_, _ = conn.Read(make([]byte, 512))
		}
		conn.Close()
	}
	alive(t, dsn)
}
