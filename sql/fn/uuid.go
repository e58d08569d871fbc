package fn

import (
	"crypto/rand"

	"github.com/minipg/minipg/pgerr"
	"github.com/minipg/minipg/types"
)

func randomUUID(*Context, []types.Datum) (types.Datum, error) {
	b := make([]byte, 16)
	if _, err := rand.Read(b); err != nil {
		return types.Datum{}, pgerr.Wrap(err, pgerr.InternalError, "could not generate random values")
	}
	b[6] = b[6]&0x0F | 0x40
	b[8] = b[8]&0x3F | 0x80
	return types.Datum{B: b}, nil
}

func registerUUID(r *registry) { r.fn("gen_random_uuid", randomUUID) }
