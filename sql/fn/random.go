package fn

import (
	"math"
	"math/bits"
)

// Random is the generator behind random(): xoroshiro128**, seeded as PostgreSQL's pg_prng.c does, so that setseed gives the same numbers.
// It belongs to one session.
type Random struct {
	s0, s1 uint64
}

// NewRandom seeds a generator.
func NewRandom(seed uint64) *Random {
	r := &Random{}
	r.seed(seed)
	return r
}

func (r *Random) seed(seed uint64) {
	r.s0 = splitmix(&seed)
	r.s1 = splitmix(&seed)
	if r.s0 == 0 && r.s1 == 0 {
		r.s0, r.s1 = 0x5851F42D4C957F2D, 0x14057B7EF767814F
	}
}

// SetSeed is setseed of a number from -1 to 1.
func (r *Random) SetSeed(v float64) { r.seed(uint64(int64(float64(1<<52-1) * v))) }

func splitmix(s *uint64) uint64 {
	*s += 0x9E3779B97F4A7C15
	v := *s
	v = (v ^ v>>30) * 0xBF58476D1CE4E5B9
	v = (v ^ v>>27) * 0x94D049BB133111EB
	return v ^ v>>31
}

// Uint64 is the next number.
func (r *Random) Uint64() uint64 {
	s0 := r.s0
	sx := r.s1 ^ s0
	v := bits.RotateLeft64(s0*5, 7) * 9
	r.s0 = bits.RotateLeft64(s0, 24) ^ sx ^ sx<<16
	r.s1 = bits.RotateLeft64(sx, 37)
	return v
}

// Float64 is the next number from 0 to below 1.
func (r *Random) Float64() float64 { return math.Ldexp(float64(r.Uint64()>>12), -52) }
