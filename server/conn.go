package server

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"strings"
	"time"

	"github.com/jackc/pgproto3/v2"
	"go.uber.org/zap"

	"github.com/minipg/minipg/pgerr"
	"github.com/minipg/minipg/sql"
	"github.com/minipg/minipg/types"
)

// The request codes and versions of the first packet.
const (
	codeCancel     = 80877102
	codeSSL        = 80877103
	codeGSSENC     = 80877104
	protocolMajor  = 3
	maxStartupSize = 10000
)

// conn is one connection.
type conn struct {
	srv     *Server
	net     net.Conn
	r       reader
	w       writer
	be      *pgproto3.Backend
	sess    *sql.Session
	log     *zap.Logger
	copying bool // COPY FROM STDIN is under way
	skip    bool // until Sync, after an error in the extended protocol
	pid     int32
	secret  uint32
}

func (s *Server) newConn(nc net.Conn) *conn {
	c := &conn{srv: s, net: nc, log: s.cfg.Logger}
	c.r = reader{conn: nc, limit: maxStartupSize, beforeRead: c.beforeRead}
	c.w = writer{c: c, conn: nc}
	c.be = pgproto3.NewBackend(&c.r, nil)
	return c
}

// beforeRead writes what the client waits for.
func (c *conn) beforeRead() error { return c.w.flush() }

// serve runs the connection to its end.
func (c *conn) serve(ctx context.Context) {
	defer c.net.Close() //nolint:errcheck // nothing is left to lose
	if err := c.net.SetDeadline(c.srv.cfg.Now().Add(c.srv.cfg.StartupTimeout)); err != nil {
		return
	}
	params, err := c.startup()
	if err != nil || params == nil {
		c.report(err)
		return
	}
	if err := c.connect(ctx, params); err != nil {
		c.report(err)
		return
	}
	defer c.sess.Close()
	if err := c.net.SetDeadline(time.Time{}); err != nil {
		return
	}
	c.report(c.loop())
}

// report tells the client of an error that ends the connection, if it still listens.
func (c *conn) report(err error) {
	var ne net.Error
	switch {
	case err == nil, errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF), errors.Is(err, net.ErrClosed):
		return
	case errors.As(err, &ne) && !errors.Is(err, os.ErrDeadlineExceeded):
		return
	}
	var e *pgerr.Error
	if !errors.As(err, &e) {
		e = pgerr.Wrap(err, pgerr.ProtocolViolation, "%s", err.Error())
	}
	fatal := *e
	if fatal.Severity != pgerr.SeverityPanic {
		fatal.Severity = pgerr.SeverityFatal
	}
	if err := c.net.SetWriteDeadline(c.srv.cfg.Now().Add(time.Second)); err != nil {
		return
	}
	if err := c.w.fail(&fatal); err != nil {
		return
	}
}

// startup reads first packets until one begins a session. nil parameters, and no error, end the connection.
func (c *conn) startup() (map[string]string, error) {
	for range 4 {
		head, err := c.r.Next(4)
		if err != nil {
			return nil, err
		}
		size := int(int32(binary.BigEndian.Uint32(head))) - 4
		if size < 4 || size > maxStartupSize-4 {
			return nil, pgerr.Fatal(pgerr.ProtocolViolation, "invalid length of startup packet")
		}
		body, err := c.r.Next(size)
		if err != nil {
			return nil, err
		}
		switch code := binary.BigEndian.Uint32(body); code {
		case codeSSL, codeGSSENC:
			c.w.buf = append(c.w.buf, 'N')
			if c.r.r != c.r.w {
				return nil, pgerr.Fatal(pgerr.ProtocolViolation, "received unencrypted data after SSL request")
			}
		case codeCancel:
			if size == 12 {
				c.srv.cfg.SQL.Cancel(int32(binary.BigEndian.Uint32(body[4:])), binary.BigEndian.Uint32(body[8:]))
			}
			return nil, nil
		default:
			return c.parameters(code, body[4:])
		}
	}
	return nil, pgerr.Fatal(pgerr.ProtocolViolation, "too many requests before the startup packet")
}

// parameters reads the startup packet's parameters and negotiates the version.
func (c *conn) parameters(version uint32, body []byte) (map[string]string, error) {
	if version>>16 != protocolMajor {
		return nil, pgerr.Fatal(pgerr.FeatureNotSupported,
			"unsupported frontend protocol %d.%d: server supports 3.0 to 3.0", version>>16, version&0xFFFF)
	}
	params := make(map[string]string)
	var unknown []string
	for len(body) > 0 && body[0] != 0 {
		name, rest, ok := cString(body)
		if !ok {
			break
		}
		value, rest, ok := cString(rest)
		if !ok {
			break
		}
		if strings.HasPrefix(name, "_pq_.") {
			unknown = append(unknown, name)
		} else {
			params[name] = value
		}
		body = rest
	}
	if len(body) != 1 {
		return nil, pgerr.Fatal(pgerr.ProtocolViolation, "invalid startup packet layout: expected terminator as last byte")
	}
	if params["user"] == "" {
		return nil, pgerr.Fatal(pgerr.InvalidAuthorizationSpecification, "no PostgreSQL user name specified in startup packet")
	}
	if version&0xFFFF != 0 || len(unknown) > 0 {
		c.negotiate(unknown)
	}
	return params, nil
}

func cString(b []byte) (s string, rest []byte, ok bool) {
	for i, c := range b {
		if c == 0 {
			return string(b[:i]), b[i+1:], true
		}
	}
	return "", nil, false
}

// negotiate answers with NegotiateProtocolVersion: version 3.0, and the options that are not known.
func (c *conn) negotiate(unknown []string) {
	at := len(c.w.buf)
	b := append(c.w.buf, 'v', 0, 0, 0, 0)
	b = binary.BigEndian.AppendUint32(b, protocolMajor<<16)
	b = binary.BigEndian.AppendUint32(b, uint32(len(unknown)))
	for _, name := range unknown {
		b = append(append(b, name...), 0)
	}
	binary.BigEndian.PutUint32(b[at+1:], uint32(len(b)-at-1))
	c.w.buf = b
}

// connect makes the session and greets the client.
func (c *conn) connect(ctx context.Context, params map[string]string) error {
	if params["replication"] != "" && params["replication"] != "false" && params["replication"] != "off" {
		return pgerr.Fatal(pgerr.FeatureNotSupported, "replication connections are not supported")
	}
	if !c.srv.admit(c) {
		return pgerr.Fatal(pgerr.TooManyConnections, "sorry, too many clients already")
	}
	opts := sql.ConnectOptions{User: params["user"], Database: params["database"], PID: c.pid, Secret: c.secret}
	if opts.Database == "" {
		opts.Database = opts.User
	}
	opts.RemoteHost, opts.RemotePort = hostPort(c.net.RemoteAddr())
	opts.LocalHost, opts.LocalPort = hostPort(c.net.LocalAddr())
	opts.OnTerminate = func() {
		if err := c.net.SetReadDeadline(time.Unix(1, 0)); err != nil {
			return
		}
	}
	var err error
	if opts.Settings, err = startupSettings(params); err != nil {
		return err
	}
	if c.sess, err = c.srv.cfg.SQL.Connect(ctx, opts); err != nil {
		return err
	}
	c.r.limit = c.srv.cfg.MaxMessage
	c.w.send(&pgproto3.AuthenticationOk{})
	c.sess.ReportSettings(&c.w)
	c.w.send(&pgproto3.BackendKeyData{ProcessID: uint32(c.pid), SecretKey: c.secret})
	c.w.ready('I')
	return nil
}

func hostPort(a net.Addr) (string, int) {
	if t, ok := a.(*net.TCPAddr); ok {
		return t.IP.String(), t.Port
	}
	return "", 0
}

// startupSettings are the run-time parameters of a startup packet, those in options first.
func startupSettings(params map[string]string) ([]sql.Setting, error) {
	var out []sql.Setting
	opts, err := commandLineSettings(params["options"])
	if err != nil {
		return nil, err
	}
	out = append(out, opts...)
	for name, value := range params {
		switch name {
		case "user", "database", "options", "replication":
			continue
		}
		out = append(out, sql.Setting{Name: name, Value: value})
	}
	return out, nil
}

// commandLineSettings reads -c name=value and --name=value, where a backslash takes the next character as it is.
func commandLineSettings(options string) ([]sql.Setting, error) {
	var words []string
	var word []byte
	in := false
	for i := 0; i < len(options); i++ {
		switch ch := options[i]; {
		case ch == '\\' && i+1 < len(options):
			i++
			word = append(word, options[i])
			in = true
		case ch == ' ' || ch == '\t' || ch == '\n':
			if in {
				words = append(words, string(word))
			}
			word, in = word[:0], false
		default:
			word = append(word, ch)
			in = true
		}
	}
	if in {
		words = append(words, string(word))
	}
	var out []sql.Setting
	for i := 0; i < len(words); i++ {
		w := words[i]
		switch {
		case w == "-c" && i+1 < len(words):
			i++
			w = words[i]
		case strings.HasPrefix(w, "-c"):
			w = w[2:]
		case strings.HasPrefix(w, "--"):
			w = w[2:]
		default:
			return nil, pgerr.Fatal(pgerr.SyntaxError, "invalid command-line argument for server process: %s", w)
		}
		name, value, ok := strings.Cut(w, "=")
		if !ok {
			return nil, pgerr.Fatal(pgerr.SyntaxError, "-c %s requires a value", name)
		}
		out = append(out, sql.Setting{Name: strings.ReplaceAll(name, "-", "_"), Value: value})
	}
	return out, nil
}

// receive returns the next message. Those pgproto3 cannot take apart are protocol violations.
func (c *conn) receive() (m pgproto3.FrontendMessage, err error) {
	defer func() {
		if r := recover(); r != nil {
			m, err = nil, pgerr.Fatal(pgerr.ProtocolViolation, "invalid message format")
		}
	}()
	m, err = c.be.Receive()
	if err == nil {
		return m, nil
	}
	var e *pgerr.Error
	var ne net.Error
	switch {
	case errors.As(err, &e), errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF), errors.As(err, &ne):
		return nil, err
	}
	return nil, pgerr.Wrap(err, pgerr.ProtocolViolation, "%s", protocolText(err))
}

func protocolText(err error) string {
	text := err.Error()
	if t, ok := strings.CutPrefix(text, "unknown message type: "); ok && t != "" {
		return fmt.Sprintf("invalid frontend message type %d", t[0])
	}
	return text
}

// loop answers messages until the client ends the session.
func (c *conn) loop() error {
	for {
		if !c.r.buffered() {
			if err := c.idle(); err != nil {
				return err
			}
		}
		m, err := c.receive()
		if err != nil {
			if t := c.sess.Terminated(); t != nil {
				return t
			}
			if errors.Is(err, os.ErrDeadlineExceeded) {
				return c.sess.IdleTimeoutError()
			}
			return err
		}
		if _, end := m.(*pgproto3.Terminate); end {
			return nil
		}
		if err := c.message(m); err != nil {
			return err
		}
		if t := c.sess.Terminated(); t != nil {
			return t
		}
	}
}

// idle is called when the client has to send something before the session can go on.
func (c *conn) idle() error {
	if err := c.w.flush(); err != nil {
		return err
	}
	c.r.shrink()
	c.w.shrink()
	c.sess.Idle()
	if d := c.sess.IdleTimeout(); d > 0 {
		return c.net.SetReadDeadline(c.srv.cfg.Now().Add(d))
	}
	return nil
}

// message carries out one message. An error ends the connection.
func (c *conn) message(m pgproto3.FrontendMessage) error {
	if c.skip {
		if _, sync := m.(*pgproto3.Sync); !sync {
			return nil
		}
	}
	switch m := m.(type) {
	case *pgproto3.Query:
		return c.query(m)
	case *pgproto3.Parse:
		oids := make([]types.OID, len(m.ParameterOIDs))
		for i, o := range m.ParameterOIDs {
			oids[i] = types.OID(o)
		}
		return c.extended(c.sess.Parse(&c.w, m.Name, m.Query, oids))
	case *pgproto3.Bind:
		return c.extended(c.sess.Bind(&c.w, &sql.BindMessage{
			Portal: m.DestinationPortal, Statement: m.PreparedStatement, ParamFormats: m.ParameterFormatCodes,
			Params: m.Parameters, ResultFormats: m.ResultFormatCodes,
		}))
	case *pgproto3.Describe:
		return c.describe(m)
	case *pgproto3.Execute:
		return c.extended(c.sess.Execute(&c.w, m.Portal, int64(m.MaxRows)))
	case *pgproto3.Close:
		return c.close(m)
	case *pgproto3.Flush:
		return c.w.flush()
	case *pgproto3.Sync:
		c.skip = false
		err := c.extended(c.sess.Sync(&c.w))
		c.skip = false
		c.ready()
		return err
	case *pgproto3.FunctionCall:
		if err := c.fail(pgerr.New(pgerr.FeatureNotSupported, "function calls by message are not supported")); err != nil {
			return err
		}
		c.ready()
		return nil
	case *pgproto3.CopyData, *pgproto3.CopyDone, *pgproto3.CopyFail:
		return nil // left over from a COPY that failed
	}
	return pgerr.Fatal(pgerr.ProtocolViolation, "invalid frontend message type %d", messageType(m))
}

// ready ends the answer to a Query, a Sync or a FunctionCall.
func (c *conn) ready() {
	c.sess.ReportSettings(&c.w)
	c.w.ready(c.sess.TxStatus())
}

func (c *conn) query(m *pgproto3.Query) error {
	err := c.sess.Query(&c.w, m.String)
	if err != nil {
		if err := c.fail(err); err != nil {
			return err
		}
	}
	c.copying = false
	c.ready()
	return nil
}

func (c *conn) describe(m *pgproto3.Describe) error {
	switch m.ObjectType {
	case 'S':
		return c.extended(c.sess.DescribeStatement(&c.w, m.Name))
	case 'P':
		return c.extended(c.sess.DescribePortal(&c.w, m.Name))
	}
	return pgerr.Fatal(pgerr.ProtocolViolation, "invalid DESCRIBE message subtype %d", m.ObjectType)
}

func (c *conn) close(m *pgproto3.Close) error {
	switch m.ObjectType {
	case 'S':
		c.sess.CloseStatement(&c.w, m.Name)
	case 'P':
		c.sess.ClosePortal(&c.w, m.Name)
	default:
		return pgerr.Fatal(pgerr.ProtocolViolation, "invalid CLOSE message subtype %d", m.ObjectType)
	}
	return nil
}

// extended reports a failed message of the extended protocol and has the rest up to Sync skipped.
func (c *conn) extended(err error) error {
	if err == nil {
		return c.w.err
	}
	c.skip = true
	return c.fail(err)
}

// fail sends an error; one that is fatal ends the connection.
func (c *conn) fail(err error) error {
	e := pgerr.From(err)
	if e.Severity == pgerr.SeverityFatal || e.Severity == pgerr.SeverityPanic {
		return e
	}
	return c.w.fail(e)
}
