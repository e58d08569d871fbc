package sql

import (
	"strconv"

	"github.com/minipg/minipg/types"
)

// rowSink encodes batches and hands them to the client.
type rowSink struct {
	w      ResultWriter
	cols   []Column
	env    *types.Env
	values [][]byte
	ends   []int // of each value in buf; -1 for one that aliases the batch
	buf    []byte
	rows   int64
}

func (s *rowSink) reset(w ResultWriter, cols []Column, env *types.Env) {
	s.w, s.cols, s.env, s.rows = w, cols, env, 0
	if cap(s.values) < len(cols) {
		s.values = make([][]byte, len(cols))
		s.ends = make([]int, len(cols))
	}
	s.values, s.ends = s.values[:len(cols)], s.ends[:len(cols)]
}

// Batch sends the rows of b.
func (s *rowSink) Batch(b *types.Batch) error {
	rows := b.Rows()
	for k := range rows.Len() {
		s.encode(b, rows.At(k))
		s.rows++
		if err := s.w.DataRow(s.values); err != nil {
			return err
		}
	}
	return nil
}

// keepEncodeBuffer bounds the memory a session keeps between rows.
const keepEncodeBuffer = 64 << 10

// encode fills s.values with row i.
func (s *rowSink) encode(b *types.Batch, i int) {
	if cap(s.buf) > keepEncodeBuffer {
		s.buf = nil
	}
	buf := s.buf[:0]
	for c := range s.cols {
		v := &b.Cols[c]
		s.values[c], s.ends[c] = nil, -1
		if v.Null[i] {
			continue
		}
		col := &s.cols[c]
		if col.Format == 1 {
			buf = types.Send(col.Type, v.Datum(i), buf, s.env)
			s.ends[c] = len(buf)
			continue
		}
		switch col.Type {
		case types.Int4, types.Int8, types.Int2:
			buf = strconv.AppendInt(buf, int64(v.W[i]), 10)
		case types.Text, types.Varchar, types.Name, types.Bpchar:
			s.values[c] = v.B[i]
			if s.values[c] == nil {
				s.values[c] = emptyValue
			}
			continue
		default:
			buf = types.Out(col.Type, v.Datum(i), buf, s.env)
		}
		s.ends[c] = len(buf)
	}
	start := 0
	for c, end := range s.ends {
		if end < 0 {
			continue
		}
		s.values[c] = buf[start:end:end]
		start = end
	}
	s.buf = buf
}

var emptyValue = []byte{}
