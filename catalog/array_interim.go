package catalog

import (
	"encoding/binary"

	"github.com/minipg/minipg/types"
)

func makeArray(elem OID, elems []types.Datum, lower int) types.Datum {
	b := binary.LittleEndian.AppendUint32(nil, uint32(elem))
	b = binary.AppendUvarint(b, uint64(lower))
	for _, e := range elems {
		if types.ClassOf(elem) == types.Word {
			b = binary.LittleEndian.AppendUint64(b, e.W)
		} else {
			b = binary.AppendUvarint(b, uint64(len(e.B)))
			b = append(b, e.B...)
		}
	}
	return types.BytesDatum(b)
}

func arrayElems(d types.Datum) ([]types.Datum, error) {
	elem := OID(binary.LittleEndian.Uint32(d.B))
	b := d.B[4:]
	_, n := binary.Uvarint(b)
	b = b[n:]
	var out []types.Datum
	for len(b) > 0 {
		if types.ClassOf(elem) == types.Word {
			out = append(out, types.Datum{W: binary.LittleEndian.Uint64(b)})
			b = b[8:]
		} else {
			l, n := binary.Uvarint(b)
			out = append(out, types.Datum{B: b[n : n+int(l)]})
			b = b[n+int(l):]
		}
	}
	return out, nil
}
