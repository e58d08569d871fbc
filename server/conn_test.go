package server

import (
	"bytes"
	"errors"
	"io"
	"net"
	"reflect"
	"testing"
	"time"

	"github.com/jackc/pgproto3/v2"

	"github.com/minipg/minipg/metrics"
	"github.com/minipg/minipg/pgerr"
	"github.com/minipg/minipg/sql"
)

func TestCommandLineSettings(t *testing.T) {
	tests := []struct {
		options string
		want    []sql.Setting
		code    pgerr.Code
	}{
		{"", nil, ""},
		{"-c geqo=off", []sql.Setting{{Name: "geqo", Value: "off"}}, ""},
		{"-cgeqo=off --work-mem=1MB", []sql.Setting{{Name: "geqo", Value: "off"}, {Name: "work_mem", Value: "1MB"}}, ""},
		{`-c search_path=a\ b`, []sql.Setting{{Name: "search_path", Value: "a b"}}, ""},
		{"-c geqo", nil, pgerr.SyntaxError},
		{"nonsense", nil, pgerr.SyntaxError},
	}
	for _, test := range tests {
		t.Run(test.options, func(t *testing.T) {
			got, err := commandLineSettings(test.options)
			if !reflect.DeepEqual(got, test.want) {
				t.Errorf("got %v, want %v", got, test.want)
			}
			if test.code != "" && !pgerr.HasCode(err, test.code) || test.code == "" && err != nil {
				t.Errorf("error %v, want code %q", err, test.code)
			}
		})
	}
}

// fed makes a connection whose client sends data and hangs up.
func fed(t testing.TB, data []byte) *conn {
	t.Helper()
	client, srv := net.Pipe()
	t.Cleanup(func() {
		if err := errors.Join(client.Close(), srv.Close()); err != nil {
			t.Error(err)
		}
	})
	done := make(chan struct{})
	go func() {
		defer close(done)
		if _, err := client.Write(data); err != nil && !errors.Is(err, io.ErrClosedPipe) {
			t.Error(err)
		}
		if err := client.Close(); err != nil {
			t.Error(err)
		}
	}()
	t.Cleanup(func() { <-done })
	s := New(Config{Metrics: metrics.Discard()})
	return s.newConn(srv)
}

func TestReaderRefusesLengths(t *testing.T) {
	for name, head := range map[string][]byte{
		"negative":       {'Q', 0xFF, 0xFF, 0xFF, 0xFF},
		"too long":       {'Q', 0x7F, 0xFF, 0xFF, 0xFF},
		"over the limit": {'Q', 0, 1, 0, 0},
	} {
		t.Run(name, func(t *testing.T) {
			c := fed(t, head)
			if _, err := c.receive(); !pgerr.HasCode(err, pgerr.ProtocolViolation) {
				t.Errorf("error %v, want a protocol violation", err)
			}
		})
	}
}

func TestReaderSplitsWhatArrivesTogether(t *testing.T) {
	var data []byte
	for _, q := range []string{"select 1", "select 2"} {
		var err error
		if data, err = (&pgproto3.Query{String: q}).Encode(data); err != nil {
			t.Fatal(err)
		}
	}
	c := fed(t, data)
	for i, want := range []string{"select 1", "select 2"} {
		m, err := c.receive()
		if err != nil {
			t.Fatal(err)
		}
		if got := m.(*pgproto3.Query).String; got != want {
			t.Errorf("message %d is %q, want %q", i, got, want)
		}
	}
	if _, err := c.receive(); !errors.Is(err, io.ErrUnexpectedEOF) && !errors.Is(err, io.EOF) {
		t.Errorf("error %v at the end", err)
	}
}

func TestReaderGivesUpLargeBuffers(t *testing.T) {
	big, err := (&pgproto3.Query{String: string(bytes.Repeat([]byte{'x'}, 2*keepReadBuffer))}).Encode(nil)
	if err != nil {
		t.Fatal(err)
	}
	c := fed(t, big)
	c.r.limit = 4 * keepReadBuffer
	if _, err := c.receive(); err != nil {
		t.Fatal(err)
	}
	c.r.shrink()
	if len(c.r.buf) > keepReadBuffer {
		t.Errorf("an idle connection keeps %d bytes", len(c.r.buf))
	}
}

func TestStartupPacket(t *testing.T) {
	packet := func(version uint32, body string) []byte {
		b := []byte{0, 0, 0, 0, byte(version >> 24), byte(version >> 16), byte(version >> 8), byte(version)}
		b = append(b, body...)
		b[3] = byte(len(b))
		return b
	}
	tests := []struct {
		name string
		data []byte
		user string
		code pgerr.Code
		sent byte // first byte of the answer
	}{
		{"plain", packet(3<<16, "user\x00me\x00\x00"), "me", "", 0},
		{"ssl first", append(packet(codeSSL, ""), packet(3<<16, "user\x00me\x00\x00")...), "", pgerr.ProtocolViolation, 'N'},
		{"no user", packet(3<<16, "database\x00d\x00\x00"), "", pgerr.InvalidAuthorizationSpecification, 0},
		{"version 2", packet(2<<16, "user\x00me\x00\x00"), "", pgerr.FeatureNotSupported, 0},
		{"version 3.2", packet(3<<16|2, "user\x00me\x00_pq_.x\x001\x00\x00"), "me", "", 'v'},
		{"no terminator", packet(3<<16, "user\x00me"), "", pgerr.ProtocolViolation, 0},
		{"too short", []byte{0, 0, 0, 5, 0, 3, 0, 0}, "", pgerr.ProtocolViolation, 0},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			c := fed(t, test.data)
			params, err := c.startup()
			if test.code != "" && !pgerr.HasCode(err, test.code) || test.code == "" && err != nil {
				t.Errorf("error %v, want code %q", err, test.code)
			}
			if params["user"] != test.user {
				t.Errorf("user %q, want %q", params["user"], test.user)
			}
			if test.sent != 0 && (len(c.w.buf) == 0 || c.w.buf[0] != test.sent) {
				t.Errorf("sent %q, want %q first", c.w.buf, test.sent)
			}
		})
	}
}

func FuzzReceive(f *testing.F) {
	f.Add([]byte{'Q', 0, 0, 0, 4})
	f.Add([]byte{'F', 0, 0, 0, 4})
	f.Add([]byte{'f', 0, 0, 0, 4})
	f.Add([]byte{'B', 0, 0, 0, 16, 0, 0, 0, 0, 0, 1, 0xFF, 0xFF, 0xFF, 0xFE, 0, 0})
	f.Fuzz(func(t *testing.T, data []byte) {
		c := fed(t, data)
		if err := c.net.SetDeadline(time.Now().Add(10 * time.Second)); err != nil {
			t.Fatal(err)
		}
		for {
			m, err := c.receive()
			if err != nil {
				return
			}
			if m == nil {
				t.Fatal("neither a message nor an error")
			}
		}
	})
}
