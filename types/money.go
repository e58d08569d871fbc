package types

import (
	"math"
	"strconv"

	"github.com/minipg/minipg/pgerr"
)

// parseMoney follows cash_in for the locale C, which has two digits after the point and the sign before the dollar.
func parseMoney(s []byte) (Datum, error) {
	t := trimSpace(s)
	neg := false
	strip := func(c byte) bool {
		if len(t) > 0 && t[0] == c {
			t = trimSpaceLeft(t[1:])
			return true
		}
		return false
	}
	strip('$')
	switch {
	case strip('-'):
		neg = true
	case strip('('):
		neg = true
	default:
		strip('+')
	}
	strip('$')
	var v uint64
	frac := -1
	over := false
	i := 0
	round := false
	for ; i < len(t); i++ {
		c := t[i]
		switch {
		case isDigit(c):
			if frac >= 2 {
				if frac == 2 {
					round = c >= '5'
				}
				frac++
				continue
			}
			if v > (math.MaxUint64-9)/10 {
				over = true
			}
			v = v*10 + uint64(c-'0')
			if frac >= 0 {
				frac++
			}
			continue
		case c == '.' && frac < 0:
			frac = 0
			continue
		case c == ',' && frac < 0:
			continue
		}
		break
	}
	for range 2 - min(max(frac, 0), 2) {
		if v > math.MaxUint64/10 {
			over = true
		}
		v *= 10
	}
	if round {
		v++
	}
	for _, c := range t[i:] {
		switch {
		case isSpace(c) || c == ')':
		case c == '-':
			neg = true
		case c == '+' || c == '$':
		default:
			return Datum{}, errSyntax("money", s)
		}
	}
	if over || v > math.MaxInt64+1 || (v == math.MaxInt64+1 && !neg) {
		return Datum{}, pgerr.New(pgerr.NumericValueOutOfRange, "value \"%s\" is out of range for type money", s)
	}
	if neg {
		return Int64Datum(-int64(v)), nil
	}
	return Int64Datum(int64(v)), nil
}

func outMoney(v int64, dst []byte) []byte {
	if v < 0 {
		dst = append(dst, '-')
	}
	dst = append(dst, '$')
	u := absUint64(v)
	var buf [24]byte
	d := strconv.AppendUint(buf[:0], u/100, 10)
	for i, c := range d {
		if i > 0 && (len(d)-i)%3 == 0 {
			dst = append(dst, ',')
		}
		dst = append(dst, c)
	}
	return append2(append(dst, '.'), int(u%100))
}
