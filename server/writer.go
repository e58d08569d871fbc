package server

import (
	"context"
	"encoding/binary"
	"errors"
	"io"
	"net"
	"strconv"

	"github.com/jackc/pgproto3/v2"

	"github.com/minipg/minipg/pgerr"
	"github.com/minipg/minipg/sql"
	"github.com/minipg/minipg/types"
)

const (
	flushSize       = 64 << 10
	keepWriteBuffer = 16 << 10
)

// writer collects the messages to a client. It is the session's sql.ResultWriter.
type writer struct {
	c    *conn
	conn net.Conn
	buf  []byte
	err  error // of the last write
	row  pgproto3.DataRow
}

func (w *writer) send(m pgproto3.BackendMessage) {
	buf, err := m.Encode(w.buf)
	if err != nil {
		w.err = errors.Join(w.err, err)
		return
	}
	w.buf = buf
}

// flush writes what was collected.
func (w *writer) flush() error {
	if len(w.buf) > 0 && w.err == nil {
		_, w.err = w.conn.Write(w.buf)
	}
	w.buf = w.buf[:0]
	if cap(w.buf) > flushSize*2 {
		w.buf = nil
	}
	return w.err
}

// shrink gives up a large buffer while the connection is idle.
func (w *writer) shrink() {
	if cap(w.buf) > keepWriteBuffer {
		w.buf = nil
	}
}

func (w *writer) full() error {
	if len(w.buf) < flushSize {
		return nil
	}
	return w.flush()
}

// RowDescription, DataRow and the rest satisfy sql.ResultWriter.
func (w *writer) RowDescription(cols []sql.Column) {
	at := len(w.buf)
	w.buf = append(w.buf, 'T', 0, 0, 0, 0)
	w.buf = binary.BigEndian.AppendUint16(w.buf, uint16(len(cols)))
	for i := range cols {
		c := &cols[i]
		w.buf = append(append(w.buf, c.Name...), 0)
		w.buf = binary.BigEndian.AppendUint32(w.buf, uint32(c.Table))
		w.buf = binary.BigEndian.AppendUint16(w.buf, uint16(c.Attno))
		w.buf = binary.BigEndian.AppendUint32(w.buf, uint32(c.Type))
		w.buf = binary.BigEndian.AppendUint16(w.buf, uint16(c.Len))
		w.buf = binary.BigEndian.AppendUint32(w.buf, uint32(c.Typmod))
		w.buf = binary.BigEndian.AppendUint16(w.buf, uint16(c.Format))
	}
	binary.BigEndian.PutUint32(w.buf[at+1:], uint32(len(w.buf)-at-1))
}

// DataRow adds a row.
func (w *writer) DataRow(values [][]byte) error {
	w.row.Values = values
	w.send(&w.row)
	return w.full()
}

// CommandComplete adds a command tag.
func (w *writer) CommandComplete(tag []byte) { w.send(&pgproto3.CommandComplete{CommandTag: tag}) }

// EmptyQuery answers a statement without text.
func (w *writer) EmptyQuery() { w.send(&pgproto3.EmptyQueryResponse{}) }

// PortalSuspended tells that a portal has more rows.
func (w *writer) PortalSuspended() { w.send(&pgproto3.PortalSuspended{}) }

// NoData tells that a statement returns no rows.
func (w *writer) NoData() { w.send(&pgproto3.NoData{}) }

// ParseComplete answers Parse.
func (w *writer) ParseComplete() { w.send(&pgproto3.ParseComplete{}) }

// BindComplete answers Bind.
func (w *writer) BindComplete() { w.send(&pgproto3.BindComplete{}) }

// CloseComplete answers Close.
func (w *writer) CloseComplete() { w.send(&pgproto3.CloseComplete{}) }

// ParameterDescription adds the types of a statement's parameters.
func (w *writer) ParameterDescription(params []types.OID) {
	oids := make([]uint32, len(params))
	for i, p := range params {
		oids[i] = uint32(p)
	}
	w.send(&pgproto3.ParameterDescription{ParameterOIDs: oids})
}

// ParameterStatus tells the client of a setting.
func (w *writer) ParameterStatus(name, value string) {
	w.send(&pgproto3.ParameterStatus{Name: name, Value: value})
}

// Notice adds a notice.
func (w *writer) Notice(e *pgerr.Error) {
	n := pgproto3.NoticeResponse(*errorFields(e))
	w.send(&n)
	if w.full() != nil {
		return
	}
}

// fail adds an error and writes everything: nothing an error explains may wait.
func (w *writer) fail(e *pgerr.Error) error {
	w.send(errorFields(e))
	return w.flush()
}

func errorFields(e *pgerr.Error) *pgproto3.ErrorResponse {
	return &pgproto3.ErrorResponse{
		Severity: e.Severity, SeverityUnlocalized: e.Severity, Code: string(e.Code), Message: e.Message,
		Detail: e.Detail, Hint: e.Hint, Position: int32(e.Position), InternalPosition: int32(e.InternalPosition),
		InternalQuery: e.InternalQuery, Where: e.Where, SchemaName: e.Schema, TableName: e.Table,
		ColumnName: e.Column, DataTypeName: e.DataType, ConstraintName: e.Constraint,
	}
}

func (w *writer) ready(status byte) { w.send(&pgproto3.ReadyForQuery{TxStatus: status}) }

// CopyIn asks the client for data.
func (w *writer) CopyIn(format int16, formats []int16) error {
	w.send(&pgproto3.CopyInResponse{OverallFormat: byte(format), ColumnFormatCodes: unsigned(formats)})
	w.c.copying = true
	return w.flush()
}

func unsigned(list []int16) []uint16 {
	out := make([]uint16, len(list))
	for i, v := range list {
		out[i] = uint16(v)
	}
	return out
}

// CopyRead returns the client's next piece of data.
func (w *writer) CopyRead(context.Context) ([]byte, error) {
	for {
		m, err := w.c.receive()
		if err != nil {
			w.c.copying = false
			return nil, err
		}
		switch m := m.(type) {
		case *pgproto3.CopyData:
			return m.Data, nil
		case *pgproto3.CopyDone:
			w.c.copying = false
			return nil, io.EOF
		case *pgproto3.CopyFail:
			w.c.copying = false
			return nil, pgerr.New(pgerr.QueryCanceled, "COPY from stdin failed: %s", m.Message)
		case *pgproto3.Flush, *pgproto3.Sync:
			continue
		}
		w.c.copying = false
		return nil, pgerr.Fatal(pgerr.ProtocolViolation, "unexpected message type 0x%02X during COPY from stdin", messageType(m))
	}
}

// CopyOut announces data to the client.
func (w *writer) CopyOut(format int16, formats []int16) {
	w.send(&pgproto3.CopyOutResponse{OverallFormat: byte(format), ColumnFormatCodes: unsigned(formats)})
}

// CopyData sends some.
func (w *writer) CopyData(data []byte) error {
	w.send(&pgproto3.CopyData{Data: data})
	return w.full()
}

// CopyDone ends it.
func (w *writer) CopyDone() { w.send(&pgproto3.CopyDone{}) }

func messageType(m pgproto3.FrontendMessage) byte {
	buf, err := m.Encode(nil)
	if err != nil || len(buf) == 0 {
		return 0
	}
	return buf[0]
}

func portText(port int) string { return strconv.Itoa(port) }
