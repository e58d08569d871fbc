package exec

import (
	"github.com/minipg/minipg/pgerr"
	"github.com/minipg/minipg/types"
)

// windowFunc computes a window function for the current row.
type windowFunc func(p *partition, c *windowCall, s *windowState) (types.Datum, error)

// windowFuncs are the built-in window functions by pg_proc.prosrc.
var windowFuncs = map[string]windowFunc{
	"window_row_number":   rowNumber,
	"window_rank":         rank,
	"window_dense_rank":   denseRank,
	"window_percent_rank": percentRank,
	"window_cume_dist":    cumeDist,
	"window_ntile":        ntile,

	"window_lag":                          lag,
	"window_lag_with_offset":              lag,
	"window_lag_with_offset_and_default":  lag,
	"window_lead":                         lead,
	"window_lead_with_offset":             lead,
	"window_lead_with_offset_and_default": lead,
	"window_first_value":                  firstValue,
	"window_last_value":                   lastValue,
	"window_nth_value":                    nthValue,
}

func rowNumber(p *partition, _ *windowCall, _ *windowState) (types.Datum, error) {
	return types.Int64Datum(int64(p.row) + 1), nil
}

func rank(p *partition, _ *windowCall, _ *windowState) (types.Datum, error) {
	return types.Int64Datum(int64(p.groupStart(p.group)) + 1), nil
}

func denseRank(p *partition, _ *windowCall, _ *windowState) (types.Datum, error) {
	return types.Int64Datum(int64(p.group) + 1), nil
}

func percentRank(p *partition, _ *windowCall, _ *windowState) (types.Datum, error) {
	if p.n <= 1 {
		return types.Float64Datum(0), nil
	}
	return types.Float64Datum(float64(p.groupStart(p.group)) / float64(p.n-1)), nil
}

func cumeDist(p *partition, _ *windowCall, _ *windowState) (types.Datum, error) {
	return types.Float64Datum(float64(p.groupStart(p.group+1)) / float64(p.n)), nil
}

// tileState is where ntile stands.
type tileState struct {
	begun bool
	tile  int64
	left  int64 // rows of the present tile after the current one
	per   int64
	large int64 // tiles that have one more
}

func ntile(p *partition, c *windowCall, s *windowState) (types.Datum, error) {
	t := &s.tile
	if !t.begun {
		d, err := p.arg(c, 0)
		if err != nil {
			return d, err
		}
		if d.Null {
			return types.NullDatum, nil
		}
		if d.Int64() <= 0 {
			return d, pgerr.New(pgerr.InvalidArgumentForNtile, "argument of ntile must be greater than zero")
		}
		t.begun = true
		t.per, t.large = int64(p.n)/d.Int64(), int64(p.n)%d.Int64()
		t.nextTile()
	}
	if t.left == 0 {
		t.nextTile()
	}
	t.left--
	return types.Int64Datum(t.tile), nil
}

func (t *tileState) nextTile() {
	t.tile++
	t.left = t.per
	if t.tile <= t.large {
		t.left++
	}
}

func lag(p *partition, c *windowCall, _ *windowState) (types.Datum, error) { return shifted(p, c, -1) }

func lead(p *partition, c *windowCall, _ *windowState) (types.Datum, error) { return shifted(p, c, 1) }

// shifted is the argument some rows before or after the current one.
func shifted(p *partition, c *windowCall, sign int64) (types.Datum, error) {
	offset := int64(1)
	if len(c.args) > 1 {
		d, err := p.arg(c, 1)
		if err != nil || d.Null {
			return types.NullDatum, err
		}
		offset = d.Int64()
	}
	at := int64(p.row) + sign*offset
	if at < 0 || at >= int64(p.n) {
		return p.arg(c, 2)
	}
	return p.datum(int(at), c.args[0])
}

func firstValue(p *partition, c *windowCall, _ *windowState) (types.Datum, error) {
	return nthVisible(p, c, 1)
}

func lastValue(p *partition, c *windowCall, _ *windowState) (types.Datum, error) {
	ranges, err := p.visible()
	if err != nil {
		return types.Datum{}, err
	}
	for k := len(ranges) - 1; k >= 0; k-- {
		if r := ranges[k]; r.from < r.to {
			return p.datum(r.to-1, c.args[0])
		}
	}
	return types.NullDatum, nil
}

func nthValue(p *partition, c *windowCall, _ *windowState) (types.Datum, error) {
	d, err := p.arg(c, 1)
	if err != nil || d.Null {
		return types.NullDatum, err
	}
	if d.Int64() <= 0 {
		return d, pgerr.New(pgerr.InvalidArgumentForNthValue, "argument of nth_value must be greater than zero")
	}
	return nthVisible(p, c, d.Int64())
}

func nthVisible(p *partition, c *windowCall, n int64) (types.Datum, error) {
	ranges, err := p.visible()
	if err != nil {
		return types.Datum{}, err
	}
	for _, r := range ranges {
		size := int64(max(r.to-r.from, 0))
		if n <= size {
			return p.datum(r.from+int(n)-1, c.args[0])
		}
		n -= size
	}
	return types.NullDatum, nil
}
