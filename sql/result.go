package sql

import (
	"context"

	"github.com/minipg/minipg/pgerr"
	"github.com/minipg/minipg/types"
)

// Column describes a result column, as RowDescription does.
type Column struct {
	Name   string
	Table  types.OID
	Attno  int16
	Type   types.OID
	Len    int16
	Typmod int32
	Format int16 // 0 text, 1 binary
}

// ResultWriter is the client's side of a session: the messages that answer it. The
// server satisfies it. What a method is given is not kept after it returns.
type ResultWriter interface {
	RowDescription(cols []Column)
	// DataRow sends a row; a nil value is NULL. An error is a client that went away.
	DataRow(values [][]byte) error
	CommandComplete(tag []byte)
	EmptyQuery()
	PortalSuspended()
	NoData()
	ParameterDescription(params []types.OID)
	ParseComplete()
	BindComplete()
	CloseComplete()
	Notice(e *pgerr.Error)
	ParameterStatus(name, value string)

	// CopyIn asks for data; formats has one entry per column.
	CopyIn(format int16, formats []int16) error
	// CopyRead returns the next piece of data, io.EOF after CopyDone, and the client's
	// CopyFail as an error.
	CopyRead(ctx context.Context) ([]byte, error)
	// CopyOut announces data, CopyData sends some, CopyDone ends it.
	CopyOut(format int16, formats []int16)
	CopyData(data []byte) error
	CopyDone()
}
